#include "tools/export_wasm/es_module.h"

#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "base/alignment.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "runtime/data_type.h"
#include "runtime/plan/check.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

constexpr char kModule[] =
#include "tools/export_wasm/model_mjs.inc"
    ;

// Names may be any bytes; JSON takes the others as they are.
std::string Quoted(absl::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// A dimension as a formula over the symbols' parameters d0, d1, ...
std::string Formula(const DimExpr& e) {
  const auto operand = [&e](int i) { return Formula(e.operands(i)); };
  switch (e.op()) {
    case DimExpr::SYMBOL:
      return absl::StrCat("d", e.value());
    case DimExpr::ADD:
      return absl::StrCat("(", operand(0), " + ", operand(1), ")");
    case DimExpr::SUB:
      return absl::StrCat("(", operand(0), " - ", operand(1), ")");
    case DimExpr::MUL:
      return absl::StrCat("(", operand(0), " * ", operand(1), ")");
    case DimExpr::FLOOR_DIV:
      return absl::StrCat("Math.floor(", operand(0), " / ", operand(1), ")");
    case DimExpr::FLOOR_MOD:
      return absl::StrCat("((a, b) => a - b * Math.floor(a / b))(", operand(0),
                          ", ", operand(1), ")");
    case DimExpr::MIN:
      return absl::StrCat("Math.min(", operand(0), ", ", operand(1), ")");
    case DimExpr::MAX:
      return absl::StrCat("Math.max(", operand(0), ", ", operand(1), ")");
    default:
      return absl::StrCat(e.value());
  }
}

const PlanTensor& TensorOf(const Plan& plan, uint32_t t) {
  return plan.tensors(static_cast<int>(t));
}

template <typename Tensors>
absl::StatusOr<std::string> Described(const Plan& plan,
                                      const Tensors& tensors) {
  std::vector<std::string> parts;
  for (uint32_t t : tensors) {
    const PlanTensor& tensor = TensorOf(plan, t);
    INGOT_ASSIGN_OR_RETURN(const DataType type,
                           PlanDataType(PlanTypeOf(plan, tensor).dtype()));
    std::vector<std::string> dims;
    for (const DimExpr& dim : PlanTypeOf(plan, tensor).shape()) {
      dims.push_back(HasSymbols(dim)
                         ? Quoted(DimExprToString(dim, SymbolNames(plan)))
                         : Formula(dim));
    }
    parts.push_back(absl::Substitute("{name: $0, type: '$1', shape: [$2]}",
                                     Quoted(tensor.name()), type.ToString(),
                                     absl::StrJoin(dims, ", ")));
  }
  return absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

// The symbols in the order of the parameters of the model's functions, each
// with where it first stands alone among the dimensions of the inputs.
struct Bindings {
  std::vector<std::string> parameters;  // d0, d3
  std::vector<std::string> places;      // [input, axis]
};

Bindings BindingsOf(const Plan& plan) {
  Bindings bindings;
  std::set<int64_t> bound;
  for (int i = 0; i < plan.inputs_size(); ++i) {
    int axis = 0;
    for (const DimExpr& dim : PlanTypeOf(plan, plan.inputs(i)).shape()) {
      if (dim.op() == DimExpr::SYMBOL && bound.insert(dim.value()).second) {
        bindings.parameters.push_back(Formula(dim));
        bindings.places.push_back(absl::StrCat("[", i, ", ", axis, "]"));
      }
      ++axis;
    }
  }
  return bindings;
}

std::string Shapes(const Plan& plan) {
  std::vector<std::string> shapes;
  for (const auto* tensors : {&plan.inputs(), &plan.outputs()}) {
    for (uint32_t t : *tensors) {
      std::vector<std::string> dims;
      for (const DimExpr& dim : PlanTypeOf(plan, t).shape()) {
        dims.push_back(Formula(dim));
      }
      shapes.push_back(absl::StrCat("[", absl::StrJoin(dims, ", "), "]"));
    }
  }
  return absl::StrJoin(shapes, ", ");
}

}  // namespace

absl::StatusOr<std::string> EsModule(const Plan& plan, absl::string_view prefix,
                                     const WeightsBeside* weights) {
  INGOT_ASSIGN_OR_RETURN(const std::string inputs,
                         Described(plan, plan.inputs()));
  INGOT_ASSIGN_OR_RETURN(const std::string outputs,
                         Described(plan, plan.outputs()));
  const Bindings bindings = BindingsOf(plan);
  return absl::StrCat(
      "// The model ", absl::CHexEscape(plan.entry()), ", compiled by Ingot.\n",
      "const PREFIX = '", prefix, "';\nconst ALIGNMENT = ", kAlignment, ";\n",
      "const WEIGHTS = ",
      weights == nullptr ? "null"
                         : absl::Substitute("{symbol: '$0', bytes: $1}",
                                            weights->symbol, weights->bytes),
      ";\nexport const inputs = ", inputs,
      ";\nexport const outputs = ", outputs,
      ";\n// Open dimensions: which axes of which inputs they are.\n",
      "const BINDINGS = [", absl::StrJoin(bindings.places, ", "),
      "];\n// The shapes of inputs and outputs for these.\nconst SHAPES = (",
      absl::StrJoin(bindings.parameters, ", "), ") => [", Shapes(plan),
      "];\n\n", kModule);
}

}  // namespace ingot

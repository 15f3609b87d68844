#include "compiler/relay/import/builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/printer.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {
namespace {

// More dimensions than any tensor has.
constexpr int64_t kMostDims = 64;

// A mask may be cast, and its elements are cast and counted.
constexpr int kStepsToANumber = 4;

bool Mentions(const Shape& shape, const tir::Var* var) {
  for (const tir::Expr& dim : shape) {
    for (const tir::Var* v : tir::VarsOf(dim)) {
      if (v == var) return true;
    }
  }
  return false;
}

bool StandsAlone(const Shape& shape, const tir::Var* var) {
  return std::any_of(shape.begin(), shape.end(),
                     [var](const tir::Expr& dim) { return dim.get() == var; });
}

// Whether both are computed alike from the same values, in at most so many
// steps. Exporters ask for the places of a mask wherever they select something
// by it, and what they select belongs together.
bool AreComputedAlike(const Value& a, const Value& b, int steps) {
  if (a == b) return true;
  if (steps == 0 || !a || !b || a.index != b.index) return false;
  const Node& x = *a.node;
  const Node& y = *b.node;
  if (x.kind != NodeKind::kOp || y.kind != NodeKind::kOp || x.op != y.op ||
      x.inputs.size() != y.inputs.size() || Print(x.attrs) != Print(y.attrs)) {
    return false;
  }
  for (size_t i = 0; i < x.inputs.size(); ++i) {
    if (!AreComputedAlike(x.inputs[i], y.inputs[i], steps - 1)) return false;
  }
  return true;
}

}  // namespace

bool IsRunTime(const tir::Var& var) {
  return !var.name.empty() && var.name[0] == '?';
}

ModuleBuilder::ModuleBuilder() { main_.function = module_.AddFunction("main"); }

absl::StatusOr<Value> ModuleBuilder::Materialize(const Known& known,
                                                 absl::string_view name) {
  if (known.AllConstant()) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromKnown(known));
    return Value{function()->AddConstant(name, std::move(tensor))};
  }
  if (!known.AllIntegers()) {
    return absl::UnimplementedError(
        absl::StrCat("'", name, "' mixes symbols and fractions"));
  }
  Attrs attrs;
  const Shape values = known.Integers();
  attrs.Set("values", values);
  attrs.Set("shape", known.shape);
  attrs.Set("dtype", known.dtype);
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources, DimSources(values));
  INGOT_ASSIGN_OR_RETURN(
      Node * node,
      function()->AddOp("dims", name, std::move(sources), std::move(attrs)));
  return Value{node};
}

absl::StatusOr<Value> ModuleBuilder::DimsTensor(const Shape& dims,
                                                absl::string_view name) {
  Known known{DataType::Int(64), {static_cast<int64_t>(dims.size())}, {}};
  for (const tir::Expr& dim : dims) known.values.push_back({dim, 0});
  return Materialize(known, name);
}

absl::StatusOr<Value> ModuleBuilder::DimSource(OpenFunction* function,
                                               const tir::Var* var) {
  auto known = function->dim_sources.find(var);
  if (known != function->dim_sources.end()) return known->second;
  for (Node* input : function->function->inputs) {
    if (StandsAlone(input->outputs[0].shape, var)) return Value{input};
  }
  if (function->outer == nullptr) {
    return absl::InternalError(
        absl::StrCat("no input has the dimension '", var->name, "'"));
  }
  INGOT_ASSIGN_OR_RETURN(Value outer, DimSource(function->outer, var));
  return Capture(function, outer);
}

absl::StatusOr<std::vector<Value>> ModuleBuilder::DimSources(
    const Shape& dims) {
  std::vector<Value> sources;
  for (const tir::Expr& dim : dims) {
    for (const tir::Var* var : tir::VarsOf(dim)) {
      INGOT_ASSIGN_OR_RETURN(Value value, DimSource(current_, var));
      if (std::find(sources.begin(), sources.end(), value) == sources.end()) {
        sources.push_back(value);
      }
    }
  }
  return sources;
}

absl::Status ModuleBuilder::AddRunTimeDimSources(const Attrs& attrs,
                                                 std::vector<Value>* inputs) {
  for (const auto& [name, attr] : attrs.values()) {
    const auto* shape = std::get_if<Shape>(&attr);
    if (shape == nullptr) continue;
    for (const tir::Expr& dim : *shape) {
      for (const tir::Var* var : tir::VarsOf(dim)) {
        const bool has = std::any_of(
            inputs->begin(), inputs->end(), [var](const Value& input) {
              return input && Mentions(ShapeOf(input), var);
            });
        if (has || !IsRunTime(*var)) continue;
        INGOT_ASSIGN_OR_RETURN(Value source, DimSource(current_, var));
        inputs->push_back(source);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> ModuleBuilder::BindDims(Value value,
                                              absl::string_view name) {
  const auto shape = ConstShape(ShapeOf(value));
  if (!shape || shape->size() > 1 ||
      (shape->size() == 1 && (*shape)[0] > kMostDims) ||
      value.type().dtype.is_float()) {
    return absl::UnimplementedError(
        absl::StrCat("dimensions from ", ToString(value.type())));
  }
  for (const auto& [other, dims] : current_->bound) {
    if (AreComputedAlike(value, other, kStepsToANumber)) return dims;
  }
  Shape dims = current_->known.Integers(value);
  dims.resize(shape->empty() ? 1 : (*shape)[0]);
  Value i64 = value;
  if (value.type().dtype != DataType::Int(64)) {
    INGOT_ASSIGN_OR_RETURN(
        Node * cast,
        function()->AddOp("cast", absl::StrCat(name, "_cast"), {value},
                          {{"dtype", DataType::Int(64)}}));
    i64 = Value{cast};
  }
  const bool all_known =
      std::all_of(dims.begin(), dims.end(),
                  [](const tir::Expr& dim) { return dim != nullptr; });
  Shape symbols;
  for (size_t i = 0; i < dims.size(); ++i) {
    symbols.push_back(module_.RunTimeSymbol(
        dims.size() == 1 ? std::string(name) : absl::StrCat(name, "_", i)));
    if (dims[i] == nullptr) dims[i] = symbols.back();
  }
  if (!all_known) {
    INGOT_ASSIGN_OR_RETURN(
        Node * node, function()->AddOp("bind_dims", absl::StrCat(name, "_dims"),
                                       {i64}, {{"symbols", symbols}}));
    for (const tir::Expr& symbol : symbols) {
      current_->dim_sources[tir::As<tir::Var>(symbol)] = Value{node};
    }
  }
  current_->bound[value] = dims;
  return dims;
}

void ModuleBuilder::DeclareSymbols(Node* node) {
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    for (const tir::Expr& dim : node->outputs[i].shape) {
      const auto* var = tir::As<tir::Var>(dim);
      if (var != nullptr && IsRunTime(*var)) {
        current_->dim_sources.emplace(var, Value{node, static_cast<int>(i)});
      }
    }
  }
}

bool ModuleBuilder::IsKnownHere(const tir::Expr& dim) {
  for (const tir::Var* var : tir::VarsOf(dim)) {
    if (!DimSource(current_, var).ok()) return false;
  }
  return true;
}

absl::StatusOr<Value> ModuleBuilder::Capture(OpenFunction* function,
                                             Value outer) {
  auto known = function->inside.find(outer);
  if (known != function->inside.end()) return known->second;
  const std::string& name = outer.node->name;
  Value inside;
  if (outer.node->constant.has_value()) {
    inside =
        Value{function->function->AddConstant(name, *outer.node->constant)};
  } else {
    inside = Value{function->function->AddInput(name, outer.type())};
    function->captured.push_back(outer);
  }
  if (on_capture != nullptr) on_capture(outer, inside);
  function->inside[outer] = inside;
  // The symbols of the types inside must be bound inside as well.
  for (const tir::Expr& dim : outer.type().shape) {
    for (const tir::Var* var : tir::VarsOf(dim)) {
      INGOT_RETURN_IF_ERROR(DimSource(function, var).status());
    }
  }
  return inside;
}

absl::StatusOr<Body> ModuleBuilder::BuildBody(
    absl::string_view stem, const std::function<absl::Status()>& fill) {
  std::string name(stem);
  for (int i = 1; module_.Find(name) != nullptr; ++i) {
    name = absl::StrCat(stem, "_", i);
  }
  OpenFunction open;
  open.function = module_.AddFunction(name);
  open.outer = current_;
  absl::Status status;
  {
    const Enter enter(this, &open);
    status = fill();
  }
  if (!status.ok()) {
    module_.RemoveFunction(name);
    return status;
  }
  return Body{name, open.function, std::move(open.captured)};
}

}  // namespace ingot::relay

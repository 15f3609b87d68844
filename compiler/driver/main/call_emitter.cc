#include "compiler/driver/main/call_emitter.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "compiler/codegen/signature.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

// "fused_conv (for conv1, relu1)". A region may stand for the whole model: then
// the first nodes say where it is.
std::string NameOf(absl::string_view step, const PlanCall& call) {
  if (call.source().empty()) return std::string(step);
  constexpr size_t kMost = 4;
  std::vector<absl::string_view> nodes = absl::StrSplit(call.source(), ", ");
  const size_t all = nodes.size();
  nodes.resize(std::min(all, kMost));
  return absl::StrCat(
      step, " (for ", absl::StrJoin(nodes, ", "),
      all > kMost ? absl::StrCat(" and ", all - kMost, " more") : "", ")");
}

}  // namespace

absl::Status CallEmitter::EmitPlan(PlanScope* scope, Statements* out) {
  INGOT_RETURN_IF_ERROR(PlaceConstants(scope));
  INGOT_RETURN_IF_ERROR(scope->BeginNextPhase(arena_, dims_, &layout_, out));
  for (const PlanCall& call : scope->plan().calls()) {
    INGOT_RETURN_IF_ERROR(EmitCall(call, scope, out));
  }
  return absl::OkStatus();
}

absl::Status CallEmitter::PlaceConstants(PlanScope* scope) const {
  const Plan& plan = scope->plan();
  for (int t = 0; t < plan.tensors_size(); ++t) {
    const PlanTensor& tensor = plan.tensors(t);
    if (!tensor.has_constant()) continue;
    const auto offset = parts_.constant_offsets.find(tensor.constant());
    if (offset == parts_.constant_offsets.end()) {
      return absl::InternalError(
          absl::StrCat("the constant '", tensor.constant(), "' has no place"));
    }
    scope->SetPlace(
        static_cast<uint32_t>(t),
        {constants_, tir::MakeInt(static_cast<int64_t>(offset->second))});
  }
  return absl::OkStatus();
}

absl::Status CallEmitter::EmitCall(const PlanCall& call, PlanScope* scope,
                                   Statements* out) {
  switch (call.step_case()) {
    case PlanCall::kFunction:
      return EmitFunction(call, *scope, out);
    case PlanCall::kCopy:
      return absl::UnimplementedError(
          absl::StrCat("a part of it runs on a device (", call.source(), ")"));
    case PlanCall::kBindDims:
      EmitBindDims(call, scope, out);
      return scope->BeginNextPhase(arena_, dims_, &layout_, out);
    case PlanCall::kBranch:
      return EmitBranch(call, scope, out);
    case PlanCall::kLoop:
      return EmitLoop(call, scope, out);
    case PlanCall::kSequence:
      return absl::UnimplementedError(absl::StrCat(
          NameOf(call.sequence().op(), call), " works on sequences"));
    case PlanCall::kRandomState:
      return absl::UnimplementedError(absl::StrCat(
          NameOf("random_state", call), " needs the executor's seed"));
    case PlanCall::STEP_NOT_SET:
      break;
  }
  return absl::InternalError("a call of no kind");
}

absl::Status CallEmitter::EmitFunction(const PlanCall& call,
                                       const PlanScope& scope,
                                       Statements* out) {
  const auto found = parts_.kernels.find(call.function());
  if (found == parts_.kernels.end()) {
    return absl::UnimplementedError(
        absl::StrCat(NameOf(call.function(), call),
                     " is not made of loops of the target that generates the "
                     "code, but by another one"));
  }
  const tir::PrimFunc& kernel = *found->second;
  INGOT_ASSIGN_OR_RETURN(const codegen::Signature signature,
                         codegen::MakeSignature(kernel));
  std::vector<PlanScope::PartOf> parts;
  std::vector<tir::Buffer> reads, writes;
  const int inputs = call.args_size() - static_cast<int>(call.num_outputs());
  for (int i = 0; i < call.args_size(); ++i) {
    (i < inputs ? reads : writes)
        .push_back(scope.BufferOf(call.args(i), &parts));
  }
  std::vector<tir::Expr> symbols;
  for (const codegen::DimBinding& symbol : signature.symbols) {
    const PlanType& type = PlanTypeOf(scope.plan(), call.args(symbol.param));
    symbols.push_back(scope.Dim(type.shape(symbol.dim)));
  }
  out->Add(WithParts(
      parts, tir::MakeCallExtern(kernel.name, std::move(reads),
                                 std::move(writes), std::move(symbols))));
  return absl::OkStatus();
}

void CallEmitter::EmitBindDims(const PlanCall& call, PlanScope* scope,
                               Statements* out) {
  // Elements are read as one row: a part, whatever the tensor's shape is.
  const uint32_t from = call.args(0);
  const tir::Buffer row =
      tir::MakeBuffer(scope->tensor(from).name(), DataType::Int(64),
                      {tir::MakeInt(call.binds_size())}, tir::Scope::kPart);
  const Place place = scope->PlaceOf(from);
  out->Part(row, place.whole, place.offset);
  for (const PlanBind& bind : call.binds()) {
    const PlanSymbol& symbol =
        scope->plan().symbols(static_cast<int>(bind.symbol()));
    const tir::VarPtr var = tir::MakeVar(symbol.name());
    out->Let(var, tir::MakeLoad(row, {tir::MakeInt(bind.index())}));
    scope->SetSymbol(bind.symbol(), var);
  }
}

absl::Status CallEmitter::PassInputs(const PlanScope& outer,
                                     const std::vector<uint32_t>& args,
                                     size_t first, PlanScope* body,
                                     Statements* out) const {
  const Plan& plan = body->plan();
  for (size_t i = 0; i < args.size(); ++i) {
    const uint32_t input = plan.inputs(static_cast<int>(first + i));
    body->SetPlace(input, outer.PlaceOf(args[i]));
    const PlanTensor& declared = body->tensor(input);
    if (declared.is_sequence()) {
      return absl::UnimplementedError(
          absl::StrCat("'", declared.name(), "' is a sequence"));
    }
    const std::vector<tir::Expr> shape = outer.Shape(args[i]);
    const PlanType& type = PlanTypeOf(plan, declared);
    for (int d = 0; d < type.shape_size(); ++d) {
      const DimExpr& dim = type.shape(d);
      if (dim.op() != DimExpr::SYMBOL) continue;
      const auto symbol = static_cast<uint32_t>(dim.value());
      if (!body->HasSymbol(symbol)) body->SetSymbol(symbol, shape[d]);
    }
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const uint32_t input = plan.inputs(static_cast<int>(first + i));
    const std::vector<tir::Expr> given = outer.Shape(args[i]);
    const std::vector<tir::Expr> declared = body->Shape(input);
    for (size_t d = 0; d < given.size(); ++d) {
      out->Add(tir::MakeAssert(
          tir::Eq(given[d], declared[d]),
          absl::StrCat("dimension ", d, " of '", body->tensor(input).name(),
                       "' is not as a branch or a loop needs it")));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<CallEmitter::Shapes> CallEmitter::ResultShapes(
    const PlanScope& body, size_t first, size_t count) const {
  Shapes shapes;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t t = body.plan().outputs(static_cast<int>(first + i));
    shapes.push_back(body.Shape(t));
    for (const tir::Expr& dim : shapes.back()) {
      for (const tir::Var* var : tir::VarsOf(dim)) {
        if (std::find(dims_.begin(), dims_.end(), var) != dims_.end()) continue;
        return absl::UnimplementedError(
            absl::StrCat("the shape of '", body.tensor(t).name(),
                         "' is known only while the model runs"));
      }
    }
  }
  return shapes;
}

absl::Status CallEmitter::BindToResults(const PlanCall& call,
                                        const Shapes& shapes, PlanScope* scope,
                                        Statements* out) {
  for (const PlanBind& bind : call.binds()) {
    scope->SetSymbol(bind.symbol(), shapes[bind.output()][bind.index()]);
  }
  if (call.binds_size() > 0) {
    INGOT_RETURN_IF_ERROR(scope->BeginNextPhase(arena_, dims_, &layout_, out));
  }
  const int reads = call.args_size() - static_cast<int>(call.num_outputs());
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<tir::Expr> declared =
        scope->Shape(call.args(reads + static_cast<int>(i)));
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      out->Add(tir::MakeAssert(
          tir::Eq(declared[d], shapes[i][d]),
          absl::StrCat("dimension ", d, " of result ", i, " of ",
                       NameOf("a branch or a loop", call),
                       " is not what it is declared to be")));
    }
  }
  return absl::OkStatus();
}

void CallEmitter::CopyResult(const Place& from, const PlanScope& scope,
                             uint32_t t, Statements* out) {
  const Place to = scope.PlaceOf(t);
  if (from.whole == to.whole && tir::ProveEqual(from.offset, to.offset)) return;
  out->Add(Copy(from, to, scope.Elements(t),
                static_cast<int>(scope.Type(t).bytes())));
}

}  // namespace ingot

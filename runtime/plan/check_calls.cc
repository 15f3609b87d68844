#include "runtime/plan/check_calls.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/data_type.h"
#include "runtime/plan/check.h"
#include "runtime/plan/check_in_place.h"
#include "runtime/plan/types.h"
#include "runtime/tensor_sequence.h"

namespace ingot {
namespace {

// More elements than any vector of dimensions has.
constexpr int64_t kMaxBound = 4096;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// A tensor and the plan that it is in.
struct Argument {
  const Plan& plan;
  const PlanTensor& tensor;

  Argument(const Plan& of, uint32_t index)
      : plan(of), tensor(of.tensors(static_cast<int>(index))) {}
  const PlanType& type() const { return PlanTypeOf(plan, tensor); }
};

bool SameElements(const PlanType& a, const PlanType& b) {
  return a.dtype().code() == b.dtype().code() &&
         a.dtype().bits() == b.dtype().bits();
}

bool SameType(const Argument& a, const Argument& b, int rank_more = 0) {
  return SameElements(a.type(), b.type()) &&
         a.tensor.is_sequence() == b.tensor.is_sequence() &&
         a.type().shape_size() == b.type().shape_size() + rank_more;
}

// One element, as far as the type alone tells.
bool IsScalar(const Argument& argument, DataType type) {
  const auto& shape = argument.type().shape();
  absl::StatusOr<DataType> dtype = PlanDataType(argument.type().dtype());
  return dtype.ok() && *dtype == type && !argument.tensor.is_sequence() &&
         std::all_of(shape.begin(), shape.end(), [](const DimExpr& dim) {
           return dim.op() == DimExpr::CONST && dim.value() == 1;
         });
}

// Whether a tensor is what a letter of SequenceOpInfo says, of the type of
// `like`.
bool FitsLetter(char letter, const Argument& argument, const Argument& like) {
  const PlanTensor& tensor = argument.tensor;
  const bool same = SameElements(argument.type(), like.type());
  switch (letter) {
    case 'L':
      return tensor.is_sequence() && same;
    case 'x':
      return !tensor.is_sequence() && same;
    case 'i':
      return IsScalar(argument, DataType::Int(64));
    case 'b':
      return IsScalar(argument, DataType::Bool());
    default: {
      absl::StatusOr<DataType> dtype = PlanDataType(argument.type().dtype());
      return dtype.ok() && *dtype == DataType::Int(64) &&
             !tensor.is_sequence() && argument.type().shape_size() <= 1;
    }
  }
}

// Whether input (or output) `i` of a body is of the type of argument `arg`.
bool TakesArg(const Plan& plan, const Plan& body, int i, const PlanCall& call,
              int arg) {
  return SameType({body, body.inputs(i)}, {plan, call.args(arg)});
}
bool GivesArg(const Plan& plan, const Plan& body, int i, const PlanCall& call,
              int arg, int rank_more = 0) {
  return SameType({plan, call.args(arg)}, {body, body.outputs(i)}, rank_more);
}

// The bodies of branches and loops against the call.
absl::Status CheckBranch(const Plan& plan, const PlanCall& call) {
  const int outputs = static_cast<int>(call.num_outputs());
  const int reads = call.args_size() - outputs;
  if (reads < 1 || !IsScalar({plan, call.args(0)}, DataType::Bool())) {
    return Bad("its condition is not one bool");
  }
  for (uint32_t b : BodiesOf(call)) {
    const Plan& body = plan.bodies(static_cast<int>(b));
    bool fits =
        body.inputs_size() == reads - 1 && body.outputs_size() == outputs;
    for (int i = 0; fits && i + 1 < reads; ++i) {
      fits = TakesArg(plan, body, i, call, i + 1);
    }
    for (int i = 0; fits && i < outputs; ++i) {
      fits = GivesArg(plan, body, i, call, reads + i);
    }
    if (!fits) return Bad("body ", b, " does not fit its arguments");
  }
  return absl::OkStatus();
}

absl::Status CheckLoop(const Plan& plan, const PlanCall& call) {
  const PlanLoop& loop = call.loop();
  const int outputs = static_cast<int>(call.num_outputs());
  const int reads = call.args_size() - outputs;
  const int first =
      (loop.has_max_iterations() ? 1 : 0) + (loop.has_condition() ? 1 : 0);
  if (reads < first || loop.carried() > static_cast<uint32_t>(reads - first) ||
      loop.carried() > static_cast<uint32_t>(outputs)) {
    return Bad("it carries more than it has");
  }
  const int carried = static_cast<int>(loop.carried());
  if (loop.has_max_iterations() &&
      !IsScalar({plan, call.args(0)}, DataType::Int(64))) {
    return Bad("its number of iterations is not one i64");
  }
  if (loop.has_condition() &&
      !IsScalar({plan, call.args(first - 1)}, DataType::Bool())) {
    return Bad("its condition is not one bool");
  }
  const Plan& body = plan.bodies(static_cast<int>(loop.body()));
  bool fits = body.inputs_size() == 1 + reads - first &&
              body.outputs_size() == 1 + outputs &&
              IsScalar({body, body.inputs(0)}, DataType::Int(64)) &&
              IsScalar({body, body.outputs(0)}, DataType::Bool());
  for (int i = first; fits && i < reads; ++i) {
    fits = TakesArg(plan, body, 1 + i - first, call, i);
  }
  for (int i = 0; fits && i < outputs; ++i) {
    fits = GivesArg(plan, body, 1 + i, call, reads + i, i < carried ? 0 : 1) &&
           (i >= carried ||
            SameType({body, body.inputs(1 + i)}, {body, body.outputs(1 + i)}));
  }
  if (!fits) return Bad("body ", loop.body(), " does not fit its arguments");
  // Only carried values are passed again for each iteration.
  for (int i = 1 + carried; i < body.inputs_size(); ++i) {
    if (IsUpdatedInPlace(body, body.inputs(i))) {
      return Bad("body ", loop.body(), " updates its input ", i,
                 ", which stays, in place");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRandomState(const Plan& plan, const PlanCall& call) {
  if (call.args_size() == 1 && call.num_outputs() == 1 &&
      call.binds_size() == 0) {
    const Argument state(plan, call.args(0));
    const PlanType& type = state.type();
    absl::StatusOr<DataType> dtype = PlanDataType(type.dtype());
    if (dtype.ok() && *dtype == DataType::Int(64) &&
        !state.tensor.is_sequence() && type.shape_size() == 1 &&
        type.shape(0).op() == DimExpr::CONST && type.shape(0).value() == 2) {
      return absl::OkStatus();
    }
  }
  return Bad("the random state is one i64[2]");
}

absl::Status CheckNoSequences(const Plan& plan, const PlanCall& call) {
  for (int k = 0; k < call.args_size(); ++k) {
    const PlanTensor& tensor = plan.tensors(call.args(k));
    if (tensor.is_sequence()) {
      return Bad("argument ", k, ", '", tensor.name(), "', is a sequence");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBindDims(const Plan& plan, const PlanCall& call) {
  INGOT_RETURN_IF_ERROR(CheckNoSequences(plan, call));
  if (call.args_size() != 2 || call.num_outputs() != 1 ||
      call.binds_size() == 0) {
    return Bad("a step that binds symbols reads one tensor and gives one");
  }
  const PlanTensor& from = plan.tensors(call.args(0));
  absl::StatusOr<DataType> dtype = PlanDataType(PlanTypeOf(plan, from).dtype());
  if (!dtype.ok() || *dtype != DataType::Int(64)) {
    return Bad("it binds symbols to '", from.name(), "', not i64");
  }
  return absl::OkStatus();
}

absl::Status CheckCopy(const Plan& plan, const PlanCall& call) {
  INGOT_RETURN_IF_ERROR(CheckNoSequences(plan, call));
  if (call.args_size() == 2 && call.num_outputs() == 1 &&
      call.binds_size() == 0 &&
      SameType({plan, call.args(0)}, {plan, call.args(1)})) {
    return absl::OkStatus();
  }
  return Bad("a copy reads a tensor and gives one of its type");
}

absl::Status CheckFunction(const Plan& plan, const PlanCall& call) {
  if (call.function().empty()) return Bad("its function has no name");
  if (call.binds_size() > 0) return Bad("a call of a function binds symbols");
  return CheckNoSequences(plan, call);
}

absl::Status CheckSequenceStep(const Plan& plan, const PlanCall& call) {
  const SequenceOpInfo* info = FindSequenceOp(call.sequence().op());
  if (info == nullptr)
    return Bad("there is no '", call.sequence().op(), "' on sequences");
  if (call.num_outputs() != 1) return Bad(info->name, " has one result");
  const int reads = call.args_size() - 1;
  INGOT_ASSIGN_OR_RETURN(std::string letters, OperandsOf(*info, reads));
  // The type that all have: the result's, or that of the first operand.
  const bool gives = info->result == 'L' || info->result == 'x';
  const Argument like(plan, call.args(gives ? reads : 0));
  letters += info->result;
  for (int i = 0; i <= reads; ++i) {
    const Argument argument(plan, call.args(i));
    if (FitsLetter(letters[i], argument, like)) continue;
    return Bad("'", argument.tensor.name(), "' is not what ", info->name,
               i < reads ? absl::StrCat(" takes as operand ", i) : " gives");
  }
  return absl::OkStatus();
}

absl::Status CheckKind(const Plan& plan, const PlanCall& call) {
  switch (call.step_case()) {
    case PlanCall::kFunction:
      return CheckFunction(plan, call);
    case PlanCall::kBranch:
      return CheckBranch(plan, call);
    case PlanCall::kLoop:
      return CheckLoop(plan, call);
    case PlanCall::kSequence:
      return CheckSequenceStep(plan, call);
    case PlanCall::kRandomState:
      return CheckRandomState(plan, call);
    case PlanCall::kBindDims:
      return CheckBindDims(plan, call);
    case PlanCall::kCopy:
      return CheckCopy(plan, call);
    case PlanCall::STEP_NOT_SET:
      break;
  }
  return Bad("it has nothing to do");
}

// The element of what a step reads that a symbol is bound to.
absl::Status CheckBoundElement(const Argument& argument, const PlanBind& bind) {
  const PlanTensor& from = argument.tensor;
  int64_t elements = 1;
  for (const DimExpr& dim : argument.type().shape()) {
    if (dim.op() != DimExpr::CONST || dim.value() < 0 ||
        dim.value() > kMaxBound || elements > kMaxBound) {
      return Bad("it binds symbols to '", from.name(), "', which is not short");
    }
    elements *= dim.value();
  }
  if (bind.index() < elements && bind.output() == 0) return absl::OkStatus();
  return Bad("it binds to element ", bind.index(), " of '", from.name(),
             "', which has ", elements);
}

absl::Status CheckBind(const Plan& plan, const PlanCall& call,
                       const PlanBind& bind) {
  if (bind.symbol() >= static_cast<uint32_t>(plan.symbols_size())) {
    return Bad("it binds symbol ", bind.symbol(), " of ", plan.symbols_size());
  }
  if (call.has_bind_dims()) {
    return CheckBoundElement({plan, call.args(0)}, bind);
  }
  if (bind.output() >= call.num_outputs()) {
    return Bad("it binds to result ", bind.output(), " of ",
               call.num_outputs());
  }
  const Argument result(
      plan, call.args(call.args_size() - static_cast<int>(call.num_outputs()) +
                      static_cast<int>(bind.output())));
  if (bind.index() < static_cast<uint32_t>(result.type().shape_size())) {
    return absl::OkStatus();
  }
  return Bad("it binds to dimension ", bind.index(), " of '",
             result.tensor.name(), "'");
}

}  // namespace

std::vector<uint32_t> BodiesOf(const PlanCall& call) {
  std::vector<uint32_t> bodies;
  const PlanBranch& branch = call.branch();
  if (call.has_loop()) bodies.push_back(call.loop().body());
  if (branch.has_then_body()) bodies.push_back(branch.then_body());
  if (branch.has_else_body()) bodies.push_back(branch.else_body());
  return bodies;
}

absl::Status CheckStep(const Plan& plan, const PlanCall& call) {
  absl::Status status = CheckKind(plan, call);
  for (const PlanBind& bind : call.binds()) {
    if (status.ok()) status = CheckBind(plan, call, bind);
  }
  return status;
}

}  // namespace ingot

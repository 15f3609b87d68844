#include "runtime/frame.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/error.h"

namespace ingot {
namespace {

absl::Span<const int64_t> ShapeOf(const DLTensor& tensor) {
  return absl::MakeConstSpan(tensor.shape, tensor.ndim);
}

const void* DataOf(const DLTensor& tensor) {
  return static_cast<const char*>(tensor.data) + tensor.byte_offset;
}

size_t BytesOf(const DLTensor& tensor) {
  // Its size was checked when it was bound.
  size_t bytes = tensor.dtype.bits / 8;
  for (int64_t dim : ShapeOf(tensor)) bytes *= static_cast<size_t>(dim);
  return bytes;
}

DataType TypeOf(const DLTensor& tensor) {
  DataType type;
  type.code = tensor.dtype.code;
  type.bits = tensor.dtype.bits;
  return type;
}

bool IsTrue(const DLTensor& condition) {
  return *static_cast<const uint8_t*>(DataOf(condition)) != 0;
}

// What a call does, for people.
absl::string_view NameOf(const PlanCall& call) {
  switch (call.control_case()) {
    case PlanCall::kBranch:
      return "if";
    case PlanCall::kLoop:
      return "loop";
    case PlanCall::kList:
      return call.list().op();
    case PlanCall::kRandomState:
      return "random_state";
    case PlanCall::CONTROL_NOT_SET:
      break;
  }
  return call.function().empty() ? "bind" : absl::string_view(call.function());
}

int64_t ElementOf(const DLTensor& tensor, uint32_t i) {
  int64_t value;
  std::memcpy(&value, static_cast<const int64_t*>(DataOf(tensor)) + i,
              sizeof(value));
  return value;
}

}  // namespace

absl::Status Frame::Init(const Plan& plan) {
  absl::Status status = bound_.Init(plan, context_->constants);
  if (!status.ok()) return status;
  size_t total = 0;
  for (const PlanCall& call : plan.calls()) total += call.args_size();
  args_.reserve(total);  // so that it stays where it is
  for (int i = 0; i < plan.calls_size(); ++i) {
    const PlanCall& call = plan.calls(i);
    Step step = {nullptr, nullptr, args_.data() + args_.size(),
                 call.args_size()};
    if (call.function().empty()) {
      has_control_ = true;
    } else {
      absl::StatusOr<Function> function =
          context_->host == nullptr
              ? absl::NotFoundError("there is no host module")
              : context_->host->Find(call.function());
      if (!function.ok()) return Annotate(i, function.status());
      step.call = function->call();
      step.handle = function->handle();
      functions_.push_back(*std::move(function));
    }
    steps_.push_back(step);
    for (uint32_t t : call.args()) {
      args_.push_back(AnyTensor(bound_.tensor(t)));
    }
  }
  for (const Plan& body : plan.bodies()) {
    bodies_.push_back(std::make_unique<Frame>(context_));
    status = bodies_.back()->Init(body);
    if (!status.ok()) return status;
  }
  loops_.resize(bodies_.size());
  return absl::OkStatus();
}

size_t Frame::storage_bytes() const {
  size_t bytes = bound_.storage_bytes();
  for (const auto& body : bodies_) bytes += body->storage_bytes();
  return bytes;
}

absl::Status Frame::Run() {
  absl::Status status = bound_.Bind();
  if (!status.ok()) return status;
  ++runs_;
  if (context_->observer != nullptr) return RunStepsObserved();
  return context_->profiler == nullptr ? RunSteps() : RunStepsProfiled();
}

absl::Status Frame::RunSteps() {
  if (has_control_) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      absl::Status status = RunStep(i);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  for (const Step& step : steps_) {
    TVMFFIAny result = AnyNone();
    const int code = step.call(step.handle, step.args, step.num_args, &result);
    if (result.type_index >= kTVMFFIStaticObjectBegin) ReleaseAny(&result);
    if (code != 0) {
      return Annotate(&step - steps_.data(), TakeLastErrorAsStatus());
    }
  }
  return absl::OkStatus();
}

absl::Status Frame::RunStep(size_t i) {
  const Step& step = steps_[i];
  if (step.call == nullptr) {
    absl::Status status = RunControl(static_cast<int>(i));
    return status.ok() ? status : Annotate(i, status);
  }
  TVMFFIAny result = AnyNone();
  const int code = step.call(step.handle, step.args, step.num_args, &result);
  if (result.type_index >= kTVMFFIStaticObjectBegin) ReleaseAny(&result);
  if (code != 0) return Annotate(i, TakeLastErrorAsStatus());
  return absl::OkStatus();
}

absl::Status Frame::RunStepsProfiled() {
  Profiler* profiler = context_->profiler;
  const int64_t start = profiler->Now();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int64_t before = profiler->Now();
    absl::Status status = RunStep(i);
    const int64_t after = profiler->Now();
    const PlanCall& call = bound_.plan().calls(static_cast<int>(i));
    profiler->Record(std::string(NameOf(call)), call.source(), before,
                     after - before);
    if (!status.ok()) return status;
  }
  const std::string& entry = bound_.plan().entry();
  profiler->Record(entry.empty() ? "run" : entry, "", start,
                   profiler->Now() - start);
  return absl::OkStatus();
}

absl::Status Frame::RunStepsObserved() {
  std::vector<const DLTensor*> args;
  for (size_t i = 0; i < steps_.size(); ++i) {
    absl::Status status = RunStep(i);
    if (!status.ok()) return status;
    if (steps_[i].call == nullptr) continue;
    const PlanCall& call = bound_.plan().calls(static_cast<int>(i));
    args.clear();
    for (int k = 0; k < call.args_size(); ++k) args.push_back(arg(call, k));
    status = context_->observer(call, args);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Frame::RunControl(int index) {
  const PlanCall& call = bound_.plan().calls(index);
  if (call.has_branch()) return RunBranch(index);
  if (call.has_loop()) return RunLoop(index);
  if (call.has_list()) return RunList(index);
  if (call.has_random_state()) {
    GiveRandomState(index);
    return absl::OkStatus();
  }
  std::vector<int64_t> values;
  for (const PlanBind& bind : call.binds()) {
    values.push_back(ElementOf(*arg(call, 0), bind.index()));
  }
  return bound_.BindPhase(index, values);
}

void Frame::GiveRandomState(int index) {
  const int64_t state[] = {static_cast<int64_t>(context_->random_seed),
                           runs_ - 1};
  std::memcpy(arg(bound_.plan().calls(index), 0)->data, state, sizeof(state));
}

absl::Status Frame::TakeResults(int index, absl::Span<const DLTensor> results) {
  const PlanCall& call = bound_.plan().calls(index);
  if (call.binds_size() > 0) {
    std::vector<int64_t> values;
    for (const PlanBind& bind : call.binds()) {
      values.push_back(results[bind.output()].shape[bind.index()]);
    }
    absl::Status status = bound_.BindPhase(index, values);
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    absl::Status status = CopyResult(index, static_cast<int>(i), results[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Frame::CopyResult(int index, int output, const DLTensor& from) {
  const PlanCall& call = bound_.plan().calls(index);
  const int first = call.args_size() - static_cast<int>(call.num_outputs());
  if (bound_.is_list(call.args(first + output))) return absl::OkStatus();
  DLTensor& to = *arg(call, first + output);
  if (ShapeOf(to) != ShapeOf(from)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "result ", output, " is ", TypeString(TypeOf(from), ShapeOf(from)),
        ", expected ", TypeString(TypeOf(to), ShapeOf(to))));
  }
  const size_t bytes = BytesOf(from);
  if (bytes > 0) std::memcpy(to.data, DataOf(from), bytes);
  return absl::OkStatus();
}

void Frame::PassInput(const PlanCall& call, int i, Frame* body, int input) {
  if (bound_.is_list(call.args(i))) {
    body->bound_.SetInputList(input, bound_.list(call.args(i)));
  } else {
    body->bound_.SetInputView(input, *arg(call, i));
  }
}

absl::Status Frame::RunBranch(int index) {
  const PlanCall& call = bound_.plan().calls(index);
  const PlanBranch& branch = call.branch();
  const bool condition = IsTrue(*arg(call, 0));
  const uint32_t chosen = condition ? branch.then_body() : branch.else_body();
  if (chosen == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the condition is ", condition ? "true" : "false",
                     ", which is not supported for these shapes"));
  }
  Frame& body = *bodies_[chosen - 1];
  BoundPlan& inner = body.bound_;
  for (int i = 0; i < inner.plan().inputs_size(); ++i) {
    PassInput(call, 1 + i, &body, i);
  }
  absl::Status status = body.Run();
  if (!status.ok()) return status;
  std::vector<DLTensor> results;
  for (uint32_t t : inner.plan().outputs()) results.push_back(*inner.tensor(t));
  status = TakeResults(index, results);
  const int first = call.args_size() - static_cast<int>(call.num_outputs());
  for (int i = 0; status.ok() && i < inner.plan().outputs_size(); ++i) {
    const uint32_t t = inner.plan().outputs(i);
    if (inner.is_list(t)) bound_.SetList(call.args(first + i), inner.list(t));
  }
  return status;
}

absl::Status Frame::RunLoop(int index) {
  const PlanCall& call = bound_.plan().calls(index);
  const PlanLoop& loop = call.loop();
  const int first = (loop.has_trips() ? 1 : 0) + (loop.has_condition() ? 1 : 0);
  const int reads = call.args_size() - static_cast<int>(call.num_outputs());
  Frame& body = *bodies_[loop.body()];
  const int carried = static_cast<int>(loop.carried());
  for (int i = first + carried; i < reads; ++i) {
    PassInput(call, i, &body, 1 + i - first);
  }
  std::vector<DLTensor> values, stacks;
  LoopState& state = loops_[loop.body()];
  state.lists.assign(carried, TensorList());
  for (int i = 0; i < carried; ++i) {
    values.push_back(*arg(call, first + i));
    state.lists[i] = bound_.list(call.args(first + i));
  }
  absl::Status status = RunTrips(index, &state, &values, &stacks);
  if (!status.ok()) return status;
  values.insert(values.end(), stacks.begin(), stacks.end());
  status = TakeResults(index, values);
  for (int i = 0; status.ok() && i < carried; ++i) {
    const uint32_t t = call.args(reads + i);
    if (bound_.is_list(t)) bound_.SetList(t, std::move(state.lists[i]));
  }
  return status;
}

absl::Status Frame::RunTrips(int index, LoopState* state,
                             std::vector<DLTensor>* carried,
                             std::vector<DLTensor>* stacks) {
  const PlanCall& call = bound_.plan().calls(index);
  const PlanLoop& loop = call.loop();
  Frame& body = *bodies_[loop.body()];
  BoundPlan& inner = body.bound_;
  const size_t count = carried->size();
  const int first_output =
      call.args_size() - static_cast<int>(call.num_outputs());
  const size_t num_stacks = call.num_outputs() - count;
  state->read.resize(count);
  state->given.resize(count);
  state->stacks.resize(num_stacks);
  for (std::vector<char>& stack : state->stacks) stack.clear();
  // Shapes of values that lie in this frame only for now.
  std::vector<std::vector<int64_t>> shapes(count), stack_shapes(num_stacks);
  for (size_t i = 0; i < count; ++i) {
    const auto shape = ShapeOf((*carried)[i]);
    shapes[i].assign(shape.begin(), shape.end());
    (*carried)[i].shape = shapes[i].data();
  }
  int64_t trips = std::numeric_limits<int64_t>::max();
  bool go_on = true;
  if (loop.has_trips()) trips = ElementOf(*arg(call, 0), 0);
  if (loop.has_condition()) {
    go_on = IsTrue(*arg(call, loop.has_trips() ? 1 : 0));
  }
  int64_t trip = 0;
  DLTensor number = *inner.tensor(inner.plan().inputs(0));
  number.data = &trip;
  for (; go_on && trip < trips; ++trip) {
    if (++context_->trips > context_->max_trips) {
      return absl::ResourceExhaustedError(
          absl::StrCat("trip ", trip, ": the loops of this run go on after ",
                       context_->max_trips, " trips, the limit"));
    }
    inner.SetInputView(0, number);
    for (size_t i = 0; i < count; ++i) {
      if (inner.is_list(inner.plan().inputs(static_cast<int>(1 + i)))) {
        inner.SetInputList(1 + i, std::move(state->lists[i]));
      } else {
        inner.SetInputView(1 + i, (*carried)[i]);
      }
    }
    absl::Status status = body.Run();
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("trip ", trip, ": ", status.message()));
    }
    auto result = [&](size_t i) -> DLTensor& {
      return *inner.tensor(inner.plan().outputs(static_cast<int>(i)));
    };
    go_on = IsTrue(result(0));
    for (size_t i = 0; i < count; ++i) {
      const uint32_t t = inner.plan().outputs(static_cast<int>(1 + i));
      if (inner.is_list(t)) {
        state->lists[i] = inner.list(t);
        continue;
      }
      const DLTensor& value = result(1 + i);
      const auto* data = static_cast<const char*>(DataOf(value));
      state->given[i].assign(data, data + BytesOf(value));
    }
    for (size_t i = 0; i < count; ++i) {
      const DLTensor& value = result(1 + i);
      const auto shape = ShapeOf(value);  // a list has none
      shapes[i].assign(shape.begin(), shape.end());
      (*carried)[i].shape = shapes[i].data();
      (*carried)[i].byte_offset = 0;
      (*carried)[i].data = state->given[i].data();
    }
    std::swap(state->read, state->given);
    for (size_t i = 0; i < num_stacks; ++i) {
      const DLTensor& value = result(1 + count + i);
      const auto shape = ShapeOf(value);
      std::vector<int64_t>& known = stack_shapes[i];
      if (known.empty()) {
        known.push_back(0);
        known.insert(known.end(), shape.begin(), shape.end());
      }
      if (absl::MakeConstSpan(known).subspan(1) != shape) {
        return absl::InvalidArgumentError(absl::StrCat(
            "trip ", trip, " gives ", TypeString(TypeOf(value), shape),
            ", those before gave ",
            TypeString(TypeOf(value), absl::MakeConstSpan(known).subspan(1))));
      }
      std::vector<char>& stack = state->stacks[i];
      const size_t bytes = BytesOf(value);
      if (bytes > context_->max_storage_bytes - stack.size()) {
        return absl::ResourceExhaustedError(
            absl::StrCat("result ", count + i, " has more than ",
                         context_->max_storage_bytes, " bytes"));
      }
      const auto* data = static_cast<const char*>(DataOf(value));
      stack.insert(stack.end(), data, data + bytes);
    }
  }
  // In memory that is there until the results are taken.
  state->dims.assign(num_stacks + count, {});
  for (size_t i = 0; i < count; ++i) {
    state->dims[i] = shapes[i];
    (*carried)[i].shape = state->dims[i].data();
  }
  for (size_t i = 0; i < num_stacks; ++i) {
    DLTensor stack = *arg(call, first_output + static_cast<int>(count + i));
    std::vector<int64_t>& dims = state->dims[count + i];
    if (trip > 0) {
      dims = stack_shapes[i];
    } else {
      // Those dimensions that a trip would tell are 0.
      const PlanTensor& declared = bound_.plan().tensors(
          call.args(first_output + static_cast<int>(count + i)));
      for (int d = 0; d < stack.ndim; ++d) {
        dims.push_back(d == 0 ? 0 : bound_.DimBefore(index, declared.shape(d)));
      }
    }
    dims[0] = trip;
    stack.shape = dims.data();
    stack.byte_offset = 0;
    stack.data = state->stacks[i].data();
    stacks->push_back(stack);
  }
  return absl::OkStatus();
}

absl::Status Frame::Annotate(size_t step, const absl::Status& status) const {
  const PlanCall& call = bound_.plan().calls(static_cast<int>(step));
  return absl::Status(status.code(),
                      absl::StrCat("call ", step, " (", NameOf(call),
                                   call.source().empty() ? "" : ", for ",
                                   call.source(), "): ", status.message()));
}

}  // namespace ingot

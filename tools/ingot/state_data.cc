#include "tools/ingot/state_data.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/onnx_tensor/test_file.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

// A tensor of a file.
struct Named {
  std::string path;
  TensorOrSequence value;
  bool is_text = false;
};

const TensorInfo* Find(absl::Span<const TensorInfo> infos,
                       const std::string& name) {
  for (const TensorInfo& info : infos) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

// The values of files by their names, of which `declared` are known.
absl::StatusOr<std::map<std::string, Named>> ReadByName(
    const std::vector<std::string>& paths,
    absl::Span<const TensorInfo> declared) {
  std::map<std::string, Named> values;
  for (const std::string& path : paths) {
    absl::StatusOr<std::string> name = ReadOnnxValueName(path);
    if (!name.ok()) return Where(name.status(), path);
    const TensorInfo* info = Find(declared, *name);
    if (info == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": holds '", *name, "', which the model does not have"));
    }
    Named value{path, {}, false};
    INGOT_ASSIGN_OR_RETURN(value.value,
                           ReadValueFile(path, *info, &value.is_text));
    if (!values.emplace(*name, std::move(value)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": another file holds '", *name, "', too"));
    }
  }
  return values;
}

bool Fits(const Tensor& part, const TensorInfo& whole) {
  bool fits =
      part.dtype() == whole.dtype && part.shape().size() == whole.shape.size();
  for (size_t d = 0; fits && d < whole.shape.size(); ++d) {
    fits = part.shape()[d] <= whole.shape[d];
  }
  return fits;
}

// Moves the tensors of states out of `values`.
absl::StatusOr<std::vector<Tensor>> TakeStates(
    absl::Span<const StateInfo> states,
    const std::function<std::string(const StateInfo&)>& name_of,
    std::map<std::string, Named>* values) {
  std::vector<Tensor> tensors;
  for (const StateInfo& state : states) {
    Tensor& tensor = tensors.emplace_back();
    const auto it = values->find(name_of(state));
    if (it == values->end()) continue;
    tensor = std::get<Tensor>(it->second.value);
    if (!Fits(tensor, state.info)) {
      return absl::InvalidArgumentError(absl::StrCat(
          it->second.path, ": ", tensor.TypeString(), " has no room in '",
          state.info.name, "', which is ", state.info.TypeString()));
    }
    values->erase(it);
  }
  return tensors;
}

// How many entries there are, along the dimension in which what is there is
// smaller than the state; nothing where no state tells.
std::optional<int64_t> EntriesOf(const StateData& data,
                                 absl::Span<const StateInfo> states) {
  for (size_t i = 0; i < states.size(); ++i) {
    if (!data.before[i].defined()) continue;
    const absl::Span<const int64_t> shape = data.before[i].shape();
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] != states[i].info.shape[d]) return shape[d];
    }
  }
  return std::nullopt;
}

absl::StatusOr<Tensor> OneNumber(int64_t value) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(DataType::Int(64), {1}));
  tensor.mutable_data<int64_t>()[0] = value;
  return tensor;
}

// The bytes of a row of `part` and where it lies there and in `whole`, of which
// `part` has the first elements along each dimension.
using RowFn =
    std::function<void(size_t in_part, size_t in_whole, size_t bytes)>;
void ForEachRow(const Tensor& part, const Tensor& whole, const RowFn& visit) {
  const absl::Span<const int64_t> inner = part.shape(), outer = whole.shape();
  const size_t rank = inner.size(), element = part.dtype().bytes();
  if (part.NumElements() == 0) return;
  const size_t row =
      element * (rank == 0 ? 1 : static_cast<size_t>(inner[rank - 1]));
  for (size_t i = 0; i < part.bytes() / row; ++i) {
    size_t at = 0, rest = i, stride = element;
    for (size_t d = rank; d-- > 0;) {
      if (d + 1 < rank) {
        at += rest % static_cast<size_t>(inner[d]) * stride;
        rest /= static_cast<size_t>(inner[d]);
      }
      stride *= static_cast<size_t>(outer[d]);
    }
    visit(i * row, at, row);
  }
}

}  // namespace

std::vector<StateInfo> StatesOf(const Plan& plan,
                                const GraphExecutor& executor) {
  std::vector<StateInfo> states;
  for (const TensorInfo& info : executor.states()) {
    const auto i = static_cast<int>(states.size());
    states.push_back(
        {info, i < plan.state_results_size() ? plan.state_results(i) : ""});
  }
  return states;
}

absl::StatusOr<Case> ReadCaseOfStates(const TestDataSet& set,
                                      absl::Span<const StateInfo> states,
                                      const GraphExecutor& executor,
                                      StateData* data) {
  std::vector<TensorInfo> inputs(executor.inputs().begin(),
                                 executor.inputs().end());
  std::vector<TensorInfo> outputs(executor.outputs().begin(),
                                  executor.outputs().end());
  for (const StateInfo& state : states) {
    inputs.push_back(state.info);
    outputs.push_back(state.info);
    outputs.back().name = state.result;
  }
  INGOT_ASSIGN_OR_RETURN(auto given, ReadByName(set.inputs, inputs));
  INGOT_ASSIGN_OR_RETURN(auto expected, ReadByName(set.outputs, outputs));
  INGOT_ASSIGN_OR_RETURN(
      data->before,
      TakeStates(
          states, [](const StateInfo& s) { return s.info.name; }, &given));
  INGOT_ASSIGN_OR_RETURN(
      data->after,
      TakeStates(
          states, [](const StateInfo& s) { return s.result; }, &expected));
  Case read;
  read.name = set.name;
  for (const TensorInfo& input : executor.inputs()) {
    const auto it = given.find(input.name);
    const std::optional<int64_t> entries = EntriesOf(*data, states);
    if (it != given.end()) {
      read.inputs.push_back(it->second.value);
    } else if (entries && input.TypeString() == "i64[1]") {
      INGOT_ASSIGN_OR_RETURN(const Tensor number, OneNumber(*entries));
      read.inputs.push_back(number);
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          set.name, ": no file holds the input '", input.name, "'"));
    }
  }
  for (const TensorInfo& output : executor.outputs()) {
    const auto it = expected.find(output.name);
    if (it == expected.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          set.name, ": no file holds the output '", output.name, "'"));
    }
    if (it->second.is_text) read.text_outputs.insert(read.outputs.size());
    read.outputs.push_back(it->second.value);
  }
  return read;
}

absl::Status SetStates(const StateData& data,
                       absl::Span<const StateInfo> states,
                       GraphExecutor* executor) {
  for (size_t i = 0; i < states.size(); ++i) {
    if (data.before.empty() || !data.before[i].defined()) continue;
    INGOT_ASSIGN_OR_RETURN(Tensor state, executor->GetState(i));
    auto* to = static_cast<char*>(state.mutable_raw_data());
    const auto* from = static_cast<const char*>(data.before[i].raw_data());
    std::memset(to, 0, state.bytes());
    ForEachRow(data.before[i], state,
               [&](size_t in_part, size_t in_whole, size_t bytes) {
                 std::memcpy(to + in_whole, from + in_part, bytes);
               });
  }
  return absl::OkStatus();
}

absl::Status CompareStates(const std::string& set, const StateData& data,
                           absl::Span<const StateInfo> states,
                           const Tolerance& tolerance, GraphExecutor* executor,
                           Verdict* verdict) {
  for (size_t i = 0; i < states.size(); ++i) {
    if (data.after.empty() || !data.after[i].defined()) continue;
    const Tensor& after = data.after[i];
    INGOT_ASSIGN_OR_RETURN(const Tensor state, executor->GetState(i));
    INGOT_ASSIGN_OR_RETURN(Tensor got,
                           Tensor::Empty(after.dtype(), after.shape()));
    auto* to = static_cast<char*>(got.mutable_raw_data());
    const auto* from = static_cast<const char*>(state.raw_data());
    ForEachRow(got, state, [&](size_t in_part, size_t in_whole, size_t bytes) {
      std::memcpy(to + in_part, from + in_whole, bytes);
    });
    absl::StatusOr<Comparison> comparison = Compare(got, after, tolerance);
    if (!comparison.ok()) {
      return Annotate(comparison.status(),
                      absl::StrCat("state '", states[i].info.name, "'"));
    }
    verdict->Add(set, states[i].result, after.TypeString(), *comparison);
  }
  return absl::OkStatus();
}

}  // namespace ingot

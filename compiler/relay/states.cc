#include "compiler/relay/states.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"

namespace ingot::relay {
namespace {

constexpr char kStates[] = "states";

}  // namespace

std::vector<State> StatesOf(const Function& main) {
  std::vector<State> states;
  const auto* pairs = main.attrs.Find<std::vector<int64_t>>(kStates);
  for (size_t i = 0; pairs != nullptr && i + 1 < pairs->size(); i += 2) {
    states.push_back(
        {static_cast<int>((*pairs)[i]), static_cast<int>((*pairs)[i + 1])});
  }
  return states;
}

void SetStates(Function* main, absl::Span<const State> states) {
  std::vector<int64_t> pairs;
  for (const State& state : states) {
    pairs.insert(pairs.end(), {state.input, state.output});
  }
  main->attrs.Erase(kStates);
  if (!pairs.empty()) main->attrs.Set(kStates, std::move(pairs));
}

absl::Status CheckStates(const Function& function) {
  const auto it = function.attrs.values().find(kStates);
  if (it == function.attrs.values().end()) return absl::OkStatus();
  const auto* pairs = std::get_if<std::vector<int64_t>>(&it->second);
  if (pairs == nullptr || pairs->size() % 2 != 0) {
    return absl::InvalidArgumentError("its states are no pairs of positions");
  }
  std::set<int64_t> inputs, outputs;
  for (size_t i = 0; i < pairs->size(); i += 2) {
    const int64_t in = (*pairs)[i], out = (*pairs)[i + 1];
    if (in < 0 || in >= static_cast<int64_t>(function.inputs.size()) ||
        out < 0 || out >= static_cast<int64_t>(function.outputs.size()) ||
        !inputs.insert(in).second || !outputs.insert(out).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", in, " and output ", out, " are no state"));
    }
    const TensorType& from = function.inputs[in]->outputs[0];
    const TensorType& to = function.outputs[out].type();
    if (from.is_sequence || to.is_sequence || from.dtype != to.dtype ||
        !ConstShape(from.shape) || !SameShape(from.shape, to.shape)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the state ", function.inputs[in]->name, ", which is ",
                       ToString(from), ", becomes ", ToString(to)));
    }
  }
  return absl::OkStatus();
}

int UpdatedInput(const Function& kernel) {
  for (const auto& node : kernel.nodes()) {
    if (node->kind != NodeKind::kOp ||
        node->op->FindAttr(kInPlaceAttr) == nullptr ||
        node->attrs.Get<int64_t>(kInPlaceAttr) == 0) {
      continue;
    }
    const auto it = std::find(kernel.inputs.begin(), kernel.inputs.end(),
                              node->inputs[0].node);
    if (it != kernel.inputs.end()) {
      return static_cast<int>(it - kernel.inputs.begin());
    }
  }
  return -1;
}

}  // namespace ingot::relay

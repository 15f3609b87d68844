#include "compiler/frontends/onnx/graph/states.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/import/compose.h"

namespace ingot::onnx_frontend {
namespace {

using relay::Value;

// The part of a name that a pattern's * stands for; nothing where it does not
// fit.
std::optional<std::string> Star(absl::string_view pattern,
                                absl::string_view name) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) {
    return pattern == name ? std::optional<std::string>("") : std::nullopt;
  }
  const absl::string_view before = pattern.substr(0, star);
  const absl::string_view after = pattern.substr(star + 1);
  if (name.size() < before.size() + after.size() ||
      !absl::StartsWith(name, before) || !absl::EndsWith(name, after)) {
    return std::nullopt;
  }
  return std::string(
      name.substr(before.size(), name.size() - before.size() - after.size()));
}

std::string Fill(absl::string_view pattern, absl::string_view star) {
  const size_t at = pattern.find('*');
  if (at == absl::string_view::npos) return std::string(pattern);
  return absl::StrCat(pattern.substr(0, at), star, pattern.substr(at + 1));
}

}  // namespace

absl::StatusOr<std::vector<ImportedState>> FindStates(
    const onnx::GraphProto& graph, absl::Span<const StateOption> options) {
  std::set<std::string> outputs, found;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  std::vector<ImportedState> states;
  for (const StateOption& option : options) {
    const size_t before = states.size();
    for (const auto& input : graph.input()) {
      const std::optional<std::string> star = Star(option.input, input.name());
      if (!star.has_value()) continue;
      ImportedState state;
      state.input = input.name();
      state.output = Fill(option.output, *star);
      state.sizes = option.sizes;
      if (outputs.count(state.output) == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("the state '", state.input,
                         "': the model has no output '", state.output, "'"));
      }
      if (!found.insert(state.input).second ||
          !found.insert(state.output).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", state.input, "' or '", state.output,
                         "' is part of two states"));
      }
      states.push_back(std::move(state));
    }
    if (states.size() == before) {
      return absl::InvalidArgumentError(
          absl::StrCat("no input of the model is called '", option.input, "'"));
    }
  }
  return states;
}

absl::StatusOr<Value> UpdateState(relay::CallBuilder& calls, Value entries,
                                  Value starts, ImportedState* state,
                                  bool circular) {
  relay::Attrs attrs;
  attrs.Set("axis", int64_t{state->axis});
  if (circular) attrs.Set("circular", int64_t{1});
  INGOT_ASSIGN_OR_RETURN(
      state->updated,
      calls.Emit("update_slice", {state->whole, entries, starts},
                 std::move(attrs), "state"));
  state->result = state->updated;
  return state->updated;
}

absl::StatusOr<Value> AppendToState(relay::CallBuilder& calls, Value entries,
                                    ImportedState* state) {
  relay::Compose k(calls);
  const Value start = k.Number(state->past);
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(const Value whole,
                         UpdateState(calls, entries, start, state));
  const relay::Dim count = entries.type().shape[state->axis];
  state->result = k.Slice(whole, state->axis, tir::MakeInt(0),
                          relay::SimplifyDim(state->past + count));
  INGOT_RETURN_IF_ERROR(k.status());
  return state->result;
}

}  // namespace ingot::onnx_frontend

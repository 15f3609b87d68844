// The model's inputs that stay from run to run, and the outputs that take their
// places.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/relay/import/compose.h"
#include "compiler/relay/states.h"

namespace ingot::onnx_frontend {
namespace {

const onnx::ValueInfoProto* FindInput(const onnx::GraphProto& graph,
                                      const std::string& name) {
  for (const auto& input : graph.input()) {
    if (input.name() == name) return &input;
  }
  return nullptr;
}

// The dimensions of an input that are no numbers.
std::vector<int> SymbolicDims(const onnx::ValueInfoProto& input) {
  std::vector<int> dims;
  const auto& shape = input.type().tensor_type().shape();
  for (int d = 0; d < shape.dim_size(); ++d) {
    if (!shape.dim(d).has_dim_value()) dims.push_back(d);
  }
  return dims;
}

}  // namespace

absl::Status Importer::PrepareStates() {
  INGOT_ASSIGN_OR_RETURN(states_, FindStates(model_->graph(), options_.states));
  for (ImportedState& state : states_) {
    const onnx::ValueInfoProto& input =
        *FindInput(model_->graph(), state.input);
    const std::vector<int> dims = SymbolicDims(input);
    if (state.sizes.size() > dims.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the state '", state.input, "' has ", dims.size(),
                       " dimensions that are no numbers; ", state.sizes.size(),
                       " were given"));
    }
    if (dims.empty()) continue;
    if (state.sizes.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the state '", state.input,
                       "' needs a length: the most entries that it can have"));
    }
    state.sizes.insert(state.sizes.begin(), dims.size() - state.sizes.size(),
                       1);
    state.axis = dims.back();
    for (size_t i = 0; i + 1 < dims.size(); ++i) {
      const auto& dim = input.type().tensor_type().shape().dim(dims[i]);
      if (dim.dim_param().empty()) continue;
      auto [it, added] = bound_params_.emplace(dim.dim_param(), state.sizes[i]);
      if (added || it->second == state.sizes[i]) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the state '", state.input, "': dimension '", dim.dim_param(),
          "' was given as ", it->second, " and as ", state.sizes[i]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<tir::Expr> Importer::FilledLength(const std::string& symbol) {
  // Another input may tell how many entries there are.
  for (const auto& input : model_->graph().input()) {
    const bool is_state = std::any_of(
        states_.begin(), states_.end(),
        [&](const ImportedState& s) { return s.input == input.name(); });
    if (is_state) continue;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (dim.dim_param() == symbol) return builder_.module().Symbol(symbol);
    }
  }
  relay::Node*& input = lengths_[symbol];
  if (input == nullptr) {
    input = builder_.function()->AddInput(
        symbol, {DataType::Int(64), relay::MakeShape({1})});
  }
  INGOT_ASSIGN_OR_RETURN(const Shape length,
                         builder_.BindDims(Value{input}, symbol));
  return length[0];
}

absl::StatusOr<Binding> Importer::StateInput(const onnx::ValueInfoProto& input,
                                             ImportedState* state) {
  INGOT_ASSIGN_OR_RETURN(TensorType type, InputType(input));
  Binding binding;
  binding.storage = StorageTypeFromOnnx(input.type().tensor_type().elem_type());
  const std::vector<int> dims = SymbolicDims(input);
  for (size_t i = 0; i < dims.size(); ++i) {
    type.shape[dims[i]] = tir::MakeInt(state->sizes[i]);
  }
  state->whole =
      Value{builder_.function()->AddInput(input.name(), std::move(type)), 0};
  binding.value = state->whole;
  if (state->axis >= 0) {
    const auto& dim = input.type().tensor_type().shape().dim(state->axis);
    INGOT_ASSIGN_OR_RETURN(
        state->past, FilledLength(dim.dim_param().empty()
                                      ? absl::StrCat(input.name(), "_length")
                                      : dim.dim_param()));
    relay::CallBuilder calls(&builder_, absl::StrCat(input.name(), ".filled"));
    relay::Compose k(calls);
    binding.value = k.Slice(state->whole, state->axis, I(0), state->past);
    INGOT_RETURN_IF_ERROR(k.status());
  }
  state->filled = binding.value;
  return binding;
}

ImportedState* Importer::StateOf(const Value& value) {
  for (ImportedState& state : states_) {
    if (value && state.filled == value && state.axis >= 0 && !state.updated) {
      return &state;
    }
  }
  return nullptr;
}

absl::StatusOr<ImportedState*> StateInput(NodeContext& c, int i) {
  if (!c.has_input(i) || c.IsSequence(i)) return nullptr;
  INGOT_ASSIGN_OR_RETURN(const Value value, c.StoredInput(i));
  return c.importer()->StateOf(value);
}

absl::StatusOr<Value> Importer::StateOutput(const std::string& output,
                                            Value value) {
  for (const ImportedState& state : states_) {
    if (state.output != output) continue;
    if (state.result && state.result == value) return state.updated;
    if (relay::SameShape(ShapeOf(value), ShapeOf(state.whole)) &&
        value.type().dtype == state.whole.type().dtype) {
      return value;
    }
    return absl::UnimplementedError(absl::StrCat(
        "the state '", state.input, "': output '", output, "', ",
        relay::ToString(value.type()),
        ", is neither what was there with more entries after it, by Concat, "
        "GroupQueryAttention, Attention or TensorScatter, nor of its type, ",
        relay::ToString(state.whole.type())));
  }
  return value;
}

void Importer::FinishStates() {
  relay::Function* main = builder_.function();
  main->RemoveDead();
  const auto users = main->Users();
  for (const auto& [symbol, input] : lengths_) {
    // Those that tell lengths come last, if anything needs them.
    auto& inputs = main->inputs;
    inputs.erase(std::find(inputs.begin(), inputs.end(), input));
    const auto it = users.find(input);
    if (it != users.end() && !it->second.empty()) inputs.push_back(input);
  }
  main->RemoveDead();
  std::vector<relay::State> pairs;
  for (const ImportedState& state : states_) {
    const auto& names = main->output_names;
    const auto& inputs = main->inputs;
    pairs.push_back(
        {static_cast<int>(
             std::find(inputs.begin(), inputs.end(), state.whole.node) -
             inputs.begin()),
         static_cast<int>(std::find(names.begin(), names.end(), state.output) -
                          names.begin())});
  }
  relay::SetStates(main, pairs);
}

}  // namespace ingot::onnx_frontend

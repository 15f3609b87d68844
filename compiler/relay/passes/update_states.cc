// update_states: states change where they are.
//
//   update_slice(%state, ...)  ->  update_slice(%state, ...) {in_place=1}
//
// where the result is the state's next value. One that anything else computes
// is copied into its place.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/states.h"

namespace ingot::relay {
namespace {

bool Updates(const Value& next, const Node* state) {
  const Node* node = next.node;
  return node->kind == NodeKind::kOp &&
         node->op->FindAttr(kInPlaceAttr) != nullptr &&
         node->inputs[0].node == state && !node->attrs.Has("target");
}

// A copy of `next` in the place of `state`.
absl::StatusOr<Value> CopyInto(Function* main, Node* state, const Value& next) {
  if (state->outputs[0].shape.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        "the state ", state->name, " is one number without dimensions"));
  }
  INGOT_ASSIGN_OR_RETURN(Tensor zero, Tensor::Empty(DataType::Int(64), {1}));
  zero.mutable_data<int64_t>()[0] = 0;
  const Value start{main->AddConstant("start", std::move(zero))};
  INGOT_ASSIGN_OR_RETURN(
      Node * copy,
      main->AddOp("update_slice", absl::StrCat(state->name, ".next"),
                  {Value{state}, next, start}, {{"axis", int64_t{0}}}));
  return Value{copy};
}

}  // namespace

absl::StatusOr<bool> UpdateStates(Module* module, PassContext*) {
  Function* main = module->main();
  bool changed = false;
  for (const State& state : StatesOf(*main)) {
    Value& next = main->outputs[state.output];
    Node* input = main->inputs[state.input];
    if (!Updates(next, input)) {
      INGOT_ASSIGN_OR_RETURN(next, CopyInto(main, input, next));
    }
    changed = changed || next.node->attrs.Get<int64_t>(kInPlaceAttr) == 0;
    next.node->attrs.Set(kInPlaceAttr, int64_t{1});
  }
  return changed;
}

}  // namespace ingot::relay

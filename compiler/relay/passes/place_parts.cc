// place_parts: concatenations and slices in main that move no byte, as the plan
// places what they read and give in one another.
//
//   %a = @relu(%x)                     %a = @relu(%x)
//   %b = @conv2d(%x, %w)        ->     %b = @conv2d(%x, %w)
//   %y = @concat(%a, %b)               %y = concat(%a, %b)
//
// Kernels then write their results where the concatenation has them, and read
// a part where it lies.
#include <optional>
#include <set>
#include <vector>

#include "base/alignment.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parts.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/states.h"

namespace ingot::relay {
namespace {

// So many bytes are copied in the time that a call takes.
constexpr int64_t kFewBytes = 4096;

// Vectors that begin anywhere cross the lines of caches. The shape of `part` is
// constant.
bool IsWellPlaced(int64_t offset, const TensorType& part) {
  if (offset % static_cast<int64_t>(kAlignment) == 0) return true;
  int64_t bytes = static_cast<int64_t>(part.dtype.bytes());
  const std::vector<int64_t> shape = *ConstShape(part.shape);
  for (int64_t extent : shape) bytes *= extent;
  return bytes <= kFewBytes;
}

class PartPlacer {
 public:
  explicit PartPlacer(Module* module)
      : module_(*module), main_(*module->main()) {
    for (const State& state : StatesOf(main_)) {
      states_.insert(main_.inputs[state.input]);
    }
    for (const Value& output : main_.outputs) outputs_.insert(Viewed(output));
  }

  absl::StatusOr<bool> Run() {
    std::vector<Node*> calls;
    for (const auto& node : main_.nodes()) {
      if (node->kind == NodeKind::kCallFunction) calls.push_back(node.get());
    }
    bool changed = false;
    for (Node* call : calls) {
      const Node* only = OnlyOperatorOf(*call);
      if (only == nullptr || !(CanJoin(*only, *call) || CanCut(*only, *call))) {
        continue;
      }
      INGOT_RETURN_IF_ERROR(Replace(*only, call));
      changed = true;
    }
    if (changed) INGOT_RETURN_IF_ERROR(main_.Sort());
    return changed;
  }

 private:
  // The kernel that a call of the host's own target calls; null: it calls
  // something else.
  const Function* KernelOf(const Node& call) const {
    if (call.kind != NodeKind::kCallFunction) return nullptr;
    const Function* kernel = module_.Find(call.callee);
    return kernel->attrs.Has("primitive") && TargetOf(kernel->attrs).empty()
               ? kernel
               : nullptr;
  }

  // The operator of a kernel that has one alone, and has it read what the call
  // gives it.
  const Node* OnlyOperatorOf(const Node& call) const {
    const Function* kernel = KernelOf(call);
    if (kernel == nullptr) return nullptr;
    const Node* only = nullptr;
    for (const auto& node : kernel->nodes()) {
      if (node->kind == NodeKind::kInput) continue;
      if (node->kind != NodeKind::kOp || only != nullptr) return nullptr;
      only = node.get();
    }
    return only;
  }

  // The operand that the call gives the operator of its kernel.
  Value Given(const Node& call, const Value& operand) const {
    const Function* kernel = module_.Find(call.callee);
    size_t i = 0;
    while (kernel->inputs[i] != operand.node) ++i;
    return call.inputs[i];
  }

  // Whether a call writes the value into memory of its own, which can be
  // chosen.
  bool IsFresh(const Value& value) const {
    const Function* kernel = KernelOf(*value.node);
    return kernel != nullptr && UpdatedInput(*kernel) < 0;
  }

  bool CanJoin(const Node& join, const Node& call) {
    const auto offsets = OffsetsOfJoined(join);
    if (!offsets) return false;
    std::set<Value> parts;
    for (size_t i = 0; i < join.inputs.size(); ++i) {
      const Value part = Viewed(Given(call, join.inputs[i]));
      const bool joined =
          part.node->kind == NodeKind::kOp && part.node->op->Has(kJoins);
      if (!(joined || IsFresh(part)) || outputs_.count(part) > 0 ||
          placed_.count(part) > 0 || !parts.insert(part).second ||
          !IsWellPlaced((*offsets)[i], join.inputs[i].type())) {
        return false;
      }
    }
    placed_.insert(parts.begin(), parts.end());
    return true;
  }

  bool CanCut(const Node& cut, const Node& call) const {
    const std::optional<int64_t> offset = OffsetOfCut(cut);
    if (!offset || !IsWellPlaced(*offset, cut.outputs[0]) ||
        outputs_.count(Value{const_cast<Node*>(&call)}) > 0) {
      return false;
    }
    const Node& whole = *Viewed(Given(call, cut.inputs[0])).node;
    switch (whole.kind) {
      case NodeKind::kInput:
        return states_.count(&whole) == 0;
      case NodeKind::kCallFunction:
        return UpdatedInput(*module_.Find(whole.callee)) < 0;
      case NodeKind::kOp:
        return whole.op->Has(kJoins) || whole.op->Has(kCuts);
      default:
        return false;
    }
  }

  absl::Status Replace(const Node& op, Node* call) {
    std::vector<Value> inputs;
    for (const Value& operand : op.inputs) {
      inputs.push_back(Given(*call, operand));
    }
    INGOT_ASSIGN_OR_RETURN(
        Node * placed,
        main_.AddOp(op.op->name, call->name, std::move(inputs), op.attrs));
    std::swap(placed->name, call->name);
    placed->sources.Add(call->sources);
    const Value before{call}, after{placed};
    main_.ReplaceUses(before, after);
    // The node is an output where the call was one.
    if (outputs_.erase(before) > 0) outputs_.insert(after);
    return absl::OkStatus();
  }

  Module& module_;
  Function& main_;
  std::set<const Node*> states_;  // inputs that stay from run to run
  std::set<Value> outputs_;       // what outputs show
  std::set<Value> placed_;        // parts of concatenations
};

}  // namespace

absl::StatusOr<bool> PlaceParts(Module* module, PassContext* context) {
  INGOT_ASSIGN_OR_RETURN(const bool changed, PartPlacer(module).Run());
  // The calls are there, and kernels that no other call has.
  if (changed) INGOT_RETURN_IF_ERROR(EliminateDead(module, context).status());
  return changed;
}

}  // namespace ingot::relay

// byte_tables: what depends on one byte alone, element by element, becomes a
// table of its 256 results.
//
//   quantize(gelu(dequantize(x)))  ->  look_up(x, table)
//
// However many operators and roundings lie between. The table holds what the
// interpreter makes of each byte, which is what they mean.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/byte_operands.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

constexpr int64_t kBytes = 256;

// About how many instructions the elements of a vector take. Looking them up
// takes some for each, where no instruction permutes bytes.
constexpr int kLookUpCost = 16;
constexpr int kCheapCost = 1;
constexpr int kQuantizeCost = 8;
constexpr int kOtherCost = 16;  // exponentials and the like
// Longer chains are several tables.
constexpr int kMaxCost = 1 << 12;

int CostOf(const Node& node) {
  if (node.op->Has(kCheap) || node.op->Has(kDequantizes)) return kCheapCost;
  return node.op->Has(kJumps) ? kQuantizeCost : kOtherCost;
}

// Whether the node computes each element by itself, of whatever shape.
bool IsElementwise(const Node& node) {
  return node.kind == NodeKind::kOp && node.op->IsPointwise() &&
         !node.op->BackendOnly() && !node.op->Has(kLooksUp) &&
         node.outputs.size() == 1 && !node.outputs[0].is_sequence &&
         std::none_of(node.op->attrs.begin(), node.op->attrs.end(),
                      [](const AttrSpec& attr) {
                        return attr.kind == AttrKind::kShape;
                      });
}

// Finds which byte each value depends on, and makes tables.
class Tables {
 public:
  explicit Tables(Function* function) : function_(function) {}

  absl::StatusOr<bool> Run() {
    std::vector<Node*> nodes;
    for (const auto& node : function_->nodes()) nodes.push_back(node.get());
    bool changed = false;
    for (Node* node : nodes) {
      const Value value{node};
      std::optional<Origin> origin = Follow(*node);
      if (!origin) continue;
      if (IsByte(value.type().dtype) && origin->cost >= kLookUpCost) {
        INGOT_RETURN_IF_ERROR(LookUp(value, *origin));
        changed = true;
      }
      origins_[value] = *std::move(origin);
    }
    if (changed) INGOT_RETURN_IF_ERROR(function_->Sort());
    return changed;
  }

 private:
  struct Origin {
    Value byte;
    int cost = 0;
    Sources sources;  // of all that lies between
  };

  std::optional<Origin> OriginOf(const Value& value) const {
    const auto found = origins_.find(value);
    if (found != origins_.end()) return found->second;
    if (IsByte(value.type().dtype)) return Origin{value, 0, {}};
    return std::nullopt;
  }

  // The origin of the node's result; nothing where it has none.
  std::optional<Origin> Follow(const Node& node) const {
    if (!IsElementwise(node)) return std::nullopt;
    Origin all = {Value{}, CostOf(node), node.sources};
    for (const Value& input : node.inputs) {
      if (input.node == nullptr) continue;
      if (ConstantOf(input) != nullptr) {
        if (!IsOneElement(input)) return std::nullopt;
        continue;
      }
      const std::optional<Origin> own = OriginOf(input);
      if (!own || !SameShape(input.type().shape, node.outputs[0].shape) ||
          (all.byte && !(all.byte == own->byte))) {
        return std::nullopt;
      }
      all.byte = own->byte;
      all.cost += own->cost;
      all.sources.Add(own->sources);
    }
    if (!all.byte || all.cost > kMaxCost) return std::nullopt;
    return all;
  }

  // Puts a table in the place of `value`.
  absl::Status LookUp(const Value& value, const Origin& origin) {
    INGOT_ASSIGN_OR_RETURN(const Value results, ResultsOf(value, origin.byte));
    const std::string name = value.node->name;
    Node* table = function_->AddConstant(name, *results.node->constant);
    table->sources.Add(origin.sources);
    INGOT_ASSIGN_OR_RETURN(
        Node * looked_up,
        function_->AddOp("look_up", name, {origin.byte, Value{table}}));
    looked_up->sources.Add(origin.sources);
    std::swap(looked_up->name, value.node->name);
    function_->ReplaceUses(value, Value{looked_up});
    origins_[Value{looked_up}] = origin;
    results_[Value{looked_up}] = results;
    return absl::OkStatus();
  }

  // The constant of `value`'s results for all bytes, in the order of their
  // bits.
  absl::StatusOr<Value> ResultsOf(const Value& value, const Value& byte) {
    const auto found = results_.find(value);
    if (found != results_.end()) return found->second;
    if (value == byte) {
      INGOT_ASSIGN_OR_RETURN(results_[value], AllBytes(value.type().dtype));
      return results_[value];
    }
    std::vector<Value> inputs;
    for (const Value& input : value.node->inputs) {
      Value operand;
      if (const Tensor* constant = input ? ConstantOf(input) : nullptr) {
        const Value one{scratch_.AddConstant("c", *constant)};
        INGOT_ASSIGN_OR_RETURN(operand, AddFolded(&scratch_, "reshape", "c",
                                                  {one}, {{"shape", Shape()}}));
      } else if (input) {
        INGOT_ASSIGN_OR_RETURN(operand, ResultsOf(input, byte));
      }
      inputs.push_back(operand);
    }
    INGOT_ASSIGN_OR_RETURN(
        const Value results,
        AddFolded(&scratch_, value.node->op->name, value.node->name,
                  std::move(inputs), value.node->attrs));
    return results_[value] = results;
  }

  absl::StatusOr<Value> AllBytes(DataType type) {
    INGOT_ASSIGN_OR_RETURN(Tensor bytes, Tensor::Empty(type, {kBytes}));
    auto* first = static_cast<uint8_t*>(bytes.mutable_raw_data());
    std::iota(first, first + kBytes, uint8_t{0});
    return Value{scratch_.AddConstant("bytes", std::move(bytes))};
  }

  Function* const function_;
  Function scratch_{"tables"};  // where results are computed
  std::map<Value, Origin> origins_;
  std::map<Value, Value> results_;
};

}  // namespace

absl::StatusOr<bool> ByteTables(Module* module, PassContext*) {
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(const bool now, Tables(function.get()).Run());
    changed = changed || now;
  }
  return changed;
}

}  // namespace ingot::relay

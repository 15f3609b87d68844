// Operators: each defined once, in one place (ops/, a file per family): its
// attributes, how types follow, what it computes and how it may be fused.
// Frontends and backends refer to operators by name.
#ifndef INGOT_COMPILER_RELAY_OP_H_
#define INGOT_COMPILER_RELAY_OP_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/te/te.h"

namespace ingot::relay {

// Limits of what types and attributes hold, so that what walks a dimension, or
// a loop nest over a tensor, needs little stack and time. Dimensions as
// tir::ExprSize counts them.
constexpr int kMaxDimSize = 1000;
constexpr size_t kMaxRank = 64;

// How an operator's loops relate to those around it. Order matters: a fused
// group is as hard as its hardest member.
enum class FusionKind {
  kElementwise,  // output index = input index
  kBroadcast,    // input index = output index with some dimensions dropped
  kInjective,    // each output element reads one place (transpose, slice, …)
  kReduction,    // sums or the like over some dimensions
  kAnchor,       // convolution, matmul: later elementwise ops join its epilogue
  kView,         // no data moves: reshape, squeeze, …; never computed
  kOpaque,       // alone
  kPlan,         // nothing to compute: what runs the model does it
};

enum class AttrKind {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kDataType,
  kShape,
};

struct AttrSpec {
  std::string name;
  AttrKind kind;
  bool required = false;
  std::string doc;
};

// Two dimensions that a call needs to be equal though that is not known before
// a run, which therefore checks it.
struct DimAssumption {
  Dim a, b;
  bool or_one = false;  // one of them may also be 1: it is repeated
};

// What an inference function sees of a call.
struct InferContext {
  absl::Span<const Value> inputs;  // a left-out optional operand is null
  const Attrs& attrs;
  // Where to note what was taken for granted; null: nowhere.
  std::vector<DimAssumption>* assumed = nullptr;

  const TensorType& type(int i) const { return inputs[i].type(); }
  bool has(int i) const {
    return i < static_cast<int>(inputs.size()) && inputs[i].node != nullptr;
  }
  // The operand's elements when they are known constants.
  const Tensor* constant(int i) const {
    return has(i) && inputs[i].node->constant.has_value()
               ? &*inputs[i].node->constant
               : nullptr;
  }
};

struct ComputeContext {
  te::Graph& graph;
  absl::Span<const te::Tensor> inputs;  // absent operands have a null buffer
  const Attrs& attrs;
  absl::Span<const TensorType> outputs;  // as inferred
  absl::string_view name;                // stem for the names of tensors

  bool has(int i) const {
    return i < static_cast<int>(inputs.size()) && inputs[i].buffer != nullptr;
  }
};

struct OpDef {
  std::string name;
  std::string doc;  // one line
  int min_inputs = 1;
  int max_inputs = 1;  // -1: any number
  FusionKind fusion = FusionKind::kOpaque;
  // Takes or gives lists: a step of a run, kPlan. Others never see a list.
  bool on_lists = false;
  // Each element of the result is a function of the operands' elements at the
  // same place, broadcast against each other, and of nothing else: the place
  // itself does not matter, so any layout that the operands share will do.
  bool pointwise = false;
  // Finite operands and attributes give finite results, unless a sum, a product
  // or a conversion is too large for its type. False also for what has simply
  // not been looked at, and for what grows faster than a polynomial.
  bool keeps_finite = false;
  std::vector<AttrSpec> attrs;
  // Types of the results. InvalidArgument says what does not fit; the caller
  // adds the node's name.
  std::function<absl::StatusOr<std::vector<TensorType>>(const InferContext&)>
      infer;
  // The definition of the results. Null for kView and kPlan operators, and for
  // those that NeedsTarget.
  std::function<absl::StatusOr<std::vector<te::Tensor>>(const ComputeContext&)>
      compute;

  // Whether it has no definition in loops: only a target that knows the
  // operator by name, such as one with a library behind it, computes it.
  bool NeedsTarget() const {
    return compute == nullptr && fusion != FusionKind::kView &&
           fusion != FusionKind::kPlan;
  }
};

class OpRegistry {
 public:
  // AlreadyExists on a duplicate name.
  absl::Status Register(OpDef def);
  const OpDef* Find(absl::string_view name) const;  // null when unknown
  std::vector<const OpDef*> All() const;            // in name order

 private:
  std::map<std::string, OpDef> ops_;
};

// The standard operators, filled once on first use by explicit calls of every
// family's Register function (ops/register_all.h). Thread-safe to read.
const OpRegistry& StandardOps();

// InvalidArgument for a dimension longer than kMaxDimSize.
absl::Status CheckDimSize(const Dim& dim);

// Checks a call's operand count and attributes against its definition, then
// infers. Used by Function::AddOp and by the type inference pass. `assumed`,
// unless it is null, gets what a run must check.
absl::StatusOr<std::vector<TensorType>> InferTypes(
    const OpDef& op, absl::Span<const Value> inputs, const Attrs& attrs,
    std::vector<DimAssumption>* assumed = nullptr);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_OP_H_

// Operators: each defined once, in one place (ops/, a file per family): its
// attributes, how types follow, what it computes and how it may be fused.
// Frontends and backends refer to operators by name.
#ifndef INGOT_COMPILER_RELAY_OP_H_
#define INGOT_COMPILER_RELAY_OP_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/te/te.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// Limits of what types and attributes hold, so that what walks a dimension, or
// a loop nest over a tensor, needs little stack and time. Dimensions as
// tir::ExprSize counts them.
constexpr int kMaxDimSize = 1000;
constexpr size_t kMaxRank = 64;

// The relation of an operator's loops to those around it.
enum class FusionKind {
  kElementwise,  // output index = input index
  kBroadcast,    // input index = output index with some dimensions dropped
  kInjective,    // each output element reads one place (transpose, slice, …)
  kReduction,    // sums or the like over some dimensions
  kAnchor,       // convolution, matmul: later elementwise ops join its epilogue
  kView,         // no data moves: reshape, squeeze, …; never computed
  kOpaque,       // alone
};

// The work that the executor itself does for a call.
enum class ExecutorStep {
  kNone,
  kBindDims,     // gives symbols the elements of an operand
  kRandomState,  // gives the key and counter of this run's random numbers
  kCopy,         // moves a tensor to or from a device
  kSequence,     // moves tensors into, out of and between sequences
};

// A role says who does the work of a call.
enum class OpRole {
  kKernel,  // code of a target
  kView,    // none: the result is the operand's bytes under another type
  kExecutorStep,
};

// Properties of an operator that passes use beyond its loops. A set of flags.
enum Trait : unsigned {
  kNoTraits = 0,
  // Swapping its two operands changes nothing.
  kCommutes = 1 << 0,
  // Takes a few instructions per element, so that computing it again costs
  // little.
  kCheap = 1 << 1,
  // Reads each element of its first operand once, not once per stage.
  kReadsOnce = 1 << 2,
  // Reads overlapping windows, or joins parts under a condition: operands that
  // were computed in its loops would be computed several times.
  kOperandsInMemory = 1 << 3,
  // Copies its operands into panels anyway, from wherever they are.
  kPacksOperands = 1 << 4,
  // Only reorders dimensions, as attribute `axes` says.
  kPermutes = 1 << 5,
  // The result has no more elements than the first operand, whatever symbols
  // are.
  kNeverGrows = 1 << 6,
  // All elements are one value; attribute `shape` says how many.
  kUniform = 1 << 7,
  // The result may move by a whole step where an operand moves by its last bit:
  // what is computed for it must be rounded as the model says.
  kJumps = 1 << 8,
  // Says in floats what its first operand says in fewer bits, which some
  // kernels multiply instead.
  kDequantizes = 1 << 9,
  // Multiplies its first operand by its second, a matrix [k, n] or several.
  kTimesMatrix = 1 << 10,
  // The same by the transpose of its second, a matrix [n, k].
  kTimesTranspose = 1 << 11,
  // The same by a matrix that is packed for it.
  kTimesPacked = 1 << 12,
  // Convolves its first operand, which is in blocks of channels, with kernels
  // that are packed for it; attribute `kernel` has their extents.
  kConvolvesPacked = 1 << 13,
  // Multiplies one row at each of its steps by its second operand, a matrix
  // [k, gates * k]; takes it in panels, too: [panels, k, vectors, lanes].
  kStepsOverMatrix = 1 << 14,
  // Multiplies its first operand by a matrix of few bits (dense_bits).
  kTimesFewBits = 1 << 15,
  // Reads its second operand, a table, wherever the first says.
  kLooksUp = 1 << 16,
  // Puts its operands one after the other along attribute `axis`.
  kJoins = 1 << 17,
  // Takes a range of its operand along each of attribute `axes`.
  kCuts = 1 << 18,
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<unsigned>(a) |
                            static_cast<unsigned>(b));
}

// A layout rule says how an operator on NCHW data runs on the same data in
// blocks of channels, NCHW8c or the like.
enum class LayoutRule {
  kPlainOnly,        // not at all
  kChooses,          // convolution: attributes data_layout and kernel_layout
  kFollows,          // as it is, in any layout that its operands share: the
                     // place of an element does not matter
  kLayoutAttribute,  // pools: attribute `layout` names the operand's layout
  kConcatenates,     // attribute `axis` counts blocked dimensions
  kSlices,           // `axes`, `starts` and `ends`, of whole blocks
  kPads,             // `pads` of blocked dimensions, none of channels
  kResizes,          // `sizes` and `scales` of blocked dimensions
  kReshapes,         // where only dimensions of 1 come or go
  kMovesChannels,    // `blocks` of blocked dimensions, 1 along a block
  kTurns,            // `axes`: what puts channels last, or back, is a view of
                     // data with all channels in one block
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
  AttrSpec(std::string name, AttrKind kind, std::string doc,
           bool required = false,
           std::optional<AttrValue> default_value = std::nullopt,
           bool repeats = false);
  AttrSpec(const AttrSpec&);
  AttrSpec(AttrSpec&&) noexcept;
  AttrSpec& operator=(const AttrSpec&);
  AttrSpec& operator=(AttrSpec&&) noexcept;
  ~AttrSpec();

  std::string name;
  AttrKind kind;
  std::string doc;
  bool required;
  // The value that a call without the attribute has. A call may also go without
  // one that is not required and has no default: `doc` says what that means.
  std::optional<AttrValue> default_value;
  // The default is a list of one value, for each dimension or the like
  // (Attrs::GetEach).
  bool repeats;
};

// Two dimensions that a call needs to be equal though that is not known before
// a run, which therefore checks it.
struct DimAssumption {
  Dim a, b;
  bool or_one = false;  // one of them may also be 1: it is repeated
};

// A call, as an inference function sees it.
struct InferContext {
  absl::Span<const Value> inputs;  // a left-out optional operand is null
  const Attrs& attrs;
  // Inference notes here what it took for granted; null: nowhere.
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

// A call whose operands are known and whose results have no symbols.
struct KnownCall {
  const Node& node;
  absl::Span<const Tensor> operands;  // all there
  absl::Span<const int64_t> shape;    // of the only result
};

struct OpDef {
  OpDef();
  OpDef(const OpDef&);
  OpDef(OpDef&&) noexcept;
  OpDef& operator=(const OpDef&);
  OpDef& operator=(OpDef&&) noexcept;
  ~OpDef();

  std::string name;
  std::string doc;  // one line
  int min_inputs = 1;
  int max_inputs = 1;  // -1: any number
  FusionKind fusion = FusionKind::kOpaque;
  ExecutorStep step = ExecutorStep::kNone;
  Trait traits = kNoTraits;
  LayoutRule layout_rule = LayoutRule::kPlainOnly;
  std::vector<AttrSpec> attrs;
  // Types of the results. InvalidArgument says what does not fit; the caller
  // adds the node's name.
  std::function<absl::StatusOr<std::vector<TensorType>>(const InferContext&)>
      infer;
  // The definition of the results. Null for views, for executor steps and for
  // what is BackendOnly.
  std::function<absl::StatusOr<std::vector<te::Tensor>>(const ComputeContext&)>
      compute;
  // A short cut for operands that are known, with the same result bit by bit:
  // constants go through it when a model is compiled. Null, or nothing for a
  // call that it does not cover: `compute` is interpreted.
  std::function<absl::StatusOr<std::optional<Tensor>>(const KnownCall&)>
      compute_known;

  OpRole role() const {
    if (step != ExecutorStep::kNone) return OpRole::kExecutorStep;
    return fusion == FusionKind::kView ? OpRole::kView : OpRole::kKernel;
  }
  bool Has(Trait trait) const { return (traits & trait) == trait; }
  // Each element of the result comes from one element of each operand, at the
  // same place but for repeated dimensions.
  bool IsPointwise() const {
    return fusion == FusionKind::kElementwise ||
           fusion == FusionKind::kBroadcast;
  }
  // Has loops beyond those over its result.
  bool IsReduction() const {
    return fusion == FusionKind::kReduction || fusion == FusionKind::kAnchor;
  }
  // Operators of other kinds never see a sequence.
  bool TakesSequences() const { return step == ExecutorStep::kSequence; }
  // Has no definition in loops: only a target that knows the operator by name,
  // such as one that calls a library, computes it.
  bool BackendOnly() const {
    return role() == OpRole::kKernel && compute == nullptr;
  }
  const AttrSpec* FindAttr(absl::string_view name) const;  // null: none
};

class OpRegistry {
 public:
  // AlreadyExists on a duplicate name, InvalidArgument for a definition that
  // contradicts itself.
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
// infers; attributes that are not bound to the operator yet get its defaults.
// Used by Function::AddOp and by the type inference pass. `assumed`, unless it
// is null, gets what a run must check.
absl::StatusOr<std::vector<TensorType>> InferTypes(
    const OpDef& op, absl::Span<const Value> inputs, const Attrs& attrs,
    std::vector<DimAssumption>* assumed = nullptr);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_OP_H_

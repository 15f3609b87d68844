#ifndef INGOT_RUNTIME_PLAN_BOUND_PLAN_H_
#define INGOT_RUNTIME_PLAN_BOUND_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/c_abi.h"
#include "runtime/data_type.h"
#include "runtime/device.h"
#include "runtime/plan/arena.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"

namespace ingot {

// A sequence that a plan's value holds.
struct PlanSequence {
  TensorSequence sequence;
  uint64_t bytes = 0;  // of all its tensors together
};

// A plan's values with memory: the part of the graph executor that knows shapes
// and addresses. Not thread-safe.
//
// "Binding" gives the symbolic dimensions the values that the inputs' shapes
// imply, and with them every tensor its shape and its place. It happens again
// only when an input's shape has changed; storage is allocated again only when
// that takes more than there is. Symbols that calls bind are bound in the same
// way during a run, phase by phase, each phase with storage of its own.
class BoundPlan {
 public:
  // `keeps_outputs`: outputs are asked for after a run. A body's are not.
  // `devices` are those of the plan, or more, and outlive this.
  BoundPlan(uint64_t max_storage_bytes, bool keeps_outputs,
            const std::vector<OpenDevice>* devices)
      : max_storage_bytes_(max_storage_bytes),
        keeps_outputs_(keeps_outputs),
        devices_(*devices) {}
  BoundPlan(const BoundPlan&) = delete;
  BoundPlan& operator=(const BoundPlan&) = delete;

  // `plan`, which outlives this, must have passed CheckPlan. Fetches the
  // constants. A plan without symbols is bound at once.
  absl::Status Init(
      const Plan& plan,
      const std::function<absl::StatusOr<Tensor>(absl::string_view)>&
          constants);

  const Plan& plan() const { return *plan_; }

  // Tensor `index` of the plan. The address never changes; its contents are
  // complete once its phase is bound.
  DLTensor* tensor(uint32_t index) { return &tensors_[index]; }

  // The same for a sequence; empty until an input is set or a call makes it.
  PlanSequence* sequence(uint32_t index) { return &sequences_[index]; }
  const PlanSequence* sequence(uint32_t index) const {
    return &sequences_[index];
  }

  bool is_sequence(uint32_t index) const {
    return plan_->tensors(static_cast<int>(index)).is_sequence();
  }
  DataType dtype(uint32_t index) const { return TypeAt(index).dtype; }
  // The size of all its elements, once its phase is bound.
  uint64_t bytes(uint32_t index) const { return TypeAt(index).bytes; }

  // The tensor in whose place tensor `index` is: itself, unless it is a view.
  uint32_t root(uint32_t index) const { return roots_[index]; }

  // Whether the elements are in memory that this plan's calls write to.
  bool Owns(const Tensor& tensor) const;

  // Holds a tensor that has the declared type, rank and fixed dimensions.
  void SetInput(size_t index, Tensor tensor);

  // Like SetInput, of elements in memory of the caller's, for the next run.
  void SetInputView(size_t index, const DLTensor& view);

  // An input that is a sequence, of the declared type.
  void SetInputSequence(size_t index, PlanSequence sequence);

  // Holds a tensor of the state's type, which calls change from now on.
  void SetState(size_t index, Tensor tensor);
  // The state, which is made of zeros now unless there is one.
  absl::StatusOr<Tensor> State(size_t index);

  // Makes all tensors of phase 0 ready for a run. Cheap when nothing changed.
  // InvalidArgument when inputs disagree about a symbol, when a symbol would be
  // less than its lower bound and when a tensor does not fit in its place.
  absl::Status Bind();

  // The same for a later phase, whose symbols get these values, in the order of
  // PlanPhase.symbols.
  absl::Status BindPhase(int phase, absl::Span<const int64_t> values);

  // The value of a dimension before a phase begins: symbols that it is to bind
  // count as 0, and so does an expression without a value.
  int64_t DimBefore(int phase, const DimExpr& dim) const;

  // Moves a tensor in storage and its views to two buffers outside of storage,
  // of which one is in use: from one run to the next, it can be read in one
  // while calls write to the other. `tensor` must be a root. Returns what
  // SwitchBuffers calls it. ResourceExhausted when that takes too much.
  absl::StatusOr<int> GiveTwoBuffers(uint32_t tensor);
  // Puts the tensor into the other one.
  absl::Status SwitchBuffers(int buffers);

  // Outputs that are inputs or constants have memory of their own, so that
  // callers cannot change those through them: this copies their elements there.
  void CopyAliasedOutputs();

  // A view of an output that is a tensor. Only after a run.
  const Tensor& output(size_t index) const { return outputs_[index]; }

  size_t storage_bytes() const;

 private:
  // Symbols and sizes that are bound together. The vectors hold indices into
  // the plan's sequences.
  struct Phase {
    bool bound = false;         // fits the symbols' values
    std::vector<int> symbols;   // that it binds
    std::vector<int> computed;  // symbols that follow from those
    // Tensors whose shape has symbols, one for each type.
    std::vector<int> shaped;
    std::vector<int> requirements;
    std::vector<int> settled;   // tensors whose shape and place are known now
    std::vector<int> storages;  // whose size is known now
    std::vector<int> placed;    // tensors in these and their views
    std::vector<int> outputs;   // of the plan, among `settled`
    std::vector<int> apart;     // calls whose arguments share storage
    // For each device, all its storages there.
    std::vector<Arena> arenas;

    uint64_t arena_bytes() const {
      uint64_t bytes = 0;
      for (const Arena& arena : arenas) bytes += arena.bytes();
      return bytes;
    }
  };

  // A type of the plan, complete once a phase with a tensor of it is bound.
  struct Type {
    DataType dtype;
    int64_t* dims = nullptr;  // shape and strides, which its tensors share
    uint64_t bytes = 0;       // of a tensor
  };

  // A tensor with two buffers.
  struct TwoBuffers {
    uint32_t tensor;
    Arena buffers[2];
    int current = 0;
  };

  // Makes the states that are not there yet.
  absl::Status MakeStates();
  absl::Status InitTypes();
  void InitTensors();
  void InitViews();
  absl::Status InitConstants(
      const std::function<absl::StatusOr<Tensor>(absl::string_view)>&
          constants);
  void InitPhases();
  void InitShaped();
  absl::Status BindSymbols();
  absl::Status ComputeSymbols(const Phase& phase,
                              std::vector<int64_t>* symbols) const;
  // `input`: the position of the input that it is a dimension of; -1: of none.
  absl::Status CheckBound(int symbol, int input) const;
  absl::Status BindType(uint32_t index);
  absl::Status CheckInputShapes();
  absl::Status CheckRequirements(const Phase& phase) const;
  absl::Status Bind(Phase* phase);
  // Finds the offset of each of the phase's storages in its arena, and what
  // each arena must hold.
  absl::Status LayOutStorage(const Phase& phase);
  absl::StatusOr<Tensor> OnDevice(const Tensor& constant,
                                  uint32_t device) const;
  bool SharesStorage(const PlanCall& call) const;
  absl::Status CheckPlaces(const Phase& phase);
  absl::Status CheckApart(const Phase& phase);
  absl::Status CheckApart(int call_index);
  absl::Status BindStorage(Phase* phase);
  absl::Status BindBuffers(const Phase& phase);
  absl::Status PlaceInBuffer(TwoBuffers* two);
  absl::Status BindOutputs(Phase* phase);
  absl::Status AtTensor(int tensor, const absl::Status& status) const;
  void SetData(uint32_t root, void* data);
  const Type& TypeAt(uint32_t tensor) const {
    return types_[plan_->tensors(static_cast<int>(tensor)).type()];
  }
  absl::Span<const int64_t> Shape(int tensor) const {
    return absl::MakeConstSpan(tensors_[tensor].shape, tensors_[tensor].ndim);
  }
  // The memory that holds a tensor in storage.
  const std::shared_ptr<void>& ArenaOf(const PlanTensor& tensor) const {
    const PlanStorage& storage =
        plan_->storage(static_cast<int>(tensor.storage()));
    return phases_[storage.phase()].arenas[storage.device()].memory();
  }
  // The root of a tensor, as the plan has it.
  const PlanTensor& Root(int tensor) const {
    return plan_->tensors(static_cast<int>(roots_[tensor]));
  }

  const uint64_t max_storage_bytes_;
  const bool keeps_outputs_;
  const std::vector<OpenDevice>& devices_;
  const Plan* plan_ = nullptr;
  std::vector<Type> types_;
  std::vector<DLTensor> tensors_;
  std::vector<uint32_t> roots_;  // of each tensor
  std::vector<uint64_t> offsets_in_roots_;
  // The views of each root lie side by side: those of root r are
  // views_[first_view_[r]] up to views_[first_view_[r + 1]].
  std::vector<uint32_t> first_view_, views_;
  std::vector<int64_t> dims_;      // shape and strides of each type
  std::vector<Tensor> constants_;  // kept for their elements
  std::vector<Tensor> inputs_;     // kept likewise; undefined where a view
  // Parallel to tensors_, and empty for tensors; none where a plan has no
  // sequences.
  std::vector<PlanSequence> sequences_;
  std::vector<Tensor> states_;  // undefined until one is needed
  std::vector<bool> inputs_given_;
  std::vector<std::vector<int64_t>> input_shapes_;
  std::vector<int64_t> symbols_;
  std::vector<Phase> phases_;
  std::vector<TwoBuffers> two_buffers_;
  bool inputs_set_ = false;      // all of them
  std::vector<uint64_t> sizes_;  // of each storage
  // Kept so that binding again allocates nothing: the input that bound each
  // symbol, each storage's offset in its arena, what the arenas must hold, and
  // the pieces of storage that a call uses.
  std::vector<int> binders_;
  std::vector<uint64_t> offsets_, arena_sizes_;
  std::vector<bool> updated_, device_is_used_;
  struct Piece {
    uint32_t storage;
    uint64_t begin, end;
    bool is_result;
    uint32_t tensor;
  };
  std::vector<Piece> pieces_;
  std::vector<Tensor> outputs_;
  struct Alias {
    int output;
    uint32_t tensor;
  };
  std::vector<Alias> aliases_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_BOUND_PLAN_H_

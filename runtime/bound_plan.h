#ifndef INGOT_RUNTIME_BOUND_PLAN_H_
#define INGOT_RUNTIME_BOUND_PLAN_H_

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
#include "runtime/plan.pb.h"
#include "runtime/plan_check.h"
#include "runtime/tensor.h"
#include "runtime/tensor_list.h"

namespace ingot {

// A plan's tensors with memory behind them: the part of the graph executor that
// knows shapes and addresses. Not thread-safe.
//
// "Binding" gives the symbolic dimensions the values that the inputs' shapes
// imply, and with them every tensor its shape and its place. It happens anew
// only when an input's shape has changed; storage is allocated anew only when
// that takes more than there is. What depends on symbols that calls bind is
// bound in the same way during a run, phase by phase (plan_check.h), each with
// storage of its own.
class BoundPlan {
 public:
  explicit BoundPlan(uint64_t max_storage_bytes)
      : max_storage_bytes_(max_storage_bytes) {}
  BoundPlan(const BoundPlan&) = delete;
  BoundPlan& operator=(const BoundPlan&) = delete;

  // Takes a copy of `plan`, which must have passed CheckPlan, and fetches the
  // constants. A plan without symbols is bound at once.
  absl::Status Init(
      const Plan& plan,
      const std::function<absl::StatusOr<Tensor>(absl::string_view)>&
          constants);

  const Plan& plan() const { return plan_; }

  // Tensor `index` of the plan. The address never changes; what is there is
  // complete after Bind.
  DLTensor* tensor(uint32_t index) { return &tensors_[index]; }

  // The same for what is a list. Only after an input was set or a call made it.
  bool is_list(uint32_t index) const {
    return plan_.tensors(static_cast<int>(index)).is_list();
  }
  DataType dtype(uint32_t index) const { return dtypes_[index]; }
  const TensorList& list(uint32_t index) const { return lists_[index]; }
  void SetList(uint32_t index, TensorList list) {
    lists_[index] = std::move(list);
  }

  // Whether the elements are in memory that this plan's calls write to.
  bool Owns(const Tensor& tensor) const;

  // Holds a tensor that has the declared type, rank and fixed dimensions.
  void SetInput(size_t index, Tensor tensor);

  // Like SetInput, of elements in memory of the caller's, for the run to come.
  void SetInputView(size_t index, const DLTensor& view);

  // An input that is a list, of the declared type.
  void SetInputList(size_t index, TensorList list);

  // Makes all tensors of phase 0 ready for a run. Cheap when nothing changed.
  absl::Status Bind();

  // The same for the phase that begins behind call `call`, whose symbols get
  // these values, in the order of the call's binds.
  absl::Status BindPhase(int call, absl::Span<const int64_t> values);

  // The value of a dimension before call `call` has been made: what that is to
  // bind counts as 0, and so does what has no value.
  int64_t DimBefore(int call, const DimExpr& dim) const;

  // Outputs that are inputs or constants have memory of their own, so that
  // nobody can change those through them: this copies their elements there.
  void CopyAliasedOutputs();

  // A view of an output. Only after a run.
  const Tensor& output(size_t index) const { return outputs_[index]; }

  size_t storage_bytes() const;

 private:
  // What is bound together.
  struct Phase {
    bool bound = false;        // fits the symbols' values
    std::vector<int> tensors;  // whose shape depends on its symbols
    std::vector<int> requirements;
    std::vector<int> settled;     // whose shape and place are known now
    std::vector<int> storages;    // whose size is known now
    std::vector<int> placed;      // tensors in these
    std::vector<int> outputs;     // of the plan, among `settled`
    std::vector<int> sized_like;  // tensors to compare with another in size
    std::vector<int> in_place;    // calls that may write where they read
    std::shared_ptr<void> arena;  // all its storages
    uint64_t arena_bytes = 0;
  };

  absl::Status InitTensors();
  absl::Status InitConstants(
      const std::function<absl::StatusOr<Tensor>(absl::string_view)>&
          constants);
  absl::Status BindSymbols();
  absl::Status BindShape(int index);
  absl::Status CheckInputShapes();
  absl::Status CheckRequirements(const Phase& phase) const;
  void InitPhases();
  absl::Status Bind(Phase* phase);
  absl::StatusOr<std::vector<uint64_t>> LayOutStorage(const Phase& phase,
                                                      uint64_t* total);
  bool SharesStorage(const PlanCall& call) const;
  absl::Status CheckPlaces(const Phase& phase);
  absl::Status CheckApart(const Phase& phase) const;
  absl::Status BindStorage(Phase* phase);
  absl::Status BindOutputs(Phase* phase);
  absl::Status Annotate(int tensor, const absl::Status& status) const;
  absl::Span<const int64_t> Shape(int tensor) const {
    return absl::MakeConstSpan(tensors_[tensor].shape, tensors_[tensor].ndim);
  }

  const uint64_t max_storage_bytes_;
  Plan plan_;
  std::vector<DLTensor> tensors_;
  std::vector<DataType> dtypes_;
  std::vector<uint64_t> bytes_;    // of each tensor
  std::vector<int64_t> dims_;      // shape and strides of each tensor
  std::vector<Tensor> constants_;  // kept for their elements
  std::vector<Tensor> inputs_;     // kept likewise; undefined where a view
  std::vector<TensorList> lists_;  // beside tensors_; empty for tensors
  std::vector<bool> inputs_given_;
  std::vector<std::vector<int64_t>> input_shapes_;
  std::vector<std::vector<int>> input_tensors_;  // an input and its views
  std::vector<int64_t> symbols_;
  PlanPhases when_;
  std::vector<Phase> phases_;
  bool inputs_set_ = false;      // all of them
  std::vector<uint64_t> sizes_;  // of each storage
  std::vector<Tensor> outputs_;
  struct Alias {
    int output;
    uint32_t tensor;
  };
  std::vector<Alias> aliases_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_BOUND_PLAN_H_

#ifndef INGOT_RUNTIME_BOUND_PLAN_H_
#define INGOT_RUNTIME_BOUND_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/c_abi.h"
#include "runtime/data_type.h"
#include "runtime/plan.pb.h"
#include "runtime/tensor.h"

namespace ingot {

// A plan's tensors with memory behind them: the part of the graph executor that
// knows shapes and addresses. Not thread-safe.
//
// "Binding" gives the symbolic dimensions the values that the inputs' shapes
// imply, and with them every tensor its shape and its place. It happens anew
// only when an input's shape has changed; storage is allocated anew only when
// that takes more than there is.
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

  // Whether the elements are in memory that this plan's calls write to.
  bool Owns(const Tensor& tensor) const;

  // Holds a tensor that has the declared type, rank and fixed dimensions.
  void SetInput(size_t index, Tensor tensor);

  // Makes all tensors ready for a run. Cheap when nothing has changed.
  absl::Status Bind();

  // Outputs that are inputs or constants have memory of their own, so that
  // nobody can change those through them: this copies their elements there.
  void CopyAliasedOutputs();

  // A view of an output. Only after Bind.
  const Tensor& output(size_t index) const { return outputs_[index]; }

  size_t storage_bytes() const { return arena_bytes_; }

 private:
  absl::Status InitTensors();
  absl::Status InitConstants(
      const std::function<absl::StatusOr<Tensor>(absl::string_view)>&
          constants);
  absl::Status BindSymbols();
  absl::Status BindShape(int index);
  absl::Status CheckInputShapes();
  absl::StatusOr<std::vector<uint64_t>> LayOutStorage(uint64_t* total);
  absl::Status BindStorage();
  absl::Status BindOutputs();
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
  std::vector<int> symbolic_;      // tensors whose shape depends on symbols
  std::vector<Tensor> constants_;  // kept for their elements
  std::vector<Tensor> inputs_;
  std::vector<std::vector<int>> input_tensors_;  // an input and its views
  std::vector<int64_t> symbols_;
  bool bound_ = false;           // shapes and storage fit the inputs' shapes
  bool inputs_set_ = false;      // all of them
  std::vector<uint64_t> sizes_;  // of each storage
  std::shared_ptr<void> arena_;  // all storage
  uint64_t arena_bytes_ = 0;
  std::vector<Tensor> outputs_;
  struct Alias {
    int output;
    uint32_t tensor;
  };
  std::vector<Alias> aliases_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_BOUND_PLAN_H_

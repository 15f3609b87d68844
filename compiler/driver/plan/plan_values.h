#ifndef INGOT_COMPILER_DRIVER_PLAN_PLAN_VALUES_H_
#define INGOT_COMPILER_DRIVER_PLAN_PLAN_VALUES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/driver/plan/storage_planner.h"
#include "compiler/relay/ir.h"
#include "compiler/tir/ir.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/plan/types.h"

namespace ingot {

// The symbols and tensors of a plan that is being made, and how long each that
// calls write to is needed.
class PlanValues {
 public:
  // `plan` outlives this.
  explicit PlanValues(Plan* plan) : plan_(plan), types_(plan) {}

  // Adds a symbol; its index in the plan.
  int AddSymbol(const tir::Var* symbol);
  bool HasSymbol(const tir::Var* symbol) const {
    return symbols_.count(symbol) > 0;
  }

  // InvalidArgument for a symbol that was not added, and for operations that a
  // plan does not have.
  absl::StatusOr<DimExpr> ToDimExpr(const tir::Expr& dim) const;

  // Adds a tensor or a sequence without a place; its index. A name that is
  // taken gets a number.
  absl::StatusOr<int> AddTensor(absl::string_view name,
                                const relay::TensorType& type);

  // Adds a tensor that is a part of another one, from so many bytes on.
  absl::StatusOr<int> AddPart(absl::string_view name,
                              const relay::TensorType& type, int whole,
                              uint64_t offset);

  // The tensor that stands for a value.
  void SetTensorOf(const relay::Value& value, int tensor) {
    tensors_[value] = tensor;
  }
  int TensorOf(const relay::Value& value) const { return tensors_.at(value); }
  bool HasTensor(const relay::Value& value) const {
    return tensors_.count(value) > 0;
  }

  // Says that call `call` writes the tensor, so that it needs storage on a
  // device from then on. Sequences need none.
  void Write(int tensor, const relay::TensorType& type, int call,
             uint32_t device);

  // Says that call `call`, or what follows the last one, reads the tensor.
  void Read(int tensor, int call);

  // Gives every tensor that was written a place, in one with the operand where
  // the plan says that it is updated in place. The plan's phases must be known.
  void PlaceStorage();

 private:
  // The sum of these, as a tree of even depth.
  absl::StatusOr<DimExpr> SumOf(absl::Span<const tir::Expr> terms) const;
  // Storage for each request that is not joined to another, device by device.
  std::vector<StorageAssignment> AssignDevices(const std::vector<int>& joined);

  Plan* const plan_;
  PlanTypeList types_;
  std::map<const tir::Var*, int> symbols_;
  std::map<std::string, int> names_;
  std::map<relay::Value, int> tensors_;
  std::vector<StorageRequest> requests_;
  std::vector<uint32_t> devices_;   // parallel to requests_
  std::map<int, int> requests_of_;  // tensor -> request
};

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLAN_PLAN_VALUES_H_

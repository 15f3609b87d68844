// For tests: the kernel of one call of a relay operator.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_OPERATOR_KERNEL_H_
#define INGOT_COMPILER_SCHEDULES_CPU_OPERATOR_KERNEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/machine/machine_model.h"
#include "compiler/relay/ir.h"
#include "compiler/te/testing/check.h"

namespace ingot::te::cpu {

// The dimensions of a kernel, or symbols in their places, of which equal ones
// are one.
class Dimensions {
 public:
  explicit Dimensions(bool symbolic) : symbolic_(symbolic) {}

  Expr Of(int64_t extent);
  std::vector<Expr> Of(const std::vector<int64_t>& extents);
  const DimValues& values() const { return values_; }

 private:
  const bool symbolic_;
  std::map<int64_t, Expr> symbols_;
  DimValues values_;
};

// The kernel of the call with operands of these types. Test failures say what
// went wrong.
void DefineOperator(absl::string_view op,
                    const std::vector<relay::TensorType>& operands,
                    const relay::Attrs& attrs, Kernel* kernel);

// The first result by the templates' schedule; `used` gets whether the template
// of that name decided about it.
ingot::Tensor RunScheduled(const Kernel& kernel, const MachineModel& machine,
                           const std::vector<ingot::Tensor>& inputs,
                           const DimValues& dims, absl::string_view name,
                           bool* used);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_OPERATOR_KERNEL_H_

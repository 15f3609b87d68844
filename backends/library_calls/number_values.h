// The code generators' half: which number each value of a region has.
#ifndef INGOT_BACKENDS_LIBRARY_CALLS_NUMBER_VALUES_H_
#define INGOT_BACKENDS_LIBRARY_CALLS_NUMBER_VALUES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/library_calls/region.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/ir.h"
#include "runtime/plan/call_spec.h"

namespace ingot::library_calls {

class ValueNumbers {
 public:
  // Declares the values of `function` in `region`, which must outlive this, and
  // calls `add` for each of its operators or composites, operands first, with
  // the number of its result. Errors of `add` get the node's name.
  static absl::Status Number(
      const relay::Module& module, const relay::Function& function,
      absl::string_view symbol, Region* region,
      const std::function<absl::Status(const ValueNumbers&,
                                       const codegen::RegionCall&,
                                       int64_t result)>& add);

  // The number of what an operand of the call's operators is.
  int64_t Of(const codegen::RegionCall& call, const relay::Value& value) const {
    return values_.at(call.Outside(value));
  }

 private:
  explicit ValueNumbers(Region* region) : region_(*region) {}
  absl::Status Declare(const relay::Value& value,
                       std::vector<TensorSpec>* tensors);
  absl::Status DeclareTemporary(const relay::Value& value);

  Region& region_;
  std::map<relay::Value, int64_t> values_;
};

}  // namespace ingot::library_calls

#endif  // INGOT_BACKENDS_LIBRARY_CALLS_NUMBER_VALUES_H_

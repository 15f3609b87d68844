#ifndef INGOT_COMPILER_DRIVER_PLAN_CONSTANT_POOL_H_
#define INGOT_COMPILER_DRIVER_PLAN_CONSTANT_POOL_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor.h"

namespace ingot {

// The constants of an artifact set, each distinct content once, whichever
// function, plan or backend reads it.
class ConstantPool {
 public:
  // The key of a constant that equals `value`, or a new key made from `name`
  // under which it is kept.
  std::string Add(absl::string_view name, const Tensor& value);

  const std::map<std::string, Tensor>& constants() const { return constants_; }

 private:
  std::map<std::string, Tensor> constants_;
  absl::flat_hash_map<size_t, std::vector<std::string>> keys_by_hash_;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLAN_CONSTANT_POOL_H_

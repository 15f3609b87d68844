#include "compiler/driver/plan/constant_pool.h"

#include <cstring>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace ingot {

std::string ConstantPool::Add(absl::string_view name, const Tensor& value) {
  const absl::string_view bytes(static_cast<const char*>(value.raw_data()),
                                value.bytes());
  std::vector<std::string>& keys =
      keys_by_hash_[absl::HashOf(bytes, value.dtype().ToString())];
  for (const std::string& key : keys) {
    const Tensor& other = constants_.at(key);
    if (other.dtype() == value.dtype() && other.bytes() == value.bytes() &&
        memcmp(other.raw_data(), value.raw_data(), value.bytes()) == 0 &&
        other.shape() == value.shape()) {
      return key;
    }
  }
  std::string key(name);
  for (int i = 1; constants_.count(key) != 0; ++i) {
    key = absl::StrCat(name, "#", i);
  }
  keys.push_back(key);
  constants_.emplace(key, value);
  return key;
}

}  // namespace ingot

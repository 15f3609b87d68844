#include "backends/external/payload.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/alignment.h"

namespace ingot::external {

using nlohmann::json;

json Payload::Add(absl::string_view bytes) {
  static constexpr char kGap[kAlignment] = {};
  const uint64_t offset = AlignUp(size_);
  if (offset > size_) parts_.emplace_back(kGap, offset - size_);
  parts_.push_back(bytes);
  size_ = offset + bytes.size();
  return {offset, bytes.size()};
}

absl::StatusOr<absl::string_view> Answer::Bytes(const json& object,
                                                const char* name) const {
  const auto place = object.find(name);
  if (place != object.end() && place->is_array() && place->size() == 2 &&
      (*place)[0].is_number_unsigned() && (*place)[1].is_number_unsigned()) {
    const uint64_t offset = (*place)[0], size = (*place)[1];
    if (offset <= payload.size() && size <= payload.size() - offset) {
      return absl::string_view(payload).substr(offset, size);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is no [offset, size] of the ", payload.size(),
                   " bytes after the answer"));
}

}  // namespace ingot::external

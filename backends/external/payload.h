// Raw bytes cross beside requests and answers (docs/external_backends.md).
#ifndef INGOT_BACKENDS_EXTERNAL_PAYLOAD_H_
#define INGOT_BACKENDS_EXTERNAL_PAYLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace ingot::external {

// The bytes that a request sends after its line.
class Payload {
 public:
  // Returns what stands for the bytes in the request: [offset, size], where the
  // offset is a multiple of kAlignment. The bytes are not copied and must stay
  // until the request was sent.
  nlohmann::json Add(absl::string_view bytes);

  uint64_t size() const { return size_; }
  // The parts are in order, with those that fill gaps, `size` bytes together.
  const std::vector<absl::string_view>& parts() const { return parts_; }

 private:
  std::vector<absl::string_view> parts_;
  uint64_t size_ = 0;
};

// The other side's answer.
struct Answer {
  nlohmann::json body;  // an object
  std::string payload;

  // Returns the part of the payload that the member `name` of `object` means.
  // InvalidArgument if there is none, or it is none of the payload.
  absl::StatusOr<absl::string_view> Bytes(const nlohmann::json& object,
                                          const char* name) const;
};

}  // namespace ingot::external

#endif  // INGOT_BACKENDS_EXTERNAL_PAYLOAD_H_

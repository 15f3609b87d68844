// Text in tensors.
#ifndef INGOT_RUNTIME_TEXT_TENSOR_H_
#define INGOT_RUNTIME_TEXT_TENSOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor.h"

namespace ingot {

// Strings as a tensor of u8 with one dimension more than `shape`: the bytes of
// each, with zeros after them up to the longest, but at least one byte.
// InvalidArgument where their number does not fit `shape` or one ends in a zero
// byte.
absl::StatusOr<Tensor> TextTensor(absl::Span<const absl::string_view> strings,
                                  std::vector<int64_t> shape);

}  // namespace ingot

#endif  // INGOT_RUNTIME_TEXT_TENSOR_H_

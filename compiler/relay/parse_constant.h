// Constants as text writes them. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PARSE_CONSTANT_H_
#define INGOT_COMPILER_RELAY_PARSE_CONSTANT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// InvalidArgument when there are not exactly as many items as elements, or one
// is not a value of the type.
absl::StatusOr<Tensor> ConstantFromItems(DataType dtype,
                                         absl::Span<const int64_t> shape,
                                         absl::Span<const std::string> items);

// Every element is `item`.
absl::StatusOr<Tensor> FilledConstant(DataType dtype,
                                      absl::Span<const int64_t> shape,
                                      absl::string_view item);

// Floats in [-1, 1), integers in [0, 8), the same for one seed everywhere.
absl::StatusOr<Tensor> RandomConstant(DataType dtype,
                                      absl::Span<const int64_t> shape,
                                      absl::string_view seed);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PARSE_CONSTANT_H_

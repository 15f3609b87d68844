// Private to this folder: the constants of quantised operators, as numbers.
#ifndef INGOT_BACKENDS_CMSIS_NN_VALUES_H_
#define INGOT_BACKENDS_CMSIS_NN_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cmsis_nn/layer.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/ir.h"

namespace ingot::cmsis_nn {

using Dims = std::vector<int64_t>;

absl::Status No(absl::string_view why);

// The value that an operand of `call` is outside of it, as a constant's
// elements; Unimplemented unless it is one.
absl::StatusOr<std::vector<double>> Numbers(const codegen::RegionCall& call,
                                            const relay::Value& value);

// A constant of one element, or `otherwise` where the operand is left out.
absl::StatusOr<double> Number(const codegen::RegionCall& call,
                              const relay::Value& value, double otherwise);

// Reads what `quantize` or `dequantize` says of bytes of `type`.
absl::StatusOr<Quantization> ReadQuantization(const codegen::RegionCall& call,
                                              const relay::Node& node,
                                              DataType type);

// `zero` of bytes of `type`, as that of the library's bytes.
absl::StatusOr<int32_t> ZeroOfBytes(double zero, DataType type);

// One number for each of `channels`: those of a value of `shape` that runs
// along dimension `axis` of `result`, or its only one again and again.
absl::StatusOr<std::vector<double>> PerChannel(const codegen::RegionCall& call,
                                               const relay::Value& value,
                                               const Dims& result, size_t axis);

}  // namespace ingot::cmsis_nn

#endif  // INGOT_BACKENDS_CMSIS_NN_VALUES_H_

#ifndef INGOT_COMPILER_CODEGEN_C_VECTOR_QUANTIZE_H_
#define INGOT_COMPILER_CODEGEN_C_VECTOR_QUANTIZE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/codegen/c_vector_name.h"

namespace ingot::codegen {

// Helpers (c_vector_helpers.h) for a quantisation of floats (quantization.h)
// that know its limits and its reciprocal:
//
// "ingot_quotient_f32x16(x, …)": 1.5 * 2^23 + x / scale
// "ingot_quantizedu8_f32x16(x, …, zero)": the bytes
// "ingot_dequantizedu8_f32x16(x, …, less)": that number less another
// "ingot_dequantizedi8_f32x16(x, …, less, of_nan)": NaN is the byte 0

// Says whether `op` is one of them.
bool IsOfQuantization(absl::string_view op);
// Says so of all but the quotient, which it calls.
bool NeedsQuotient(absl::string_view op);
// The element that it gives.
std::string ElementOfQuantization(absl::string_view op);
// Its parameters after x: "float least" and so on.
std::vector<std::string> QuantizationParams(absl::string_view op);
std::string QuantizationSource(absl::string_view op, const VectorName& t);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_VECTOR_QUANTIZE_H_

// Private to this folder: convolutions and matrix products.
#ifndef INGOT_BACKENDS_CMSIS_NN_PRODUCT_H_
#define INGOT_BACKENDS_CMSIS_NN_PRODUCT_H_

#include "absl/status/status.h"
#include "backends/cmsis_nn/layer.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/ir.h"

namespace ingot::cmsis_nn {

// Fills in everything but the result's quantisation and limits, which are in
// `layer`. Of two forms: a product of dequantised operands, and one of integers
// whose sums are scaled.
absl::Status ReadProduct(const codegen::RegionCall& call,
                         const relay::Node& product, Layer* layer);

// Unimplemented unless each of `layer.factors` is less than 1, as they are
// where a sum is finer than what it is rounded to. Larger ones would overflow.
absl::Status CheckFactors(const Layer& layer);

}  // namespace ingot::cmsis_nn

#endif  // INGOT_BACKENDS_CMSIS_NN_PRODUCT_H_

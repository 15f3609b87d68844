// Element-wise relay operators as algorithms of oneDNN.
#ifndef INGOT_BACKENDS_DNNL_TRANSLATE_ELTWISE_H_
#define INGOT_BACKENDS_DNNL_TRANSLATE_ELTWISE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/dnnl/graph.h"
#include "compiler/relay/ir.h"

namespace ingot::dnnl_backend {

// The operators that EltwisePosts knows.
std::vector<std::string> EltwiseOperators();

// The algorithms that, one after the other, compute what `node` does to its
// first operand; one but for hard_sigmoid. Unimplemented says why there is
// none.
absl::StatusOr<std::vector<PostOp>> EltwisePosts(const relay::Node& node);

// Activations that may follow a product, by relay's names.
const std::vector<std::string>& FusedActivations();

// The operators that BinaryAlgorithm knows.
std::vector<std::string> BinaryOperators();

// "add" -> "add", "maximum" -> "max"; nothing for other operators.
std::optional<std::string> BinaryAlgorithm(const relay::Node& node);

// The one element of an f32 constant that has one.
std::optional<float> ScalarConstant(const relay::Value& value);

// x op scalar, or scalar op x, as a function of x; nothing when there is none.
std::optional<PostOp> LinearPost(absl::string_view binary_algorithm,
                                 float scalar, bool scalar_first);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_TRANSLATE_ELTWISE_H_

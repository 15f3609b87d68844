// Votes and probabilities of classes, made of decisions between each two of
// them. Internal to the ONNX frontend.
//
// Pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_ML_PAIRWISE_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_ML_PAIRWISE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// The pairs that each class wins, f32[rows, classes]: the first of two where
// decisions[rows, pairs] is above 0, else the second.
Value CountVotes(Compose& k, Value decisions, int64_t classes);

// The probability of each class [rows, classes], from how unlikely the first of
// each two is: its logits [rows, pairs]. By the second method of Wu, Lin and
// Weng (Probability Estimates for Multi-class Classification by Pairwise
// Coupling), with the iterations and the tolerance that libsvm has.
absl::StatusOr<Value> CoupleShares(Compose& k, Value logits, int64_t classes);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_ML_PAIRWISE_H_

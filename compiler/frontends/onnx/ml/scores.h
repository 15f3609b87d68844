// Scores of classes, and the labels that follow from them. Internal to the ONNX
// frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_ML_SCORES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_ML_SCORES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// The function that is applied to scores in the end; the numbers are those that
// TreeEnsemble has for it.
enum class Transform : int64_t {
  kNone = 0,
  kSoftmax = 1,
  kLogistic = 2,
  kSoftmaxZero = 3,
  kProbit = 4,
};

// The attribute post_transform, which names it.
absl::StatusOr<Transform> ReadTransform(NodeContext& c);

// The transformed scores [rows, n]. A single score stays as it is but under
// PROBIT: ONNX Runtime has it so, and exporters' models are made for that.
Value TransformScores(Compose& k, Value scores, Transform transform);

// Scores of two classes [rows, 2] from one [rows, 1] that speaks for the second
// one. LOGISTIC makes shares of it; other transforms do nothing to it, as in
// ONNX Runtime. `is_share`: it is a share, and the rest is the first one's;
// else the first one has its negative.
Value ScoresOfTwo(Compose& k, Value score, bool is_share, Transform transform);

// The labels of classes, which are strings or integers.
struct ClassLabels {
  bool is_text = false;
  std::vector<std::string> strings;
  std::vector<int64_t> integers;

  int64_t count() const {
    return static_cast<int64_t>(is_text ? strings.size() : integers.size());
  }
};

// Reads the attribute classlabels_strings or that of integers. InvalidArgument
// where there is neither, or both.
absl::StatusOr<ClassLabels> ReadLabels(NodeContext& c,
                                       absl::string_view integers);

// Makes the labels of these places, i64[rows], the node's output 0.
absl::Status SetLabels(Compose& k, const ClassLabels& labels, Value places);

// The first place in each row that has the largest of its scores.
Value LargestOf(Compose& k, Value scores);
// 1 where the only score of a row is above `limit`, else 0.
Value IsAbove(Compose& k, Value score, double limit);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_ML_SCORES_H_

// ONNX's attention and com.microsoft's share these. Internal to the ONNX
// frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ATTENTION_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ATTENTION_H_

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// [batch, length, heads * size] -> [batch, heads, length, size]
Value SplitHeads(Compose& k, Value x, int64_t heads);
// The inverse.
Value JoinHeads(Compose& k, Value x);

// Checks that as many heads of queries share each head of keys and values.
absl::Status CheckHeads(Compose& k, const Value& q, const Value& key,
                        const Value& value);

// Operands and attributes of `attention` beside queries, keys and values.
struct AttentionOptions {
  Value bias;     // of the scores, or of bool: says which of them count
  Value places;   // i64[batch or 1], of the first query among the keys
  Value lengths;  // i64[batch or 1], how many keys count
  Value sink;     // [heads], scores that belong to no key
  double scale = 1;
  double softcap = 0;
  int64_t left = -1, right = -1;  // keys that a query sees around its place
  bool masked_zero = false;       // a query that sees no key gets 0
  DataType precision;             // of the softmax, where it is larger
};
// The sums of values, [b, h, s, v], of queries, keys and values by head. Heads
// of queries may share those of keys.
Value Attend(Compose& k, Value q, Value key, Value value,
             const AttentionOptions& options);

// The places of the queries among the keys, i64[queries, 1], `past` keys being
// before the first query.
Value PlacesOfQueries(Compose& k, const tir::Expr& queries,
                      const tir::Expr& past);
// `bias`, or 0 where that is null, where `mask` is true, and -inf elsewhere.
Value MaskToBias(Compose& k, Value mask, DataType dtype, Value bias = Value());

// The scores of queries and keys: q k^T * scale, all [b, h, s, d]. Heads of
// queries that share one of the keys are further rows of it, so that nothing of
// these is repeated.
Value ScoresOf(Compose& k, Value q, Value key, double scale);
Value Softmax(Compose& k, Value scores);
// The sums of values with these weights, [b, h, s, t], heads shared likewise.
Value WeightedSum(Compose& k, Value weights, Value value);

// The type in which the attribute softmax_precision asks for a softmax of
// `dtype`; `otherwise` where it does not.
absl::StatusOr<DataType> SoftmaxType(NodeContext& c, DataType otherwise);
// The attribute scale, or 1 / sqrt(d). Queries and keys are as wide as each
// other, so either of them may tell how wide.
absl::StatusOr<double> ScaleOf(NodeContext& c, const Value& q,
                               const Value& key);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ATTENTION_H_

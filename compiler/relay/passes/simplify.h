// The rule tables of simplify. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_SIMPLIFY_H_
#define INGOT_COMPILER_RELAY_PASSES_SIMPLIFY_H_

#include "absl/types/span.h"
#include "compiler/relay/passes/rules.h"

namespace ingot::relay {

absl::Span<const Rule> ArithmeticRules();  // simplify_arithmetic.cc
absl::Span<const Rule> ShapeRules();       // simplify_shape.cc
absl::Span<const Rule> IndexingRules();    // simplify_indexing.cc
absl::Span<const Rule> WindowRules();      // simplify_window.cc
absl::Span<const Rule> PatternRules();     // simplify_pattern.cc
absl::Span<const Rule> ProjectionRules();  // simplify_projection.cc
absl::Span<const Rule> EinsumRules();      // simplify_einsum.cc

// Rules that other passes apply, too.
absl::Span<const Rule> BatchNormRules();         // fold_batch_norm.cc
absl::Span<const Rule> ByteProductRules();       // byte_products.cc
absl::Span<const Rule> WideProductRules();       // of 16 bits, there
absl::Span<const Rule> ByteProductOfTwoRules();  // byte_products_of_two.cc
absl::Span<const Rule> QuantizedMoveRules();     // quantized_moves.cc
absl::Span<const Rule> AttentionRules();         // join_attention.cc
absl::Span<const Rule> PlaneRules();             // block_layout.cc
absl::Span<const Rule> WideSumRules();           // there

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_SIMPLIFY_H_

// Short cuts for operators on known operands (OpDef::compute_known), which
// weights go through when a model is compiled: what moves elements is a strided
// copy, arithmetic on f32 and i64 a loop over a broadcast, a matrix product a
// loop over blocks of columns. They give what the tir interpreter gives, bit by
// bit: float arithmetic in its own type, but for sums of f32, which are f64
// until their end, and integers that wrap. Internal to compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_KNOWN_H_
#define INGOT_COMPILER_RELAY_OPS_KNOWN_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/relay/op.h"
#include "runtime/tensor.h"

namespace ingot::relay::ops {

using MaybeTensor = absl::StatusOr<std::optional<Tensor>>;

// known_move.cc
MaybeTensor CopyTransposed(const KnownCall& c);
MaybeTensor CopySliced(const KnownCall& c);
MaybeTensor CopyConcatenated(const KnownCall& c);
MaybeTensor CopyExpanded(const KnownCall& c);
// A pad of mode constant with zeros; nothing for other pads.
MaybeTensor CopyPadded(const KnownCall& c);
// The operand of a cast to its own type; nothing for other casts.
MaybeTensor CopyCast(const KnownCall& c);

// known_layout.cc
MaybeTensor CopyToLayout(const KnownCall& c);

// known_arithmetic.cc: nothing for types other than f32 and, but for the
// division and the operators on one tensor, i64.
MaybeTensor AddKnown(const KnownCall& c);
MaybeTensor SubtractKnown(const KnownCall& c);
MaybeTensor MultiplyKnown(const KnownCall& c);
MaybeTensor DivideKnown(const KnownCall& c);
MaybeTensor NegateKnown(const KnownCall& c);
MaybeTensor SquareRootKnown(const KnownCall& c);
MaybeTensor InvertKnown(const KnownCall& c);

// known_products.cc: x times w, and x times the transpose of w, of f32; nothing
// for other types.
MaybeTensor MultiplyMatrices(const KnownCall& c);
MaybeTensor MultiplyTransposed(const KnownCall& c);

// Strides with which `from` is read for each point of the broadcast to `to`.
std::vector<int64_t> BroadcastStrides(absl::Span<const int64_t> from,
                                      absl::Span<const int64_t> to);
// A tensor of zeros.
absl::StatusOr<Tensor> Zeros(DataType dtype, absl::Span<const int64_t> shape);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_KNOWN_H_

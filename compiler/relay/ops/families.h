// The families of operators: X(Binary) stands for RegisterBinary of binary.cc,
// which adds its definitions to a registry, AlreadyExists when a name is taken.
#ifndef INGOT_COMPILER_RELAY_OPS_FAMILIES_H_
#define INGOT_COMPILER_RELAY_OPS_FAMILIES_H_

#include "absl/status/status.h"
#include "compiler/relay/op.h"

#define INGOT_OPERATOR_FAMILIES(X) \
  X(Bf16Products)                  \
  X(Binary)                        \
  X(Convolution)                   \
  X(Cumulative)                    \
  X(Custom)                        \
  X(Elementwise)                   \
  X(Float8)                        \
  X(Generate)                      \
  X(Image)                         \
  X(Indexing)                      \
  X(Layout)                        \
  X(LinearAlgebra)                 \
  X(LinearAttention)               \
  X(Matmul)                        \
  X(Normalization)                 \
  X(Pool)                          \
  X(Quantize)                      \
  X(Random)                        \
  X(Rearrange)                     \
  X(Recurrent)                     \
  X(Reduction)                     \
  X(Resize)                        \
  X(Roi)                           \
  X(RunTime)                       \
  X(Sampling)                      \
  X(Select)                        \
  X(Sequence)                      \
  X(Slice)                         \
  X(Text)                          \
  X(TextNumbers)                   \
  X(TextSearch)                    \
  X(View)                          \
  X(Winograd)

namespace ingot::relay::ops {

#define INGOT_DECLARE_FAMILY(name) \
  absl::Status Register##name(OpRegistry* registry);
INGOT_OPERATOR_FAMILIES(INGOT_DECLARE_FAMILY)
#undef INGOT_DECLARE_FAMILY

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_FAMILIES_H_

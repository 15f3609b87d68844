// Shared by the operators on text. A tensor of strings is one of bytes with one
// dimension more: the UTF-8 bytes of each string, followed by zeros up to the
// length of the longest. A string cannot end in a zero byte. Internal to
// compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_TEXT_H_
#define INGOT_COMPILER_RELAY_OPS_TEXT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ops/common.h"

namespace ingot::relay::ops {

absl::Status ExpectText(const TensorType& type, absl::string_view what);

Expr U8(int value);

// Whether the byte is in [low, high].
Expr Between(const Expr& byte, int low, int high);

// Byte `at` of the string of t at `i`; 0 beyond its end and before its start.
Expr ByteAt(const te::Tensor& t, Indices i, const Expr& at);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_TEXT_H_

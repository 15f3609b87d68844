// Element types of ONNX that Ingot has no type for, and carries in another:
// text (rows of UTF-8 bytes with zeros behind, one dimension more), floats of 8
// bits (their bytes) and integers of 4 bits (one to a byte). Internal to the
// ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_STORED_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_STORED_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "onnx/onnx.pb.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot::onnx_frontend {

// TensorProto.DataType; those from 17 on are newer than some of ONNX's headers.
inline constexpr int kTextType = 8;
inline constexpr int kFloat8E4M3FN = 17;
inline constexpr int kFloat8E4M3FNUZ = 18;
inline constexpr int kFloat8E5M2 = 19;
inline constexpr int kFloat8E5M2FNUZ = 20;
inline constexpr int kUInt4 = 21;
inline constexpr int kInt4 = 22;

// Whether another type carries elements of this one.
bool IsStoredType(int onnx_type);
inline bool IsFloat8(int t) {
  return t >= kFloat8E4M3FN && t <= kFloat8E5M2FNUZ;
}
inline bool IsFourBits(int t) { return t == kUInt4 || t == kInt4; }
// The type that carries it.
DataType CarrierOf(int onnx_type);
// As ONNX writes it, in small letters.
std::string StoredTypeName(int onnx_type);
// float8_encode's name of a float of 8 bits.
std::string Float8Format(int onnx_type);

// The carrier's tensor of a tensor whose type IsStoredType; its elements may be
// moved out. InvalidArgument for what does not fit its shape.
absl::StatusOr<Tensor> StoredTensor(onnx::TensorProto* proto);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_STORED_H_

// ONNX's serialised tensors as our own.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_MODEL_TENSOR_PROTO_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_MODEL_TENSOR_PROTO_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/blob.h"
#include "onnx/onnx.pb.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot::onnx_frontend {

// TensorFromOnnx of runtime/onnx_tensor; `proto` may be left without elements.
// `external_dir` is where files of external data may be: empty allows none.
// InvalidArgument, naming the tensor, for sizes that do not fit the shape and
// for unsafe external locations; NotFound for a missing file.
absl::StatusOr<Tensor> TensorFromProto(onnx::TensorProto* proto,
                                       absl::string_view external_dir = "");

// Bytes [offset, offset + length) of a file below `dir`, mapped. The location
// must be a relative path that stays inside `dir`, through no symbolic link.
// A `length` of -1 means up to the end.
absl::StatusOr<Blob> ReadExternalData(absl::string_view dir,
                                      absl::string_view location,
                                      int64_t offset, int64_t length);

// A tensor that holds copies of `values`.
template <typename T>
absl::StatusOr<Tensor> MakeTensor(DataType dtype,
                                  absl::Span<const int64_t> shape,
                                  absl::Span<const T> values);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_MODEL_TENSOR_PROTO_H_

// ONNX's element types (runtime/onnx_tensor/element_types.h) as relay's: types
// that Ingot has, and those that it emulates. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_MODEL_STORAGE_TYPE_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_MODEL_STORAGE_TYPE_H_

#include "absl/status/statusor.h"
#include "compiler/relay/import/storage_type.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {

// kNone for types that are Ingot's own, and for numbers that name no type.
relay::StorageType StorageTypeFromOnnx(int onnx_type);
// Unimplemented or InvalidArgument for a type that Ingot does not know.
absl::StatusOr<relay::ElementType> ElementTypeFromOnnx(int onnx_type);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_MODEL_STORAGE_TYPE_H_

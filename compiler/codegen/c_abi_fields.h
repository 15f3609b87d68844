// The fields of the C ABI's structures (runtime/c_abi.h), for code generators:
// LLVM's struct types are made from these tables, and the structures that
// generated C declares are checked against them.
#ifndef INGOT_COMPILER_CODEGEN_C_ABI_FIELDS_H_
#define INGOT_COMPILER_CODEGEN_C_ABI_FIELDS_H_

#include <cstddef>
#include <cstdint>

#include "runtime/c_abi.h"

// One row per field, in the order of memory: X(the structure as
// c_prelude_types.inc and c_model_info_types.inc call it, name, type, the
// member in c_abi.h, the member there).
#define INGOT_ABI_TENSOR(X)                                      \
  X(Tensor, Data, kPointer, data, data)                          \
  X(Tensor, DeviceType, kInt32, device.device_type, device_type) \
  X(Tensor, DeviceId, kInt32, device.device_id, device_id)       \
  X(Tensor, Ndim, kInt32, ndim, ndim)                            \
  X(Tensor, TypeCode, kInt8, dtype.code, type_code)              \
  X(Tensor, TypeBits, kInt8, dtype.bits, type_bits)              \
  X(Tensor, TypeLanes, kInt16, dtype.lanes, type_lanes)          \
  X(Tensor, Shape, kPointer, shape, shape)                       \
  X(Tensor, Strides, kPointer, strides, strides)                 \
  X(Tensor, ByteOffset, kInt64, byte_offset, byte_offset)

#define INGOT_ABI_ANY(X)                            \
  X(Any, TypeIndex, kInt32, type_index, type_index) \
  X(Any, Padding, kInt32, zero_padding, padding)    \
  X(Any, Value, kInt64, v_int64, value)

#define INGOT_ABI_HOST_API(X)                                   \
  X(HostApi, Version, kInt32, version, version)                 \
  X(HostApi, ParallelFor, kPointer, parallel_for, parallel_for) \
  X(HostApi, SetError, kPointer, set_error, set_error)

#define INGOT_ABI_TENSOR_INFO(X)                        \
  X(TensorInfo, Name, kPointer, name, name)             \
  X(TensorInfo, Shape, kPointer, shape, shape)          \
  X(TensorInfo, Ndim, kInt32, ndim, ndim)               \
  X(TensorInfo, TypeCode, kInt8, dtype.code, type_code) \
  X(TensorInfo, TypeBits, kInt8, dtype.bits, type_bits) \
  X(TensorInfo, TypeLanes, kInt16, dtype.lanes, type_lanes)

#define INGOT_ABI_MODEL_INFO(X)                                      \
  X(ModelInfo, Version, kInt32, version, version)                    \
  X(ModelInfo, NumInputs, kInt32, num_inputs, num_inputs)            \
  X(ModelInfo, NumOutputs, kInt32, num_outputs, num_outputs)         \
  X(ModelInfo, Tensors, kPointer, tensors, tensors)                  \
  X(ModelInfo, Run, kPointer, run, run)                              \
  X(ModelInfo, OutputShapes, kPointer, output_shapes, output_shapes) \
  X(ModelInfo, LastError, kPointer, last_error, last_error)

#define INGOT_ABI_ALL(X)   \
  INGOT_ABI_TENSOR(X)      \
  INGOT_ABI_ANY(X)         \
  INGOT_ABI_HOST_API(X)    \
  INGOT_ABI_TENSOR_INFO(X) \
  INGOT_ABI_MODEL_INFO(X)

namespace ingot::codegen {

enum class AbiType { kInt8, kInt16, kInt32, kInt64, kPointer };

// A field, as c_abi.h places it on the machine that compiles this.
struct AbiField {
  AbiType type;
  size_t offset;  // in bytes
  size_t size;
};

// The size in bytes of a field of this type, and its alignment.
constexpr size_t SizeOf(AbiType type) {
  return type == AbiType::kPointer ? sizeof(void*)
                                   : size_t{1} << static_cast<int>(type);
}

// Whether a structure of these fields alone, each at the next place that its
// alignment allows, has the layout that c_abi.h's structure of `bytes` has.
template <size_t n>
constexpr bool IsWholeStructure(const AbiField (&fields)[n], size_t bytes) {
  size_t end = 0, alignment = 1;
  for (const AbiField& field : fields) {
    const size_t size = SizeOf(field.type);
    end = (end + size - 1) / size * size;
    if (field.offset != end || field.size != size) return false;
    end += size;
    if (size > alignment) alignment = size;
  }
  return (end + alignment - 1) / alignment * alignment == bytes;
}

// The structures in c_abi.h.
using AbiTensor = DLTensor;
using AbiAny = TVMFFIAny;
using AbiHostApi = IngotHostApi;
using AbiTensorInfo = IngotTensorInfo;
using AbiModelInfo = IngotModelInfo;

// Indices of a structure's fields, kTensorData and so on, and the fields:
// kTensorFields.
#define INGOT_ABI_INDEX(structure, name, type, member, own) k##structure##name,
#define INGOT_ABI_ROW(structure, name, type, member, own) \
  {AbiType::type, offsetof(Abi##structure, member),       \
   sizeof(static_cast<Abi##structure*>(nullptr)->member)},
#define INGOT_ABI_FIELDS(structure, ROWS)                                   \
  enum : unsigned { ROWS(INGOT_ABI_INDEX) };                                \
  inline constexpr AbiField k##structure##Fields[] = {ROWS(INGOT_ABI_ROW)}; \
  static_assert(                                                            \
      IsWholeStructure(k##structure##Fields, sizeof(Abi##structure)), "");

INGOT_ABI_FIELDS(Tensor, INGOT_ABI_TENSOR)
INGOT_ABI_FIELDS(Any, INGOT_ABI_ANY)
INGOT_ABI_FIELDS(HostApi, INGOT_ABI_HOST_API)
INGOT_ABI_FIELDS(TensorInfo, INGOT_ABI_TENSOR_INFO)
INGOT_ABI_FIELDS(ModelInfo, INGOT_ABI_MODEL_INFO)

#undef INGOT_ABI_FIELDS
#undef INGOT_ABI_ROW
#undef INGOT_ABI_INDEX

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_ABI_FIELDS_H_

// The fields of the C ABI's structures (runtime/c_abi.h), for code generators:
// LLVM's struct types are made from these tables, and the structures that
// generated C declares are checked against them.
#ifndef INGOT_COMPILER_CODEGEN_C_ABI_FIELDS_H_
#define INGOT_COMPILER_CODEGEN_C_ABI_FIELDS_H_

#include <cstddef>
#include <cstdint>

#include "runtime/c_abi.h"

// One row per field, in the order of memory: X(name, type, the member in
// c_abi.h, the member in c_prelude_types.inc).
#define INGOT_ABI_TENSOR(X)                              \
  X(Data, kPointer, data, data)                          \
  X(DeviceType, kInt32, device.device_type, device_type) \
  X(DeviceId, kInt32, device.device_id, device_id)       \
  X(Ndim, kInt32, ndim, ndim)                            \
  X(TypeCode, kInt8, dtype.code, type_code)              \
  X(TypeBits, kInt8, dtype.bits, type_bits)              \
  X(TypeLanes, kInt16, dtype.lanes, type_lanes)          \
  X(Shape, kPointer, shape, shape)                       \
  X(Strides, kPointer, strides, strides)                 \
  X(ByteOffset, kInt64, byte_offset, byte_offset)

#define INGOT_ABI_ANY(X)                       \
  X(TypeIndex, kInt32, type_index, type_index) \
  X(Padding, kInt32, zero_padding, padding)    \
  X(Value, kInt64, v_int64, value)

#define INGOT_ABI_HOST_API(X)                          \
  X(Version, kInt32, version, version)                 \
  X(ParallelFor, kPointer, parallel_for, parallel_for) \
  X(SetError, kPointer, set_error, set_error)

#define INGOT_ABI_TENSOR_INFO(X)            \
  X(Name, kPointer, name, name)             \
  X(Shape, kPointer, shape, shape)          \
  X(Ndim, kInt32, ndim, ndim)               \
  X(TypeCode, kInt8, dtype.code, type_code) \
  X(TypeBits, kInt8, dtype.bits, type_bits) \
  X(TypeLanes, kInt16, dtype.lanes, type_lanes)

#define INGOT_ABI_MODEL_INFO(X)                           \
  X(Version, kInt32, version, version)                    \
  X(NumInputs, kInt32, num_inputs, num_inputs)            \
  X(NumOutputs, kInt32, num_outputs, num_outputs)         \
  X(Tensors, kPointer, tensors, tensors)                  \
  X(Run, kPointer, run, run)                              \
  X(OutputShapes, kPointer, output_shapes, output_shapes) \
  X(LastError, kPointer, last_error, last_error)

namespace ingot::codegen {

enum class AbiType { kInt8, kInt16, kInt32, kInt64, kPointer };

// A field, as c_abi.h places it on the machine that compiles this.
struct AbiField {
  AbiType type;
  size_t offset;  // in bytes
  size_t size;
};

#define INGOT_ABI_FIELD(structure, type, member) \
  {AbiType::type, offsetof(structure, member),   \
   sizeof(static_cast<structure*>(nullptr)->member)},

// Indices of the fields, and the fields.
#define INGOT_ABI_INDEX(name, type, member, prelude) kTensor##name,
enum : unsigned { INGOT_ABI_TENSOR(INGOT_ABI_INDEX) };
#undef INGOT_ABI_INDEX
#define INGOT_ABI_ROW(name, type, member, prelude) \
  INGOT_ABI_FIELD(DLTensor, type, member)
inline constexpr AbiField kTensorFields[] = {INGOT_ABI_TENSOR(INGOT_ABI_ROW)};
#undef INGOT_ABI_ROW

#define INGOT_ABI_INDEX(name, type, member, prelude) kAny##name,
enum : unsigned { INGOT_ABI_ANY(INGOT_ABI_INDEX) };
#undef INGOT_ABI_INDEX
#define INGOT_ABI_ROW(name, type, member, prelude) \
  INGOT_ABI_FIELD(TVMFFIAny, type, member)
inline constexpr AbiField kAnyFields[] = {INGOT_ABI_ANY(INGOT_ABI_ROW)};
#undef INGOT_ABI_ROW

#define INGOT_ABI_INDEX(name, type, member, prelude) kHostApi##name,
enum : unsigned { INGOT_ABI_HOST_API(INGOT_ABI_INDEX) };
#undef INGOT_ABI_INDEX
#define INGOT_ABI_ROW(name, type, member, prelude) \
  INGOT_ABI_FIELD(IngotHostApi, type, member)
inline constexpr AbiField kHostApiFields[] = {
    INGOT_ABI_HOST_API(INGOT_ABI_ROW)};
#undef INGOT_ABI_ROW

#define INGOT_ABI_INDEX(name, type, member, prelude) kTensorInfo##name,
enum : unsigned { INGOT_ABI_TENSOR_INFO(INGOT_ABI_INDEX) };
#undef INGOT_ABI_INDEX
#define INGOT_ABI_ROW(name, type, member, prelude) \
  INGOT_ABI_FIELD(IngotTensorInfo, type, member)
inline constexpr AbiField kTensorInfoFields[] = {
    INGOT_ABI_TENSOR_INFO(INGOT_ABI_ROW)};
#undef INGOT_ABI_ROW

#define INGOT_ABI_INDEX(name, type, member, prelude) kModelInfo##name,
enum : unsigned { INGOT_ABI_MODEL_INFO(INGOT_ABI_INDEX) };
#undef INGOT_ABI_INDEX
#define INGOT_ABI_ROW(name, type, member, prelude) \
  INGOT_ABI_FIELD(IngotModelInfo, type, member)
inline constexpr AbiField kModelInfoFields[] = {
    INGOT_ABI_MODEL_INFO(INGOT_ABI_ROW)};
#undef INGOT_ABI_ROW
#undef INGOT_ABI_FIELD

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

static_assert(IsWholeStructure(kTensorFields, sizeof(DLTensor)), "");
static_assert(IsWholeStructure(kAnyFields, sizeof(TVMFFIAny)), "");
static_assert(IsWholeStructure(kHostApiFields, sizeof(IngotHostApi)), "");
static_assert(IsWholeStructure(kTensorInfoFields, sizeof(IngotTensorInfo)), "");
static_assert(IsWholeStructure(kModelInfoFields, sizeof(IngotModelInfo)), "");

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_ABI_FIELDS_H_

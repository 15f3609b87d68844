// The names that safetensors has for element types. Internal to its reader and
// writer.
#ifndef INGOT_RUNTIME_SAFETENSORS_TYPES_H_
#define INGOT_RUNTIME_SAFETENSORS_TYPES_H_

#include "absl/strings/string_view.h"
#include "runtime/data_type.h"

namespace ingot {

struct SafetensorsType {
  absl::string_view name;
  DataType type;
};

inline constexpr SafetensorsType kSafetensorsTypes[] = {
    {"F64", DataType::Float(64)}, {"F32", DataType::Float(32)},
    {"F16", DataType::Float(16)}, {"BF16", DataType::BFloat16()},
    {"I64", DataType::Int(64)},   {"I32", DataType::Int(32)},
    {"I16", DataType::Int(16)},   {"I8", DataType::Int(8)},
    {"U64", DataType::UInt(64)},  {"U32", DataType::UInt(32)},
    {"U16", DataType::UInt(16)},  {"U8", DataType::UInt(8)},
    {"BOOL", DataType::Bool()},
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_SAFETENSORS_TYPES_H_

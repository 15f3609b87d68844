// Element types that Ingot emulates: a tensor of another type stores them.
// Text is rows of UTF-8 bytes, filled up with zeros, in one more dimension;
// floats of 8 bits are their bytes; integers of 4 bits take a byte each. What
// moves elements works on the tensor that stores them; the rest converts
// (convert_elements.h). bf16 and f16 are types of their own.
#ifndef INGOT_COMPILER_RELAY_IMPORT_STORAGE_TYPE_H_
#define INGOT_COMPILER_RELAY_IMPORT_STORAGE_TYPE_H_

#include <string>

#include "runtime/data_type.h"

namespace ingot::relay {

enum class StorageType {
  kNone,  // the elements are the tensor's own
  kText,
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kUInt4,
  kInt4,
};

inline bool IsFloat8(StorageType t) {
  return t >= StorageType::kFloat8E4M3FN && t <= StorageType::kFloat8E5M2FNUZ;
}
inline bool IsFourBits(StorageType t) {
  return t == StorageType::kUInt4 || t == StorageType::kInt4;
}
// As people write it: string, float8e5m2, int4. Not for kNone.
std::string ToString(StorageType t);
// The attribute `format` of float8_encode and float8_decode. Floats of 8 bits
// only.
std::string Float8Format(StorageType t);

// The elements of a tensor.
struct ElementType {
  DataType dtype;  // of the tensor
  StorageType storage = StorageType::kNone;

  static ElementType Of(StorageType t);
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_IMPORT_STORAGE_TYPE_H_

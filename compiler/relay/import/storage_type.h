// Element types that Ingot emulates: a tensor of another type stores them.
// Text is rows of UTF-8 bytes, filled up with zeros, in one more dimension;
// floats of 8 and 4 bits are their codes, and integers of 4 and 2 bits take a
// byte each. What
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
  kFloat8E8M0,
  kFloat4E2M1,
  kUInt4,
  kInt4,
  kUInt2,
  kInt2,
};

// Floats of 8 and 4 bits; integers of 4 and 2 bits, and those with a sign.
inline bool IsSmallFloat(StorageType t) {
  return t >= StorageType::kFloat8E4M3FN && t <= StorageType::kFloat4E2M1;
}
inline bool IsSmallInteger(StorageType t) { return t >= StorageType::kUInt4; }
inline bool IsSigned(StorageType t) {
  return t == StorageType::kInt4 || t == StorageType::kInt2;
}
// The bits of an element. Not for kNone and text.
int BitsOf(StorageType t);
// As people write it: string, float8e5m2, int4. Not for kNone.
std::string ToString(StorageType t);
// The attribute `format` of float8_encode and float8_decode. Small floats only.
std::string FloatFormat(StorageType t);

// The elements of a tensor.
struct ElementType {
  DataType dtype;  // of the tensor
  StorageType storage = StorageType::kNone;

  static ElementType Of(StorageType t);
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_IMPORT_STORAGE_TYPE_H_

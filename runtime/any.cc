#include "runtime/any.h"

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

absl::Status WrongKind(const TVMFFIAny& any, const char* expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", expected, ", got ", AnyKindName(any.type_index)));
}

}  // namespace

absl::StatusOr<int64_t> AnyToInt(const TVMFFIAny& any) {
  if (any.type_index == kTVMFFIInt || any.type_index == kTVMFFIBool) {
    return any.v_int64;
  }
  return WrongKind(any, "int");
}

absl::StatusOr<double> AnyToDouble(const TVMFFIAny& any) {
  if (any.type_index == kTVMFFIFloat) return any.v_float64;
  if (any.type_index == kTVMFFIInt) return static_cast<double>(any.v_int64);
  return WrongKind(any, "float");
}

absl::StatusOr<DLTensor*> AnyToTensor(const TVMFFIAny& any) {
  if (any.type_index == kTVMFFIDLTensorPtr && any.v_ptr != nullptr) {
    return static_cast<DLTensor*>(any.v_ptr);
  }
  if (any.type_index == kTVMFFITensor && any.v_obj != nullptr) {
    return reinterpret_cast<DLTensor*>(reinterpret_cast<char*>(any.v_obj) +
                                       sizeof(TVMFFIObject));
  }
  return WrongKind(any, "DLTensor*");
}

std::string AnyKindName(int32_t type_index) {
  switch (type_index) {
    case kTVMFFINone:
      return "None";
    case kTVMFFIInt:
      return "int";
    case kTVMFFIBool:
      return "bool";
    case kTVMFFIFloat:
      return "float";
    case kTVMFFIOpaquePtr:
      return "pointer";
    case kTVMFFIDataType:
      return "DataType";
    case kTVMFFIDevice:
      return "Device";
    case kTVMFFIDLTensorPtr:
      return "DLTensor*";
    case kTVMFFIRawStr:
    case kTVMFFISmallStr:
    case kTVMFFIStr:
      return "str";
    case kTVMFFIByteArrayPtr:
    case kTVMFFISmallBytes:
    case kTVMFFIBytes:
      return "bytes";
    case kTVMFFITensor:
      return "Tensor";
    case kTVMFFIFunction:
      return "Function";
    case kTVMFFIModule:
      return "Module";
    default:
      return absl::StrCat(
          type_index >= kTVMFFIStaticObjectBegin ? "object " : "kind ",
          type_index);
  }
}

void ReleaseAny(TVMFFIAny* result) {
  if (result->type_index >= kTVMFFIStaticObjectBegin &&
      result->v_obj != nullptr) {
    TVMFFIObject* object = result->v_obj;
    constexpr uint64_t kStrongMask = 0xffffffffu;
    constexpr uint64_t kWeakOne = uint64_t{1} << 32;
    constexpr int kStrongWent = 1;
    constexpr int kWeakWent = 2;
    // All strong references together hold one weak one.
    const uint64_t before =
        __atomic_fetch_sub(&object->combined_ref_count, 1, __ATOMIC_ACQ_REL);
    if ((before & kStrongMask) == 1 && object->deleter != nullptr) {
      if (before == kWeakOne + 1) {
        object->deleter(object, kStrongWent | kWeakWent);
      } else {
        object->deleter(object, kStrongWent);
        if (__atomic_fetch_sub(&object->combined_ref_count, kWeakOne,
                               __ATOMIC_ACQ_REL) == kWeakOne) {
          object->deleter(object, kWeakWent);
        }
      }
    }
  }
  *result = AnyNone();
}

}  // namespace ingot

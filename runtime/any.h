#ifndef INGOT_RUNTIME_ANY_H_
#define INGOT_RUNTIME_ANY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/c_abi.h"

// Making and reading the C ABI's tagged values. What a value points to is
// borrowed: it must outlive the value.

namespace ingot {

constexpr TVMFFIAny MakeAny(int32_t type_index) {
  TVMFFIAny any{};
  any.type_index = type_index;
  return any;
}

inline TVMFFIAny AnyNone() { return MakeAny(kTVMFFINone); }

inline TVMFFIAny AnyInt(int64_t value) {
  TVMFFIAny any = MakeAny(kTVMFFIInt);
  any.v_int64 = value;
  return any;
}

inline TVMFFIAny AnyBool(bool value) {
  TVMFFIAny any = MakeAny(kTVMFFIBool);
  any.v_int64 = value ? 1 : 0;
  return any;
}

inline TVMFFIAny AnyFloat(double value) {
  TVMFFIAny any = MakeAny(kTVMFFIFloat);
  any.v_float64 = value;
  return any;
}

inline TVMFFIAny AnyPtr(void* value) {
  TVMFFIAny any = MakeAny(kTVMFFIOpaquePtr);
  any.v_ptr = value;
  return any;
}

inline TVMFFIAny AnyTensor(DLTensor* value) {
  TVMFFIAny any = MakeAny(kTVMFFIDLTensorPtr);
  any.v_ptr = value;
  return any;
}

// `value` ends with NUL.
inline TVMFFIAny AnyString(const char* value) {
  TVMFFIAny any = MakeAny(kTVMFFIRawStr);
  any.v_c_str = value;
  return any;
}

// The value if it is of the kind asked for, or InvalidArgument that names both
// kinds. AnyToDouble takes an int as well, AnyToInt a bool as well; AnyToTensor
// takes a borrowed DLTensor or a tensor object, and never answers null.
absl::StatusOr<int64_t> AnyToInt(const TVMFFIAny& any);
absl::StatusOr<double> AnyToDouble(const TVMFFIAny& any);
absl::StatusOr<DLTensor*> AnyToTensor(const TVMFFIAny& any);

// "int", "DLTensor*", "object 130": for messages.
std::string AnyKindName(int32_t type_index);

// Gives back the reference that a result holds, if it is an object, and sets it
// to None. For whoever received `*result` from a call.
void ReleaseAny(TVMFFIAny* result);

}  // namespace ingot

#endif  // INGOT_RUNTIME_ANY_H_

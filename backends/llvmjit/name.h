// The name that the target kind, its artifacts and their loader share.
#ifndef INGOT_BACKENDS_LLVMJIT_NAME_H_
#define INGOT_BACKENDS_LLVMJIT_NAME_H_

namespace ingot::llvmjit {

inline constexpr char kName[] = "llvmjit";

}  // namespace ingot::llvmjit

#endif  // INGOT_BACKENDS_LLVMJIT_NAME_H_

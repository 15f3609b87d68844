// The name that the target, its artifacts and their loader share.
#ifndef INGOT_BACKENDS_ROCM_NAME_H_
#define INGOT_BACKENDS_ROCM_NAME_H_

namespace ingot::rocm {

// The target, its codegen, its loader and the kind of its device.
inline constexpr char kName[] = "rocm";

// The artifact of a key that holds its kernels.
inline constexpr char kCodeFile[] = "kernels.hsaco";

}  // namespace ingot::rocm

#endif  // INGOT_BACKENDS_ROCM_NAME_H_

// The name that the target, its artifacts and their loader share.
#ifndef INGOT_BACKENDS_CUDA_NAME_H_
#define INGOT_BACKENDS_CUDA_NAME_H_

namespace ingot::cuda {

// The target, its codegen, its loader and the kind of its device.
inline constexpr char kName[] = "cuda";

// The artifact of a key that holds its kernels.
inline constexpr char kPtxFile[] = "kernels.ptx";

}  // namespace ingot::cuda

#endif  // INGOT_BACKENDS_CUDA_NAME_H_

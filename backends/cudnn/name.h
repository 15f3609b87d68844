#ifndef INGOT_BACKENDS_CUDNN_NAME_H_
#define INGOT_BACKENDS_CUDNN_NAME_H_

namespace ingot::cudnn {

// The target, and the loader of its artifacts.
inline constexpr char kName[] = "cudnn";
// Its functions run on the device of the target `cuda`.
inline constexpr char kDevice[] = "cuda";

}  // namespace ingot::cudnn

#endif  // INGOT_BACKENDS_CUDNN_NAME_H_

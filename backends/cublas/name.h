#ifndef INGOT_BACKENDS_CUBLAS_NAME_H_
#define INGOT_BACKENDS_CUBLAS_NAME_H_

namespace ingot::cublas {

// The target, and the loader of its artifacts.
inline constexpr char kName[] = "cublas";
// Its functions run on the device of the target `cuda`.
inline constexpr char kDevice[] = "cuda";

}  // namespace ingot::cublas

#endif  // INGOT_BACKENDS_CUBLAS_NAME_H_

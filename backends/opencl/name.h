// The name that the target, its artifacts and their loader share.
#ifndef INGOT_BACKENDS_OPENCL_NAME_H_
#define INGOT_BACKENDS_OPENCL_NAME_H_

namespace ingot::opencl {

// The target, its codegen, its loader and the kind of its device.
inline constexpr char kName[] = "opencl";

// For people.
inline constexpr char kFamily[] = "OpenCL";

// The artifact of a key that holds its kernels, beside the function table
// (backends/device/table.h).
inline constexpr char kSourceFile[] = "kernels.cl";

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_NAME_H_

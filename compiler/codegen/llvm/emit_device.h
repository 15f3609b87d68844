// One kernel of a GPU as LLVM IR. Private to this folder.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_EMIT_DEVICE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_EMIT_DEVICE_H_

#include "absl/status/status.h"
#include "compiler/codegen/device_kernels.h"
#include "compiler/codegen/llvm/module_emitter.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// Adds the kernel to the emitter's module, whose machine is a GPU.
absl::Status EmitDeviceKernel(const tir::PrimFunc& function,
                              const DeviceKernel& kernel,
                              ModuleEmitter* module);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_EMIT_DEVICE_H_

#include "compiler/codegen/llvm/emit_device.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/device.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// The space of a device's memory that all its work items and the host share,
// for both families.
constexpr unsigned kGlobalMemory = 1;

bool IsNvidia(const ModuleEmitter& module) {
  return module.machine().triple == kNvidiaTriple;
}

// Says that the function is started by the host, with groups of that size.
void MakeKernel(const ModuleEmitter& module, int64_t group,
                llvm::Function* function) {
  llvm::LLVMContext& context = function->getContext();
  if (!IsNvidia(module)) {
    function->setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
    function->addFnAttr("amdgpu-flat-work-group-size",
                        absl::StrCat(group, ",", group));
    return;
  }
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  llvm::Metadata* const annotation[] = {
      llvm::ValueAsMetadata::get(function),
      llvm::MDString::get(context, "maxntidx"),
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
          llvm::Type::getInt32Ty(context), static_cast<uint64_t>(group)))};
  function->getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(context, annotation));
}

// The number of this work item.
Value* WorkItem(const ModuleEmitter& module, int64_t group,
                llvm::IRBuilder<>& b) {
  const bool nvidia = IsNvidia(module);
  const auto read = [&](llvm::Intrinsic::ID id) {
    return b.CreateZExt(b.CreateIntrinsic(id, {}, {}), b.getInt64Ty());
  };
  Value* const in_grid =
      read(nvidia ? llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x
                  : llvm::Intrinsic::amdgcn_workgroup_id_x);
  Value* const in_group =
      read(nvidia ? llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x
                  : llvm::Intrinsic::amdgcn_workitem_id_x);
  return b.CreateNSWAdd(b.CreateNSWMul(in_grid, b.getInt64(group)), in_group,
                        "item");
}

llvm::Function* NewKernel(const tir::PrimFunc& function,
                          const DeviceKernel& kernel, ModuleEmitter* module) {
  llvm::LLVMContext& context = module->context();
  const std::vector<llvm::Type*> params(
      function.params.size(), llvm::PointerType::get(context, kGlobalMemory));
  llvm::Function* const made = module->NewFunction(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), params, false),
      kernel.name, /*exported=*/true);
  MakeKernel(*module, kernel.group, made);
  for (size_t p = 0; p < params.size(); ++p) {
    SetBufferAttributes(made, p, *function.params[p],
                        static_cast<int>(p) < function.num_inputs());
    made->getArg(p)->setName(function.params[p]->name);
  }
  return made;
}

}  // namespace

absl::Status EmitDeviceKernel(const tir::PrimFunc& function,
                              const DeviceKernel& kernel,
                              ModuleEmitter* module) {
  if (module->module().getFunction(kernel.name) != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("two kernels are called ", kernel.name));
  }
  llvm::Function* const made = NewKernel(function, kernel, module);
  KernelEmitter emitter(module, made, tir::Bounds(), /*in_parallel=*/true);
  for (size_t p = 0; p < function.params.size(); ++p) {
    emitter.BindBuffer(function.params[p].get(), made->getArg(p));
  }
  if (kernel.loop == nullptr) {
    emitter.EmitStmt(kernel.body);
  } else {
    llvm::IRBuilder<>& b = emitter.builder();
    Value* const item = WorkItem(*module, kernel.group, b);
    if (kernel.WorkItems() != kernel.iterations) {
      llvm::LLVMContext& context = module->context();
      auto* const none = llvm::BasicBlock::Create(context, "none", made);
      auto* const some = llvm::BasicBlock::Create(context, "some", made);
      b.CreateCondBr(b.CreateICmpSLT(item, b.getInt64(kernel.iterations)), some,
                     none);
      b.SetInsertPoint(none);
      b.CreateRetVoid();
      b.SetInsertPoint(some);
    }
    emitter.EmitIteration(*kernel.loop, item);
  }
  emitter.Finish();
  return emitter.status();
}

}  // namespace ingot::codegen

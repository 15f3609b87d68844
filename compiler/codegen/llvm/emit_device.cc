#include "compiler/codegen/llvm/emit_device.h"

#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/alignment.h"
#include "compiler/codegen/device_pipelines.h"
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

// Says something of a function in the words of LLVM's back end for NVIDIA's
// GPUs.
void Annotate(const char* name, llvm::Metadata* value,
              llvm::Function* function) {
  llvm::LLVMContext& context = function->getContext();
  llvm::Metadata* const annotation[] = {llvm::ValueAsMetadata::get(function),
                                        llvm::MDString::get(context, name),
                                        value};
  function->getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(context, annotation));
}

llvm::Metadata* Number(llvm::LLVMContext& context, size_t number) {
  return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
      llvm::Type::getInt32Ty(context), static_cast<uint64_t>(number)));
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
  Annotate("maxntidx", Number(context, static_cast<size_t>(group)), function);
}

// Bytes of a tensor map as kernels get it, and what they begin at a multiple of
// (CUDA's driver API, CUtensorMap).
constexpr uint64_t kMapBytes = 128, kMapAlignment = 64;

// Adds the kernel's parameters from `first` on, which are tensor maps, passed
// as they are. The function has room for them.
void AddMaps(size_t first, llvm::Function* function) {
  llvm::LLVMContext& context = function->getContext();
  std::vector<llvm::Metadata*> numbers;
  for (size_t p = first; p < function->arg_size(); ++p) {
    llvm::Type* const type =
        llvm::ArrayType::get(llvm::Type::getInt8Ty(context), kMapBytes);
    function->addParamAttr(p, llvm::Attribute::getWithByValType(context, type));
    function->addParamAttr(p, llvm::Attribute::getWithAlignment(
                                  context, llvm::Align(kMapAlignment)));
    numbers.push_back(Number(context, p + 1));
  }
  // The copies take their addresses.
  if (!numbers.empty()) {
    Annotate("grid_constant", llvm::MDNode::get(context, numbers), function);
  }
}

// The number of this work item's group, and its own number in it.
struct Position {
  Value* group;
  Value* item;
};

Position PositionOf(const ModuleEmitter& module, llvm::IRBuilder<>& b) {
  const bool nvidia = IsNvidia(module);
  const auto read = [&](llvm::Intrinsic::ID id) {
    return b.CreateZExt(b.CreateIntrinsic(id, {}, {}), b.getInt64Ty());
  };
  return {read(nvidia ? llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x
                      : llvm::Intrinsic::amdgcn_workgroup_id_x),
          read(nvidia ? llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x
                      : llvm::Intrinsic::amdgcn_workitem_id_x)};
}

// Runs the iteration of a parallel loop that is this work item's, if any.
void EmitItem(const DeviceKernel& kernel, const Position& at,
              KernelEmitter* emitter) {
  llvm::IRBuilder<>& b = emitter->builder();
  // 32 bits are used where they are enough: divisions of 64 take a GPU many
  // instructions.
  const bool is_short =
      kernel.WorkItems() <= std::numeric_limits<int32_t>::max();
  llvm::Type* const type = is_short ? b.getInt32Ty() : b.getInt64Ty();
  const auto number = [&](Value* v) { return b.CreateTrunc(v, type); };
  Value* const first = b.CreateMul(
      number(at.group),
      llvm::ConstantInt::get(type, static_cast<uint64_t>(kernel.group)), "",
      /*HasNUW=*/true, /*HasNSW=*/true);
  Value* const item =
      b.CreateZExt(b.CreateAdd(first, number(at.item), "", /*HasNUW=*/true,
                               /*HasNSW=*/true),
                   b.getInt64Ty(), "item", /*IsNonNeg=*/true);
  if (kernel.WorkItems() != kernel.iterations) {
    llvm::Function* const function = b.GetInsertBlock()->getParent();
    const auto block = [&](const char* name) {
      return llvm::BasicBlock::Create(b.getContext(), name, function);
    };
    llvm::BasicBlock* const none = block("none");
    llvm::BasicBlock* const some = block("some");
    b.CreateCondBr(b.CreateICmpSLT(item, b.getInt64(kernel.iterations)), some,
                   none);
    b.SetInsertPoint(none);
    b.CreateRetVoid();
    b.SetInsertPoint(some);
  }
  emitter->EmitIteration(*kernel.loop, item);
}

llvm::Function* NewKernel(const tir::PrimFunc& function,
                          const DeviceKernel& kernel, ModuleEmitter* module) {
  llvm::LLVMContext& context = module->context();
  const size_t tensors = function.params.size();
  std::vector<llvm::Type*> params(
      tensors, llvm::PointerType::get(context, kGlobalMemory));
  params.resize(tensors + kernel.maps.size(),
                llvm::PointerType::get(context, /*AddressSpace=*/0));
  llvm::Function* const made = module->NewFunction(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), params, false),
      kernel.name, /*exported=*/true);
  MakeKernel(*module, kernel.group, made);
  AddMaps(tensors, made);
  for (size_t p = 0; p < tensors; ++p) {
    SetBufferAttributes(made, p, *function.params[p],
                        static_cast<int>(p) < function.num_inputs());
    made->getArg(p)->setName(function.params[p]->name);
    made->addParamAttr(
        p, llvm::Attribute::getWithAlignment(context, llvm::Align(kAlignment)));
  }
  return made;
}

// The memory that whoever launches a kernel gives to each group; null where the
// code has arrays of its own.
llvm::GlobalVariable* SharedByLaunch(const DeviceKernel& kernel,
                                     ModuleEmitter* module) {
  if (kernel.launch_bytes == 0) return nullptr;
  llvm::Type* const type =
      llvm::ArrayType::get(llvm::Type::getInt8Ty(module->context()), 0);
  auto* const array = new llvm::GlobalVariable(
      module->module(), type, /*isConstant=*/false,
      llvm::GlobalValue::ExternalLinkage, nullptr,
      absl::StrCat(kernel.name, "_shared"), nullptr,
      llvm::GlobalValue::NotThreadLocal, kSharedMemory);
  array->setAlignment(
      llvm::Align(kernel.maps.empty() ? kSharedAlignment : kBoxAlignment));
  return array;
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
    const Position at = PositionOf(*module, emitter.builder());
    if (kernel.IsBlocks()) {
      GroupOfItems group{at.item, kernel.group, &kernel.barriers,
                         &kernel.pipelines, SharedByLaunch(kernel, module)};
      for (size_t i = 0; i < kernel.maps.size(); ++i) {
        group.maps.push_back(
            made->getArg(static_cast<unsigned>(function.params.size() + i)));
      }
      emitter.SetGroup(group);
      emitter.EmitIteration(*kernel.loop, at.group);
    } else {
      EmitItem(kernel, at, &emitter);
    }
  }
  emitter.Finish();
  return emitter.status();
}

}  // namespace ingot::codegen

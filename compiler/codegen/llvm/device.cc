#include "compiler/codegen/llvm/device.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/compile_module.h"
#include "compiler/codegen/llvm/emit_device.h"
#include "compiler/codegen/llvm/module_emitter.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"

namespace ingot::codegen {

absl::StatusOr<Machine> DeviceMachine(absl::string_view triple,
                                      absl::string_view cpu) {
  InitializeLlvm();
  Machine m;
  m.triple = std::string(triple);
  m.cpu = m.tune_cpu = std::string(cpu);
  m.vector_bits = 0;
  m.has_fma = m.has_f16c = m.has_round = true;
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(m.triple, error);
  if (target == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("this LLVM has no code generator for ", m.triple));
  }
  const std::unique_ptr<llvm::MCSubtargetInfo> any(
      target->createMCSubtargetInfo(m.triple, "", ""));
  if (any == nullptr || m.cpu.empty() || !any->isCPUStringValid(m.cpu)) {
    return absl::InvalidArgumentError(
        absl::StrCat("LLVM knows no such processor for ", m.triple));
  }
  return m;
}

bool IsGpu(const Machine& machine) {
  return machine.triple == kNvidiaTriple || machine.triple == kAmdTriple;
}

bool IsAmpereOrNewer(const Machine& machine) {
  int version = 0;
  absl::string_view cpu = machine.cpu;
  if (machine.triple != kNvidiaTriple || !absl::ConsumePrefix(&cpu, "sm_")) {
    return false;
  }
  if (absl::EndsWith(cpu, "a")) cpu.remove_suffix(1);
  return absl::SimpleAtoi(cpu, &version) && version >= 80;
}

bool IsHopper(const Machine& machine) {
  return machine.triple == kNvidiaTriple && machine.cpu == "sm_90a";
}

bool DeviceLacks(const tir::Call& call) {
  switch (call.intrinsic) {
    case tir::Intrinsic::kTan:
    case tir::Intrinsic::kAsin:
    case tir::Intrinsic::kAcos:
    case tir::Intrinsic::kAtan:
    case tir::Intrinsic::kSinh:
    case tir::Intrinsic::kCosh:
    case tir::Intrinsic::kAsinh:
    case tir::Intrinsic::kAcosh:
    case tir::Intrinsic::kAtanh:
    case tir::Intrinsic::kFmod:
      return true;
    // Ours are of f32.
    case tir::Intrinsic::kExp:
    case tir::Intrinsic::kLog:
    case tir::Intrinsic::kTanh:
    case tir::Intrinsic::kErf:
    case tir::Intrinsic::kSin:
    case tir::Intrinsic::kCos:
    case tir::Intrinsic::kPow:
      return call.dtype.element() != DataType::Float(32);
    default:
      return false;
  }
}

absl::StatusOr<std::string> CompileForDevice(
    absl::Span<const DeviceFunction> functions, const Machine& machine,
    LlvmOutput output, int opt_level) {
  const std::string prefix;
  const auto fill = [&](llvm::Module* module) -> absl::Status {
    ModuleEmitter emitter(module, machine, /*main=*/nullptr, prefix);
    for (const DeviceFunction& f : functions) {
      for (const DeviceKernel& kernel : f.kernels) {
        INGOT_RETURN_IF_ERROR(EmitDeviceKernel(*f.function, kernel, &emitter));
      }
    }
    return absl::OkStatus();
  };
  return CompileModule("kernels", machine, opt_level, output, fill);
}

}  // namespace ingot::codegen

// The processor that generated code runs on, as LLVM describes it.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_MACHINE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_MACHINE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/machine/machine_model.h"
#include "compiler/target/target.h"

namespace llvm {
class TargetMachine;
}  // namespace llvm

namespace ingot::codegen {

// A plain value. Two equal ones give the same code.
struct Machine {
  std::string triple;
  std::string abi;       // its calling convention; empty: the only one
  std::string cpu;       // the baseline that `features` are added to
  std::string tune_cpu;  // whose timings to believe; changes no meaning
  // All features that code may use beyond the baseline, LLVM's names, sorted.
  std::vector<std::string> features;
  int vector_bits = 128;  // 0: no vector registers
  int vector_registers = 16;
  bool has_fma = false;
  bool has_f16c = false;  // converts between f16 and f32
  // LLVM compares halves as floats rather than lane by lane.
  bool compares_halves = true;
  bool has_round = false;  // rounds to even in one instruction
  bool native = false;     // made for the machine that compiles
  // Every operation is done, and rounded, as it is written, and nothing is left
  // to the C library.
  bool reproducible = false;
  // WebAssembly: addresses of 32 bits, one thread, and no C library. Its code
  // has the model's plain functions alone.
  bool is_wasm = false;

  bool Has(absl::string_view feature) const;
  // "+avx2,+fma": how LLVM takes them.
  std::string FeatureText() const;
  bool operator==(const Machine& o) const;
};

// The options of a target that describe its processor, with their help.
const std::map<std::string, TargetOption>& MachineOptions();

// Reads them: -mtriple (default: this machine's), -mcpu (default: native for
// this machine's triple, generic for another), -mattr, -vector-bits,
// -reproducible.
// InvalidArgument names the option and what is wrong with it; a triple must be
// wasm32, or one of 64-bit little-endian processors (isa/machines.h). For
// `native` the features come from asking the processor; its name, which LLVM
// may guess wrongly, is believed for timings alone, and only where it fits the
// features.
absl::StatusOr<Machine> ResolveMachine(const Target& target);

// The model that schedules use: the caches of the system for a native
// machine.
MachineModel ModelOf(const Machine& machine);

// An LLVM code generator for it, level 0 to 3. InvalidArgument if this LLVM
// has none for the triple.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateTargetMachine(
    const Machine& machine, int opt_level);

// Makes all of LLVM's targets known, once; the two above call it.
void InitializeLlvm();

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_MACHINE_H_

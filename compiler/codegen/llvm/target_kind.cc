#include "compiler/codegen/llvm/target_kind.h"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "artifact/loader_names.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/compile_parts.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/reproducible.h"
#include "compiler/schedules/cpu/layouts.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/target/matmul_precision.h"
#include "isa/needed_features.h"

namespace ingot::codegen {
namespace {

constexpr char kKeepIr[] = "keep-ir";
constexpr char kSchedulesFor[] = "schedules-for";

absl::StatusOr<int> OptLevel(const Target& target) {
  const std::string text = target.Option("O", "3");
  int level = 0;
  if (!absl::SimpleAtoi(text, &level) || level < 0 || level > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("target option -O=", text, ": must be 0, 1, 2 or 3"));
  }
  return level;
}

// The bf16 parts of a number of f32 that products may use; 0: they use the
// numbers.
absl::StatusOr<int> ProductParts(const Target& target) {
  INGOT_ASSIGN_OR_RETURN(const MatmulPrecision precision,
                         ReadMatmulPrecision(target));
  switch (precision) {
    case MatmulPrecision::kHigh:
      return 2;
    case MatmulPrecision::kMedium:
      return 1;
    case MatmulPrecision::kHighest:
      break;
  }
  return 0;
}

// Whether the set gets the LLVM IR that its code was made of.
absl::StatusOr<bool> KeepsIr(const Target& target) {
  const std::string text = target.Option(kKeepIr, "0");
  if (text == "1" || text == "0") return text == "1";
  return absl::InvalidArgumentError(
      absl::StrCat("target option -", kKeepIr, "=", text, ": must be 0 or 1"));
}

// LLVM IR for a person: above each function the model's nodes that it computes.
std::string WithNodes(absl::string_view ir,
                      absl::Span<const tir::PrimFunc> kernels) {
  std::map<std::string, std::string, std::less<>> nodes;
  for (const tir::PrimFunc& kernel : kernels) {
    const auto sources = kernel.attrs.find("sources");
    if (sources != kernel.attrs.end()) nodes[kernel.name] = sources->second;
  }
  std::string text;
  for (const absl::string_view line : absl::StrSplit(ir, '\n')) {
    const size_t at = line.find('@');
    if (absl::StartsWith(line, "define ") && at != absl::string_view::npos) {
      absl::string_view name = line.substr(at + 1);
      absl::ConsumePrefix(&name, "__tvm_ffi_");
      const auto found = nodes.find(name.substr(0, name.find_first_of(".(")));
      if (found != nodes.end()) {
        absl::StrAppend(&text, "; ", absl::CHexEscape(found->second), "\n");
      }
    }
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

// Adds the IR of each part, as KERNELS.ll beside its object. It is there to be
// read: loading passes over it.
absl::Status AddIr(absl::Span<const tir::PrimFunc> kernels,
                   const Machine& machine, const LlvmOptions& options,
                   CodegenResult* result) {
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<std::string> parts,
      CompileParts(kernels, machine, LlvmOutput::kText, options));
  for (size_t i = 0; i < parts.size(); ++i) {
    Artifact ir = result->artifacts[i];
    ir.loader = kNativeLoader;
    ir.file_name =
        absl::StrCat(ir.file_name.substr(0, ir.file_name.rfind('.')), ".ll");
    ir.content = Blob::FromString(WithNodes(parts[i], kernels));
    result->artifacts.push_back(std::move(ir));
  }
  return absl::OkStatus();
}

// Returns the machine that the options describe, if such output can be for it.
absl::StatusOr<Machine> MachineFor(const Target& target, LlvmOutput output) {
  INGOT_ASSIGN_OR_RETURN(Machine machine, ResolveMachine(target));
  if (!machine.is_wasm || output == LlvmOutput::kObject) return machine;
  return absl::InvalidArgumentError(absl::StrCat(
      "target option -mtriple=", target.Option("mtriple", ""),
      ": WebAssembly is no machine that loads bitcode; compile for llvm"));
}

// The machine that schedules are chosen for: that of the code unless the target
// names another of its family.
absl::StatusOr<Machine> MachineOfSchedules(const Target& target,
                                           LlvmOutput output) {
  const std::string processor = target.Option(kSchedulesFor, "");
  if (processor.empty()) return MachineFor(target, output);
  Target other = target;
  other.options.erase("mattr");
  other.options["mcpu"] = processor;
  return MachineFor(other, output);
}

}  // namespace

TargetKind MakeLlvmTargetKind(absl::string_view name, absl::string_view doc,
                              absl::string_view loader,
                              absl::string_view suffix, LlvmOutput output) {
  TargetKind kind;
  kind.name = std::string(name);
  kind.doc = std::string(doc);
  kind.options = MachineOptions();
  kind.options["O"] = {"how hard LLVM optimises, 0 to 3", "3"};
  kind.options[kMatmulPrecisionOption] = {
      "how products of f32 by constant matrices may be computed: highest (in "
      "f32), high (of two bf16 parts of each number) or medium (of bf16), "
      "where "
      "the processor has AMX",
      "highest"};
  kind.options[kSchedulesFor] = {
      "processor that kernels are scheduled for, by LLVM's name: its vectors, "
      "registers and units, in code for -mcpu, which has them or does the same "
      "by what it has",
      "the code's"};
  if (output == LlvmOutput::kObject) {
    kind.options[kKeepIr] = {
        "1: the set has the LLVM IR of its code, too, for people to read", "0"};
  }
  kind.loaders = {std::string(loader)};
  kind.tir_passes = {"vectorize_loops", "unroll_loops", "simplify",
                     "share_sizes"};
  kind.check = [output](const Target& target) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Machine machine, MachineFor(target, output));
    INGOT_RETURN_IF_ERROR(MachineOfSchedules(target, output).status());
    INGOT_RETURN_IF_ERROR(KeepsIr(target).status());
    INGOT_ASSIGN_OR_RETURN(const int parts, ProductParts(target));
    if (parts > 0 && machine.reproducible) {
      return absl::InvalidArgumentError(absl::StrCat(
          "target options -", kReproducibleOption, " and -",
          kMatmulPrecisionOption,
          " exclude each other: other machines have no such sums"));
    }
    return OptLevel(target).status();
  };
  kind.templates = te::cpu::CpuTemplates();
  kind.layouts = te::cpu::CpuLayouts;
  kind.machine =
      [output](const Target& target) -> absl::StatusOr<MachineModel> {
    INGOT_ASSIGN_OR_RETURN(Machine machine, MachineOfSchedules(target, output));
    MachineModel model = ModelOf(machine);
    INGOT_ASSIGN_OR_RETURN(model.product_parts, ProductParts(target));
    return model;
  };
  kind.triple = [output](const Target& target) -> absl::StatusOr<std::string> {
    INGOT_ASSIGN_OR_RETURN(Machine machine, MachineFor(target, output));
    return machine.triple;
  };
  kind.generates_main = output == LlvmOutput::kObject;
  const std::string codegen_id = kind.name;
  kind.tir_to_runtime =
      [codegen_id, loader = std::string(loader), suffix = std::string(suffix),
       output](const Target& target, absl::Span<const tir::PrimFunc> kernels,
               const CodegenOptions& options) -> absl::StatusOr<CodegenResult> {
    INGOT_ASSIGN_OR_RETURN(Machine machine, MachineFor(target, output));
    INGOT_ASSIGN_OR_RETURN(int level, OptLevel(target));
    LlvmOptions llvm_options;
    llvm_options.opt_level = level;
    const std::string stem = options.symbol_prefix.empty()
                                 ? "kernels"
                                 : options.symbol_prefix + "_kernels";
    llvm_options.module_name = stem;
    llvm_options.main = options.main;
    llvm_options.symbol_prefix = options.symbol_prefix;
    std::vector<tir::PrimFunc> rewritten;
    if (machine.reproducible) {
      INGOT_ASSIGN_OR_RETURN(rewritten, MakeReproducible(kernels));
      kernels = rewritten;
    }
    INGOT_ASSIGN_OR_RETURN(
        std::vector<std::string> parts,
        CompileParts(kernels, machine, output, llvm_options));
    CodegenResult result;
    std::set<std::string> needed;
    for (size_t i = 0; i < parts.size(); ++i) {
      // Bitcode needs nothing: its loader compiles it for what is there.
      if (output == LlvmOutput::kObject && !machine.is_wasm) {
        INGOT_ASSIGN_OR_RETURN(
            const std::vector<std::string> of_part,
            isa::NeededFeatures(parts[i], machine.triple, machine.features));
        needed.insert(of_part.begin(), of_part.end());
      }
      Artifact artifact;
      artifact.codegen_id = codegen_id;
      artifact.loader = loader;
      artifact.target_key = target.key;
      artifact.file_name =
          absl::StrCat(stem, i == 0 ? "" : absl::StrCat("_", i), suffix);
      artifact.content = Blob::FromString(std::move(parts[i]));
      result.artifacts.push_back(std::move(artifact));
    }
    INGOT_ASSIGN_OR_RETURN(const bool keeps_ir, KeepsIr(target));
    if (keeps_ir) {
      INGOT_RETURN_IF_ERROR(AddIr(kernels, machine, llvm_options, &result));
    }
    result.cpu_features.assign(needed.begin(), needed.end());
    if (machine.is_wasm) {
      // An engine reads a module as a whole, whatever of it runs.
      result.cpu_features = machine.features;
    } else {
      result.link_libraries = {"m"};
    }
    return result;
  };
  return kind;
}

}  // namespace ingot::codegen

#include "compiler/codegen/llvm/machine.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "compiler/codegen/reproducible.h"
#include "isa/features.h"
#include "isa/machines.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::codegen {
namespace {

absl::Status OptionError(absl::string_view option, absl::string_view value,
                         absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("target option -", option, "=", value, ": ", what));
}

using SubtargetPtr = std::unique_ptr<llvm::MCSubtargetInfo>;

// Not by LLVM's checkFeatures(), which takes a list of features and applies
// each to a copy: asked for every known feature of each target that a compile
// looks at, that took a fifth of compiling a small model.
bool HasFeature(const llvm::MCSubtargetInfo& sti, absl::string_view name) {
  const llvm::ArrayRef<llvm::SubtargetFeatureKV> all =
      sti.getAllProcessorFeatures();  // sorted by name
  const auto* const found = std::lower_bound(
      all.begin(), all.end(), name,
      [](const llvm::SubtargetFeatureKV& kv, absl::string_view wanted) {
        return absl::string_view(kv.Key) < wanted;
      });
  return found != all.end() && absl::string_view(found->Key) == name &&
         sti.getFeatureBits().test(found->Value);
}

// LLVM's name for the host if what it implies agrees with what the processor
// reports, else none: on a new model LLVM answers with the closest one it
// knows, whose timings may be far off.
std::string BelievableHostName(const llvm::Target& target,
                               const llvm::Triple& triple,
                               const llvm::MCSubtargetInfo& any,
                               const std::set<std::string>& host) {
  static const auto* const name =
      new std::string(llvm::sys::getHostCPUName().str());
  if (name->empty() || !any.isCPUStringValid(*name)) return "";
  const SubtargetPtr named(
      target.createMCSubtargetInfo(triple.str(), *name, ""));
  for (const isa::Feature& f : isa::FeaturesOf(triple.str())) {
    if (!f.optional) continue;
    const bool implied = HasFeature(*named, f.name);
    if (implied && host.count(f.name) == 0) return "";
    const absl::string_view big[] = {"avx512f", "avx512fp16", "amx-tile"};
    if (!implied && host.count(f.name) != 0 &&
        absl::c_linear_search(big, f.name)) {
      return "";
    }
  }
  return *name;
}

// Asked once: in a virtual machine each question may be answered by its host.
const std::set<std::string>& HostFeatures() {
  static const auto* const features = [] {
    auto* const found = new std::set<std::string>;
    for (const auto& entry : llvm::sys::getHostCPUFeatures()) {
      if (entry.getValue()) found->insert(entry.getKey().str());
    }
    return found;
  }();
  return *features;
}

// Appends the parts of -mattr to *features, checked.
absl::Status AddAttributes(const std::string& mattr,
                           const llvm::MCSubtargetInfo& sti,
                           std::vector<std::string>* features) {
  for (absl::string_view part :
       absl::StrSplit(mattr, ',', absl::SkipWhitespace())) {
    if (part[0] != '+' && part[0] != '-') {
      return OptionError("mattr", mattr,
                         absl::StrCat(part, " must begin with + or -"));
    }
    const absl::string_view name = part.substr(1);
    const bool known = absl::c_any_of(
        sti.getAllProcessorFeatures(), [&](const llvm::SubtargetFeatureKV& kv) {
          return name == absl::string_view(kv.Key);
        });
    if (!known) {
      return OptionError(
          "mattr", mattr,
          absl::StrCat("the processor family has no feature ", name));
    }
    features->emplace_back(part);
  }
  return absl::OkStatus();
}

void SetVectors(const llvm::Triple& triple, Machine* m) {
  if (triple.isX86()) {
    const bool avx512 = m->Has("avx512f") && m->Has("evex512");
    m->vector_bits = avx512 ? 512 : m->Has("avx") ? 256 : 128;
    m->vector_registers = avx512 ? 32 : 16;
    m->has_fma = m->Has("fma") || m->Has("avx512f");
    m->has_f16c = m->Has("f16c") || m->Has("avx512f");
    m->compares_halves = m->Has("avx512fp16");
    m->has_round = m->Has("sse4.1");
  } else if (triple.isAArch64()) {
    m->vector_bits = 128;
    m->vector_registers = 32;
    m->has_fma = m->has_f16c = m->has_round = true;
  } else if (triple.isPPC64()) {
    m->vector_bits = 128;
    m->vector_registers = 64;
    m->has_fma = true;
  } else if (triple.isWasm()) {
    m->vector_bits = m->Has("simd128") ? 128 : 0;
    // Engines keep one of x86-64's 16 for themselves, a product, which is not
    // added in the same instruction, needs another, and V8 loads all of a
    // tile's operands before it multiplies the first of them: a tile of 3 rows
    // and 3 vectors does not fit, one of 4 and 2 does.
    m->vector_registers = 12;
    m->has_round = true;
  } else {
    m->vector_bits = m->Has("v") ? 128 : 0;
    m->has_fma = true;
  }
}

// Generated code, the C ABI and the layout of weights rely on 64-bit
// little-endian processors, and linking on ELF files and Linux's C library. On
// WebAssembly, which is little-endian, there is no C ABI.
absl::Status CheckTriple(const std::string& mtriple,
                         const llvm::Triple& triple) {
  const bool bare = triple.getOS() == llvm::Triple::UnknownOS;
  if (triple.getArch() == llvm::Triple::wasm32 && bare) return absl::OkStatus();
  const bool x32 = triple.getEnvironment() == llvm::Triple::GNUX32 ||
                   triple.getEnvironment() == llvm::Triple::MuslX32 ||
                   triple.getEnvironment() == llvm::Triple::GNUILP32;
  const bool known =
      isa::FindByTriple(llvm::Triple::getArchTypeName(triple.getArch()).str());
  if (known && triple.isArch64Bit() && triple.isLittleEndian() &&
      triple.isOSBinFormatELF() && !x32 && (triple.isOSLinux() || bare)) {
    return absl::OkStatus();
  }
  const std::string families =
      absl::StrJoin(isa::MachineFamilies(), ", ",
                    [](std::string* out, const isa::MachineFamily& family) {
                      absl::StrAppend(out, family.gnu);
                    });
  return OptionError(
      "mtriple", absl::CHexEscape(mtriple),
      absl::StrCat("code is generated for wasm32, and for 64-bit little-endian "
                   "processors and Linux, as in ",
                   families));
}

int64_t SystemValue(int name, int64_t otherwise) {
  const long value = sysconf(name);  // NOLINT(runtime/int): the API's type
  return value > 0 ? value : otherwise;
}

// Applies the option vector-bits.
absl::Status LimitVectors(const Target& target, Machine* m) {
  const std::string bits = target.Option("vector-bits", "");
  if (bits.empty()) return absl::OkStatus();
  int value = 0;
  if (!absl::SimpleAtoi(bits, &value) ||
      (value != 0 && value != 128 && value != 256 && value != 512)) {
    return OptionError("vector-bits", bits, "must be 0, 128, 256 or 512");
  }
  if (value > m->vector_bits) {
    return OptionError("vector-bits", bits,
                       absl::StrCat("the processor has ", m->vector_bits));
  }
  m->vector_bits = value;
  return absl::OkStatus();
}

}  // namespace

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
    llvm::InitializeAllDisassemblers();
  });
}

bool Machine::Has(absl::string_view feature) const {
  return absl::c_linear_search(features, feature);
}

std::string Machine::FeatureText() const {
  return absl::StrJoin(features, ",", [](std::string* out, auto& feature) {
    absl::StrAppend(out, "+", feature);
  });
}

bool Machine::operator==(const Machine& o) const {
  return triple == o.triple && abi == o.abi && cpu == o.cpu &&
         tune_cpu == o.tune_cpu && features == o.features &&
         vector_bits == o.vector_bits && reproducible == o.reproducible;
}

const std::map<std::string, TargetOption>& MachineOptions() {
  static const auto* options = new std::map<std::string, TargetOption>{
      {"mtriple",
       {"target triple, for example aarch64-linux-gnu", "this machine's"}},
      {"mcpu",
       {"processor by LLVM's name, or native",
        "native for this machine's triple, else generic"}},
      {"mattr", {"features to add or take away: +avx2,-avx512f", ""}},
      {"vector-bits",
       {"width of vectors to use: 0 (none), 128, 256 or 512",
        "what the processor prefers"}},
      {kReproducibleOption, ReproducibleOption()},
  };
  return *options;
}

absl::StatusOr<Machine> ResolveMachine(const Target& target) {
  InitializeLlvm();
  Machine m;
  const std::string host_triple =
      llvm::Triple::normalize(llvm::sys::getProcessTriple());
  const std::string mtriple = target.Option("mtriple", host_triple);
  llvm::Triple triple(llvm::Triple::normalize(mtriple));
  INGOT_RETURN_IF_ERROR(CheckTriple(mtriple, triple));
  triple.setArch(triple.getArch());  // arm64 is aarch64, and so on
  m.triple = triple.str();
  if (triple.isRISCV64()) m.abi = "lp64d";
  m.is_wasm = triple.isWasm();
  if (m.is_wasm) m.triple = "wasm32-unknown-unknown";
  std::string error;
  const llvm::Target* llvm_target =
      llvm::TargetRegistry::lookupTarget(m.triple, error);
  if (llvm_target == nullptr) {
    return OptionError("mtriple", m.triple, "LLVM has no such target");
  }
  SubtargetPtr any(llvm_target->createMCSubtargetInfo(m.triple, "", ""));
  if (any == nullptr) {
    return OptionError("mtriple", m.triple, "LLVM cannot describe it");
  }

  const bool same_arch =
      triple.getArch() == llvm::Triple(host_triple).getArch();
  const std::string mcpu =
      target.Option("mcpu", m.triple == host_triple ? "native" : "generic");
  m.native = mcpu == "native";
  if (m.native && !same_arch) {
    return OptionError("mcpu", mcpu,
                       absl::StrCat("this machine is no ", m.triple));
  }
  const bool named = !m.native && mcpu != "generic";
  if (named && !any->isCPUStringValid(mcpu)) {
    return OptionError(
        "mcpu", mcpu,
        absl::StrCat("LLVM knows no such processor for ", m.triple));
  }

  const absl::Span<const isa::Feature> known = isa::FeaturesOf(m.triple);
  std::vector<std::string> wanted;
  for (const isa::Feature& f : known) {
    // The baseline of a family whose CPUs are named for less than that.
    if ((triple.isRISCV64() || m.is_wasm) && !f.optional) {
      wanted.push_back(absl::StrCat("+", f.name));
    }
  }
  const std::set<std::string> host =
      m.native ? HostFeatures() : std::set<std::string>();
  for (const std::string& feature : host) {
    wanted.push_back(absl::StrCat("+", feature));
  }
  INGOT_RETURN_IF_ERROR(
      AddAttributes(target.Option("mattr", ""), *any, &wanted));
  m.cpu = isa::BaselineCpu(m.triple);
  SubtargetPtr sti(llvm_target->createMCSubtargetInfo(
      m.triple, named ? mcpu : m.cpu, absl::StrJoin(wanted, ",")));
  for (const isa::Feature& f : known) {
    if (HasFeature(*sti, f.name)) {
      m.features.emplace_back(f.name);
    }
  }
  absl::c_sort(m.features);

  if (named) m.tune_cpu = mcpu;
  if (m.native) {
    m.tune_cpu = BelievableHostName(*llvm_target, triple, *any, host);
  }
  if (m.tune_cpu.empty()) m.tune_cpu = "generic";
  if (!any->isCPUStringValid(m.tune_cpu)) m.tune_cpu = m.cpu;

  INGOT_ASSIGN_OR_RETURN(m.reproducible, IsReproducible(target));
  SetVectors(triple, &m);
  INGOT_RETURN_IF_ERROR(LimitVectors(target, &m));
  return m;
}

MachineModel ModelOf(const Machine& machine) {
  MachineModel model;
  model.vector_bits = machine.vector_bits;
  model.vector_registers = machine.vector_registers;
  model.wide_vectors = !machine.is_wasm;
  model.fma = machine.has_fma;
  model.reproducible = machine.reproducible;
  const std::pair<const char*, MachineUnit> units[] = {
      {"avx512vnni", MachineUnit::kInt8Dot},
      {"avxvnni", MachineUnit::kInt8Dot},
      {"i8mm", MachineUnit::kInt8Dot},
      {"dotprod", MachineUnit::kInt7Dot},
      {"simd128", MachineUnit::kInt8Dot},
      {"amx-int8", MachineUnit::kInt8Tiles},
      {"amx-bf16", MachineUnit::kBFloat16Tiles},
  };
  for (const auto& [feature, unit] : units) {
    if (machine.Has(feature)) model.units.insert(unit);
  }
  // Wider vectors came before integers in them.
  const char* const integers = machine.vector_bits == 512   ? "avx512bw"
                               : machine.vector_bits == 256 ? "avx2"
                                                            : "ssse3";
  if (machine.Has(integers)) model.units.insert(MachineUnit::kInt8Pairs);
  if (machine.native) {
    model.l1_bytes = SystemValue(_SC_LEVEL1_DCACHE_SIZE, model.l1_bytes);
    model.l2_bytes = SystemValue(_SC_LEVEL2_CACHE_SIZE, model.l2_bytes);
  }
  return model;
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateTargetMachine(
    const Machine& machine, int opt_level) {
  InitializeLlvm();
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(machine.triple, error);
  if (target == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("LLVM has no target ", machine.triple, ": ", error));
  }
  const std::optional<llvm::CodeGenOptLevel> level =
      llvm::CodeGenOpt::getLevel(std::clamp(opt_level, 0, 3));
  llvm::TargetOptions options;
  options.MCOptions.ABIName = machine.abi;
  std::unique_ptr<llvm::TargetMachine> result(target->createTargetMachine(
      machine.triple, machine.cpu, machine.FeatureText(), options,
      machine.is_wasm ? llvm::Reloc::Static : llvm::Reloc::PIC_, std::nullopt,
      *level));
  if (result == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("LLVM cannot generate code for ", machine.triple));
  }
  return result;
}

}  // namespace ingot::codegen

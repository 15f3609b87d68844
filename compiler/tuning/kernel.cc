#include "compiler/tuning/kernel.h"

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/sha256.h"
#include "compiler/te/definition_text.h"
#include "runtime/host_cpu.h"

namespace ingot::tuning {
namespace {

// Hexadecimal digits: no two kernels of a fleet of models share so many.
constexpr size_t kKernelDigits = 32;
constexpr size_t kTargetDigits = 16;

// The option by which every kind names the processor. Without it code is for
// the one at hand, or measured there.
constexpr char kProcessor[] = "mcpu";
constexpr char kNative[] = "native";

// The name of this machine's processor, and what it can do.
std::string HostProcessor() {
  std::ifstream file("/proc/cpuinfo");
  std::string name;
  for (std::string line; name.empty() && std::getline(file, line);) {
    // On x86; on Arm, which names the core by a number.
    if (absl::StartsWith(line, "model name") ||
        absl::StartsWith(line, "CPU part")) {
      name = line;
    }
  }
  return absl::StrCat(name, "\n", absl::StrJoin(HostCpuFeatures(), " "));
}

}  // namespace

std::string KernelKey(const te::Graph& graph,
                      absl::Span<const te::Tensor> outputs) {
  return Sha256Hex(te::DefinitionText(graph, outputs)).substr(0, kKernelDigits);
}

std::string TargetKey(const Target& target, const MachineModel& machine) {
  std::string text =
      absl::StrCat(machine.vector_bits, " ", machine.vector_registers, " ",
                   machine.fma, " ", machine.l1_bytes, " ", machine.l2_bytes,
                   " ", machine.product_parts, " ", machine.reproducible);
  if (machine.group_cores != 0) {
    absl::StrAppend(&text, " groups ", machine.group_cores, " ",
                    machine.shared_bytes);
  }
  for (const MachineUnit unit : machine.units) {
    absl::StrAppend(&text, " ", static_cast<int>(unit));
  }
  for (const auto& [name, value] : target.options) {
    if (name == kProcessor) continue;
    absl::StrAppend(&text, "\n-", name, "=", value);
  }
  const std::string processor = target.Option(kProcessor, kNative);
  absl::StrAppend(&text, "\n",
                  processor == kNative ? HostProcessor() : processor);
  return absl::StrCat(target.kind, "/",
                      Sha256Hex(text).substr(0, kTargetDigits));
}

}  // namespace ingot::tuning

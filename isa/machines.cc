#include "isa/machines.h"

#include <elf.h>

#include "absl/strings/str_cat.h"

namespace ingot::isa {
namespace {

constexpr MachineFamily kFamilies[] = {
    {"x86_64", EM_X86_64, "x86_64-linux-gnu", "amd64"},
    {"aarch64", EM_AARCH64, "aarch64-linux-gnu", "arm64"},
    {"riscv64", EM_RISCV, "riscv64-linux-gnu", "riscv64"},
    {"powerpc64le", EM_PPC64, "powerpc64le-linux-gnu", "ppc64el"},
};

}  // namespace

absl::Span<const MachineFamily> MachineFamilies() { return kFamilies; }

const MachineFamily* FindByElf(uint16_t elf_machine) {
  for (const MachineFamily& family : kFamilies) {
    if (family.elf_machine == elf_machine) return &family;
  }
  return nullptr;
}

const MachineFamily* FindByTriple(absl::string_view triple) {
  const absl::string_view name = triple.substr(0, triple.find('-'));
  for (const MachineFamily& family : kFamilies) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

const MachineFamily* HostFamily() {
#if defined(__x86_64__)
  return FindByElf(EM_X86_64);
#elif defined(__aarch64__)
  return FindByElf(EM_AARCH64);
#elif defined(__riscv) && __riscv_xlen == 64
  return FindByElf(EM_RISCV);
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return FindByElf(EM_PPC64);
#else
  return nullptr;
#endif
}

std::string NameOfElfMachine(uint16_t elf_machine) {
  const MachineFamily* family = FindByElf(elf_machine);
  if (family != nullptr) return family->name;
  return absl::StrCat("ELF machine ", elf_machine);
}

}  // namespace ingot::isa

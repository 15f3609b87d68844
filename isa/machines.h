// The processor families that Ingot makes code for and can tell apart.

#ifndef INGOT_ISA_MACHINES_H_
#define INGOT_ISA_MACHINES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot::isa {

// All of them have 64-bit little-endian addresses and numbers, which generated
// code, the C ABI and the layout of weights rely on.
struct MachineFamily {
  const char* name;      // the first component of its target triples
  uint16_t elf_machine;  // e_machine of its ELF files, such as EM_AARCH64
  const char* gnu;       // how Debian names its folders and cross compilers
  const char* debian;    // the architecture in names of Debian's packages
};

absl::Span<const MachineFamily> MachineFamilies();

// Null for a family that is not listed.
const MachineFamily* FindByElf(uint16_t elf_machine);
const MachineFamily* FindByTriple(absl::string_view triple);

// The family of the machine that this program runs on; null if not listed.
const MachineFamily* HostFamily();

// "aarch64", or "ELF machine 243" for a family that is not listed.
std::string NameOfElfMachine(uint16_t elf_machine);

}  // namespace ingot::isa

#endif  // INGOT_ISA_MACHINES_H_

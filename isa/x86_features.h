// Tells which instruction set extension an x86-64 instruction belongs to.

#ifndef INGOT_ISA_X86_FEATURES_H_
#define INGOT_ISA_X86_FEATURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot::isa {

// The encoding of an instruction, as far as the table asks for it.
struct X86Encoding {
  enum Kind { kLegacy, kVex, kEvex } kind = kLegacy;
  int opcode_map = 0;            // 1: 0F, 2: 0F 38, 3: 0F 3A, 5 and 6: FP16's
  int vector_bits = 128;         // of VEX and EVEX
  bool register_operand = true;  // the last operand is no memory
};

// Reads it from an instruction's bytes, which must be valid in 64-bit mode.
X86Encoding ReadX86Encoding(absl::Span<const uint8_t> bytes);

struct X86Needs {
  // LLVM's names of the extensions that must all be there; none for what every
  // x86-64 has.
  std::vector<absl::string_view> features;
  // False for a VEX or EVEX instruction that the table does not list.
  bool known = true;
};

// `mnemonic` is Intel's, such as "vfmadd231ps". Follows the column "CPUID
// feature flag" of Intel's manual. Extensions without their own registers name
// those that they build on only where the encoding needs them: avx512bw code of
// 512 bits needs {"avx512bw"}.
X86Needs NeedsOfX86(absl::string_view mnemonic, const X86Encoding& encoding);

}  // namespace ingot::isa

#endif  // INGOT_ISA_X86_FEATURES_H_

// For tests: the GNU assembler, which knows by itself what each instruction
// needs.

#ifndef INGOT_ISA_GNU_ASSEMBLER_H_
#define INGOT_ISA_GNU_ASSEMBLER_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot::isa {

// The x86 features that both LLVM and the GNU assembler know, in LLVM's names.
std::vector<std::string> AssemblerFeatures();

// The numbers, from 0, of the lines of `source` that `as` refuses for an x86-64
// that has `features` beyond what all have. *object gets the object file if it
// refuses none.
std::set<int> RefusedLines(absl::string_view source,
                           absl::Span<const std::string> features,
                           std::string* object = nullptr);

}  // namespace ingot::isa

#endif  // INGOT_ISA_GNU_ASSEMBLER_H_

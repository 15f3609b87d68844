// The CPU features that machine code needs, read off its instructions.

#ifndef INGOT_ISA_NEEDED_FEATURES_H_
#define INGOT_ISA_NEEDED_FEATURES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot::isa {

// Disassembles the code of `object`, a relocatable ELF file for `triple`, and
// returns, sorted, those of `possible` (LLVM's names) without which one of its
// instructions cannot be executed. Its compiler used nothing but `possible`
// beyond what every processor of the family has: an instruction that older
// processors take for another one with the same effect (`rep bsf` is `tzcnt`)
// then needs nothing. Bytes that are no instruction this LLVM knows count as
// needing all of `possible`, so the answer may list too much and never too
// little. Thread-safe.
//
// InvalidArgument if it is no 64-bit little-endian ELF file; Unimplemented if
// this LLVM has no disassembler for the triple.
absl::StatusOr<std::vector<std::string>> NeededFeatures(
    absl::string_view object, absl::string_view triple,
    absl::Span<const std::string> possible);

// The same for instructions without a file around them.
absl::StatusOr<std::vector<std::string>> NeededFeaturesOfCode(
    absl::string_view code, absl::string_view triple,
    absl::Span<const std::string> possible);

}  // namespace ingot::isa

#endif  // INGOT_ISA_NEEDED_FEATURES_H_

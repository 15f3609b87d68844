// The CPU features that code generation makes use of, in LLVM's names.

#ifndef INGOT_ISA_FEATURES_H_
#define INGOT_ISA_FEATURES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot::isa {

struct Feature {
  const char* name;
  // False for names that are LLVM's own, and for what every processor has that
  // the family's Linux runs on.
  bool optional = true;
};

// Others that a processor may have (keys, transactions, system instructions)
// do nothing for generated code. The later one stands, the fewer processors
// have it, as a rule. Empty for a family that is not listed.
absl::Span<const Feature> FeaturesOf(absl::string_view triple);

// The processor, by LLVM's name, that the family's Linux at least runs on.
std::string BaselineCpu(absl::string_view triple);

}  // namespace ingot::isa

#endif  // INGOT_ISA_FEATURES_H_

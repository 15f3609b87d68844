// Names of a kernel's parameters.
#ifndef INGOT_COMPILER_RELAY_PASSES_PARAMETER_NAMES_H_
#define INGOT_COMPILER_RELAY_PASSES_PARAMETER_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot::relay {

// The part that two names share: the whole, or what stands after the last of
// "./:"; empty when that differs, too.
std::string CommonName(absl::string_view a, absl::string_view b);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_PARAMETER_NAMES_H_

// A symbol brings native code and the weights of its set together in one
// program.
#ifndef INGOT_ARTIFACT_CONSTANTS_SYMBOL_H_
#define INGOT_ARTIFACT_CONSTANTS_SYMBOL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// Native code that knows at which offsets its constants are refers to their
// first byte by this symbol. Its name has a digest of everything that the
// offsets depend on, so that code never meets weights that were laid out in
// another way: the symbol is then missing.
struct ConstantsSymbol {
  std::string name;
  uint64_t offset = 0;  // of that byte in the safetensors file
};

// The symbol of the weights in `safetensors`, a whole file of that format, in a
// set whose symbols begin with `prefix`. InvalidArgument for a file whose
// header does not fit in it.
absl::StatusOr<ConstantsSymbol> FindConstantsSymbol(
    absl::string_view prefix, absl::string_view safetensors);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_CONSTANTS_SYMBOL_H_

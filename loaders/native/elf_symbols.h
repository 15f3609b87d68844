// The symbols of an object file, without LLVM.
#ifndef INGOT_LOADERS_NATIVE_ELF_SYMBOLS_H_
#define INGOT_LOADERS_NATIVE_ELF_SYMBOLS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

struct ElfSymbol {
  absl::string_view name;  // in the object's bytes
  uint64_t size = 0;       // bytes of code or data
  uint64_t offset = 0;     // of the symbol's entry in the object
  bool is_defined = false;
  bool is_local = false;
};

// The symbols of a 64-bit little-endian ELF object. The bytes may be hostile.
// InvalidArgument: no such object, or a damaged one. NotFound: without a table
// of symbols.
absl::StatusOr<std::vector<ElfSymbol>> ReadElfSymbols(absl::string_view object);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_ELF_SYMBOLS_H_

#include "loaders/native/weak_symbol.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "loaders/native/elf_symbols.h"

namespace ingot {
namespace {

// The offset of the entry of a symbol that is defined and global.
absl::StatusOr<uint64_t> Find(absl::string_view object,
                              absl::string_view name) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<ElfSymbol> symbols,
                         ReadElfSymbols(object));
  for (const ElfSymbol& symbol : symbols) {
    if (symbol.name == name && symbol.is_defined && !symbol.is_local) {
      return symbol.offset;
    }
  }
  return absl::NotFoundError(absl::StrCat("does not define ", name));
}

}  // namespace

absl::Status CheckDefines(absl::string_view object, absl::string_view symbol) {
  return Find(object, symbol).status();
}

absl::StatusOr<std::string> WithWeakSymbol(absl::string_view object,
                                           absl::string_view symbol) {
  INGOT_ASSIGN_OR_RETURN(const uint64_t offset, Find(object, symbol));
  std::string weak(object);
  char& info = weak[offset + offsetof(Elf64_Sym, st_info)];
  const auto type = ELF64_ST_TYPE(static_cast<unsigned char>(info));
  info = static_cast<char>(ELF64_ST_INFO(STB_WEAK, type));
  return weak;
}

}  // namespace ingot

#include "loaders/native/elf_symbols.h"

#include <elf.h>

#include <cstring>

#include "absl/strings/match.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

absl::Status Damaged() {
  return absl::InvalidArgumentError("is a damaged object file");
}

// The element `i` of a table of T that starts at `offset`.
template <typename T>
absl::StatusOr<T> At(absl::string_view bytes, uint64_t offset, uint64_t i) {
  uint64_t start, end;
  if (__builtin_mul_overflow(i, sizeof(T), &start) ||
      __builtin_add_overflow(start, offset, &start) ||
      __builtin_add_overflow(start, sizeof(T), &end) || end > bytes.size()) {
    return Damaged();
  }
  T value;
  memcpy(&value, bytes.data() + start, sizeof(T));
  return value;
}

// The name that begins at `offset` and ends with a zero.
absl::StatusOr<absl::string_view> NameAt(absl::string_view bytes,
                                         uint64_t table, uint64_t offset) {
  if (__builtin_add_overflow(table, offset, &offset) ||
      offset >= bytes.size()) {
    return Damaged();
  }
  constexpr size_t kMostLetters = 1 << 16;
  const absl::string_view rest = bytes.substr(offset, kMostLetters);
  const size_t end = rest.find('\0');
  if (end == absl::string_view::npos) return Damaged();
  return rest.substr(0, end);
}

absl::StatusOr<std::vector<ElfSymbol>> ReadTable(absl::string_view object,
                                                 const Elf64_Shdr& table,
                                                 const Elf64_Shdr& names) {
  std::vector<ElfSymbol> symbols;
  for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    INGOT_ASSIGN_OR_RETURN(const Elf64_Sym entry,
                           At<Elf64_Sym>(object, table.sh_offset, i));
    ElfSymbol symbol;
    INGOT_ASSIGN_OR_RETURN(symbol.name,
                           NameAt(object, names.sh_offset, entry.st_name));
    symbol.size = entry.st_size;
    symbol.offset = table.sh_offset + i * sizeof(Elf64_Sym);
    symbol.is_defined = entry.st_shndx != SHN_UNDEF;
    symbol.is_local = ELF64_ST_BIND(entry.st_info) == STB_LOCAL;
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace

absl::StatusOr<std::vector<ElfSymbol>> ReadElfSymbols(
    absl::string_view object) {
  const absl::StatusOr<Elf64_Ehdr> header = At<Elf64_Ehdr>(object, 0, 0);
  if (!header.ok() || !absl::StartsWith(object, ELFMAG) ||
      header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type != ET_REL) {
    return absl::InvalidArgumentError(
        "is not a 64-bit little-endian object file");
  }
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    INGOT_ASSIGN_OR_RETURN(const Elf64_Shdr section,
                           At<Elf64_Shdr>(object, header->e_shoff, i));
    if (section.sh_type != SHT_SYMTAB) continue;
    INGOT_ASSIGN_OR_RETURN(
        const Elf64_Shdr names,
        At<Elf64_Shdr>(object, header->e_shoff, section.sh_link));
    return ReadTable(object, section, names);
  }
  return absl::NotFoundError("has no symbols");
}

}  // namespace ingot

#include "loaders/native/weak_symbol.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

bool HasAt(absl::string_view bytes, uint64_t offset, absl::string_view text) {
  return offset < bytes.size() && text.size() < bytes.size() - offset &&
         bytes.substr(offset, text.size()) == text &&
         bytes[offset + text.size()] == '\0';
}

// The offset of the symbol's entry in `table`, which has its name in `names`;
// NotFound without one that is defined and global.
absl::StatusOr<uint64_t> FindIn(absl::string_view object,
                                const Elf64_Shdr& table,
                                const Elf64_Shdr& names,
                                absl::string_view symbol) {
  for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    INGOT_ASSIGN_OR_RETURN(const Elf64_Sym entry,
                           At<Elf64_Sym>(object, table.sh_offset, i));
    uint64_t name;
    if (__builtin_add_overflow(names.sh_offset, uint64_t{entry.st_name},
                               &name)) {
      return Damaged();
    }
    if (ELF64_ST_BIND(entry.st_info) != STB_LOCAL &&
        entry.st_shndx != SHN_UNDEF && HasAt(object, name, symbol)) {
      return table.sh_offset + i * sizeof(Elf64_Sym);
    }
  }
  return absl::NotFoundError(absl::StrCat("does not define ", symbol));
}

absl::StatusOr<uint64_t> Find(absl::string_view object,
                              absl::string_view symbol) {
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
    return FindIn(object, section, names, symbol);
  }
  return absl::NotFoundError("has no symbols");
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

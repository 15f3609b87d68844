#include "loaders/native/find_container.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "loaders/native/library.h"

namespace ingot {
namespace {

// `bytes[offset, offset + size)`, or nothing if that reaches outside.
absl::string_view Part(absl::string_view bytes, uint64_t offset,
                       uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.substr(offset, size);
}

template <typename T>
bool Read(absl::string_view bytes, uint64_t offset, T* out) {
  const absl::string_view part = Part(bytes, offset, sizeof(T));
  if (part.empty()) return false;
  memcpy(out, part.data(), sizeof(T));
  return true;
}

}  // namespace

bool IsElf(absl::string_view bytes) { return absl::StartsWith(bytes, ELFMAG); }

absl::StatusOr<Blob> FindContainer(const Blob& library) {
  const absl::string_view bytes = library.view();
  Elf64_Ehdr header;
  if (!IsElf(bytes) || !Read(bytes, 0, &header) ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return absl::InvalidArgumentError("is not a library of 64 bits");
  }
  const auto section = [&](uint64_t i, Elf64_Shdr* out) {
    uint64_t offset;
    return !__builtin_add_overflow(header.e_shoff, i * sizeof(*out), &offset) &&
           Read(bytes, offset, out);
  };
  const auto damaged = [] {
    return absl::InvalidArgumentError("is a damaged library");
  };
  Elf64_Shdr names;
  if (!section(header.e_shstrndx, &names)) return damaged();
  // With its end, so that a longer name is not taken for this one.
  const absl::string_view wanted(kContainerSection, sizeof(kContainerSection));
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr each;
    if (!section(i, &each)) return damaged();
    uint64_t name;
    if (__builtin_add_overflow(names.sh_offset, uint64_t{each.sh_name},
                               &name) ||
        Part(bytes, name, wanted.size()) != wanted ||
        each.sh_type != SHT_PROGBITS || each.sh_size == 0) {
      continue;
    }
    if (Part(bytes, each.sh_offset, each.sh_size).empty()) return damaged();
    return library.Slice(each.sh_offset, each.sh_size);
  }
  return absl::NotFoundError("is a library without artifacts inside");
}

}  // namespace ingot

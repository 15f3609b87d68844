// Linked libraries: the container in one is found without running anything.
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "loaders/native/find_container.h"
#include "loaders/native/library.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

template <typename T>
void Put(const T& value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// An ELF file with three sections: none, the names, and the container's.
std::string Library(const std::string& content) {
  const std::string names =
      std::string("\0.shstrtab\0", 11) + kContainerSection + '\0';
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  header.e_shoff = sizeof(header) + names.size() + content.size();
  Elf64_Shdr strings = {};
  strings.sh_name = 1;
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = sizeof(header);
  strings.sh_size = names.size();
  Elf64_Shdr section = {};
  section.sh_name = 11;
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof(header) + names.size();
  section.sh_size = content.size();
  std::string bytes;
  Put(header, &bytes);
  bytes += names + content;
  Put(Elf64_Shdr{}, &bytes);
  Put(strings, &bytes);
  Put(section, &bytes);
  return bytes;
}

}  // namespace

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {Library("container"), Library("")};
  // The test of the seed itself: it is what the reader takes.
  if (!FindContainer(Blob::FromString(seeds[0])).ok()) return {};
  return seeds;
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<Blob> found =
      FindContainer(Blob::FromString(std::string(bytes)));
  if (!found.ok()) return false;
  unsigned sum = 0;
  for (const char c : found->view()) sum += static_cast<unsigned char>(c);
  volatile unsigned used = sum;
  static_cast<void>(used);
  return true;
}

}  // namespace ingot::fuzz

#include "loaders/native/loaded_extent.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

// The end of the bytes [offset, offset + size), which a hostile file may name.
uint64_t EndOf(uint64_t offset, uint64_t size) {
  uint64_t end;
  return __builtin_add_overflow(offset, size, &end) ? UINT64_MAX : end;
}

}  // namespace

absl::Status CheckLoadedExtent(absl::string_view library, uint64_t size) {
  Elf64_Ehdr header;
  if (library.size() < sizeof(header) || !absl::StartsWith(library, ELFMAG) ||
      library[EI_CLASS] != ELFCLASS64) {
    return absl::OkStatus();
  }
  memcpy(&header, library.data(), sizeof(header));
  uint64_t needed =
      EndOf(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  if (needed <= library.size()) {
    for (int i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      memcpy(&segment, library.data() + header.e_phoff + i * sizeof(segment),
             sizeof(segment));
      if (segment.p_type != PT_LOAD) continue;
      needed = std::max(needed, EndOf(segment.p_offset, segment.p_filesz));
    }
  }
  if (needed <= size) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the library is cut off: it has ", size, " bytes, and ",
                   needed, " are loaded"));
}

absl::Status CheckLoadedExtentOfFile(const std::string& path) {
  char page[4096];
  // A pipe must not wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::OkStatus();
  struct stat info;
  ssize_t got = -1;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    got = read(fd, page, sizeof(page));
  }
  close(fd);
  if (got < 0) return absl::OkStatus();
  return CheckLoadedExtent(absl::string_view(page, static_cast<size_t>(got)),
                           static_cast<uint64_t>(info.st_size));
}

}  // namespace ingot

#include "loaders/native/weak_symbol.h"

#include <elf.h>

#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace ingot {
namespace {

// An object with one symbol, `kernel`, global and defined or not.
std::string Object(bool is_defined) {
  const std::string names("\0kernel\0", 8);
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_REL;
  header.e_shoff = sizeof(header);
  header.e_shnum = 2;
  Elf64_Shdr sections[2] = {};
  sections[0].sh_type = SHT_SYMTAB;
  sections[0].sh_offset = sizeof(header) + sizeof(sections);
  sections[0].sh_size = sizeof(Elf64_Sym);
  sections[0].sh_link = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sections[0].sh_offset + sizeof(Elf64_Sym);
  sections[1].sh_size = names.size();
  Elf64_Sym symbol = {};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = is_defined ? 1 : SHN_UNDEF;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(sections), sizeof(sections));
  bytes.append(reinterpret_cast<const char*>(&symbol), sizeof(symbol));
  return bytes + names;
}

TEST(WeakSymbolTest, OneByteMakesADefinitionWeak) {
  const std::string object = Object(true);
  ASSERT_TRUE(CheckDefines(object, "kernel").ok());
  const absl::StatusOr<std::string> weak = WithWeakSymbol(object, "kernel");
  ASSERT_TRUE(weak.ok()) << weak.status();
  int changed = 0;
  for (size_t i = 0; i < object.size(); ++i) {
    if (object[i] == (*weak)[i]) continue;
    ++changed;
    EXPECT_EQ((*weak)[i], ELF64_ST_INFO(STB_WEAK, STT_FUNC));
  }
  EXPECT_EQ(changed, 1);
}

TEST(WeakSymbolTest, OnlyWholeNamesOfDefinitionsCount) {
  EXPECT_TRUE(absl::IsNotFound(CheckDefines(Object(true), "kern")));
  EXPECT_TRUE(absl::IsNotFound(CheckDefines(Object(true), "kernel1")));
  EXPECT_TRUE(absl::IsNotFound(CheckDefines(Object(false), "kernel")));
}

TEST(WeakSymbolTest, DamageIsAnErrorAndNoCrash) {
  const std::string object = Object(true);
  EXPECT_TRUE(absl::IsInvalidArgument(CheckDefines("", "kernel")));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckDefines("text", "kernel")));
  for (size_t size = 0; size < object.size(); ++size) {
    EXPECT_FALSE(CheckDefines(object.substr(0, size), "kernel").ok()) << size;
  }
  // Every byte, all bits set: sizes and offsets as large as they get.
  for (size_t i = 0; i < object.size(); ++i) {
    std::string damaged = object;
    for (size_t k = i; k < object.size() && k < i + 8; ++k) damaged[k] = '\xff';
    CheckDefines(damaged, "kernel").IgnoreError();
  }
}

}  // namespace
}  // namespace ingot

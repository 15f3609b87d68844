#include "loaders/native/container_object.h"

#include <elf.h>

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/constants_symbol.h"
#include "base/status_macros.h"
#include "loaders/native/library.h"

namespace ingot {
namespace {

// Newer than some <elf.h>: the section may lie more than 2 GiB from the code.
constexpr uint64_t kShfX8664Large = 0x10000000;

enum Section { kNone, kContainer, kStackNote, kSymbols, kStrings, kCount };

// A string table under construction; offset 0 is the empty string.
class StringTable {
 public:
  uint32_t Add(absl::string_view text) {
    const uint32_t offset = static_cast<uint32_t>(bytes_.size());
    bytes_.append(text.data(), text.size());
    bytes_.push_back('\0');
    return offset;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

template <typename T>
absl::string_view AsBytes(const T& value) {
  return absl::string_view(reinterpret_cast<const char*>(&value),
                           sizeof(value));
}

// A global symbol in the container.
struct Symbol {
  std::string name;
  uint64_t offset, size;
  unsigned char visibility;
};

// The container's own symbols, and one for the weights in each artifact that
// has some. Weights that are no safetensors file have none; their loader says
// why.
std::vector<Symbol> SymbolsIn(const ArtifactSet& set,
                              const ContainerPlaces& places) {
  std::vector<Symbol> symbols = {
      {kContainerSymbol, 0, places.size, STV_DEFAULT},
      {kContainerEndSymbol, places.size, 0, STV_DEFAULT}};
  std::set<std::string> known;
  for (size_t i = 0; i < places.offsets.size(); ++i) {
    const Artifact& artifact = set.artifacts()[i];
    if (artifact.loader != kConstantsLoader) continue;
    const absl::StatusOr<ConstantsSymbol> constants = FindConstantsSymbol(
        set.provenance().symbol_prefix(), artifact.content.view());
    // The same layout twice is of two keys; either has what the other has.
    if (!constants.ok() || !known.insert(constants->name).second) continue;
    symbols.push_back({constants->name, places.offsets[i] + constants->offset,
                       artifact.content.size() - constants->offset,
                       STV_HIDDEN});
  }
  return symbols;
}

// Everything in the object but the container.
struct ContainerObject {
  Elf64_Ehdr header = {};
  Elf64_Shdr sections[kCount] = {};
  std::vector<Elf64_Sym> symbols;
  StringTable strings;
};

Elf64_Ehdr MakeHeader(uint16_t machine, uint64_t sections_offset) {
  Elf64_Ehdr header = {};
  for (int i = 0; i < SELFMAG; ++i) header.e_ident[i] = ELFMAG[i];
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = machine;
  if (machine == EM_RISCV) header.e_flags = EF_RISCV_FLOAT_ABI_DOUBLE;
  header.e_version = EV_CURRENT;
  header.e_shoff = sections_offset;
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kCount;
  header.e_shstrndx = kStrings;
  return header;
}

// The layout is: header, padding up to a page, the container, padding to 8
// bytes, symbols, strings, section headers.
ContainerObject LayOut(const std::vector<Symbol>& symbols,
                       uint64_t container_size, uint16_t machine) {
  ContainerObject object;
  StringTable& strings = object.strings;
  object.symbols.emplace_back();
  for (const Symbol& symbol : symbols) {
    Elf64_Sym entry = {};
    entry.st_name = strings.Add(symbol.name);
    entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    entry.st_other = symbol.visibility;
    entry.st_shndx = kContainer;
    entry.st_value = symbol.offset;
    entry.st_size = symbol.size;
    object.symbols.push_back(entry);
  }

  Elf64_Shdr& container = object.sections[kContainer];
  container.sh_name = strings.Add(kContainerSection);
  container.sh_type = SHT_PROGBITS;
  container.sh_flags = SHF_ALLOC | SHF_GNU_RETAIN;
  if (machine == EM_X86_64) container.sh_flags |= kShfX8664Large;
  container.sh_offset = kPageAlignment;
  container.sh_size = container_size;
  container.sh_addralign = kPageAlignment;

  Elf64_Shdr& note =
      object.sections[kStackNote];  // the code needs no executable stack
  note.sh_name = strings.Add(".note.GNU-stack");
  note.sh_type = SHT_PROGBITS;
  note.sh_offset = container.sh_offset + container_size;
  note.sh_addralign = 1;

  Elf64_Shdr& symtab = object.sections[kSymbols];
  symtab.sh_name = strings.Add(".symtab");
  symtab.sh_type = SHT_SYMTAB;
  symtab.sh_offset = (note.sh_offset + 7) / 8 * 8;
  symtab.sh_size = object.symbols.size() * sizeof(Elf64_Sym);
  symtab.sh_link = kStrings;
  symtab.sh_info = 1;  // the first global symbol
  symtab.sh_addralign = 8;
  symtab.sh_entsize = sizeof(Elf64_Sym);

  Elf64_Shdr& strtab = object.sections[kStrings];
  strtab.sh_name = strings.Add(".strtab");
  strtab.sh_type = SHT_STRTAB;
  strtab.sh_offset = symtab.sh_offset + symtab.sh_size;
  strtab.sh_size = strings.bytes().size();
  strtab.sh_addralign = 1;

  object.header =
      MakeHeader(machine, (strtab.sh_offset + strtab.sh_size + 7) / 8 * 8);
  return object;
}

}  // namespace

absl::Status WriteContainerObject(const ArtifactSet& set, uint16_t machine,
                                  const ByteSink& sink) {
  INGOT_ASSIGN_OR_RETURN(const ContainerPlaces places, PlacesInContainer(set));
  const ContainerObject object =
      LayOut(SymbolsIn(set, places), places.size, machine);

  uint64_t written = 0;
  auto write = [&](absl::string_view bytes) {
    written += bytes.size();
    return sink(bytes);
  };
  auto pad_to = [&](uint64_t offset) {
    return write(std::string(offset - written, '\0'));
  };
  INGOT_RETURN_IF_ERROR(write(AsBytes(object.header)));
  INGOT_RETURN_IF_ERROR(pad_to(object.sections[kContainer].sh_offset));
  INGOT_RETURN_IF_ERROR(WriteContainerTo(set, write));
  INGOT_RETURN_IF_ERROR(pad_to(object.sections[kSymbols].sh_offset));
  for (const Elf64_Sym& symbol : object.symbols) {
    INGOT_RETURN_IF_ERROR(write(AsBytes(symbol)));
  }
  INGOT_RETURN_IF_ERROR(write(object.strings.bytes()));
  INGOT_RETURN_IF_ERROR(pad_to(object.header.e_shoff));
  return write(AsBytes(object.sections));
}

}  // namespace ingot

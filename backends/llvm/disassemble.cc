#include "backends/llvm/disassemble.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/codegen/llvm/machine.h"
#include "isa/instruction_decoder.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {
namespace {

// Errors inside of one part of a damaged file: the part is then left empty.
template <typename T>
T ValueOr(llvm::Expected<T> value, T otherwise) {
  if (value) return std::move(*value);
  llvm::consumeError(value.takeError());
  return otherwise;
}

// Prints the instructions of one kind of processor.
class Disassembler {
 public:
  // Null if this LLVM cannot. `cpu` is empty where all of a family are alike.
  static std::unique_ptr<Disassembler> Create(const llvm::Triple& triple,
                                              const std::string& cpu) {
    // The decoder of x86 knows every extension; others must be told to.
    auto decoder = isa::InstructionDecoder::Create(
        triple, cpu, triple.isAArch64() ? "+all" : "");
    if (decoder == nullptr) return nullptr;
    decoder->printer().setPrintImmHex(true);
    decoder->printer().setPrintBranchImmAsAddress(true);
    return std::unique_ptr<Disassembler>(new Disassembler(std::move(decoder)));
  }

  // Appends one line; returns the bytes that the instruction takes, at least 1.
  uint64_t Print(llvm::ArrayRef<uint8_t> bytes, uint64_t address,
                 std::string* out) {
    llvm::MCInst instruction;
    uint64_t size = 0;
    const bool known = decoder_->Decode(bytes, address, &instruction, &size);
    size = std::clamp<uint64_t>(size, 1, bytes.size());
    absl::StrAppend(out, absl::StrFormat("%8x:", address));
    if (!known) {
      absl::StrAppend(out, "  <unknown>\n");
      return size;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    decoder_->printer().printInst(&instruction, address, "",
                                  decoder_->subtarget(), stream);
    std::replace(text.begin(), text.end(), '\t', ' ');
    absl::StrAppend(out, " ", text, "\n");
    return size;
  }

 private:
  explicit Disassembler(std::unique_ptr<isa::InstructionDecoder> decoder)
      : decoder_(std::move(decoder)) {}

  const std::unique_ptr<isa::InstructionDecoder> decoder_;
};

// The triple of an ELF machine; empty for those that we do not disassemble.
std::string TripleOf(unsigned machine, bool is_64_bit, bool is_little) {
  switch (machine) {
    case llvm::ELF::EM_X86_64:
      return "x86_64-unknown-linux";
    case llvm::ELF::EM_386:
      return "i386-unknown-linux";
    case llvm::ELF::EM_AARCH64:
      return is_little ? "aarch64-unknown-linux" : "aarch64_be-unknown-linux";
    case llvm::ELF::EM_ARM:
      return is_little ? "armv7-unknown-linux" : "armv7eb-unknown-linux";
    case llvm::ELF::EM_RISCV:
      return is_64_bit ? "riscv64-unknown-linux" : "riscv32-unknown-linux";
    case llvm::ELF::EM_PPC64:
      return is_little ? "powerpc64le-unknown-linux"
                       : "powerpc64-unknown-linux";
    case llvm::ELF::EM_S390:
      return "s390x-unknown-linux";
    case llvm::ELF::EM_AMDGPU:
      return "amdgcn-amd-amdhsa";
    default:
      return "";
  }
}

// The GPU that code is for, by the flags of its file; empty: one that we do not
// disassemble. LLVM has no function for it that takes any number.
std::string AmdGpuOf(unsigned flags) {
  switch (flags & llvm::ELF::EF_AMDGPU_MACH) {
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX906:
      return "gfx906";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX908:
      return "gfx908";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A:
      return "gfx90a";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942:
      return "gfx942";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1030:
      return "gfx1030";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100:
      return "gfx1100";
    default:
      return "";
  }
}

struct Symbol {
  std::string name;
  uint64_t value = 0, size = 0;
  unsigned section = 0;
  unsigned binding = 0, type = 0;
  bool listed() const {
    return !name.empty() && type != llvm::ELF::STT_SECTION &&
           type != llvm::ELF::STT_FILE;
  }
};

// Reads through ELFFile, whose functions return errors; those of ObjectFile end
// the process over a damaged file.
template <typename ElfT>
class ElfDescriber {
 public:
  using File = llvm::object::ELFFile<ElfT>;
  using Section = typename ElfT::Shdr;

  ElfDescriber(const File& file, std::string* out) : file_(file), out_(out) {
    sections_ = ValueOr(file.sections(), typename ElfT::ShdrRange());
    for (const Section& section : sections_) {
      if (section.sh_type == llvm::ELF::SHT_SYMTAB) ReadSymbols(section);
    }
  }

  void Describe() {
    absl::StrAppend(out_, "\nSections:\n");
    for (const Section& section : sections_) {
      const bool empty =
          section.sh_type == llvm::ELF::SHT_NULL || section.sh_size == 0;
      if (empty) continue;
      absl::StrAppend(
          out_,
          absl::StrFormat("%10d  %s%s\n", uint64_t{section.sh_size},
                          Name(section), IsCode(section) ? "  (code)" : ""));
    }
    absl::StrAppend(out_, "\nSymbols:\n");
    for (const Symbol& symbol : symbols_) {
      if (!symbol.listed()) continue;
      const char* kind = symbol.section == llvm::ELF::SHN_UNDEF    ? "undefined"
                         : symbol.binding == llvm::ELF::STB_WEAK   ? "weak"
                         : symbol.binding == llvm::ELF::STB_GLOBAL ? "global"
                                                                   : "local";
      absl::StrAppend(out_, absl::StrFormat("%10d  %-9s  %s\n", symbol.size,
                                            kind, symbol.name));
    }
    const auto& header = file_.getHeader();
    const std::string triple =
        TripleOf(header.e_machine, ElfT::Is64Bits,
                 ElfT::Endianness == llvm::endianness::little);
    const bool is_gpu = header.e_machine == llvm::ELF::EM_AMDGPU;
    const std::string cpu = is_gpu ? AmdGpuOf(header.e_flags) : "";
    const bool known = !triple.empty() && is_gpu == !cpu.empty();
    const std::unique_ptr<Disassembler> disassembler =
        known ? Disassembler::Create(llvm::Triple(triple), cpu) : nullptr;
    if (disassembler == nullptr) {
      absl::StrAppend(out_,
                      "\nNo disassembler for this processor is built in.\n");
      return;
    }
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (IsCode(sections_[i])) Disassemble(i, disassembler.get());
    }
  }

 private:
  static bool IsCode(const Section& section) {
    return section.sh_type == llvm::ELF::SHT_PROGBITS &&
           (section.sh_flags & llvm::ELF::SHF_EXECINSTR) != 0 &&
           section.sh_size > 0;
  }

  std::string Name(const Section& section) const {
    return ValueOr(file_.getSectionName(section), llvm::StringRef("?")).str();
  }

  void ReadSymbols(const Section& section) {
    const llvm::StringRef names =
        ValueOr(file_.getStringTableForSymtab(section), llvm::StringRef());
    for (const auto& s :
         ValueOr(file_.symbols(&section), typename ElfT::SymRange())) {
      Symbol symbol;
      symbol.name = ValueOr(s.getName(names), llvm::StringRef()).str();
      symbol.value = s.st_value;
      symbol.size = s.st_size;
      symbol.section = s.st_shndx;
      symbol.binding = s.getBinding();
      symbol.type = s.getType();
      symbols_.push_back(std::move(symbol));
    }
  }

  void AddReference(uint64_t offset, uint64_t index,
                    std::multimap<uint64_t, std::string>* references) const {
    if (index == 0 || index >= symbols_.size()) return;
    const Symbol& symbol = symbols_[index];
    if (symbol.listed()) {
      references->emplace(offset, symbol.name);
    } else if (symbol.section < sections_.size()) {
      references->emplace(offset, Name(sections_[symbol.section]));
    }
  }

  // The symbols that the relocations of section `target` refer to, by place.
  std::multimap<uint64_t, std::string> References(size_t target) const {
    std::multimap<uint64_t, std::string> references;
    for (const Section& section : sections_) {
      if (section.sh_info != target) continue;
      if (section.sh_type == llvm::ELF::SHT_RELA) {
        for (const auto& r :
             ValueOr(file_.relas(section), typename ElfT::RelaRange())) {
          AddReference(r.r_offset, r.getSymbol(false), &references);
        }
      } else if (section.sh_type == llvm::ELF::SHT_REL) {
        for (const auto& r :
             ValueOr(file_.rels(section), typename ElfT::RelRange())) {
          AddReference(r.r_offset, r.getSymbol(false), &references);
        }
      }
    }
    return references;
  }

  void Disassemble(size_t index, Disassembler* disassembler) {
    const Section& section = sections_[index];
    const llvm::ArrayRef<uint8_t> bytes =
        ValueOr(file_.getSectionContents(section), llvm::ArrayRef<uint8_t>());
    // What is linked has addresses, where objects have places in a section.
    const bool is_linked = file_.getHeader().e_type != llvm::ELF::ET_REL;
    const uint64_t base = is_linked ? uint64_t{section.sh_addr} : 0;
    std::multimap<uint64_t, std::string> labels;
    for (const Symbol& symbol : symbols_) {
      if (symbol.listed() && symbol.section == index) {
        labels.emplace(symbol.value - base, symbol.name);
      }
    }
    const std::multimap<uint64_t, std::string> references = References(index);
    absl::StrAppend(out_, "\nCode of ", Name(section), ":\n");
    for (uint64_t at = 0; at < bytes.size();) {
      for (auto [label, end] = labels.equal_range(at); label != end; ++label) {
        absl::StrAppend(out_, "\n", label->second, ":\n");
      }
      const uint64_t size =
          disassembler->Print(bytes.slice(at), base + at, out_);
      for (auto it = references.lower_bound(at);
           it != references.end() && it->first < at + size; ++it) {
        absl::StrAppend(out_, "            ; ", it->second, "\n");
      }
      at += size;
    }
  }

  const File& file_;
  std::string* const out_;
  typename ElfT::ShdrRange sections_;
  std::vector<Symbol> symbols_;
};

template <typename ElfT>
absl::Status Describe(llvm::StringRef bytes, absl::string_view name,
                      std::string* out) {
  llvm::Expected<llvm::object::ELFFile<ElfT>> file =
      llvm::object::ELFFile<ElfT>::create(bytes);
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is no object file: ", llvm::toString(file.takeError())));
  }
  ElfDescriber<ElfT>(*file, out).Describe();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DescribeObject(absl::string_view bytes,
                                           absl::string_view name) {
  codegen::InitializeLlvm();
  const llvm::StringRef content(bytes.data(), bytes.size());
  if (bytes.size() < llvm::ELF::EI_NIDENT ||
      !content.starts_with(llvm::ELF::ElfMagic)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is no object file of the ELF format"));
  }
  // LLVM reads the tables where they lie, and they must lie aligned.
  std::vector<uint64_t> aligned;
  llvm::StringRef readable = content;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
    aligned.resize((bytes.size() + 7) / 8);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    readable = llvm::StringRef(reinterpret_cast<const char*>(aligned.data()),
                               bytes.size());
  }
  const bool is_64_bit = content[llvm::ELF::EI_CLASS] == llvm::ELF::ELFCLASS64;
  const bool is_little = content[llvm::ELF::EI_DATA] == llvm::ELF::ELFDATA2LSB;
  std::string out = absl::StrCat("ELF, ", is_64_bit ? 64 : 32, " bits, ",
                                 is_little ? "little" : "big", "-endian, ",
                                 bytes.size(), " bytes\n");
  absl::Status status;
  if (is_64_bit) {
    status = is_little ? Describe<llvm::object::ELF64LE>(readable, name, &out)
                       : Describe<llvm::object::ELF64BE>(readable, name, &out);
  } else {
    status = is_little ? Describe<llvm::object::ELF32LE>(readable, name, &out)
                       : Describe<llvm::object::ELF32BE>(readable, name, &out);
  }
  if (!status.ok()) return status;
  return out;
}

}  // namespace ingot

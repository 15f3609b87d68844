#include "backends/llvm/disassemble.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/llvm/code_listing.h"
#include "backends/llvm/find_loops.h"
#include "compiler/codegen/llvm/machine.h"
#include "isa/instruction_decoder.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/TargetRegistry.h"
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
    std::string error;
    const llvm::Target* target =
        llvm::TargetRegistry::lookupTarget(triple.str(), error);
    auto d = std::unique_ptr<Disassembler>(
        new Disassembler(std::move(decoder), triple.isX86()));
    d->instructions_.reset(target->createMCInstrInfo());
    d->analysis_.reset(target->createMCInstrAnalysis(d->instructions_.get()));
    return d;
  }

  // The instruction at the beginning of `bytes`, at least one byte.
  Instruction Read(llvm::ArrayRef<uint8_t> bytes, uint64_t address) {
    llvm::MCInst decoded;
    Instruction instruction;
    instruction.address = address;
    const bool known =
        decoder_->Decode(bytes, address, &decoded, &instruction.size);
    instruction.size = std::clamp<uint64_t>(instruction.size, 1, bytes.size());
    if (!known) {
      instruction.text = "<unknown>";
      return instruction;
    }
    llvm::raw_string_ostream stream(instruction.text);
    // On x86 the printer wants the place after the instruction.
    const uint64_t base = address + (is_x86_ ? instruction.size : 0);
    decoder_->printer().printInst(&decoded, base, "", decoder_->subtarget(),
                                  stream);
    std::string& text = instruction.text;
    std::replace(text.begin(), text.end(), '\t', ' ');
    text.erase(0, text.find_first_not_of(' '));
    uint64_t target = 0;
    if (analysis_ != nullptr &&
        (analysis_->isBranch(decoded) || analysis_->isCall(decoded)) &&
        analysis_->evaluateBranch(decoded, address, instruction.size, target)) {
      instruction.target = target;
    }
    instruction.is_call = instructions_->get(decoded.getOpcode()).isCall();
    return instruction;
  }

 private:
  Disassembler(std::unique_ptr<isa::InstructionDecoder> decoder, bool is_x86)
      : decoder_(std::move(decoder)), is_x86_(is_x86) {}

  const std::unique_ptr<isa::InstructionDecoder> decoder_;
  const bool is_x86_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;  // may be null
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
  // Names that begin so are the compiler's own, of texts and numbers.
  bool listed() const {
    return !name.empty() && type != llvm::ELF::STT_SECTION &&
           type != llvm::ELF::STT_FILE && name.rfind(".L", 0) != 0;
  }
};

// Reads through ELFFile, whose functions return errors; those of ObjectFile end
// the process over a damaged file.
template <typename ElfT>
class ElfDescriber {
 public:
  using File = llvm::object::ELFFile<ElfT>;
  using Section = typename ElfT::Shdr;

  ElfDescriber(const File& file, const NodesOfFunctions& nodes,
               std::string* out)
      : file_(file), nodes_(nodes), out_(out) {
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

  void AddReference(uint64_t offset, uint64_t index, int64_t addend,
                    std::multimap<uint64_t, std::string>* references) const {
    if (index == 0 || index >= symbols_.size()) return;
    const Symbol& symbol = symbols_[index];
    if (symbol.listed()) {
      references->emplace(offset, symbol.name);
    } else if (symbol.section < sections_.size()) {
      references->emplace(offset,
                          Referred(sections_[symbol.section], symbol, addend));
    }
  }

  // An operand without a name that says anything: a text or a number itself,
  // where the section holds such, otherwise the section's name.
  std::string Referred(const Section& section, const Symbol& symbol,
                       int64_t addend) const {
    const llvm::ArrayRef<uint8_t> bytes =
        ValueOr(file_.getSectionContents(section), llvm::ArrayRef<uint8_t>());
    // A relocation that counts from the end of its instruction's operand.
    const uint64_t at = symbol.value + (symbol.type == llvm::ELF::STT_SECTION
                                            ? static_cast<uint64_t>(addend) + 4
                                            : 0);
    if (at >= bytes.size()) return Name(section);
    const absl::string_view rest(
        reinterpret_cast<const char*>(bytes.data()) + at, bytes.size() - at);
    if ((section.sh_flags & llvm::ELF::SHF_STRINGS) != 0) {
      constexpr size_t kMostShown = 60;
      return absl::StrCat(
          "\"",
          absl::CHexEscape(
              rest.substr(0, rest.find('\0')).substr(0, kMostShown)),
          "\"");
    }
    float number;
    if (section.sh_entsize != sizeof(number) || rest.size() < sizeof(number)) {
      return Name(section);
    }
    std::memcpy(&number, rest.data(), sizeof(number));
    return absl::StrCat(number);
  }

  // The symbols that the relocations of section `target` refer to, by place.
  std::multimap<uint64_t, std::string> References(size_t target) const {
    std::multimap<uint64_t, std::string> references;
    for (const Section& section : sections_) {
      if (section.sh_info != target) continue;
      if (section.sh_type == llvm::ELF::SHT_RELA) {
        for (const auto& r :
             ValueOr(file_.relas(section), typename ElfT::RelaRange())) {
          AddReference(r.r_offset, r.getSymbol(false), r.r_addend, &references);
        }
      } else if (section.sh_type == llvm::ELF::SHT_REL) {
        for (const auto& r :
             ValueOr(file_.rels(section), typename ElfT::RelRange())) {
          AddReference(r.r_offset, r.getSymbol(false), -4, &references);
        }
      }
    }
    return references;
  }

  void Disassemble(size_t index, Disassembler* disassembler) {
    const Section& section = sections_[index];
    const llvm::ArrayRef<uint8_t> bytes =
        ValueOr(file_.getSectionContents(section), llvm::ArrayRef<uint8_t>());
    CodeNotes notes;
    notes.nodes = &nodes_;
    for (const Symbol& symbol : symbols_) {
      if (symbol.listed() && symbol.section == index) {
        notes.labels.emplace(symbol.value, symbol.name);
      }
    }
    notes.references = References(index);
    std::vector<Instruction> code;
    // Linked code has addresses, where objects have places in a section.
    const bool is_linked = file_.getHeader().e_type != llvm::ELF::ET_REL;
    const uint64_t base = is_linked ? uint64_t{section.sh_addr} : 0;
    for (uint64_t at = 0; at < bytes.size(); at += code.back().size) {
      code.push_back(disassembler->Read(bytes.slice(at), base + at));
    }
    absl::StrAppend(out_, "\nCode of ", Name(section), ":\n",
                    ListCode(code, notes));
  }

  const File& file_;
  const NodesOfFunctions& nodes_;
  std::string* const out_;
  typename ElfT::ShdrRange sections_;
  std::vector<Symbol> symbols_;
};

template <typename ElfT>
absl::Status Describe(llvm::StringRef bytes, absl::string_view name,
                      const NodesOfFunctions& nodes, std::string* out) {
  llvm::Expected<llvm::object::ELFFile<ElfT>> file =
      llvm::object::ELFFile<ElfT>::create(bytes);
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is no object file: ", llvm::toString(file.takeError())));
  }
  ElfDescriber<ElfT>(*file, nodes, out).Describe();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DescribeObject(absl::string_view bytes,
                                           absl::string_view name,
                                           const NodesOfFunctions& nodes) {
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
    status = is_little
                 ? Describe<llvm::object::ELF64LE>(readable, name, nodes, &out)
                 : Describe<llvm::object::ELF64BE>(readable, name, nodes, &out);
  } else {
    status = is_little
                 ? Describe<llvm::object::ELF32LE>(readable, name, nodes, &out)
                 : Describe<llvm::object::ELF32BE>(readable, name, nodes, &out);
  }
  if (!status.ok()) return status;
  return out;
}

}  // namespace ingot

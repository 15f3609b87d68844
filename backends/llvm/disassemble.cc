#include "backends/llvm/disassemble.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/codegen/llvm/machine.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {
namespace {

using llvm::object::ObjectFile;
using llvm::object::SectionRef;
using llvm::object::SymbolRef;

// Errors inside of one part of a damaged file: the part is then left empty.
template <typename T>
T ValueOr(llvm::Expected<T> value, T otherwise) {
  if (value) return std::move(*value);
  llvm::consumeError(value.takeError());
  return otherwise;
}

// What one kind of processor needs to print instructions.
class Disassembler {
 public:
  // Null if this LLVM cannot.
  static std::unique_ptr<Disassembler> Create(const ObjectFile& object) {
    auto d = std::make_unique<Disassembler>();
    const llvm::Triple triple = object.makeTriple();
    std::string error;
    const llvm::Target* target =
        llvm::TargetRegistry::lookupTarget(triple.str(), error);
    if (target == nullptr) return nullptr;
    d->registers_.reset(target->createMCRegInfo(triple.str()));
    if (d->registers_ == nullptr) return nullptr;
    d->info_.reset(target->createMCAsmInfo(*d->registers_, triple.str(),
                                           llvm::MCTargetOptions()));
    // The decoder of x86 knows every extension; others must be told to.
    const bool all = triple.isAArch64();
    d->subtarget_.reset(
        target->createMCSubtargetInfo(triple.str(), "", all ? "+all" : ""));
    d->instructions_.reset(target->createMCInstrInfo());
    if (d->info_ == nullptr || d->subtarget_ == nullptr ||
        d->instructions_ == nullptr) {
      return nullptr;
    }
    d->context_ = std::make_unique<llvm::MCContext>(
        triple, d->info_.get(), d->registers_.get(), d->subtarget_.get());
    d->decoder_.reset(
        target->createMCDisassembler(*d->subtarget_, *d->context_));
    // Dialect 1 is Intel's on x86; others have but one.
    const unsigned dialect =
        triple.isX86() ? 1 : d->info_->getAssemblerDialect();
    d->printer_.reset(target->createMCInstPrinter(
        triple, dialect, *d->info_, *d->instructions_, *d->registers_));
    if (d->decoder_ == nullptr || d->printer_ == nullptr) return nullptr;
    d->printer_->setPrintImmHex(true);
    d->printer_->setPrintBranchImmAsAddress(true);
    return d;
  }

  // Appends one line; returns the bytes that the instruction takes, at least 1.
  uint64_t Print(llvm::ArrayRef<uint8_t> bytes, uint64_t address,
                 std::string* out) {
    llvm::MCInst instruction;
    uint64_t size = 0;
    const auto status = decoder_->getInstruction(instruction, size, bytes,
                                                 address, llvm::nulls());
    size = std::clamp<uint64_t>(size, 1, bytes.size());
    absl::StrAppend(out, absl::StrFormat("%8x:", address));
    if (status != llvm::MCDisassembler::Success) {
      absl::StrAppend(out, "  <unknown>\n");
      return size;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer_->printInst(&instruction, address, "", *subtarget_, stream);
    std::replace(text.begin(), text.end(), '\t', ' ');
    absl::StrAppend(out, " ", text, "\n");
    return size;
  }

 private:
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> info_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

std::string Name(const SymbolRef& symbol) {
  return ValueOr(symbol.getName(), llvm::StringRef("?")).str();
}

std::string Name(const SectionRef& section) {
  return ValueOr(section.getName(), llvm::StringRef("?")).str();
}

void ListSections(const ObjectFile& object, std::string* out) {
  absl::StrAppend(out, "\nSections:\n");
  for (const SectionRef& section : object.sections()) {
    if (section.getSize() == 0) continue;
    absl::StrAppend(
        out, absl::StrFormat("%10d  %s%s\n", section.getSize(), Name(section),
                             section.isText() ? "  (code)" : ""));
  }
}

bool IsListed(const SymbolRef& symbol) {
  const uint32_t flags = ValueOr(symbol.getFlags(), uint32_t{0});
  return (flags & SymbolRef::SF_FormatSpecific) == 0;
}

uint64_t SizeOf(const SymbolRef& symbol) {
  return symbol.getObject()->isELF()
             ? llvm::object::ELFSymbolRef(symbol).getSize()
             : 0;
}

void ListSymbols(const ObjectFile& object, std::string* out) {
  absl::StrAppend(out, "\nSymbols:\n");
  for (const SymbolRef& symbol : object.symbols()) {
    if (!IsListed(symbol)) continue;
    const uint32_t flags = ValueOr(symbol.getFlags(), uint32_t{0});
    const bool undefined = (flags & SymbolRef::SF_Undefined) != 0;
    const char* kind = undefined                             ? "undefined"
                       : (flags & SymbolRef::SF_Weak) != 0   ? "weak"
                       : (flags & SymbolRef::SF_Global) != 0 ? "global"
                                                             : "local";
    absl::StrAppend(out, absl::StrFormat("%10d  %-9s  %s\n", SizeOf(symbol),
                                         kind, Name(symbol)));
  }
}

void DisassembleSection(const ObjectFile& object, const SectionRef& section,
                        Disassembler* disassembler, std::string* out) {
  const llvm::StringRef contents =
      ValueOr(section.getContents(), llvm::StringRef());
  std::multimap<uint64_t, std::string> labels, references;
  for (const SymbolRef& symbol : object.symbols()) {
    if (!IsListed(symbol)) continue;
    llvm::Expected<llvm::object::section_iterator> where = symbol.getSection();
    if (!where) {
      llvm::consumeError(where.takeError());
    } else if (*where == section) {
      labels.emplace(ValueOr(symbol.getValue(), uint64_t{0}), Name(symbol));
    }
  }
  for (const SectionRef& other : object.sections()) {
    llvm::Expected<llvm::object::section_iterator> of =
        other.getRelocatedSection();
    if (!of) {
      llvm::consumeError(of.takeError());
      continue;
    }
    if (*of != section) continue;
    for (const llvm::object::RelocationRef& relocation : other.relocations()) {
      const llvm::object::symbol_iterator symbol = relocation.getSymbol();
      if (symbol == object.symbol_end()) continue;
      references.emplace(relocation.getOffset(), Name(*symbol));
    }
  }
  absl::StrAppend(out, "\nCode of ", Name(section), ":\n");
  const llvm::ArrayRef<uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(contents.data()), contents.size());
  const uint64_t base = section.getAddress();
  for (uint64_t at = 0; at < bytes.size();) {
    for (auto [label, end] = labels.equal_range(at); label != end; ++label) {
      absl::StrAppend(out, "\n", label->second, ":\n");
    }
    const uint64_t size = disassembler->Print(bytes.slice(at), base + at, out);
    for (auto it = references.lower_bound(at);
         it != references.end() && it->first < at + size; ++it) {
      absl::StrAppend(out, "            ; ", it->second, "\n");
    }
    at += size;
  }
}

}  // namespace

absl::StatusOr<std::string> DescribeObject(absl::string_view bytes,
                                           absl::string_view name) {
  codegen::InitializeLlvm();
  const llvm::MemoryBufferRef buffer(
      llvm::StringRef(bytes.data(), bytes.size()),
      llvm::StringRef(name.data(), name.size()));
  llvm::Expected<std::unique_ptr<ObjectFile>> object =
      ObjectFile::createObjectFile(buffer);
  if (!object) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is no object file: ", llvm::toString(object.takeError())));
  }
  std::string out = absl::StrCat((*object)->getFileFormatName().str(), ", ",
                                 bytes.size(), " bytes\n");
  ListSections(**object, &out);
  ListSymbols(**object, &out);
  std::unique_ptr<Disassembler> disassembler = Disassembler::Create(**object);
  if (disassembler == nullptr) {
    absl::StrAppend(&out,
                    "\nNo disassembler for this processor is built in.\n");
    return out;
  }
  for (const SectionRef& section : (*object)->sections()) {
    if (section.isText() && section.getSize() > 0) {
      DisassembleSection(**object, section, disassembler.get(), &out);
    }
  }
  return out;
}

}  // namespace ingot

#include "isa/needed_features.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "isa/features.h"
#include "isa/instruction_decoder.h"
#include "isa/x86_features.h"
#include "llvm/MC/MCInst.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::isa {
namespace {

void InitializeDisassemblers() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllDisassemblers();
  });
}

std::string WithPlus(absl::Span<const std::string> features) {
  return absl::StrJoin(features, ",", [](std::string* out, auto& feature) {
    absl::StrAppend(out, "+", feature);
  });
}

// A decoder for processors with certain features; null if LLVM has none.
std::unique_ptr<InstructionDecoder> MakeDecoder(const llvm::Triple& triple,
                                                const std::string& features) {
  return InstructionDecoder::Create(triple, BaselineCpu(triple.str()),
                                    features);
}

// The bytes that the instruction takes; 0 if it is none.
uint64_t Decode(const InstructionDecoder& decoder,
                llvm::ArrayRef<uint8_t> bytes, llvm::MCInst* instruction) {
  uint64_t size = 0;
  return decoder.Decode(bytes, /*address=*/0, instruction, &size) ? size : 0;
}

absl::string_view Mnemonic(const InstructionDecoder& decoder,
                           const llvm::MCInst& instruction) {
  const char* text = decoder.printer().getMnemonic(&instruction).first;
  if (text == nullptr) return "";
  absl::string_view name = text;
  // "{vex}\tvpdpbusd\t" and the like.
  if (name[0] == '{') name.remove_prefix(name.find('}') + 1);
  while (!name.empty() && (name[0] == '\t' || name[0] == ' ')) {
    name.remove_prefix(1);
  }
  return name.substr(0, name.find_first_of("\t "));
}

// Counts its features, implied ones too.
size_t NumFeatures(const InstructionDecoder& decoder) {
  return decoder.subtarget().getFeatureBits().count();
}

class Finder {
 public:
  // Unimplemented if this LLVM has no disassembler for the triple.
  static absl::StatusOr<Finder> Create(absl::string_view triple,
                                       absl::Span<const std::string> possible) {
    InitializeDisassemblers();
    Finder finder(llvm::Triple(std::string(triple)), possible);
    if (finder.all_ != nullptr) return finder;
    return absl::UnimplementedError(
        absl::StrCat("no disassembler for ", triple, " is built in"));
  }

  void Read(llvm::ArrayRef<uint8_t> code) {
    llvm::MCInst instruction;
    for (uint64_t at = 0; at < code.size();) {
      const uint64_t size = Decode(*all_, code.slice(at), &instruction);
      if (size == 0) return NeedAll();
      // The operands of an opcode have no say in what it needs: LLVM has one
      // for each encoding and width.
      if (seen_.insert(instruction.getOpcode()).second) {
        if (triple_.isX86()) {
          AddX86(instruction, code.slice(at, size));
        } else {
          AddByDecoding(code.slice(at, size));
        }
      }
      at += size;
    }
  }

  std::vector<std::string> Result() const {
    return {needed_.begin(), needed_.end()};
  }

 private:
  Finder(const llvm::Triple& triple, absl::Span<const std::string> possible)
      : triple_(triple), all_(MakeDecoder(triple, WithPlus(possible))) {
    const absl::Span<const Feature> known = FeaturesOf(triple.str());
    for (const std::string& name : possible) {
      const bool given = std::any_of(
          known.begin(), known.end(),
          [&name](const Feature& f) { return f.name == name && !f.optional; });
      if (!given) possible_.push_back(name);
    }
  }

  void NeedAll() { needed_.insert(possible_.begin(), possible_.end()); }

  // LLVM's decoder for x86 takes every extension as given: ask our table.
  void AddX86(const llvm::MCInst& instruction, llvm::ArrayRef<uint8_t> bytes) {
    const X86Needs needs =
        NeedsOfX86(Mnemonic(*all_, instruction),
                   ReadX86Encoding({bytes.data(), bytes.size()}));
    if (!needs.known) return NeedAll();
    for (absl::string_view feature : needs.features) {
      if (std::find(possible_.begin(), possible_.end(), feature) !=
          possible_.end()) {
        needed_.emplace(feature);
      }
    }
  }

  // The others' decoders know what each instruction belongs to: try them with
  // less and less on their side.
  void AddByDecoding(llvm::ArrayRef<uint8_t> bytes) {
    if (Decodes("", bytes)) return;
    const std::string* weakest = nullptr;
    for (const std::string& feature : possible_) {
      if (!Decodes(feature, bytes)) continue;
      if (weakest == nullptr || NumFeatures(*decoders_[feature]) <
                                    NumFeatures(*decoders_[*weakest])) {
        weakest = &feature;
      }
    }
    if (weakest == nullptr) return NeedAll();
    needed_.insert(*weakest);
  }

  // Whether it is an instruction with that feature alone.
  bool Decodes(const std::string& feature, llvm::ArrayRef<uint8_t> bytes) {
    std::unique_ptr<InstructionDecoder>& decoder = decoders_[feature];
    if (decoder == nullptr) {
      std::vector<std::string> features;
      for (const Feature& f : FeaturesOf(triple_.str())) {
        if (!f.optional) features.push_back(f.name);
      }
      if (!feature.empty()) features.push_back(feature);
      decoder = MakeDecoder(triple_, WithPlus(features));
    }
    llvm::MCInst instruction;
    return decoder != nullptr && Decode(*decoder, bytes, &instruction) != 0;
  }

  llvm::Triple triple_;
  std::vector<std::string> possible_;  // without what every processor has
  std::unique_ptr<InstructionDecoder> all_;
  absl::flat_hash_map<std::string, std::unique_ptr<InstructionDecoder>>
      decoders_;
  absl::flat_hash_set<unsigned> seen_;  // opcodes
  std::set<std::string> needed_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> NeededFeatures(
    absl::string_view object, absl::string_view triple,
    absl::Span<const std::string> possible) {
  INGOT_ASSIGN_OR_RETURN(Finder finder, Finder::Create(triple, possible));
  // LLVM reads the tables where they lie, and they must lie aligned.
  const std::string copy(object);
  using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
  const auto invalid = [](llvm::Error e) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not a 64-bit little-endian ELF file: ", llvm::toString(std::move(e))));
  };
  llvm::Expected<File> file = File::create(copy);
  if (!file) return invalid(file.takeError());
  auto sections = file->sections();
  if (!sections) return invalid(sections.takeError());
  for (const auto& section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_PROGBITS ||
        (section.sh_flags & llvm::ELF::SHF_EXECINSTR) == 0) {
      continue;
    }
    auto code = file->getSectionContents(section);
    if (!code) return invalid(code.takeError());
    finder.Read(*code);
  }
  return finder.Result();
}

absl::StatusOr<std::vector<std::string>> NeededFeaturesOfCode(
    absl::string_view code, absl::string_view triple,
    absl::Span<const std::string> possible) {
  INGOT_ASSIGN_OR_RETURN(Finder finder, Finder::Create(triple, possible));
  finder.Read({reinterpret_cast<const uint8_t*>(code.data()), code.size()});
  return finder.Result();
}

}  // namespace ingot::isa

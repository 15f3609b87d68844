#include "isa/instruction_decoder.h"

#include "llvm/MC/MCTargetOptions.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::isa {

std::unique_ptr<InstructionDecoder> InstructionDecoder::Create(
    const llvm::Triple& triple, const std::string& cpu,
    const std::string& features) {
  const std::string name = triple.str();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(name, error);
  if (target == nullptr) return nullptr;
  auto d = std::unique_ptr<InstructionDecoder>(new InstructionDecoder);
  d->registers_.reset(target->createMCRegInfo(name));
  if (d->registers_ == nullptr) return nullptr;
  d->info_.reset(
      target->createMCAsmInfo(*d->registers_, name, llvm::MCTargetOptions()));
  d->subtarget_.reset(target->createMCSubtargetInfo(name, cpu, features));
  d->instructions_.reset(target->createMCInstrInfo());
  if (d->info_ == nullptr || d->subtarget_ == nullptr ||
      d->instructions_ == nullptr) {
    return nullptr;
  }
  d->context_ = std::make_unique<llvm::MCContext>(
      triple, d->info_.get(), d->registers_.get(), d->subtarget_.get());
  d->decoder_.reset(target->createMCDisassembler(*d->subtarget_, *d->context_));
  // Dialect 1 is Intel's on x86; others have but one.
  const unsigned dialect = triple.isX86() ? 1 : d->info_->getAssemblerDialect();
  d->printer_.reset(target->createMCInstPrinter(
      triple, dialect, *d->info_, *d->instructions_, *d->registers_));
  if (d->decoder_ == nullptr || d->printer_ == nullptr) return nullptr;
  return d;
}

bool InstructionDecoder::Decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address,
                                llvm::MCInst* instruction,
                                uint64_t* size) const {
  instruction->clear();
  *size = 0;
  return decoder_->getInstruction(*instruction, *size, bytes, address,
                                  llvm::nulls()) ==
         llvm::MCDisassembler::Success;
}

}  // namespace ingot::isa

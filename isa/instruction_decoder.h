// LLVM's objects that decode and print the instructions of one kind of
// processor.
#ifndef INGOT_ISA_INSTRUCTION_DECODER_H_
#define INGOT_ISA_INSTRUCTION_DECODER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::isa {

class InstructionDecoder {
 public:
  // Null if this LLVM cannot, or if nobody has initialised its targets,
  // machine code and disassemblers. `cpu` is a processor by LLVM's name, or
  // empty; `features` are as in "+avx2,+fma".
  static std::unique_ptr<InstructionDecoder> Create(
      const llvm::Triple& triple, const std::string& cpu,
      const std::string& features);

  // Decodes the instruction at the beginning of `bytes`; false if it is none.
  // `size` gets how many bytes LLVM takes it for either way.
  bool Decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address,
              llvm::MCInst* instruction, uint64_t* size) const;

  llvm::MCInstPrinter& printer() const { return *printer_; }
  const llvm::MCSubtargetInfo& subtarget() const { return *subtarget_; }

 private:
  InstructionDecoder() = default;

  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> info_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

}  // namespace ingot::isa

#endif  // INGOT_ISA_INSTRUCTION_DECODER_H_

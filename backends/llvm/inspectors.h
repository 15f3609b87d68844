// The text that people see of object files and bitcode.
#ifndef INGOT_BACKENDS_LLVM_INSPECTORS_H_
#define INGOT_BACKENDS_LLVM_INSPECTORS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Registers "object" (.o: sections, symbols with their sizes, disassembly; in
// a directory, FILE.dis.txt) and "bitcode" (.bc: FILE.ll). Both take hostile
// files. Errors: AlreadyExists.
absl::Status RegisterLlvmInspectors(InspectorRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVM_INSPECTORS_H_

#ifndef INGOT_COMPILER_CODEGEN_LLVM_OUT_OF_MEMORY_H_
#define INGOT_COMPILER_CODEGEN_LLVM_OUT_OF_MEMORY_H_

namespace ingot::codegen {

// Makes LLVM throw std::bad_alloc where it would abort the process because
// there is no memory. It holds for the whole process, so it is for programs and
// not for libraries; what LLVM worked on is lost.
void ThrowWithoutMemory();

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_OUT_OF_MEMORY_H_

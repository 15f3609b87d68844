// What every C file of a code generator begins with.
#ifndef INGOT_COMPILER_CODEGEN_C_PRELUDE_H_
#define INGOT_COMPILER_CODEGEN_C_PRELUDE_H_

namespace ingot::codegen {

// Behind the file's first line: the C ABI's structures, what the host offers,
// and how arguments are read. It stands alone.
extern const char kCPrelude[];
// Runs a loop's body on the host's threads; only files with parallel loops have
// it.
extern const char kCParallel[];

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_PRELUDE_H_

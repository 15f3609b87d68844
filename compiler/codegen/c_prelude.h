// The beginning of every C file that a code generator writes.
#ifndef INGOT_COMPILER_CODEGEN_C_PRELUDE_H_
#define INGOT_COMPILER_CODEGEN_C_PRELUDE_H_

namespace ingot::codegen {

// Follows the file's first line: the C ABI's structures, the host's services,
// and functions that read arguments. It needs no header.
extern const char kCPrelude[];
// Runs a loop's body on the host's threads; only files with parallel loops have
// it.
extern const char kCParallel[];
// The structures by which a library describes its model; only files with one
// have them.
extern const char kCModelInfoTypes[];

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_PRELUDE_H_

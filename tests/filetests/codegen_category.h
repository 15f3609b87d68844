#ifndef INGOT_TESTS_FILETESTS_CODEGEN_CATEGORY_H_
#define INGOT_TESTS_FILETESTS_CODEGEN_CATEGORY_H_

#include "tests/filetests/filetest.h"

namespace ingot::filetest {

// `codegen <target>`: the kernels of the input as that target's code, without
// what every file begins with.
//   codegen c -O=2            the C text; `-show=wrapper` the exported
//                             functions, `-show=all` the whole file
//   codegen llvm -mcpu=…      LLVM IR as it is before LLVM optimises it, of the
//                             kernels alone; `-show=wrapper` the exported
//                             functions, `-show=asm` the kernels' instructions
void AddCodegenCategories(Categories* categories);

}  // namespace ingot::filetest

#endif  // INGOT_TESTS_FILETESTS_CODEGEN_CATEGORY_H_

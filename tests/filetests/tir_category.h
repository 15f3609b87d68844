#ifndef INGOT_TESTS_FILETESTS_TIR_CATEGORY_H_
#define INGOT_TESTS_FILETESTS_TIR_CATEGORY_H_

#include "tests/filetests/filetest.h"

namespace ingot::filetest {

// `# run: tir PASS…`: parses a function of loop IR, verifies it, runs the
// passes and prints what comes out.
void AddTirCategories(Categories* categories);

}  // namespace ingot::filetest

#endif  // INGOT_TESTS_FILETESTS_TIR_CATEGORY_H_

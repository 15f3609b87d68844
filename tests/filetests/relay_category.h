#ifndef INGOT_TESTS_FILETESTS_RELAY_CATEGORY_H_
#define INGOT_TESTS_FILETESTS_RELAY_CATEGORY_H_

#include "tests/filetests/filetest.h"

namespace ingot::filetest {

// relay PASS…: a module in text form; runs the passes, in order, for a
// processor with vectors of 256 bits, and prints it. Large constants show as
// their keys.
void AddRelayCategories(Categories* categories);

}  // namespace ingot::filetest

#endif  // INGOT_TESTS_FILETESTS_RELAY_CATEGORY_H_

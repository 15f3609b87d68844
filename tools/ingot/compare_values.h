// A model's values against those that were dumped, node by node.

#ifndef INGOT_TOOLS_INGOT_COMPARE_VALUES_H_
#define INGOT_TOOLS_INGOT_COMPARE_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"

namespace ingot {

struct CompareValuesOptions {
  OpenFlags open;
  Tolerance tolerance;
};

struct ComparedValues {
  int64_t count = 0;
  double max_abs_err = -1;  // of all; less than any where there are none
  std::string worst;        // the value that has it
  // Those with a file that Ingot does not compute as tensors.
  std::vector<std::string> left_out;
};

// Compiles the model at `path`, runs it on the values in the files `inputs`
// (test_data.h) and compares each value that has a file in `folder`
// (value_dump.h), in the model's order. DataLoss names the first that is wrong,
// and its node; others name what failed. When all is well, prints what was
// compared and returns it.
//
// The model is compiled for parts of the values, with these as outputs, so that
// not all are kept at a time. A value that becomes an output is not part of a
// larger kernel any more, so this finds wrong operators and layouts rather than
// wrong fusion. `builtins` must have a compiler.
absl::StatusOr<ComparedValues> CompareValues(
    const std::string& path, const std::string& folder,
    const std::vector<std::string>& inputs, const CompareValuesOptions& options,
    const Builtins& builtins, Progress* progress);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMPARE_VALUES_H_

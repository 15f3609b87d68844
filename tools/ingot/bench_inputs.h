// The inputs that a measurement runs on.
#ifndef INGOT_TOOLS_INGOT_BENCH_INPUTS_H_
#define INGOT_TOOLS_INGOT_BENCH_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor_sequence.h"

namespace ingot {

struct BenchInputs {
  std::string test_data;            // a folder; empty: random numbers
  std::vector<std::string> shapes;  // as --input-shape has them
  int64_t seed = 0;
};

// Those of the first set of test data, or random ones; `note` gets a line that
// says what was chosen, and is empty otherwise. Errors: those of FindTestData,
// ReadValueFiles, ParseInputShapes and MakeRandomInputs.
absl::StatusOr<std::vector<TensorOrSequence>> GetBenchInputs(
    const BenchInputs& chosen, absl::Span<const TensorInfo> declared,
    std::string* note);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BENCH_INPUTS_H_

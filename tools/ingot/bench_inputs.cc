#include "tools/ingot/bench_inputs.h"

#include "base/status_macros.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/test_data.h"

namespace ingot {

absl::StatusOr<std::vector<TensorOrSequence>> GetBenchInputs(
    const BenchInputs& chosen, absl::Span<const TensorInfo> declared,
    std::string* note) {
  note->clear();
  if (!chosen.test_data.empty()) {
    INGOT_ASSIGN_OR_RETURN(std::vector<TestDataSet> sets,
                           FindTestData(chosen.test_data));
    return ReadValueFiles(sets.front().inputs, declared);
  }
  INGOT_ASSIGN_OR_RETURN(InputShapes shapes, ParseInputShapes(chosen.shapes));
  INGOT_ASSIGN_OR_RETURN(std::vector<Tensor> inputs,
                         MakeRandomInputs(declared, shapes, chosen.seed, note));
  return std::vector<TensorOrSequence>(inputs.begin(), inputs.end());
}

}  // namespace ingot

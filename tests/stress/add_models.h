// Small models of hand-written kernels, linked, for tests of how they are
// loaded and run.
#ifndef INGOT_TESTS_STRESS_ADD_MODELS_H_
#define INGOT_TESTS_STRESS_ADD_MODELS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/executor/executor.h"

namespace ingot {

// A library whose model makes one element of each of three.
struct AddModel {
  float (*expected)(float);
  std::string library;  // its path
};

// Four models: x + 10, x - 10, x * 10 and x + 10, the last two with a loop that
// several threads run. Linked into the test's folder.
std::vector<AddModel> MakeAddModels();

// Runs a model on three elements that start with `first` and go up by one.
// DataLoss if a result is not exactly as expected.
absl::Status RunAddModel(const AddModel& model, float first,
                         GraphExecutor* executor);

}  // namespace ingot

#endif  // INGOT_TESTS_STRESS_ADD_MODELS_H_

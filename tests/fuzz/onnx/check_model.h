// One ONNX model by the real compiler, against ONNX Runtime.
#ifndef INGOT_TESTS_FUZZ_ONNX_CHECK_MODEL_H_
#define INGOT_TESTS_FUZZ_ONNX_CHECK_MODEL_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/fuzz/onnx/evaluate.h"
#include "tests/fuzz/onnx/random_onnx_model.h"

namespace ingot::fuzz {

// One way to compile and run a model. All ways of one model must agree.
struct Way {
  std::string target = "llvm";
  int opt_level = 2;
  int threads = 1;
  // Dimensions of inputs are symbols; 0: all are static.
  uint64_t symbols = 0;
  // The symbols get their extents when the model is compiled.
  bool input_shapes = false;
  // Inputs that are read more than once are read from copies.
  bool copies = false;
  // The first dimensions are symbols, and the inputs twice as long: a batch of
  // two beside one of one. What ONNX Runtime cannot run so is not tried.
  bool twice = false;

  std::string ToString() const;
};

// The model with the inputs that the way gives it.
OnnxModel FormOf(const OnnxModel& model, const Way& way);

// Runs the whole model with ONNX Runtime. Each output has the error that
// EvaluateModel estimates for it.
absl::StatusOr<Scope> ExpectedOf(const OnnxModel& model);

// Writes the model as a file into `folder`, compiles the file, links, loads and
// runs it, and compares every output with `expected`: integers exactly, floats
// up to three times the error. Any error but those that refusals.h explains is
// a defect.
absl::Status CheckModel(const OnnxModel& model, const Scope& expected,
                        const Way& way, const std::string& folder);

// The ways that the model of `seed` is tried: the first is what users do.
std::vector<Way> WaysOf(uint64_t seed);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_CHECK_MODEL_H_

// One ONNX case by one way through Ingot.
#ifndef INGOT_TESTS_CONFORMANCE_RUN_CASE_H_
#define INGOT_TESTS_CONFORMANCE_RUN_CASE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/target/target.h"
#include "loaders/loader_registry.h"
#include "tests/conformance/onnx_case.h"

namespace ingot {

// The way that compiles nothing: each operator's definition, node by node, by
// the loop interpreter. Every other way is the text of a target.
inline constexpr char kInterpreter[] = "interpreter";

class CaseRunner {
 public:
  static absl::StatusOr<std::unique_ptr<CaseRunner>> Create();

  // Imports the case's model and compares its outputs with those of all its
  // data sets. For a target the model is compiled, linked, loaded and executed
  // as a user's would be.
  //
  // Where a model takes as an input what decides on shapes, its value in the
  // data set is made a constant, and `was_fixed` is set: first the inputs
  // behind the first, then the first too.
  //
  // Unimplemented when Ingot says that it does not support the model; anything
  // else says what went wrong, and where.
  absl::Status Run(absl::string_view way, const OnnxCase& c, bool* was_fixed);

 private:
  CaseRunner() = default;

  absl::Status RunSet(absl::string_view way, const Blob& model,
                      const OnnxCase& c, const OnnxDataSet& set,
                      const std::vector<bool>& fixed);
  absl::StatusOr<std::vector<Tensor>> Execute(absl::string_view way,
                                              const OnnxCase& c,
                                              relay::Module* module,
                                              std::vector<Tensor> inputs);

  TargetRegistry targets_;
  LoaderRegistry loaders_;
};

}  // namespace ingot

#endif  // INGOT_TESTS_CONFORMANCE_RUN_CASE_H_

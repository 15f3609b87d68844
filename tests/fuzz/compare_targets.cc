#include "tests/fuzz/compare_targets.h"

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/testing/run_model.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "tools/ingot/compare.h"

namespace ingot::fuzz {
namespace {

// Floating-point values may differ by a part of the largest element, since what
// is subtracted on the way may have been large. Integers must be equal.
absl::Status CompareOutput(const Tensor& got, const Tensor& expected) {
  const Tolerance tolerance = expected.dtype().is_float()
                                  ? Tolerance{0, 1e-5, 2e-3}
                                  : Tolerance{0, 0, std::nullopt};
  INGOT_ASSIGN_OR_RETURN(const Comparison comparison,
                         Compare(got, expected, tolerance));
  if (comparison.ok()) return absl::OkStatus();
  return absl::DataLossError(comparison.problem);
}

absl::StatusOr<std::vector<Tensor>> CompileAndRun(RandomModel* model,
                                                  absl::string_view target,
                                                  int opt_level) {
  CompileOptions options;
  options.opt_level = opt_level;
  INGOT_ASSIGN_OR_RETURN(
      std::unique_ptr<GraphExecutor> executor,
      testing_support::CompileAndOpen(model->module.get(), target, options));
  return executor->Run(model->inputs);
}

}  // namespace

absl::Status CompareWithInterpreter(uint64_t seed,
                                    const RandomModelOptions& options,
                                    absl::string_view target, int opt_level) {
  RandomModel model = MakeRandomModel(seed, options);
  const std::string text = relay::Print(*model.module);
  auto annotate = [&](const absl::Status& s) {
    return absl::Status(
        s.code(),
        absl::StrCat("seed ", seed, options.symbolic ? " symbolic" : "",
                     ", target ", target, ", level ", opt_level, ": ",
                     s.message(), "\n", text));
  };
  if (absl::Status s = relay::Verify(*model.module); !s.ok()) {
    return annotate(s);
  }
  const absl::StatusOr<std::vector<Tensor>> expected = relay::EvaluateFunction(
      *model.module, *model.module->main(), model.inputs);
  if (!expected.ok()) return annotate(expected.status());
  const absl::StatusOr<std::vector<Tensor>> got =
      CompileAndRun(&model, target, opt_level);
  if (!got.ok()) return annotate(got.status());
  if (got->size() != expected->size()) {
    return annotate(absl::DataLossError("another number of outputs"));
  }
  for (size_t k = 0; k < got->size(); ++k) {
    if (absl::Status s = CompareOutput((*got)[k], (*expected)[k]); !s.ok()) {
      return annotate(
          absl::DataLossError(absl::StrCat("output ", k, ": ", s.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::fuzz

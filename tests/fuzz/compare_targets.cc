#include "tests/fuzz/compare_targets.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/builtin.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/passes/evaluate.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "compiler/status_macros.h"
#include "loaders/load.h"
#include "loaders/native/linker.h"

namespace ingot::fuzz {
namespace {

constexpr double kTolerance = 2e-3;

template <typename T>
absl::Status CompareFloats(const Tensor& got, const Tensor& expected) {
  const T* a = got.data<T>();
  const T* b = expected.data<T>();
  double largest = 0;
  for (int64_t i = 0; i < expected.NumElements(); ++i) {
    if (std::isfinite(b[i]))
      largest = std::max<double>(largest, std::fabs(b[i]));
  }
  for (int64_t i = 0; i < expected.NumElements(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::fabs(a[i] - b[i]) <= kTolerance * largest + 1e-5) continue;
    return absl::DataLossError(
        absl::StrCat("element ", i, " is ", a[i], ", expected ", b[i]));
  }
  return absl::OkStatus();
}

absl::Status Compare(const Tensor& got, const Tensor& expected) {
  if (got.TypeString() != expected.TypeString()) {
    return absl::DataLossError(absl::StrCat(
        "is ", got.TypeString(), ", expected ", expected.TypeString()));
  }
  if (expected.dtype() == DataType::Float(32)) {
    return CompareFloats<float>(got, expected);
  }
  if (expected.dtype() == DataType::Float(64)) {
    return CompareFloats<double>(got, expected);
  }
  if (memcmp(got.raw_data(), expected.raw_data(), expected.bytes()) != 0) {
    return absl::DataLossError("integers differ");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> CompileAndRun(RandomModel* model,
                                                  absl::string_view target,
                                                  int opt_level) {
  TargetRegistry kinds;
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&kinds));
  INGOT_RETURN_IF_ERROR(RegisterCoreLoaders(&loaders));
  INGOT_RETURN_IF_ERROR(RegisterBuiltinLoaders(&loaders));
  CompileOptions options;
  options.target_text = std::string(target);
  options.opt_level = opt_level;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets(target));
  INGOT_ASSIGN_OR_RETURN(
      const ArtifactSet set,
      CompileModule(model->module.get(), "fuzz", "", kinds, options));
  // Nobody will want this library again.
  std::string library;
  const absl::Cleanup remove = [&library] { unlink(library.c_str()); };
  LoadOptions load;
  load.link =
      [&library](const ArtifactSet& linked) -> absl::StatusOr<std::string> {
    INGOT_ASSIGN_OR_RETURN(library, LinkCached(linked, nullptr));
    return library;
  };
  INGOT_ASSIGN_OR_RETURN(const LoadedModel loaded, Load(set, loaders, load));
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(loaded));
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
    if (absl::Status s = Compare((*got)[k], (*expected)[k]); !s.ok()) {
      return annotate(
          absl::DataLossError(absl::StrCat("output ", k, ": ", s.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::fuzz

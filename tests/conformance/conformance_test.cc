// ONNX's own test cases through the importer and the reference evaluator: each
// operator as its definition says, one by one, by the loop interpreter.
//
// Every case passes or stands in expected_failures.txt with a reason; one that
// passes though it stands there fails the test too.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/relay/passes/evaluate.h"
#include "compiler/relay/verifier.h"
#include "gtest/gtest.h"
#include "tests/conformance/expected_failures.h"
#include "tests/conformance/onnx_case.h"

namespace ingot {
namespace {

// ONNX's test data keeps bfloat16 as uint16.
Tensor AsType(const Tensor& tensor, DataType wanted) {
  if (wanted != DataType::BFloat16() || tensor.dtype() != DataType::UInt(16)) {
    return tensor;
  }
  absl::StatusOr<Tensor> same =
      Tensor::FromBorrowedReadOnly(tensor.raw_data(), wanted, tensor.shape(),
                                   std::make_shared<Tensor>(tensor));
  return same.ok() ? *same : tensor;
}

absl::Status RunSet(const relay::Module& module, const OnnxDataSet& set,
                    const std::vector<bool>& fixed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < set.inputs.size(); ++i) {
    if (fixed[i]) continue;
    const size_t k = inputs.size();
    if (k >= module.main()->inputs.size()) {
      return absl::InvalidArgumentError("has too few inputs");
    }
    inputs.push_back(
        AsType(set.inputs[i], module.main()->inputs[k]->outputs[0].dtype));
  }
  absl::StatusOr<std::vector<Tensor>> outputs =
      relay::EvaluateFunction(module, *module.main(), inputs);
  if (!outputs.ok()) return outputs.status();
  if (outputs->size() != set.outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", outputs->size(), " outputs, expected ", set.outputs.size()));
  }
  for (size_t k = 0; k < outputs->size(); ++k) {
    const absl::Status status = CompareTensors(
        (*outputs)[k], AsType(set.outputs[k], (*outputs)[k].dtype()),
        Tolerance());
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("output ", k, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

// What may be fixed: shapes, axes and the like, which are short.
bool IsShort(const Tensor& tensor) {
  return tensor.shape().size() <= 1 && tensor.NumElements() <= 64;
}

absl::Status RunImported(const Blob& model, const OnnxCase& c,
                         const OnnxDataSet& set,
                         const std::vector<bool>& fixed) {
  ImportOptions options;
  options.model_dir = c.dir;
  if (std::find(fixed.begin(), fixed.end(), true) != fixed.end()) {
    absl::StatusOr<std::vector<std::string>> names = ModelInputNames(model);
    if (!names.ok()) return names.status();
    for (size_t i = 0; i < fixed.size() && i < names->size(); ++i) {
      if (fixed[i]) options.fixed_inputs[(*names)[i]] = set.inputs[i];
    }
  }
  absl::StatusOr<relay::Module> module = ImportOnnx(model, options);
  if (!module.ok()) return module.status();
  if (absl::Status status = relay::Verify(*module); !status.ok()) return status;
  return RunSet(*module, set, fixed);
}

// Where the model takes as an input what decides on shapes, its value in the
// data set is fixed: first the inputs behind the first, then the first too.
absl::Status RunCase(const OnnxCase& c, bool* was_fixed) {
  absl::StatusOr<std::vector<OnnxDataSet>> sets = ReadDataSets(c);
  if (!sets.ok()) return sets.status();
  absl::StatusOr<Blob> model = Blob::MapFile(c.model_path);
  if (!model.ok()) return model.status();
  for (const OnnxDataSet& set : *sets) {
    std::vector<bool> fixed(set.inputs.size(), false);
    absl::Status status = RunImported(*model, c, set, fixed);
    for (size_t first : {1, 0}) {
      if (!absl::IsUnimplemented(status)) break;
      bool any = false;
      for (size_t i = first; i < fixed.size(); ++i) {
        fixed[i] = IsShort(set.inputs[i]);
        any = any || fixed[i];
      }
      if (!any) continue;
      status = RunImported(*model, c, set, fixed);
      *was_fixed = true;
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

class ConformanceTest : public testing::TestWithParam<const char*> {};

TEST_P(ConformanceTest, Folder) {
  const std::string folder = GetParam();
  absl::StatusOr<std::vector<OnnxCase>> cases =
      FindOnnxCases(absl::StrCat("external/onnx_testdata/data/", folder));
  ASSERT_TRUE(cases.ok()) << cases.status();
  absl::StatusOr<std::map<std::string, std::string>> expected =
      ReadExpectedFailures("tests/conformance/expected_failures.txt");
  ASSERT_TRUE(expected.ok()) << expected.status();
  const char* only = std::getenv("INGOT_CONFORMANCE_ONLY");
  int passed = 0, fixed = 0, failed = 0, skipped = 0;
  for (const OnnxCase& c : *cases) {
    if (only != nullptr && !absl::StrContains(c.name, only)) continue;
    bool was_fixed = false;
    const absl::Status status = RunCase(c, &was_fixed);
    const std::string key = absl::StrCat(folder, "/", c.name);
    const bool is_expected = expected->count(key) > 0;
    if (status.ok()) {
      ++passed;
      fixed += was_fixed ? 1 : 0;
      EXPECT_FALSE(is_expected)
          << key << " passes now: take it out of expected_failures.txt";
      continue;
    }
    ++(absl::IsUnimplemented(status) ? skipped : failed);
    EXPECT_TRUE(is_expected) << key << ": " << status;
  }
  std::printf(
      "%s: %d passed (%d of them with short inputs fixed), %d failed, %d "
      "skipped as not supported\n",
      folder.c_str(), passed, fixed, failed, skipped);
}

INSTANTIATE_TEST_SUITE_P(Onnx, ConformanceTest,
                         testing::Values("pytorch-operator", "simple",
                                         "pytorch-converted", "node"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace ingot

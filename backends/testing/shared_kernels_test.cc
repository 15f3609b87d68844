// Kernels that several calls share with symbols of other values in each, and
// concatenations of many parts of sizes that only a run knows, against the
// interpreter: for every target that makes code for this machine.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::testing_support {
namespace {

using ::testing::HasSubstr;

Tensor Counting(const std::vector<int64_t>& shape, float first) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    tensor.mutable_data<float>()[i] = first + static_cast<float>(i * 7 % 11);
  }
  return tensor;
}

class SharedKernelsTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<GraphExecutor> OpenText(const std::string& text) {
    auto module = ParseRelay(text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return nullptr;
    auto executor = CompileAndOpen(module->get(), GetParam());
    EXPECT_TRUE(executor.ok()) << executor.status();
    return executor.ok() ? *std::move(executor) : nullptr;
  }

  // Runs a model with inputs of these lengths, one dimension or one before 4.
  void Compare(const std::string& text, const std::vector<int64_t>& lengths,
               GraphExecutor* executor) {
    ASSERT_NE(executor, nullptr);
    auto module = ParseRelay(text);
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < lengths.size(); ++i) {
      std::vector<int64_t> shape = {lengths[i]};
      if (executor->inputs()[i].shape.size() == 2) shape.push_back(4);
      inputs.push_back(Counting(shape, static_cast<float>(i)));
      ASSERT_EQ(executor->SetInput(i, inputs.back()), absl::OkStatus());
    }
    ASSERT_EQ(executor->Run(), absl::OkStatus());
    const auto expected =
        relay::EvaluateFunction(**module, *(*module)->main(), inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (size_t i = 0; i < expected->size(); ++i) {
      const auto result = executor->GetOutput(i);
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_EQ(result->shape(), (*expected)[i].shape()) << i;
      for (int64_t k = 0; k < result->NumElements(); ++k) {
        ASSERT_NEAR(result->data<float>()[k], (*expected)[i].data<float>()[k],
                    1e-5)
            << "output " << i << ", element " << k;
      }
    }
  }
};

// Softmax of columns needs workspaces as long as its data.
constexpr char kTwice[] = R"(module {
  func @main(%x: f32[n, 4], %y: f32[m, 4], %u: f32[a], %v: f32[b], %s: f32[c],
             %t: f32[d]) -> (%p, %q, %r, %w) {
    %p = softmax(%x) {axis=0}
    %q = softmax(%y) {axis=0}
    %r = add(%u, %v)
    %w = add(%s, %t)
  }
})";

TEST_P(SharedKernelsTest, SymbolsAreThoseOfEachCall) {
  const auto executor = OpenText(kTwice);
  Compare(kTwice, {5, 70, 3, 3, 9, 9}, executor.get());
  Compare(kTwice, {33, 2, 40, 40, 1, 1}, executor.get());
}

TEST_P(SharedKernelsTest, SizesThatMustBeEqualAreThoseOfEachCall) {
  const auto executor = OpenText(kTwice);
  ASSERT_NE(executor, nullptr);
  const std::vector<int64_t> lengths = {5, 7, 3, 3, 8, 9};
  for (size_t i = 0; i < lengths.size(); ++i) {
    std::vector<int64_t> shape = {lengths[i]};
    if (i < 2) shape.push_back(4);
    ASSERT_EQ(executor->SetInput(i, Counting(shape, 0)), absl::OkStatus());
  }
  const absl::Status status = executor->Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("8"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("9"));
}

// Every part has a size of its own, so that the beginning of the last one is a
// sum of all others: as many as loops are cut for, and more.
TEST_P(SharedKernelsTest, PartsOfUnknownSizesFollowEachOther) {
  for (const int count : {3, 40, 130}) {
    for (const bool rows : {false, true}) {
      if (rows && count > 100) continue;
      std::vector<std::string> parameters, values;
      std::vector<int64_t> first, second;
      for (int i = 0; i < count; ++i) {
        parameters.push_back(
            absl::StrCat("%x", i, ": f32[n", i, rows ? ", 4]" : "]"));
        values.push_back(absl::StrCat("%x", i));
        first.push_back(i * 5 % 13);
        second.push_back(i % 3 == 0 ? 0 : 17 - i % 17);
      }
      const std::string text = absl::StrCat(
          "module {\n  func @main(", absl::StrJoin(parameters, ", "),
          ") -> (%y) {\n    %y = concat(", absl::StrJoin(values, ", "),
          ") {axis=0}\n  }\n}");
      const auto executor = OpenText(text);
      Compare(text, first, executor.get());
      Compare(text, second, executor.get());
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SharedKernelsTest,
                         ::testing::Values("llvm", "c"), [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace ingot::testing_support

// Kernels that are scheduled for processors that may not be here, in code for
// x86-64-v3: what they compute stays the same, by vectors of 16 numbers, words
// of four bytes and tiles, each of which this code does by what it has.
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "backends/testing/run_kernels.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "base/status_macros.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing::HasSubstr;

constexpr char kCode[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3";

struct Model {
  const char* name;
  const char* text;
};

constexpr char kProduct[] = R"(module {
  func @main(%x: f32[37, 96]) -> (%y) {
    %w = const f32[96, 70] random(1)
    %p = matmul(%x, %w)
    %y = relu(%p)
  }
})";
constexpr char kByteProduct[] = R"(module {
  func @main(%x: u8[37, 96]) -> (%y) {
    %w = const i8[96, 70] random(1)
    %b = const i32[70] random(2)
    %p = matmul(%x, %w) {out_dtype=i32}
    %y = add(%p, %b)
  }
})";
constexpr char kConvolution[] = R"(module {
  func @main(%x: f32[1, 19, 21, 17]) -> (%y) {
    %w = const f32[48, 19, 3, 3] random(1)
    %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
    %y = add(%c, %c)
  }
})";
constexpr char kByteConvolution[] = R"(module {
  func @main(%x: u8[1, 32, 14, 14]) -> (%y) {
    %w = const i8[64, 32, 3, 3] random(1)
    %y = conv2d(%x, %w) {out_dtype=i32, pads=[1, 1, 1, 1]}
  }
})";
constexpr char kSoftmax[] = R"(module {
  func @main(%x: f32[5, 83]) -> (%y) {
    %y = softmax(%x)
  }
})";

constexpr Model kModels[] = {{"Product", kProduct},
                             {"ByteProduct", kByteProduct},
                             {"Convolution", kConvolution},
                             {"ByteConvolution", kByteConvolution},
                             {"Softmax", kSoftmax}};

// Compiles the model for `target`, runs it, and compares what comes out with
// what relay's interpreter gives.
absl::Status Compare(const char* text, const std::string& target) {
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<relay::Module> module,
                         testing_support::ParseRelay(text));
  const relay::TensorType& type = module->main()->inputs[0]->outputs[0];
  INGOT_ASSIGN_OR_RETURN(
      Tensor x, Tensor::Empty(type.dtype, *relay::ConstShape(type.shape)));
  testing_support::FillExact(&x, /*seed=*/1);
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<Tensor> expected,
      relay::EvaluateFunction(*module, *module->main(), {x}));
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<GraphExecutor> executor,
                         testing_support::CompileAndOpen(module.get(), target));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> got, executor->Run({x}));
  return testing_support::CompareTensors("y", got[0], expected[0],
                                         {1e-4, 1e-4});
}

class SchedulesFor
    : public testing::TestWithParam<std::tuple<const char*, Model>> {};

TEST_P(SchedulesFor, ComputeTheSame) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "this machine does not run code for x86-64";
#endif
  const auto& [processor, model] = GetParam();
  EXPECT_EQ(
      Compare(model.text, absl::StrCat(kCode, " -schedules-for=", processor)),
      absl::OkStatus());
}

std::string NameOf(
    const testing::TestParamInfo<std::tuple<const char*, Model>>& info) {
  std::string name =
      absl::StrCat(std::get<0>(info.param), "_", std::get<1>(info.param).name);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Processors, SchedulesFor,
    testing::Combine(testing::Values("skylake-avx512", "icelake-server",
                                     "sapphirerapids", "x86-64"),
                     testing::ValuesIn(kModels)),
    NameOf);

// The LLVM IR of a model's code.
std::string IrOf(const char* text, const std::string& options) {
  const auto module = testing_support::ParseRelay(text);
  if (!module.ok()) return module.status().ToString();
  const absl::StatusOr<ArtifactSet> set = testing_support::CompileFor(
      module->get(), absl::StrCat(kCode, " -keep-ir=1", options));
  if (!set.ok()) return set.status().ToString();
  std::string all;
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.file_name.find(".ll") != std::string::npos) {
      all += std::string(artifact.content.view());
    }
  }
  return all;
}

TEST(SchedulesForTest, UseItsVectors) {
  EXPECT_THAT(IrOf(kProduct, " -schedules-for=skylake-avx512"),
              HasSubstr("<16 x float>"));
  EXPECT_THAT(IrOf(kProduct, ""), Not(HasSubstr("<16 x float>")));
}

// How long a row is, which a run tells, is not in the configuration of tiles.
TEST(SchedulesForTest, TakeRowsOfUnknownLength) {
  EXPECT_THAT(IrOf(R"(module {
  func @main(%x: u8[m, k]) -> (%y) {
    %w = const i8[256, 16] random(1)
    %y = matmul(%x, %w) {out_dtype=i32}
  }
})",
                   " -schedules-for=sapphirerapids"),
              HasSubstr("define"));
}

TEST(SchedulesForTest, RefuseWhatIsNoProcessorOfTheFamily) {
  EXPECT_THAT(IrOf(kProduct, " -schedules-for=cortex-a72"),
              HasSubstr("-mcpu=cortex-a72: LLVM knows no such processor"));
}

}  // namespace
}  // namespace ingot

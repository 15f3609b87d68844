#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompareWithEvaluate;
using testing_support::CompileRelay;
using testing_support::RunModel;
using testing_support::StoreAndLoad;

std::string WriteC(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

std::string MyRelu(const std::string& host) {
  const std::string path = WriteC("my_relu.c", R"(/* ingot: cflags=-O2 */
#include <stdint.h>
int my_relu(const float* x, float* y, int64_t x0, int64_t x1, int64_t y0,
            int64_t y1) {
  if (x0 != y0 || x1 != y1) return 1;
  for (int64_t i = 0; i < x0 * x1; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  return 0;
}
)");
  return absl::StrCat("extern_call -op=relu -symbol=my_relu -source=", path,
                      ",", host);
}

// Two calls in one region, with a workspace between them, and one alone.
constexpr char kModel[] = R"(module {
  func @main(%x: f32[3, 5]) -> (%y, %a) {
    %a = relu(%x)
    %b = relu(%a)
    %c = exp(%b)
    %y = relu(%c)
  }
})";

TEST(ExternCall, RunsWithEitherHost) {
  for (const char* host : {"llvm", "c"}) {
    EXPECT_EQ(CompareWithEvaluate(MyRelu(host), kModel, 1, {1e-5}),
              absl::OkStatus())
        << host;
  }
}

TEST(ExternCall, TheFunctionIsOneArtifact) {
  auto set = CompileRelay(MyRelu("c"), kModel);
  ASSERT_TRUE(set.ok()) << set.status();
  const Artifact* source = set->Find("host", "extern_call", "my_relu.c");
  ASSERT_NE(source, nullptr);
  EXPECT_THAT(std::string(source->content.view()), HasSubstr("int my_relu("));
  const std::string kernels = testing_support::TextOf(*set, "c");
  EXPECT_THAT(kernels, HasSubstr("int my_relu(const float*, float*, int64_t, "
                                 "int64_t, int64_t, int64_t);\n"));
}

TEST(ExternCall, RunsWithSymbolicDimensions) {
  auto set = CompileRelay(MyRelu("llvm"), R"(module {
    func @main(%x: f32[n, 2]) -> (%y) {
      %a = relu(%x)
      %y = relu(%a)
    }
  })");
  ASSERT_TRUE(set.ok()) << set.status();
  auto model = StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  Tensor x = *Tensor::Empty(DataType::Float(32), {3, 2});
  for (int i = 0; i < 6; ++i) x.mutable_data<float>()[i] = i - 2.0f;
  auto y = RunModel(*model, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].values<float>(),
              ::testing::ElementsAre(0, 0, 0, 1, 2, 3));
}

TEST(ExternCall, AFailureReachesTheCaller) {
  const std::string path = WriteC(
      "broken.c",
      "int broken(const float* x, float* y, long a, long b) { return 3; }");
  for (const char* host : {"llvm", "c"}) {
    auto set = CompileRelay(
        absl::StrCat("extern_call -op=relu -symbol=broken -source=", path, ",",
                     host),
        "module { func @main(%x: f32[2]) -> (%y) { %y = relu(%x) } }");
    ASSERT_TRUE(set.ok()) << set.status();
    auto model = StoreAndLoad(*set);
    ASSERT_TRUE(model.ok()) << model.status();
    Tensor x = *Tensor::Empty(DataType::Float(32), {2});
    EXPECT_THAT(std::string(RunModel(*model, {x}).status().message()),
                HasSubstr("broken failed"))
        << host;
  }
}

TEST(ExternCall, ErrorsSayWhatIsWrong) {
  const char* const model =
      "module { func @main(%x: f32[2], %z: f32[2, 2]) -> (%y, %w) {"
      "%y = relu(%x) %w = relu(%z) } }";
  const auto error = [&](const std::string& targets) {
    auto set = CompileRelay(targets, model);
    if (!set.ok()) return std::string(set.status().message());
    return std::string(StoreAndLoad(*set).status().message());
  };
  EXPECT_THAT(error("extern_call -op=relu -symbol=f,llvm"),
              HasSubstr("needs the option -source"));
  EXPECT_THAT(error("extern_call -op=rellu -symbol=f -source=f.c,llvm"),
              HasSubstr("no operator is called 'rellu'"));
  EXPECT_THAT(error("extern_call -op=relu -symbol=f -source=/no/f.c,llvm"),
              HasSubstr("/no/f.c"));
  const std::string empty = WriteC("empty.c", "int something_else;\n");
  EXPECT_THAT(error(absl::StrCat(
                  "extern_call -op=relu -symbol=f -source=", empty, ",llvm")),
              HasSubstr("is called in two ways"));
  EXPECT_THAT(error(absl::StrCat(
                  "extern_call -op=relu -symbol=f -source=", empty, ",c")),
              HasSubstr("calls both int f(const float*, float*, int64_t, "));
}

TEST(ExternCall, AMissingFunctionIsNamed) {
  const std::string empty = WriteC("empty2.c", "int something_else;\n");
  auto set = CompileRelay(
      absl::StrCat("extern_call -op=relu -symbol=nowhere -source=", empty,
                   ",llvm"),
      "module { func @main(%x: f32[2]) -> (%y) { %y = relu(%x) } }");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(std::string(StoreAndLoad(*set).status().message()),
              HasSubstr("nowhere"));
}

}  // namespace
}  // namespace ingot

// Cases that users of other compilers report broken where several backends
// share a model.

#include <string>
#include <vector>

#include "backends/builtin.h"
#include "backends/testing/run_regions.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompareWithEvaluate;
using testing_support::CompileRelay;
using testing_support::StoreAndLoad;

int CountArtifacts(const ArtifactSet& set, absl::string_view codegen_id) {
  int count = 0;
  for (const Artifact& artifact : set.artifacts()) {
    count += artifact.codegen_id == codegen_id;
  }
  return count;
}

// Compiles for exactly these targets, for a program with these loaders.
absl::StatusOr<ArtifactSet> CompileFor(const std::string& targets,
                                       std::vector<std::string> loaders,
                                       const std::string& text) {
  TargetRegistry kinds;
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&kinds));
  INGOT_ASSIGN_OR_RETURN(auto module, testing_support::ParseRelay(text));
  CompileOptions options;
  options.targets = *ParseTargets(targets);
  options.known_loaders = std::move(loaders);
  return CompileModule(module.get(), "test", "", kinds, options);
}

constexpr char kAdds[] = R"(module {
  func @main(%a: f32[8], %b: f32[8]) -> (%y, %s) {
    %s = add(%a, %b)
    %y = mul(%s, %a)
  }
})";

TEST(RegionCases, AWholeModelNeedsNoHost) {
  for (const char* target : {"ccompiler", "examplejson"}) {
    auto set = CompileFor(target, {}, kAdds);
    ASSERT_TRUE(set.ok()) << set.status();
    // Its one artifact, and the plan.
    EXPECT_EQ(set->artifacts().size(), 2u);
    auto model = StoreAndLoad(*set);
    ASSERT_TRUE(model.ok()) << model.status();
    Tensor a = *Tensor::Empty(DataType::Float(32), {8});
    for (int i = 0; i < 8; ++i) a.mutable_data<float>()[i] = i;
    auto outputs = testing_support::RunModel(*model, {a, a});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ((*outputs)[0].values<float>()[3], 18);
    EXPECT_EQ((*outputs)[1].values<float>()[3], 6);
  }
}

TEST(RegionCases, AModelThatIsOnlyPartlyTakenNeedsAHost) {
  const auto set = CompileFor("ccompiler", {}, R"(module {
    func @main(%a: f32[8]) -> (%y) {
      %s = add(%a, %a)
      %y = exp(%s)
    }
  })");
  EXPECT_FALSE(set.ok());
}

// Two sub-targets of one kind, and two kinds, each with a region of the same
// operators: their functions and artifacts must not be taken for each other's.
TEST(RegionCases, BackendsWithRegionsOfTheSameShape) {
  const char* const text = R"(module {
    func @main(%a: f32[8], %b: f32[8]) -> (%y) {
      %s = add(%a, %b) {target="one"}
      %e = exp(%s)
      %t = add(%e, %b) {target="two"}
      %f = exp(%t)
      %y = add(%f, %b) {target="three"}
    }
  })";
  const char* const targets =
      "one: ccompiler,two: ccompiler,three: examplejson,llvm";
  EXPECT_EQ(CompareWithEvaluate(targets, text, 1, {1e-5, 1e-5}),
            absl::OkStatus());
  auto set = CompileRelay(targets, text);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(CountArtifacts(*set, "ccompiler"), 2);
  EXPECT_EQ(CountArtifacts(*set, "examplejson"), 1);
}

// One matrix for two backends and the host is stored once.
TEST(RegionCases, BackendsShareConstants) {
  const std::string text =
      "module { func @main(%a: f32[2, 40]) -> (%y, %z, %v) {"
      "%w = const f32[40, 40] random(5) "
      "%x = matmul(%a, %w) {target=\"one\"} %e = exp(%x) "
      "%y = matmul(%e, %w) {target=\"two\"} %z = matmul(%a, %w) "
      "{target=\"llvm\"} %v = mul(%w, %w) {target=\"cc\"} } }";
  const char* const targets = "one: cblas,two: cblas,cc: ccompiler,llvm";
  EXPECT_EQ(CompareWithEvaluate(targets, text, 1, {1e-4, 1e-4}),
            absl::OkStatus());
  auto set = CompileRelay(targets, text);
  ASSERT_TRUE(set.ok()) << set.status();
  size_t weights = 0;
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.loader == kConstantsLoader) weights += artifact.content.size();
  }
  // w, and perhaps w * w computed beforehand, but no copies.
  EXPECT_LT(weights, 2 * 40 * 40 * sizeof(float) + 2000);
  EXPECT_GT(weights, 40 * 40 * sizeof(float));
}

TEST(RegionCases, AMissingLoaderIsNamedWhenCompiling) {
  const auto set =
      CompileFor("examplejson", {"constants", "metadata", "native"}, kAdds);
  EXPECT_EQ(set.status().code(), absl::StatusCode::kNotFound);
  const std::string message(set.status().message());
  EXPECT_THAT(message, HasSubstr("'examplejson'"));
  EXPECT_THAT(message, HasSubstr("known: constants, metadata, native"));
}

}  // namespace
}  // namespace ingot

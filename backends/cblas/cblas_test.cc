#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "artifact/target_keys.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompareWithEvaluate;
using testing_support::CompileRelay;
using testing_support::GenerateRegion;
using testing_support::TextOf;
using testing_support::WhyNot;

// All on cblas; sums of up to 40 products of quarters are exact, in any order.
absl::Status Compare(const std::string& inputs, const std::string& nodes) {
  return CompareWithEvaluate(
      "cblas", absl::StrCat("module { func @main(", inputs, ") -> (%y) {",
                            nodes, "} }"));
}

TEST(Cblas, WritesTheCall) {
  auto set = GenerateRegion("cblas", R"(module {
    func @main(%a: f32[2, 1, 3, 4], %b: f32[5, 4, 6]) -> (%y) {
      %y = matmul(%a, %b)
    }
  })");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(TextOf(*set, "cblas"), HasSubstr(R"(
static int region_(void* self, const float* in0, const float* in1, float* out0) {
  (void)self;
  int status = 0;
  for (int64_t i0 = 0; i0 < 2; ++i0) {
    for (int64_t i1 = 0; i1 < 5; ++i1) {
      cblas_sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, 3, 6, 4, 1.0f,
                  in0 + i0 * 12, 4, in1 + i1 * 24, 6, 0.0f,
                  out0 + i0 * 90 + i1 * 18, 6);
    }
  }
  return status;
}
)"));
}

TEST(Cblas, OneMatrixForTheWholeBatchIsOneCall) {
  auto set = GenerateRegion("cblas", R"(module {
    func @main(%a: f32[7, 3, 4], %w: f32[6, 4]) -> (%y) { %y = dense(%a, %w) }
  })");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(TextOf(*set, "cblas"), HasSubstr(R"(
  cblas_sgemm(ROW_MAJOR, AS_IT_IS, TRANSPOSED, 21, 6, 4, 1.0f,
              in0, 4, in1, 4, 0.0f,
              out0, 6);
)"));
}

TEST(Cblas, RunsSingleProducts) {
  const std::vector<std::vector<std::string>> cases = {
      {"%a: f32[3, 4], %b: f32[4, 5]", "matmul"},
      {"%a: f32[1, 1], %b: f32[1, 1]", "matmul"},
      {"%a: f32[2, 3, 4], %b: f32[4, 5]", "matmul"},
      {"%a: f32[3, 4], %b: f32[2, 4, 5]", "matmul"},
      {"%a: f32[2, 3, 4], %b: f32[2, 4, 5]", "matmul"},
      {"%a: f32[2, 1, 3, 4], %b: f32[6, 4, 5]", "matmul"},
      {"%a: f32[2, 1, 3, 4], %b: f32[1, 6, 4, 5]", "matmul"},
      {"%a: f32[3, 0], %b: f32[0, 5]", "matmul"},
      {"%a: f32[0, 4], %b: f32[4, 5]", "matmul"},
      {"%a: f32[3, 4], %b: f32[4, 0]", "matmul"},
      {"%a: f32[0, 3, 4], %b: f32[0, 4, 5]", "matmul"},
      {"%a: f32[3, 4], %b: f32[5, 4]", "dense"},
      {"%a: f32[2, 7, 3, 4], %b: f32[5, 4]", "dense"},
      {"%a: f32[33, 40], %b: f32[17, 40]", "dense"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Compare(c[0], absl::StrCat("%y = ", c[1], "(%a, %b)")),
              absl::OkStatus())
        << c[1] << " " << c[0];
  }
}

TEST(Cblas, RunsBiases) {
  for (const char* bias :
       {"f32[5]", "f32[1, 5]", "f32[1, 1, 5]", "f32[2, 3, 5]"}) {
    for (const char* order : {"%p, %c", "%c, %p"}) {
      EXPECT_EQ(
          Compare(
              absl::StrCat("%a: f32[2, 3, 4], %b: f32[2, 4, 5], %c: ", bias),
              absl::StrCat("%p = matmul(%a, %b) %y = add(", order, ")")),
          absl::OkStatus())
          << bias << " " << order;
      EXPECT_EQ(
          Compare(absl::StrCat("%a: f32[2, 3, 4], %b: f32[5, 4], %c: ", bias),
                  absl::StrCat("%p = dense(%a, %b) %y = add(", order, ")")),
          absl::OkStatus())
          << bias << " " << order;
    }
  }
}

// Constants come as inputs of the region.
TEST(Cblas, RunsWithConstants) {
  EXPECT_EQ(
      Compare("%a: f32[2, 3]",
              "%w = const f32[4, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} "
              "%b = const f32[4] {1, -1, 0.5, 8} "
              "%p = dense(%a, %w) %y = add(%p, %b)"),
      absl::OkStatus());
}

TEST(Cblas, RunsTransposes) {
  EXPECT_EQ(Compare("%a: f32[2, 4, 3], %b: f32[2, 5, 4], %c: f32[5]",
                    "%ta = transpose(%a) {axes=[0, 2, 1]} "
                    "%tb = transpose(%b) {axes=[0, 2, 1]} "
                    "%p = matmul(%ta, %tb) %y = add(%p, %c)"),
            absl::OkStatus());
  EXPECT_EQ(
      Compare("%a: f32[2, 4, 3], %b: f32[4, 5]",
              "%ta = transpose(%a) {axes=[0, 2, 1]} %y = matmul(%ta, %b)"),
      absl::OkStatus());
  EXPECT_EQ(Compare("%a: f32[3, 4], %b: f32[5, 4]",
                    "%tb = transpose(%b) {axes=[1, 0]} %y = matmul(%a, %tb)"),
            absl::OkStatus());
}

// Operators that the composite cannot hold are left to the host; the product is
// not.
TEST(Cblas, LeavesWhatDoesNotFit) {
  EXPECT_EQ(CompareWithEvaluate("cblas,llvm", R"(module {
    func @main(%a: f32[4, 2, 3], %b: f32[3, 5], %c: f32[2, 1]) -> (%y) {
      %ta = transpose(%a) {axes=[1, 0, 2]}
      %p = matmul(%ta, %b)
      %y = mul(%p, %p)
    }
  })"),
            absl::OkStatus());
  EXPECT_EQ(CompareWithEvaluate("cblas,llvm", R"(module {
    func @main(%a: f32[2, 3], %b: f32[3, 5], %c: f32[2, 1]) -> (%y) {
      %p = matmul(%a, %b)
      %y = add(%p, %c)
    }
  })"),
            absl::OkStatus());
}

TEST(Cblas, SaysWhyNot) {
  EXPECT_EQ(WhyNot("cblas",
                   "module { func @main(%a: f32[2]) -> (%y) {"
                   "%y = exp(%a) } }"),
            "only matmul and dense");
  EXPECT_EQ(WhyNot("cblas",
                   "module { func @main(%a: f64[2, 2]) -> (%y) {"
                   "%y = matmul(%a, %a) } }"),
            "only f32, not f64[2, 2] to f64");
  EXPECT_THAT(WhyNot("cblas",
                     "module { func @main(%a: f32[n, 2], %b: f32[2, 2])"
                     " -> (%y) { %y = matmul(%a, %b) } }"),
              HasSubstr("has a dimension that is not known"));
}

TEST(Cblas, TheSetNamesTheLibraryAndItsPackage) {
  auto set = CompileRelay("cblas",
                          "module { func @main(%a: f32[2, 2])"
                          " -> (%y) { %y = matmul(%a, %a) } }");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(FindTargetKey(set->provenance(), "host").link_libraries(),
              ::testing::Contains("openblas:libopenblas0"));
}

}  // namespace
}  // namespace ingot

#include "absl/strings/str_cat.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing_support::CompareWithEvaluate;
using testing_support::GenerateRegion;
using testing_support::TextOf;
using testing_support::WhyNot;

TEST(Ccompiler, WritesWhatAPersonWould) {
  auto set = GenerateRegion("ccompiler", R"(module {
    func @main(%a: f32[10, 10], %b: f32[10, 10], %c: f32[10, 10], %d: f32[10, 10]) -> (%out) {
      %sum = add(%a, %b)
      %difference = sub(%sum, %c)
      %half = const f32[] {0.5}
      %scaled = mul(%half, %difference)
      %out = mul(%scaled, %d)
    }
  })");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->artifacts()[0].file_name, "region.c");
  EXPECT_THAT(TextOf(*set, "ccompiler"), EndsWith(R"(
#define CCOMPILER_BINARY(name, op, count, at_a, at_b)                \
  static void name(const float* a, const float* b, float* out) {     \
    for (int64_t i = 0; i < count; ++i) out[i] = a[at_a] op b[at_b]; \
  }

CCOMPILER_BINARY(region_0, +, 100, i, i)
CCOMPILER_BINARY(region_1, -, 100, i, i)
static const float const0[] = {0x1p-1f};
CCOMPILER_BINARY(region_2, *, 100, 0, i)
CCOMPILER_BINARY(region_3, *, 100, i, i)

static int region_(void* self, const float* in0, const float* in1, const float* in2, const float* in3, float* out0) {
  (void)self;
  int status = 0;
  char* memory = malloc(1344);
  if (memory == NULL) return fail("MemoryError", "region needs 1344 bytes");
  float* buf0 = (float*)(memory + 0);
  float* buf1 = (float*)(memory + 448);
  float* buf2 = (float*)(memory + 896);
  region_0(in0, in1, buf0);
  region_1(buf0, in2, buf1);
  region_2(const0, buf1, buf2);
  region_3(buf2, in3, out0);
  free(memory);
  return status;
}

INGOT_EXPORT int __tvm_ffi_region(void* self, const Any* args, int32_t num_args,
    Any* result) {
  (void)result;
  if (num_args != 5) {
    return fail("TypeError", "region takes 5 arguments");
  }
  float* in0 = elements(&args[0], 2, 32, 2, (const int64_t[]){10, 10});
  if (in0 == NULL) {
    return fail("TypeError", "region: argument 0 must be f32[10, 10]");
  }
  float* in1 = elements(&args[1], 2, 32, 2, (const int64_t[]){10, 10});
  if (in1 == NULL) {
    return fail("TypeError", "region: argument 1 must be f32[10, 10]");
  }
  float* in2 = elements(&args[2], 2, 32, 2, (const int64_t[]){10, 10});
  if (in2 == NULL) {
    return fail("TypeError", "region: argument 2 must be f32[10, 10]");
  }
  float* in3 = elements(&args[3], 2, 32, 2, (const int64_t[]){10, 10});
  if (in3 == NULL) {
    return fail("TypeError", "region: argument 3 must be f32[10, 10]");
  }
  float* out0 = elements(&args[4], 2, 32, 2, (const int64_t[]){10, 10});
  if (out0 == NULL) {
    return fail("TypeError", "region: argument 4 must be f32[10, 10]");
  }
  return region_(self, in0, in1, in2, in3, out0);
}
)"));
}

TEST(Ccompiler, Runs) {
  EXPECT_EQ(CompareWithEvaluate("ccompiler,llvm", R"(module {
    func @main(%a: f32[10, 10], %b: f32[10, 10], %c: f32[1, 1]) -> (%y, %q) {
      %s = add(%a, %b)
      %d = sub(%s, %c)
      %q = mul(%d, %s)
      %e = exp(%q)
      %y = div(%e, %d)
    }
  })",
                                3, {1e-6}),
            absl::OkStatus());
}

// Branches, an output that others read, one value that is two outputs, and an
// input that is one.
TEST(Ccompiler, RunsSeveralOutputs) {
  EXPECT_EQ(CompareWithEvaluate("ccompiler", R"(module {
    func @main(%a: f32[3, 5], %b: f32[3, 5]) -> (%s, %t, %s, %a) {
      %s = add(%a, %b)
      %u = mul(%s, %s)
      %t = sub(%u, %a)
    }
  })"),
            absl::OkStatus());
}

TEST(Ccompiler, RunsTensorsOfEveryRankAndWithoutElements) {
  for (const char* shape : {"", "1", "7", "0", "2, 0, 3", "1, 2, 3, 4, 5, 6"}) {
    const std::string type = absl::StrCat("f32[", shape, "]");
    EXPECT_EQ(
        CompareWithEvaluate(
            "ccompiler", absl::StrCat("module { func @main(%a: ", type,
                                      ", %b: ", type, ") -> (%y) {",
                                      "%s = add(%a, %b) %y = mul(%s, %b) } }")),
        absl::OkStatus())
        << type;
  }
}

TEST(Ccompiler, SaysWhyNot) {
  EXPECT_EQ(WhyNot("ccompiler",
                   "module { func @main(%a: f32[2]) -> (%y) {"
                   "%y = exp(%a) } }"),
            "only add, div, mul and sub");
  EXPECT_EQ(WhyNot("ccompiler",
                   "module { func @main(%a: i32[2]) -> (%y) {"
                   "%y = add(%a, %a) } }"),
            "only f32, not i32");
  EXPECT_THAT(WhyNot("ccompiler",
                     "module { func @main(%a: f32[n]) -> (%y) {"
                     "%y = add(%a, %a) } }"),
              HasSubstr("has a dimension that is not known"));
  EXPECT_EQ(WhyNot("ccompiler",
                   "module { func @main(%a: f32[2, 3], %b: f32[3])"
                   " -> (%y) { %y = add(%a, %b) } }"),
            "an operand f32[3] would have to be repeated");
}

TEST(Ccompiler, ChecksItsArguments) {
  auto set = testing_support::CompileRelay("cc: ccompiler,llvm", R"(module {
    func @main(%a: f32[2]) -> (%y) {
      %y = @r(%a) : f32[2]
    }
    func @r(%a: f32[2]) -> (%y) attrs {target="cc"} {
      %y = add(%a, %a)
    }
  })");
  ASSERT_TRUE(set.ok()) << set.status();
  auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  auto function = model->host->Find("test_r");
  ASSERT_TRUE(function.ok()) << function.status();
  Tensor two = *Tensor::Empty(DataType::Float(32), {2});
  Tensor three = *Tensor::Empty(DataType::Float(32), {3});
  Tensor ints = *Tensor::Empty(DataType::Int(32), {2});
  EXPECT_EQ(function->Call({two.dl(), two.dl()}), absl::OkStatus());
  EXPECT_THAT(std::string(function->Call({two.dl(), three.dl()}).message()),
              HasSubstr("test_r: argument 1 must be f32[2]"));
  EXPECT_THAT(std::string(function->Call({ints.dl(), two.dl()}).message()),
              HasSubstr("test_r: argument 0 must be f32[2]"));
  EXPECT_THAT(std::string(function->Call({two.dl()}).message()),
              HasSubstr("takes 2 arguments"));
}

}  // namespace
}  // namespace ingot

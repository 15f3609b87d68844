#include "tools/report/kernel_texts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr size_t kAll = 1 << 20;

TEST(KernelTexts, OfADisassemblyWithHelpersButWithoutWrappers) {
  EXPECT_THAT(FindKernelTexts(R"(Code of .text:

net_add:
       0:  nop
net_add.parallel.0:
       1:  ret

__tvm_ffi_net_add:
       2:  call net_add
net_add_1:
       3:  nop
)",
                              {"net_add", "net_add_1"}, kAll),
              ElementsAre(Pair("net_add",
                               "net_add:\n       0:  nop\n"
                               "net_add.parallel.0:\n       1:  ret\n"),
                          Pair("net_add_1", "net_add_1:\n       3:  nop\n")));
}

TEST(KernelTexts, OfCWithTheCommentAbove) {
  EXPECT_THAT(FindKernelTexts(R"(#include <math.h>
int net_add(const float* a);

/* sources: Add_1 */
struct net_add_parallel_0 {
  float* a;
};

static int net_add_parallel_0(void* context,
                              int64_t end) {
  return 0;
}

static int net_add(const float* a) {
  return parallel(net_add_parallel_0);
}

/* sources: Mul */
static int net_mul(void) { return 0; }

int __tvm_ffi_net_add(void) {
  return net_add(0);
}
)",
                              {"net_add"}, kAll),
              ElementsAre(Pair("net_add", R"(/* sources: Add_1 */
struct net_add_parallel_0 {
  float* a;
};

static int net_add_parallel_0(void* context,
                              int64_t end) {
  return 0;
}

static int net_add(const float* a) {
  return parallel(net_add_parallel_0);
}
)")));
}

TEST(KernelTexts, OfOpenClByTheCommentThatNamesTheFunction) {
  EXPECT_THAT(FindKernelTexts(R"(/* add: Add_1 */
__kernel void add_0(
    __global float* p) {
}

/* add_0: Add_2 */
__kernel void add_0_0(void) {}
)",
                              {"add", "add_0"}, kAll),
              ElementsAre(Pair("add", HasSubstr("__kernel void add_0(\n")),
                          Pair("add_0", HasSubstr("void add_0_0"))));
}

TEST(KernelTexts, AreCutWhereTheyAreLong) {
  std::string text = "f:\n";
  for (int i = 0; i < 1000; ++i) text += "  nop\n";
  const std::string found = FindKernelTexts(text, {"f"}, 100)["f"];
  EXPECT_LT(found.size(), 200u);
  EXPECT_THAT(found, HasSubstr("the rest is in the artifact"));
}

}  // namespace
}  // namespace ingot::report

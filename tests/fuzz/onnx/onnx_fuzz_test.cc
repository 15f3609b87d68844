// A fixed share of the random ONNX models; onnx_fuzz runs as many as one has
// time for.
#include <cstdlib>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/fuzz/onnx/check_seed.h"
#include "tests/fuzz/onnx/save_case.h"

namespace ingot::fuzz {
namespace {

constexpr uint64_t kFirst = 19, kModels = 42;

TEST(OnnxFuzz, ModelsAreWhatOnnxRuntimeSays) {
  const char* dir = std::getenv("TEST_TMPDIR");
  ASSERT_NE(dir, nullptr);
  ChildPool pool(absl::Minutes(2));
  int ways = 0, refused = 0;
  for (uint64_t seed = kFirst; seed < kFirst + kModels; ++seed) {
    StartSeed(seed, /*kinds=*/{}, dir, &pool);
    for (const WayResult& result : ResultsOf(pool.Next(), WaysOf(seed))) {
      ++ways;
      refused += result.refused;
      EXPECT_FALSE(result.failed())
          << "seed " << seed << ", " << result.way.ToString() << ": "
          << result.message << "\n"
          << Describe(MakeOnnxModel(seed));
    }
  }
  EXPECT_EQ(ways, static_cast<int>(3 * kModels));
  EXPECT_LT(refused, ways / 5);
}

// The checker itself: a wrong reference, a crash and an endless loop are seen.
TEST(OnnxFuzz, SeesWhatIsWrong) {
  const OnnxModel model = MakeOnnxModel(1);
  absl::StatusOr<Scope> expected = ExpectedOf(model);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (auto& [name, estimated] : *expected) {
    estimated.value = *Tensor::Empty(DataType::Float(32), {7, 7, 7});
    estimated.disturbed.clear();
  }
  EXPECT_FALSE(
      CheckModel(model, *expected, Way(), std::getenv("TEST_TMPDIR")).ok());

  ChildPool pool(absl::Seconds(1));
  pool.Start(1, [](const ChildPool::Write& write) {
    write(">\n");
    std::abort();
  });
  Ended ended = pool.Next();
  EXPECT_EQ(ended.trouble, "died of signal 6");
  ASSERT_EQ(ResultsOf(ended, {Way()}).size(), 1u);
  EXPECT_TRUE(ResultsOf(ended, {Way()})[0].failed());
  pool.Start(3, [](const ChildPool::Write&) { std::abort(); });
  ended = pool.Next();
  ASSERT_EQ(ResultsOf(ended, {Way()}).size(), 1u);
  EXPECT_TRUE(ResultsOf(ended, {Way()})[0].without_reference);
  pool.Start(2, [](const ChildPool::Write&) {
    for (volatile unsigned i = 0;; i = i + 1) {
    }
  });
  EXPECT_EQ(pool.Next().trouble, "ran longer than 1s");
}

}  // namespace
}  // namespace ingot::fuzz

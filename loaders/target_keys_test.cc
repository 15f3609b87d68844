#include "loaders/target_keys.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UnusedVectorUnits, AreWiderThanThoseOfTheCode) {
  Provenance::TargetKey key;
  EXPECT_THAT(UnusedVectorUnits(key, {"avx2", "avx512f"}),
              ElementsAre("avx2", "avx512f"));
  key.add_cpu_features("avx2");
  EXPECT_THAT(UnusedVectorUnits(key, {"avx2", "avx512f"}),
              ElementsAre("avx512f"));
  EXPECT_THAT(UnusedVectorUnits(key, {"avx2"}), IsEmpty());
}

TEST(UnusedVectorUnits, AreNotTheNarrowerOnes) {
  Provenance::TargetKey key;
  key.add_cpu_features("avx512f");
  EXPECT_THAT(UnusedVectorUnits(key, {"avx2", "avx512f"}), IsEmpty());
}

}  // namespace
}  // namespace ingot

// A few hundred random models; fuzz_main runs as many as one has time for.
#include <set>
#include <string>
#include <vector>

#include "compiler/relay/op.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fuzz/compare_targets.h"
#include "tests/fuzz/left_out.h"
#include "tests/fuzz/random_model.h"

namespace ingot::fuzz {
namespace {

struct Run {
  const char* target;
  int opt_level;
};

class RandomModelTest : public ::testing::TestWithParam<Run> {};

TEST_P(RandomModelTest, IsWhatTheInterpreterSays) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RandomModelOptions options;
    options.symbolic = seed % 3 == 0;
    const absl::Status status = CompareWithInterpreter(
        seed, options, GetParam().target, GetParam().opt_level);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomModelTest,
                         ::testing::Values(Run{"llvmjit", 0}, Run{"llvm", 2},
                                           Run{"c", 1}),
                         [](const auto& info) {
                           return std::string(info.param.target);
                         });

TEST(RandomModelTest, TheSameSeedGivesTheSameModel) {
  EXPECT_EQ(relay::Print(*MakeRandomModel(7, {}).module),
            relay::Print(*MakeRandomModel(7, {}).module));
  EXPECT_NE(relay::Print(*MakeRandomModel(7, {}).module),
            relay::Print(*MakeRandomModel(8, {}).module));
}

TEST(RandomModelTest, ModelsHoldEveryOperatorOfTheSamplers) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 9000; ++seed) {
    const RandomModel model = MakeRandomModel(seed, {12, false});
    for (const auto& node : model.module->main()->nodes()) {
      if (node->op != nullptr) seen.insert(node->op->name);
    }
  }
  for (const std::string& op : CoveredOperators()) {
    EXPECT_TRUE(seen.count(op) > 0) << op << " is in no model";
  }
}

TEST(RandomModelTest, EveryOperatorIsSampledOrSaysWhyNot) {
  const std::set<std::string> covered = CoveredOperators();
  for (const relay::OpDef* def : relay::StandardOps().All()) {
    if (def->TakesSequences())
      continue;  // steps of a run, the same for every target
    EXPECT_NE(covered.count(def->name), LeftOutOperators().count(def->name))
        << def->name;
  }
  for (const auto& [name, why] : LeftOutOperators()) {
    EXPECT_NE(relay::StandardOps().Find(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace ingot::fuzz

#include "bench/compare/summary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::compare {
namespace {

using testing::HasSubstr;
using testing::Not;

PeerResult Took(double milliseconds) {
  PeerResult result;
  result.load = 1e-3;
  result.latency = milliseconds * 1e-3;
  result.medians = {result.latency};
  result.peak_mib = 10;
  return result;
}

// Two models on one other peer, which does not take the second.
std::vector<ModelResult> Results() {
  std::vector<ModelResult> results(2);
  results[0].name = "quick";
  results[0].ingot = Took(0.5);
  results[0].onnxruntime = Took(1);
  results[0].operations = 25e6;
  results[0].others.resize(1);
  results[0].others[0].measured = Took(4);
  results[1].name = "slow";
  results[1].ingot = Took(4);
  results[1].onnxruntime = Took(2);
  results[1].others.resize(1);
  results[1].others[0].problem = "no such\nlayer";
  return results;
}

TEST(SummaryTest, MeansAreGeometric) {
  const std::string table = TableOf(Results(), 100e9);
  EXPECT_THAT(table, HasSubstr("2 models: 1.00 times as fast"));
  EXPECT_THAT(table, HasSubstr("2 models above 1 ms: 1.00 times as fast"));
  EXPECT_THAT(table, HasSubstr("1 slower"));
  EXPECT_THAT(table, HasSubstr("50.0     50 %"));  // of "quick" alone
}

TEST(SummaryTest, OthersHaveTablesOfTheirOwn) {
  const std::string table = TableOfOther("opencv", Results(), 0);
  EXPECT_THAT(table, HasSubstr("OPENCV"));
  EXPECT_THAT(table, HasSubstr("1 models on opencv: Ingot is 8.00 times"));
  EXPECT_THAT(table, HasSubstr("slow: no such"));
}

TEST(SummaryTest, JsonNamesTheOthers) {
  Plan plan;
  plan.others.resize(1);
  plan.others[0].name = "opencv";
  const auto json = JsonOf(plan, Results());
  EXPECT_EQ(json["models"][0]["others"]["opencv"]["latency_ms"], 4);
  EXPECT_EQ(json["models"][1]["others"]["opencv"]["problem"], "no such\nlayer");
}

TEST(SummaryTest, ProblemsAreNoBars) {
  std::vector<ModelResult> results = Results();
  results[1].problem = "is not there";
  EXPECT_THAT(ChartOf(results), Not(HasSubstr("slow")));
  EXPECT_THAT(TableOf(results, 100e9), HasSubstr("slow: is not there"));
}

}  // namespace
}  // namespace ingot::compare

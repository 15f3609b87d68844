#include "tools/report/set_facts.h"

#include <cmath>
#include <string>
#include <vector>

#include "artifact/artifact_set.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/small_plan.h"
#include "tools/report/graphs.h"
#include "tools/report/page.h"
#include "tools/report/weights.h"

namespace ingot::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Artifact Make(const std::string& loader, const std::string& file_name,
              std::string content) {
  Artifact artifact;
  artifact.codegen_id = "c";
  artifact.loader = loader;
  artifact.target_key = "host";
  artifact.file_name = file_name;
  artifact.content = Blob::FromString(std::move(content));
  return artifact;
}

// The small plan, and C for its function.
ArtifactSet SmallSet() {
  ArtifactSet set;
  EXPECT_TRUE(
      set.Add(Make("metadata", "plan.binpb", SmallPlan().SerializeAsString()))
          .ok());
  EXPECT_TRUE(
      set.Add(Make("native", "k.c", "int f(void) {\n  return 0;\n}\n")).ok());
  set.mutable_provenance().set_model_name("</script><script>alert(1)");
  return set;
}

absl::StatusOr<std::string> TextOf(const Artifact& artifact) {
  return std::string(artifact.content.view());
}

TEST(SetFacts, HasCallsWithTheirKernelsAndTimes) {
  Measurement measured;
  measured.times = {{"f", SmallPlan().calls(0).source(), 2, 0.5}};
  const auto facts = DescribeForReport(SmallSet(), TextOf, measured);
  ASSERT_TRUE(facts.ok()) << facts.status();
  const auto& call = (*facts)["graphs"][0]["calls"][0];
  EXPECT_EQ(call["f"], "f");
  EXPECT_THAT(call["i"], ElementsAre(0, 1));
  EXPECT_THAT(call["r"], ElementsAre(2));
  EXPECT_EQ(call["t"], 0.25);
  const auto& kernel = (*facts)["kernels"][call["k"].get<size_t>()];
  EXPECT_EQ(kernel["text"], "int f(void) {\n  return 0;\n}\n");
  EXPECT_EQ((*facts)["artifacts"][kernel["artifact"].get<size_t>()]["path"],
            "host/c/k.c");
}

// Two calls of one function for the same nodes, each of which a run takes once.
TEST(SetFacts, CallsThatWereMeasuredTogetherShareTheirTime) {
  Plan plan = SmallPlan();
  PlanTensor other = plan.tensors(2);
  other.set_name("other");
  other.set_storage(1);
  *plan.add_tensors() = other;
  const PlanStorage storage = plan.storage(0);
  *plan.add_storage() = storage;
  PlanCall call = plan.calls(0);
  call.set_args(2, 3);
  *plan.add_calls() = call;
  AssignPhases(&plan);
  ArtifactSet set;
  ASSERT_TRUE(
      set.Add(Make("metadata", "plan.binpb", plan.SerializeAsString())).ok());
  Measurement measured;
  measured.times = {{"f", call.source(), 2, 0.5}};
  const auto facts = DescribeForReport(set, TextOf, measured);
  ASSERT_TRUE(facts.ok()) << facts.status();
  double seconds = 0;
  for (const auto& each : (*facts)["graphs"][0]["calls"]) {
    seconds += each["t"].get<double>() * each["n"].get<double>();
  }
  EXPECT_EQ(seconds, 0.5);
}

TEST(SetFacts, RefusesAPlanThatMakesNoSense) {
  ArtifactSet set;
  Plan plan = SmallPlan();
  plan.mutable_calls(0)->add_args(77);
  ASSERT_TRUE(
      set.Add(Make("metadata", "plan.binpb", plan.SerializeAsString())).ok());
  EXPECT_THAT(
      std::string(DescribeForReport(set, TextOf, {}).status().message()),
      HasSubstr("host/c/plan.binpb"));
}

TEST(Graphs, SaysWhereEachTensorLies) {
  const auto graphs = DescribeGraphs(SmallPlan());
  ASSERT_EQ(graphs.size(), 1u);
  const auto& tensors = graphs[0]["tensors"];
  EXPECT_EQ(tensors[0]["y"], "f32[N, 4]");
  EXPECT_FALSE(tensors[0].contains("b")) << "a run decides";
  EXPECT_EQ(tensors[1]["b"], 16);
  EXPECT_EQ(tensors[1]["c"], "w");
  EXPECT_EQ(tensors[2]["first"], 0);
  EXPECT_EQ(tensors[2]["last"], 1) << "an output is in use to the end";
}

Tensor Floats(const std::vector<float>& values) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32),
                                 {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

TEST(Weights, CountsValues) {
  const auto weight = DescribeWeight("w", Floats({-1, 0, 0, 3}));
  EXPECT_EQ(weight["min"], -1);
  EXPECT_EQ(weight["max"], 3);
  EXPECT_EQ(weight["mean"], 0.5);
  EXPECT_EQ(weight["zeros"], 2);
  EXPECT_EQ(weight["hist"][0], 1);
  EXPECT_EQ(weight["hist"][8], 2);
  EXPECT_EQ(weight["hist"][31], 1);
}

TEST(Weights, OfOneValueOrNoneOrNoNumbers) {
  EXPECT_EQ(DescribeWeight("w", Floats({7, 7}))["hist"][0], 2);
  EXPECT_FALSE(DescribeWeight("w", Floats({})).contains("min"));
  const auto odd = DescribeWeight("w", Floats({1, NAN, INFINITY}));
  EXPECT_EQ(odd["odd"], 2);
  EXPECT_FALSE(odd.contains("hist"));
}

TEST(Page, TakesNothingInTheFactsForMarkup) {
  const auto facts = DescribeForReport(SmallSet(), TextOf, {});
  ASSERT_TRUE(facts.ok()) << facts.status();
  const std::string page = MakePage(*facts);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
  EXPECT_THAT(page, Not(HasSubstr("/* data */")));
}

}  // namespace
}  // namespace ingot::report

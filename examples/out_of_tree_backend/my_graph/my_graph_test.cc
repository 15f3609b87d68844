#include <string>

#include "artifact/inspector.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "my_graph/codegen.h"
#include "my_graph/inspectors.h"
#include "my_graph/loader.h"

namespace acme {
namespace {

using ingot::testing_support::CompareWithEvaluate;
using ingot::testing_support::GenerateRegion;
using ingot::testing_support::TextOf;
using ::testing::HasSubstr;

constexpr char kModel[] =
    "module { func @main(%x: f32[2, 3]) -> (%y) "
    "{ %a = neg(%x) %y = relu(%a) } }";

class MyGraphTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const absl::Status added = ingot::testing_support::AddBackend(
        RegisterMyGraphTarget, RegisterMyGraphLoader);
    ASSERT_TRUE(added.ok()) << added;
  }
};

TEST_F(MyGraphTest, WritesALineForEachOperator) {
  const auto set = GenerateRegion("my_graph", kModel);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(TextOf(*set, "my_graph"), "region shape: 2 3\nneg\nrelu\n");
}

TEST_F(MyGraphTest, ComputesWhatTheInterpreterDoes) {
  EXPECT_EQ(CompareWithEvaluate("my_graph", kModel), absl::OkStatus());
}

// Whatever is in the file, the loader and the inspector give an error.
TEST_F(MyGraphTest, AFileMayComeFromAnywhere) {
  ingot::InspectorRegistry inspectors;
  ASSERT_TRUE(RegisterMyGraphInspectors(&inspectors).ok());
  ingot::Artifact artifact;
  artifact.codegen_id = "my_graph";
  artifact.loader = "my_graph";
  artifact.file_name = "f.my_graph";
  const auto load = [&](const std::string& text) {
    artifact.content = ingot::Blob::FromString(text);
    ingot::ArtifactSet set;
    EXPECT_TRUE(set.Add(artifact).ok());
    return ingot::Load(set, ingot::testing_support::BuiltinLoaders()).status();
  };
  EXPECT_EQ(load("f shape: 2 3\nrelu\n"), absl::OkStatus());
  ASSERT_EQ(inspectors.Find(artifact).size(), 1u);
  EXPECT_EQ(*inspectors.Find(artifact)[0]->inspect(artifact, {}),
            "f(x) = relu(x), x: f32[2, 3]\n");
  for (const char* text :
       {"", "f shape: -1\n", "f shape: 99999999999 99999999999\n",
        "f shape: 2\nexp\n", "\n\n"}) {
    EXPECT_FALSE(load(text).ok()) << text;
    EXPECT_FALSE(inspectors.Find(artifact)[0]->inspect(artifact, {}).ok())
        << text;
  }
  EXPECT_THAT(std::string(load("f shape: 2\nexp\n").message()),
              HasSubstr("line 2"));
}

}  // namespace
}  // namespace acme

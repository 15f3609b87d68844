#include "artifact/inspector.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "artifact/test_support.h"
#include "artifact/text_inspectors.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::Fails;
using testing::MakeArtifact;

absl::StatusOr<std::string> Nothing(const Artifact&, const ArtifactSet&) {
  return std::string();
}

InspectorRule Rule(const std::string& name) {
  InspectorRule rule;
  rule.name = name;
  rule.inspect = Nothing;
  return rule;
}

TEST(InspectorRegistryTest, RefusesADuplicateName) {
  InspectorRegistry registry;
  EXPECT_OK(registry.Register(Rule("x")));
  EXPECT_TRUE(Fails(registry.Register(Rule("x")),
                    absl::StatusCode::kAlreadyExists, {"\"x\""}));
}

TEST(InspectorRegistryTest, RefusesAnIncompleteRule) {
  InspectorRegistry registry;
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(Fails(registry.Register(Rule("")), code, {}));
  InspectorRule no_function;
  no_function.name = "x";
  EXPECT_TRUE(Fails(registry.Register(no_function), code, {"x"}));
  for (const std::string& suffix :
       {"txt", ".", "./x", ".a/b", "/..", ".x.", ". ",
        ".01234567890123456789012345678901234567890"}) {
    InspectorRule rule = Rule("x");
    rule.output_suffix = suffix;
    EXPECT_TRUE(Fails(registry.Register(rule), code, {"suffix"})) << suffix;
  }
}

TEST(InspectorRegistryTest, FindsByEveryConditionThatIsSet) {
  InspectorRegistry registry;
  InspectorRule object = Rule("object");
  object.file_suffixes = {".obj", ".o"};
  InspectorRule plan = Rule("plan");
  plan.loader = "metadata";
  plan.codegen_id = "plan";
  EXPECT_OK(registry.Register(object));
  EXPECT_OK(registry.Register(plan));
  EXPECT_OK(registry.Register(Rule("any")));

  const auto found = [&](absl::string_view codegen, absl::string_view loader,
                         absl::string_view file) {
    std::string names;
    const Artifact artifact = MakeArtifact(codegen, loader, "host", file, "");
    for (const InspectorRule* rule : registry.Find(artifact)) {
      names += rule->name + " ";
    }
    return names;
  };
  EXPECT_EQ(found("llvm", "native", "a.o"), "object any ");
  EXPECT_EQ(found("llvm", "native", "a.obj"), "object any ");
  EXPECT_EQ(found("llvm", "native", "a.obj.x"), "any ");
  EXPECT_EQ(found("plan", "metadata", "p"), "plan any ");
  EXPECT_EQ(found("plan", "native", "p"), "any ");
  EXPECT_EQ(found("llvm", "metadata", "p"), "any ");
}

class TextInspectorsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(RegisterTextInspectors(&registry_)); }

  absl::StatusOr<std::string> Inspect(absl::string_view file,
                                      std::string content) {
    const Artifact artifact =
        MakeArtifact("x", "x", "host", file, std::move(content));
    const auto rules = registry_.Find(artifact);
    if (rules.size() != 1) return absl::NotFoundError("not one inspector");
    return rules[0]->inspect(artifact, {});
  }

  InspectorRegistry registry_;
};

TEST_F(TextInspectorsTest, CannotBeRegisteredTwice) {
  EXPECT_TRUE(Fails(RegisterTextInspectors(&registry_),
                    absl::StatusCode::kAlreadyExists, {"text"}));
}

TEST_F(TextInspectorsTest, TextIsShownAsItIs) {
  EXPECT_EQ(*Inspect("a.c", "int x;\n"), "int x;\n");
  EXPECT_EQ(Inspect("a.o", "").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(TextInspectorsTest, JsonIsIndentedInItsOwnOrder) {
  const auto text =
      Inspect("a.json", R"({"b":[1,-2.50,1e3,"\u00e4\n"],"a":{"x":{},"y":[]},)"
                        R"("t":true,"n":null,"big":1844674})");
  ASSERT_OK(text);
  EXPECT_EQ(*text,
            "{\"b\": [1, -2.50, 1e3, \"\xc3\xa4\\n\"], "
            "\"a\": {\"x\": {}, \"y\": []}, \"t\": true, \"n\": null,"
            " \"big\": 1844674}\n");
  EXPECT_EQ(*Inspect("a.json", "7"), "7\n");
}

// A value that does not fit on a line has one for each container; numbers fill
// theirs.
TEST_F(TextInspectorsTest, LongJsonIsNoLongerThanItMustBe) {
  std::string numbers = "18446744073709551615";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&numbers, ",", 1000 + i);
  const auto text = Inspect(
      "a.json",
      absl::StrCat(R"({"version":1,"name":"a","tensors":{"x":{"shape":[1,2]},)"
                   R"("w":{"shape":[3,3],"constant":"conv.weight"}},"n":[)",
                   numbers, "],\"last\":{}}"));
  ASSERT_OK(text);
  EXPECT_EQ(*text, R"({
  "version": 1, "name": "a",
  "tensors": {"x": {"shape": [1, 2]}, "w": {"shape": [3, 3], "constant": "conv.weight"}},
  "n": [
    18446744073709551615, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011,
    1012, 1013, 1014, 1015, 1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027,
    1028, 1029, 1030, 1031, 1032, 1033, 1034, 1035, 1036, 1037, 1038, 1039
  ],
  "last": {}
}
)");
}

// A rule for JSON has nothing to say where another one knows what it means.
TEST_F(TextInspectorsTest, JsonIsForWhatNobodyElseKnows) {
  InspectorRule graph;
  graph.name = "graph";
  graph.file_suffixes = {".graph.json"};
  graph.inspect = Nothing;
  ASSERT_OK(registry_.Register(graph));
  const Artifact artifact =
      MakeArtifact("x", "x", "host", "a.graph.json", "{}");
  ASSERT_EQ(registry_.Find(artifact).size(), 1u);
  EXPECT_EQ(registry_.Find(artifact)[0]->name, "graph");
}

TEST_F(TextInspectorsTest, BadJsonIsAnError) {
  const auto code = absl::StatusCode::kInvalidArgument;
  for (const std::string& bad :
       {"", "{", "[1,]", "{\"a\"}", "{} x", "\"\xff\"", "nul"}) {
    EXPECT_TRUE(Fails(Inspect("a.json", bad).status(), code, {"not JSON"}))
        << bad;
  }
  EXPECT_TRUE(Fails(Inspect("a.json", std::string(1000000, '[')).status(), code,
                    {"nested deeper"}));
}

}  // namespace
}  // namespace ingot

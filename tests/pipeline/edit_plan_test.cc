// A plan that a person edits as text in a dumped set, and packs again.
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kModel[] = R"(module {
  func @main(%x: f32[2, 3], %v: f32[n]) -> (%e: "e", %s: "s") {
    %r = reduce_sum(%x) {axes=[0, 1], keepdims=0}
    %e = exp(%r)
    %s = sigmoid(%v)
  }
}
)";

class EditPlanTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    WriteFileBytes(Path("two.relay"), kModel);
    Do({"compile", "@two.relay", "-o", "@two.ingot", "--opt-level=0",
        "--quiet"});
    Do({"dump", "@two.ingot", "-o", "@dump"});
    text_ = ReadFile(Path(kText));
  }

  // The line of the text that has `part`, with its end.
  std::string Line(const std::string& part) const {
    for (const absl::string_view line : absl::StrSplit(text_, '\n')) {
      if (absl::StrContains(line, part)) return absl::StrCat(line, "\n");
    }
    ADD_FAILURE() << part << " is not in\n" << text_;
    return "";
  }

  void Edit(const std::string& from, const std::string& to) {
    ASSERT_THAT(text_, HasSubstr(from));
    text_ = absl::StrReplaceAll(text_, {{from, to}});
    WriteFileBytes(Path(kText), text_);
  }

  nlohmann::json Outputs(const std::string& set) const {
    return DoJson({"run", set, "--seed=3", "--quiet"})["outputs"];
  }

  static constexpr char kText[] = "dump/host/ingot/plan.binpb.txt";
  std::string text_;
};

TEST_F(EditPlanTest, CallsMoveAndOutputsGetOtherNames) {
  const std::string exp = Line("= @two_exp"), sigmoid = Line("= @two_sigmoid");
  ASSERT_THAT(text_, HasSubstr(exp + sigmoid));
  Edit(exp + sigmoid, sigmoid + exp);
  Edit("%s", "%\"the sigmoid\"");

  // An edit of the text is one of the set.
  ExpectError({"pack", "@dump", "-o", "@edited.ingot"}, 1,
              {"plan.binpb.txt was changed", "--accept-edits"});
  ExpectError({"run", "@dump"}, 1, {"plan.binpb.txt was changed"});
  Do({"pack", "@dump", "-o", "@edited.ingot", "--accept-edits"});
  EXPECT_THAT(Do({"list", "@edited.ingot"}), HasSubstr("edited"));

  const nlohmann::json before = Outputs("@two.ingot");
  for (const std::string set : {"@edited.ingot", "@edited.so"}) {
    if (set == "@edited.so") {
      Do({"link", "@edited.ingot", "-o", set, "--quiet"});
    }
    const nlohmann::json after = Outputs(set);
    EXPECT_EQ(after[0], before[0]);
    EXPECT_EQ(after[1]["name"], "the sigmoid");
    EXPECT_EQ(after[1]["mean"], before[1]["mean"]);
  }
  EXPECT_EQ(DoJson({"run", "@dump", "--accept-edits", "--seed=3",
                    "--quiet"})["outputs"],
            Outputs("@edited.ingot"));

  // The set shows what was edited, with its numbers right again.
  const std::string shown =
      Do({"inspect", "@edited.ingot", "--artifact=plan.binpb"});
  EXPECT_LT(shown.find("@two_sigmoid"), shown.find("@two_exp"));
  EXPECT_THAT(shown, HasSubstr("# 1: f32[n]"));
  Do({"dump", "@edited.ingot", "-o", "@again"});
  Do({"pack", "@again", "-o", "@again.ingot"});
  EXPECT_EQ(ReadFile(Path("again.ingot")), ReadFile(Path("edited.ingot")));
}

TEST_F(EditPlanTest, WhatIsWrongIsOneLineWithItsPlace) {
  const std::string good = text_;
  const auto expect = [&](const std::string& from, const std::string& to,
                          const std::vector<std::string>& parts) {
    text_ = good;
    Edit(from, to);
    std::vector<std::string> all = parts;
    all.push_back("plan.binpb.txt:");
    ExpectError({"pack", "@dump", "-o", "@bad.ingot", "--accept-edits"}, 1,
                all);
    EXPECT_FALSE(std::filesystem::exists(Path("bad.ingot")));
  };
  expect("@two_exp(%r)", "@two_exp(%q)", {"no tensor is named 'q'"});
  expect("@two_exp(%r)", "@two_exp(%r", {"expected ','"});
  expect("version 7", "version 8", {":1:1: ", "the plan has version 8"});
  // It reads what nothing wrote.
  const std::string sum = Line("= @two_reduce_sum");
  expect(sum, "", {"call 0", "before any call wrote it"});
  expect("storage {", "storage {{", {"expected a number, found '{'"});
}

TEST_F(EditPlanTest, WhoEditsBothFormsIsAsked) {
  Edit("%s", "%t");
  WriteFileBytes(Path("dump/host/ingot/plan.binpb"),
                 ReadFile(Path("dump/host/ingot/plan.binpb")) + "x");
  ExpectError({"pack", "@dump", "-o", "@bad.ingot", "--accept-edits"}, 1,
              {"plan.binpb was edited", "so was its text form"});
}

}  // namespace
}  // namespace ingot

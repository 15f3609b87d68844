// --replace: a person's own code in the place of what was compiled.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr char kModel[] = R"(module {
  func @main(%x: f32[2]) -> (%y: "y") {
    %one = const f32[] {1}
    %y = add(%x, %one)
  }
}
)";

// Its kernel, which adds 3 and not 1.
constexpr char kKernelInC[] = R"(
int increment_add(const float* restrict x, float* restrict y) {
  for (int i = 0; i < 2; ++i) y[i] = x[i] + 3;
  return 0;
}
)";

constexpr char kKernelInLlvm[] = R"(
define i32 @increment_add(ptr %x, ptr %y) {
  %a = load <2 x float>, ptr %x, align 4
  %b = fadd <2 x float> %a, <float 3.0, float 3.0>
  store <2 x float> %b, ptr %y, align 4
  ret i32 0
}
)";

class ReplaceTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    WriteFileBytes(Path("increment.relay"), kModel);
    WriteFileBytes(Path("mine.c"), kKernelInC);
    WriteFileBytes(Path("mine.ll"), kKernelInLlvm);
    for (const std::string target : {"llvm", "c"}) {
      Do({"compile", "@increment.relay", "-o", "@" + target + ".ingot",
          "--target=" + target, "--quiet"});
    }
  }

  // What a run of these words adds to its input.
  double Added(std::vector<std::string> words) const {
    words.insert(words.begin(), "run");
    words.push_back("--quiet");
    const double plain =
        DoJson({"run", "@llvm.ingot", "--quiet"})["outputs"][0]["mean"];
    const double mine = DoJson(words)["outputs"][0]["mean"];
    return mine - plain + 1;
  }
};

TEST_F(ReplaceTest, AKernelIsReplacedInAnyLanguage) {
  const CommandResult cc = RunCommand({"/usr/bin/cc", "-std=c99", "-fPIC", "-c",
                                       Path("mine.c"), "-o", Path("mine.o")});
  ASSERT_EQ(cc.exit, 0) << cc.err;
  for (const std::string set : {"@llvm.ingot", "@c.ingot"}) {
    for (const std::string file : {"mine.c", "mine.ll", "mine.o"}) {
      SCOPED_TRACE(set + " " + file);
      const std::string replace = "--replace=increment_add=" + Path(file);
      EXPECT_NEAR(Added({set, replace}), 3, 1e-6);
    }
    EXPECT_NEAR(Added({set}), 1, 1e-6);
  }
}

// Each of these has the kernel, and the model's one function calls it, too.
TEST_F(ReplaceTest, EveryCommandThatMakesASetOrALibraryTakesIt) {
  const std::string replace = "--replace=increment_add=" + Path("mine.c");
  Do({"compile", "@increment.relay", "-o", "@b.ingot", replace, "--quiet"});
  EXPECT_NEAR(Added({"@b.ingot"}), 3, 1e-6);
  Do({"link", "@c.ingot", "-o", "@c.so", replace, "--quiet"});
  EXPECT_NEAR(Added({"@c.so"}), 3, 1e-6);
  Do({"dump", "@llvm.ingot", "-o", "@dir"});
  Do({"pack", "@dir", "-o", "@packed.ingot", replace});
  EXPECT_NEAR(Added({"@packed.ingot"}), 3, 1e-6);
  EXPECT_NEAR(Added({"@increment.relay", replace}), 3, 1e-6);
  ExpectError({"verify", "@llvm.ingot",
               "--reference=" + Path("increment.relay"), replace, "--quiet"},
              1, {"1 of 1 outputs are not as they should be"});
  ExpectError({"run", "@c.so", replace, "--quiet"}, 1,
              {"is linked; --replace is for sets and models"});
}

TEST_F(ReplaceTest, BisectFindsAWrongOne) {
  WriteFileBytes(Path("tune.log"), "# nothing was measured\n");
  const CommandResult result =
      Ingot({"bisect", "@increment.relay", "--quiet", "--json",
             "--replace=increment_add=" + Path("mine.c"),
             "--tuning-log=" + Path("tune.log")});
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("host/replaced/increment_add.c"),
                                HasSubstr("the code is not what they say"),
                                HasSubstr("--replace='increment_add="),
                                HasSubstr("--tuning-log='" + Path("tune.log")),
                                HasSubstr("\"culprit\":\"code\"")));
}

TEST_F(ReplaceTest, AnArtifactIsReplacedByItsPathOrFile) {
  std::string text =
      Do({"inspect", "@c.ingot", "--artifact=host/c/increment_kernels.c"});
  ASSERT_THAT(text, HasSubstr("x[i0] + 1.0f"));
  text.replace(text.find("x[i0] + 1.0f"), 12, "x[i0] + 5.0f");
  WriteFileBytes(Path("five.c"), text);
  for (const std::string name :
       {"host/c/increment_kernels.c", "increment_kernels.c"}) {
    EXPECT_NEAR(Added({"@c.ingot", "--replace=" + name + "=" + Path("five.c")}),
                5, 1e-6);
  }
}

// A whole object by LLVM IR: here one that has nothing of what is called.
TEST_F(ReplaceTest, AnObjectIsReplacedByLlvmIr) {
  const std::string replace =
      "--replace=increment_kernels.o=" + Path("mine.ll");
  Do({"compile", "@increment.relay", "-o", "@b.ingot", replace, "--quiet"});
  EXPECT_THAT(Do({"inspect", "@b.ingot", "--artifact=increment_kernels.o"}),
              HasSubstr("increment_add"));
  ExpectError({"run", "@b.ingot", "--quiet"}, 1, {"increment_add"});
}

TEST_F(ReplaceTest, ListMarksWhatWasEdited) {
  EXPECT_THAT(Do({"list", "@c.ingot"}), Not(HasSubstr("EDITED")));
  Do({"compile", "@increment.relay", "-o", "@b.ingot", "--target=c",
      "--replace=increment_add=" + Path("mine.c"), "--quiet"});
  const nlohmann::json list = DoJson({"list", "@b.ingot"});
  int edited = 0;
  for (const nlohmann::json& artifact : list["artifacts"]) {
    const std::string codegen = artifact["codegen_id"];
    EXPECT_EQ(artifact["edited"], codegen != "ingot") << artifact;
    edited += artifact["edited"] == true ? 1 : 0;
  }
  EXPECT_EQ(edited, 2);
  EXPECT_THAT(Do({"list", "@b.ingot"}),
              AllOf(HasSubstr("EDITED"), HasSubstr("increment_add.c")));
  // By hand, in a dump; packing writes it down.
  Do({"dump", "@c.ingot", "-o", "@dir"});
  const std::string path = Path("dir/host/c/increment_kernels.c");
  WriteFileBytes(path, ReadFile(path) + "/* mine */\n");
  Do({"pack", "@dir", "-o", "@packed.ingot", "--accept-edits"});
  for (const std::string set : {"@packed.ingot", "@dir"}) {
    const nlohmann::json by_hand =
        DoJson({"list", set, "--accept-edits"})["artifacts"];
    EXPECT_EQ(by_hand[0]["edited"], true);
    EXPECT_EQ(by_hand[1]["edited"], false);
  }
  // Dumped and packed again, it stays written down.
  Do({"dump", "@packed.ingot", "-o", "@again"});
  Do({"pack", "@again", "-o", "@again.ingot"});
  EXPECT_THAT(Do({"list", "@again.ingot"}), HasSubstr("edited"));
  const CommandResult diff = Ingot({"diff", "@c.ingot", "@again.ingot"});
  EXPECT_THAT(diff.out, HasSubstr("host/c/increment_kernels.c"));
}

TEST_F(ReplaceTest, ErrorsSayWhatDoesNotFit) {
  const auto fails = [this](const std::string& replace,
                            const std::vector<std::string>& parts,
                            int exit = 1) {
    ExpectError({"run", "@llvm.ingot", "--replace=" + replace, "--quiet"}, exit,
                parts);
  };
  fails("increment_add", {"expected NAME=FILE"}, 2);
  fails("increment_add=" + Path("none.c"), {"none.c"});
  fails("other=" + Path("mine.c"),
        {"neither an artifact nor, in C or an object, a kernel 'other'"});
  WriteFileBytes(Path("other.c"), "int other(void) { return 0; }\n");
  fails("increment_add=" + Path("other.c"),
        {"other.c", "does not define increment_add"});
  fails("increment_kernels.o=" + Path("mine.c"), {"whose name ends otherwise"});
  WriteFileBytes(Path("bad.ll"), "define i32 @increment_add(}");
  fails("increment_add=" + Path("bad.ll"), {"bad.ll", "line 1: "});
  WriteFileBytes(Path("no.o"), "no object");
  fails("increment_add=" + Path("no.o"), {"no.o", "object file"});
  WriteFileBytes(Path("mine.txt"), "");
  fails("increment_add=" + Path("mine.txt"),
        {"a kernel is a file .c, .ll or .o"});
}

// A library has no artifact of the code that it was linked from.
TEST_F(ReplaceTest, ALibraryOfEditedCodeSaysSo) {
  Do({"link", "@c.ingot", "-o", "@b.so",
      "--replace=increment_add=" + Path("mine.c")});
  const std::string kernels = "host/c/increment_kernels.c";
  const std::string mine = "host/replaced/increment_add.c";
  EXPECT_THAT(
      Do({"list", "@b.so"}),
      ContainsRegex("host +replaced +- +increment_add.c +- +- +edited"));
  EXPECT_EQ(DoJson({"list", "@b.so"})["edited"],
            nlohmann::json::array({kernels, mine}));
  EXPECT_THAT(Do({"inspect", "@b.so"}),
              ContainsRegex("edited +" + kernels + ", " + mine));
  EXPECT_THAT(Do({"inspect", "@c.ingot"}), Not(HasSubstr("edited")));
}

}  // namespace
}  // namespace ingot

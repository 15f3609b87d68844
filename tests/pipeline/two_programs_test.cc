// `ingot` without the program that has the compiler, and how it starts that.

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TwoProgramsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    unsetenv("INGOT_COMPILER");
    // Alone in its folder, so that there is no other beside it.
    const std::filesystem::path built(std::getenv("INGOT_BINARY"));
    std::filesystem::copy_file(std::filesystem::canonical(built),
                               Path("alone"));
  }

  void TearDown() override {
    unsetenv("INGOT_COMPILER");
    CliTest::TearDown();
  }

  CommandResult Alone(std::vector<std::string> args) const {
    args.insert(args.begin(), Path("alone"));
    return RunCommand(args);
  }

  // A program in the compiler's place, which is a shell's `lines`.
  void SetCompiler(const std::string& lines) const {
    const std::string path = Path("compiler.sh");
    std::ofstream(path) << "#!/bin/sh\n" << lines << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    setenv("INGOT_COMPILER", path.c_str(), 1);
  }
};

TEST_F(TwoProgramsTest, LinkedSetsNeedNoCompiler) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--quiet"});
  Do({"link", "@mlp.ingot", "-o", "@mlp.so", "--quiet"});
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{
           {"list", Path("mlp.ingot")},
           {"list", Path("mlp.so")},
           {"inspect", Path("mlp.ingot")},
           {"inspect", Path("mlp.ingot"), "--artifact=plan.binpb"},
           {"run", Path("mlp.so")},
           {"run", Path("mlp.so"), "--output-dir=" + Path("out")},
           {"bench", Path("mlp.so"), "--runs=3", "--json"},
           {"help"},
           {"help", "run"},
           {"--version"}}) {
    const CommandResult alone = Alone(call);
    EXPECT_EQ(alone.exit, 0) << testing::PrintToString(call) << alone.err;
    EXPECT_EQ(alone.err, "") << testing::PrintToString(call);
    if (call[0] == "bench") continue;  // it prints times
    EXPECT_EQ(alone.out, Do(call)) << testing::PrintToString(call);
  }
}

TEST_F(TwoProgramsTest, SetsOfTextAreDumpedAndPackedWithoutACompiler) {
  Do({"compile", "@mlp.onnx", "-o", "@c.ingot", "--target=c", "--quiet"});
  EXPECT_EQ(Alone({"dump", Path("c.ingot"), "-o", Path("c")}).exit, 0);
  EXPECT_EQ(Alone({"pack", Path("c"), "-o", Path("again.ingot")}).exit, 0);
  EXPECT_EQ(ReadFile(Path("again.ingot")), ReadFile(Path("c.ingot")));
}

TEST_F(TwoProgramsTest, AMissingCompilerIsOneLine) {
  const std::string folder = std::filesystem::canonical(Path("")).string();
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--quiet"});
  Do({"compile", "@mlp.onnx", "-o", "@jit.ingot", "--target=llvmjit",
      "--quiet"});
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{
           {"compile", Path("mlp.onnx"), "-o", Path("new.ingot")},
           {"link", Path("mlp.ingot"), "-o", Path("new.so")},
           {"explain", Path("mlp.onnx")},
           {"opt", Path("x.relay"), "--passes=fold"},
           {"targets"},
           {"help", "compile"},
           {"run", Path("mlp.onnx")},
           {"run", Path("mlp.ingot")},
           {"run", Path("jit.ingot")},
           {"run", Path("mlp.onnx"), "--all-values"},
           {"bench", Path("mlp.ingot")},
           {"verify", Path("mlp.ingot"), "--reference=" + Path("mlp.onnx")},
           {"verify", Path("mlp.onnx"), "--per-node"},
           {"inspect", Path("mlp.ingot"), "--artifact=mlp_kernels.o"},
           {"dump", Path("mlp.ingot"), "-o", Path("mlp")}}) {
    const CommandResult alone = Alone(call);
    EXPECT_EQ(alone.exit, 1) << testing::PrintToString(call);
    EXPECT_EQ(alone.out, "") << testing::PrintToString(call);
    EXPECT_EQ(std::count(alone.err.begin(), alone.err.end(), '\n'), 1)
        << alone.err;
    EXPECT_THAT(alone.err,
                AllOf(HasSubstr("there is no " + folder + "/ingot-compiler"),
                      HasSubstr("$INGOT_COMPILER")));
  }
  EXPECT_THAT(Alone({"run", Path("mlp.ingot")}).err,
              HasSubstr(Path("mlp.ingot") + ": is not linked"));
  EXPECT_THAT(Alone({"run", Path("jit.ingot")}).err,
              HasSubstr("needs the loader 'llvmjit'"));
  // Words that are off are refused without a compiler.
  EXPECT_EQ(Alone({"run", Path("mlp.onnx"), "--surprise"}).exit, 2);
}

TEST_F(TwoProgramsTest, TheCompilerTakesTheWholeCall) {
  SetCompiler("printf '%s|' \"$@\"\nprintf complaint >&2\nexit 42");
  const CommandResult result =
      Alone({"compile", "a model.onnx", "-o", "$x", "", "*"});
  EXPECT_EQ(result.exit, 42);
  EXPECT_EQ(result.out, "compile|a model.onnx|-o|$x||*|");
  EXPECT_EQ(result.err, "complaint");

  SetCompiler("kill -TERM $$");
  EXPECT_EQ(Alone({"targets"}).exit, -SIGTERM);
}

TEST_F(TwoProgramsTest, TheVariableMustNameAnotherProgram) {
  setenv("INGOT_COMPILER", Path("alone").c_str(), 1);
  CommandResult result = Alone({"targets"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.err, HasSubstr("names this program"));

  for (const std::string& wrong :
       {Path("nothing"), Path("mlp.onnx"), Path("")}) {
    setenv("INGOT_COMPILER", wrong.c_str(), 1);
    result = Alone({"targets"});
    EXPECT_EQ(result.exit, 1);
    EXPECT_THAT(result.err, HasSubstr(wrong + ", which is no program"));
  }
}

TEST_F(TwoProgramsTest, ALinkToTheProgramFindsTheCompiler) {
  const std::filesystem::path built(std::getenv("INGOT_BINARY"));
  std::filesystem::create_symlink(std::filesystem::canonical(built),
                                  Path("link"));
  const CommandResult result = RunCommand({Path("link"), "targets"});
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(result.out, Do({"targets"}));
}

// Notes that were edited are told once, by whichever program reads on.
TEST_F(TwoProgramsTest, AnEditedNoteIsToldOnce) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--quiet", "--dump=@mlp"});
  std::string note;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(Path("mlp"))) {
    if (absl::EndsWith(entry.path().string(), "weights.safetensors.txt")) {
      note = entry.path().string();
    }
  }
  ASSERT_NE(note, "");
  std::ofstream(note, std::ios::app) << "a remark\n";
  for (const char* command : {"run", "dump"}) {
    std::vector<std::string> call = {command, Path("mlp")};
    if (call[0] == "dump") call.insert(call.end(), {"-o", Path("copy")});
    const CommandResult result = Ingot(call);
    EXPECT_EQ(result.exit, 0) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
        << result.err;
    EXPECT_THAT(result.err, HasSubstr("was edited"));
  }
}

}  // namespace
}  // namespace ingot

// `ingot export`: the formats as the command writes them, and what it refuses.
// examples/firmware, examples/web and tests/cross run the results.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kWasm[] = "--target=llvm -mtriple=wasm32 -mattr=+simd128";

class ExportCommandTest : public CliTest {
 protected:
  void Compile(const std::string& target, const char* model = "@mlp.onnx") {
    Do({"compile", model, "-o", "@set.ingot", "--symbol-prefix=net", "--quiet",
        target});
  }
};

TEST_F(ExportCommandTest, WritesWebAssembly) {
  Compile(kWasm);
  EXPECT_THAT(Do({"export", "@set.ingot", "-o", "@web", "--format=wasm"}),
              HasSubstr("2 files, "));
  EXPECT_THAT(FilesIn(Path("web")), ElementsAre("net.mjs", "net.wasm"));
  EXPECT_THAT(ReadFile(Path("web/net.wasm")), StartsWith({"\0asm\1\0\0\0", 8}));
  const std::string before = ReadFile(Path("web/net.wasm"));
  Do({"export", "@set.ingot", "-o", "@web", "--format=wasm", "--quiet"});
  EXPECT_EQ(ReadFile(Path("web/net.wasm")), before);

  Do({"export", "@set.ingot", "-o", "@beside", "--format=wasm",
      "--weights=beside", "--quiet"});
  EXPECT_THAT(FilesIn(Path("beside")),
              ElementsAre("net.mjs", "net.wasm", "net.weights"));
  EXPECT_LT(ReadFile(Path("beside/net.wasm")).size() +
                ReadFile(Path("beside/net.weights")).size(),
            before.size() + 1000);
  EXPECT_LT(ReadFile(Path("beside/net.wasm")).size(), before.size());
}

TEST_F(ExportCommandTest, WebAssemblyIsNotRunHere) {
  Compile(kWasm);
  EXPECT_THAT(Ingot({"check", "@set.ingot"}).out,
              HasSubstr("its code is for wasm32"));
  ExpectError({"run", "@set.ingot"}, 1, {"its code is for wasm32"});
  ExpectError({"link", "@set.ingot", "-o", "@set.so"}, 1,
              {"net_kernels.o", "--format=wasm"});
}

TEST_F(ExportCommandTest, ShowsWhatTakesTheMemoryThatIsNotThere) {
  Compile("--target=c");
  const CommandResult result =
      Ingot({"export", "@set.ingot", "-o", "@x", "--ram=1"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.err, HasSubstr("more than --ram=1 allows"));
  EXPECT_THAT(result.out,
              ContainsRegex("all +[0-9]+ +[0-9]+\n\n(arena|weights) "));
}

TEST_F(ExportCommandTest, SaysWhatIsInTheWay) {
  Compile("--target=llvm");
  ExpectError({"export", "@set.ingot", "-o", "@x", "--format=wasm"}, 1,
              {"net_kernels.o is not WebAssembly", "-mtriple=wasm32"});
  ExpectError({"export", "@set.ingot", "-o", "@x", "--format=c"}, 1,
              {"is not C; compile"});
  ExpectError({"export", "@set.ingot", "-o", "@x", "--format=elf"}, 2,
              {"--format=elf", "c, wasm or mlf"});
  ExpectError({"export", "@set.ingot", "-o", "@x", "--weights=beside"}, 2,
              {"--weights is for --format=wasm"});
  ExpectError(
      {"export", "@set.ingot", "-o", "@x", "--format=wasm", "--weights=above"},
      2, {"inside or beside"});
  ExpectError(
      {"export", "@set.ingot", "-o", "@x", "--format=wasm", "--ram=1000"}, 2,
      {"--ram and --rom are for --format=c"});
  ExpectError({"export", "@set.ingot", "-o", "@x", "--model=@mlp.onnx"}, 2,
              {"--model is for --format=mlf"});
  Compile("--target=a: c; b: llvm");
  ExpectError({"export", "@set.ingot", "-o", "@x"}, 1, {"several variants"});
  ExpectError({"export", "@set.ingot", "-o", "@x", "--format=mlf"}, 1,
              {"several variants"});
}

TEST_F(ExportCommandTest, AFullDiskLeavesTheFolderAsItWas) {
  Compile("--target=llvm");
  CommandOptions full;
  full.max_file_size = 1500;
  ExpectError({"export", "@set.ingot", "-o", "@new/mlf", "--format=mlf"}, 1,
              {"new/mlf"}, full);
  EXPECT_FALSE(std::filesystem::exists(Path("new")));
  std::filesystem::create_directory(Path("old"));
  ExpectError({"export", "@set.ingot", "-o", "@old", "--format=mlf"}, 1, {},
              full);
  EXPECT_THAT(FilesIn(Path("old")), ElementsAre());
}

TEST_F(ExportCommandTest, WritesTheModelLibraryFormat) {
  Compile("--target=llvm");
  setenv("SOURCE_DATE_EPOCH", "86400", 1);
  Do({"export", "@set.ingot", "-o", "@mlf", "--format=mlf", "--model=@mlp.onnx",
      "--quiet"});
  EXPECT_THAT(FilesIn(Path("mlf")),
              ElementsAre("codegen", "executor-config", "metadata.json",
                          "parameters", "src"));
  const nlohmann::json metadata =
      nlohmann::json::parse(ReadFile(Path("mlf/metadata.json")));
  EXPECT_EQ(metadata["modules"]["net"]["export_datetime"],
            "1970-01-02 00:00:00Z");
  EXPECT_THAT(ReadFile(Path("mlf/src/relay.txt")), StartsWith("module {"));
  // Its object is the set's.
  Do({"dump", "@set.ingot", "-o", "@dump"});
  EXPECT_EQ(ReadFile(Path("mlf/codegen/host/lib/net_kernels.o")),
            ReadFile(Path("dump/host/llvm/net_kernels.o")));
  ExpectError({"export", "@set.ingot", "-o", "@x", "--format=mlf",
               "--model=@conv.onnx"},
              1, {"was not compiled from"});
  setenv("SOURCE_DATE_EPOCH", "today", 1);
  ExpectError({"export", "@set.ingot", "-o", "@x", "--format=mlf"}, 2,
              {"SOURCE_DATE_EPOCH", "today"});
  unsetenv("SOURCE_DATE_EPOCH");
}

}  // namespace
}  // namespace ingot

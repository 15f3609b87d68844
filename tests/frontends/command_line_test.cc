// Models of every format through a command that has one frontend more than
// Ingot comes with: a line in BUILD.bazel.
#include <string>
#include <vector>

#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::HasSubstr;

constexpr char kRelay[] = R"(// A dense layer.
module {
  func @main(%x: f32[n, 4]) -> (%y: "y") {
    %w = const f32[4, 3] random(1)
    %d = matmul(%x, %w)
    %y = relu(%d)
  }
}
)";

class FrontendsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    WriteFileBytes(Path("dense.relay"), kRelay);
    // max(x * 2 - 1, 0), and the same in relay.
    WriteFileBytes(Path("formula.rpn"), "rpn\nx:f32[3,4] 2 mul 1 sub relu\n");
    WriteFileBytes(Path("same.relay"),
                   "module {\n  func @main(%x: f32[3, 4]) -> (%y) {\n"
                   "    %two = const f32[] {2}\n    %one = const f32[] {1}\n"
                   "    %a = mul(%x, %two)\n    %b = sub(%a, %one)\n"
                   "    %y = relu(%b)\n  }\n}\n");
    // x in the shape of y: formulas that the importer follows.
    WriteFileBytes(Path("rows.rpn"),
                   "rpn\nx:f32[n,m] y:f32[n,m] shape abs reshape");
  }
};

TEST_F(FrontendsTest, RelayTextIsAModelForEveryCommand) {
  Do({"compile", "@dense.relay", "-o", "@dense.ingot", "--quiet"});
  Do({"run", "@dense.relay", "--input-shape=x:2x4", "--quiet"});
  // A name that says nothing: the bytes do.
  std::filesystem::copy_file(Path("dense.relay"), Path("dense"));
  for (const std::string model : {"@dense.relay", "@dense"}) {
    const nlohmann::json verdict =
        DoJson({"verify", model, "--reference=" + Path("dense.relay"),
                "--input-shape=x:2x4", "--quiet"});
    EXPECT_TRUE(verdict["ok"]) << verdict;
  }
  Do({"verify", "@dense.relay", "--per-node", "--quiet"});
  const nlohmann::json bench =
      DoJson({"bench", "@dense.relay", "--runs=2", "--quiet"});
  EXPECT_TRUE(bench.contains("compile_ms")) << bench;
  // The text's own nodes are the model's.
  EXPECT_THAT(Do({"explain", "@dense.relay"}), HasSubstr("matmul"));
  Do({"run", "@dense.relay", "--all-values", "--output-dir=@values",
      "--quiet"});
  EXPECT_THAT(FilesIn(Path("values")), testing::Contains("d.npy"));
}

// The weights of a dump lie beside it.
TEST_F(FrontendsTest, DumpsOfAModelAreModels) {
  Do({"compile", "@conv.onnx", "-o", "@conv.ingot", "--dump-ir=@ir",
      "--quiet"});
  std::string dump;
  for (const std::string& file : FilesIn(Path("ir"))) {
    if (absl::EndsWith(file, "import.relay")) dump = "@ir/" + file;
  }
  ASSERT_NE(dump, "");
  const nlohmann::json verdict =
      DoJson({"verify", dump, "--reference=" + Path("conv.onnx"), "--quiet"});
  EXPECT_TRUE(verdict["ok"]) << verdict;
}

TEST_F(FrontendsTest, AThirdFormatIsOneLine) {
  const nlohmann::json verdict =
      DoJson({"verify", "@formula.rpn", "--reference=" + Path("same.relay"),
              "--quiet"});
  EXPECT_TRUE(verdict["ok"]) << verdict;
  Do({"compile", "@rows.rpn", "-o", "@rows.ingot", "--quiet"});
}

TEST_F(FrontendsTest, ErrorsNameTheFrontendsOrThePlace) {
  WriteFileBytes(Path("no.onnx"), "no model at all");
  ExpectError({"compile", "@no.onnx", "-o", "@x.ingot", "--quiet"}, 1,
              {"no.onnx", "no frontend reads it", "onnx looks for",
               "relay looks for", "rpn looks for"});
  WriteFileBytes(Path("bad.relay"), "module {\n  func @main(");
  ExpectError({"compile", "@bad.relay", "-o", "@x.ingot", "--quiet"}, 1,
              {"bad.relay", "2:"});
  WriteFileBytes(Path("other.relay"), "module {\n}\n");
  ExpectError({"compile", "@other.relay", "-o", "@x.ingot", "--quiet"}, 1,
              {"other.relay", "main"});
  ExpectError({"run", "@dense.relay", "--input-shape=x:2x5", "--quiet"}, 1,
              {"'x' is f32[n, 4]", "dimension 1 cannot be 5"});
}

}  // namespace
}  // namespace ingot

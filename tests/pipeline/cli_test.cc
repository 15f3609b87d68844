// The whole walk of the data through the `ingot` command, on every target that
// makes code for this machine.

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "artifact/blob.h"
#include "tests/pipeline/cli_fixture.h"
#include "tools/ingot/npy.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TargetTest : public CliTest,
                   public testing::WithParamInterface<const char*> {
 protected:
  std::string Target() const { return std::string("--target=") + GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Targets, TargetTest,
                         testing::Values("llvm", "llvm -mcpu=native", "llvmjit",
                                         "c"),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : std::string(info.param)) {
                             if (isalnum(static_cast<unsigned char>(c)))
                               name += c;
                           }
                           return name;
                         });

TEST_P(TargetTest, EveryFormOfAModelComputesTheSame) {
  WriteMlpTestData(Path("data"));
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", Target(), "--dump=@dump"});
  Do({"link", "@mlp.ingot", "-o", "@mlp.so"});
  for (const std::string form :
       {"@mlp.ingot", "@dump", "@mlp.so", "@mlp.onnx"}) {
    std::vector<std::string> args = {"verify", form, "--test-data=@data"};
    if (form == "@mlp.onnx") args.push_back(Target());
    const nlohmann::json json = DoJson(args);
    EXPECT_EQ(json["ok"], true) << form << json;
    EXPECT_EQ(json["elements"], 8);
    EXPECT_EQ(json["mismatches"], 0);
    EXPECT_LT(json["max_abs_err"], 1e-5);
  }
}

TEST_P(TargetTest, AgreesWithTheInterpreter) {
  Do({"compile", "@conv.onnx", "-o", "@conv.ingot", Target()});
  const std::string out =
      Do({"verify", "@conv.ingot", "--reference=@conv.onnx", "--seed=7"});
  EXPECT_THAT(out, HasSubstr("seed 7"));
  EXPECT_THAT(out, HasSubstr("0 of 10"));
}

TEST_P(TargetTest, OptimisingChangesNothingButSpeed) {
  for (const char* level : {"0", "1", "2"}) {
    const std::string flag = std::string("--opt-level=") + level;
    Do({"compile", "@conv.onnx", "-o", "@conv.ingot", Target(), flag});
    Do({"verify", "@conv.ingot", "--reference=@conv.onnx"});
  }
}

// Every value, dumped by one target and compared on another; a wrong one is
// found with its node.
TEST_P(TargetTest, ComparesEveryValueWithADump) {
  WriteMlpTestData(Path("data"));
  const std::string x = Path("data/test_data_set_0/input_0.pb");
  Do({"run", "@mlp.onnx", "--all-values", "--output-dir=@values",
      "--input=x:" + x});
  const std::vector<std::string> verify = {
      "verify",     "@mlp.onnx",        "--test-data=@data",
      "--per-node", "--values=@values", Target()};
  EXPECT_THAT(Do(verify), HasSubstr("4 values are as in"));
  const nlohmann::json json = DoJson(verify);
  EXPECT_EQ(json["values"], 4);
  EXPECT_LT(json["max_abs_err"], 1e-5);
  // The value of "bias" is replaced by that of "relu", without negative
  // numbers.
  std::filesystem::copy_file(Path("values/c.npy"), Path("values/b.npy"),
                             std::filesystem::copy_options::overwrite_existing);
  ExpectError(verify, 1, {"value 'b' of Add bias is wrong"});
  std::filesystem::remove_all(Path("values"));
  std::filesystem::create_directories(Path("values"));
  ExpectError(verify, 1, {"has no NAME.npy of any value"});
}

TEST_P(TargetTest, TheSameInputsGiveTheSameBytes) {
  std::filesystem::create_directories(Path("elsewhere"));
  std::filesystem::copy(Path("conv.onnx"), Path("elsewhere/conv.onnx"));
  Do({"compile", "@conv.onnx", "-o", "@a.ingot", Target(), "--dump=@dump"});
  Do({"link", "@a.ingot", "-o", "@a.so"});
  CommandOptions there;
  there.folder = Path("elsewhere");
  EXPECT_EQ(
      Ingot({"compile", "conv.onnx", "-o", "b.ingot", Target()}, there).exit,
      0);
  EXPECT_EQ(Ingot({"link", "b.ingot", "-o", "b.so"}, there).exit, 0);
  EXPECT_TRUE(ReadFile(Path("a.ingot")) == ReadFile(Path("elsewhere/b.ingot")));
  EXPECT_TRUE(ReadFile(Path("a.so")) == ReadFile(Path("elsewhere/b.so")));

  Do({"pack", "@dump", "-o", "@packed.ingot"});
  EXPECT_TRUE(ReadFile(Path("a.ingot")) == ReadFile(Path("packed.ingot")));
}

TEST_P(TargetTest, ListsAndInspectsEveryArtifact) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", Target()});
  const nlohmann::json list = DoJson({"list", "@mlp.ingot"});
  EXPECT_GE(list["artifacts"].size(), 3u);
  for (const nlohmann::json& artifact : list["artifacts"]) {
    EXPECT_EQ(artifact["target_key"], "host");
    EXPECT_EQ(artifact["sha256"].get<std::string>().size(), 64u);
    const std::string path = artifact["target_key"].get<std::string>() + "/" +
                             artifact["codegen_id"].get<std::string>() + "/" +
                             artifact["file_name"].get<std::string>();
    EXPECT_NE(Do({"inspect", "@mlp.ingot", "--artifact=" + path}), "");
  }
  EXPECT_THAT(Do({"inspect", "@mlp.ingot", "--artifact=plan.binpb"}),
              HasSubstr("from \"first, bias, relu\""));
  const std::string set = Do({"inspect", "@mlp.ingot"});
  EXPECT_THAT(set, HasSubstr("x: f32[2, 16]"));
  EXPECT_THAT(set, HasSubstr("y: f32[2, 4]"));
  EXPECT_THAT(set, HasSubstr(GetParam()));
  ExpectError({"inspect", "@mlp.ingot", "--artifact=nothing"}, 1,
              {"no artifact 'nothing'", "weights.safetensors"});
}

TEST_P(TargetTest, BenchMeasures) {
  Do({"compile", "@conv.onnx", "-o", "@conv.ingot", Target()});
  const nlohmann::json json =
      DoJson({"bench", "@conv.ingot", "--runs=5", "--threads=2"});
  EXPECT_GT(json["load_ms"], 0);
  EXPECT_GT(json["latency_ms"]["min"], 0);
  EXPECT_GE(json["latency_ms"]["median"], json["latency_ms"]["min"]);
  EXPECT_GE(json["latency_ms"]["p90"], json["latency_ms"]["median"]);
  EXPECT_GT(json["peak_rss_mb"], 1);
  EXPECT_EQ(json["runs"], 5);
}

TEST_P(TargetTest, BenchTellsWhereTimeGoes) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", Target()});
  const nlohmann::json json =
      DoJson({"bench", "@mlp.ingot", "--runs=5", "--per-node"});
  bool found = false;
  for (const nlohmann::json& node : json["nodes"]) {
    if (!absl::StrContains(node["nodes"].get<std::string>(), "first")) continue;
    found = true;
    EXPECT_GE(node["calls"], 1);
    EXPECT_GT(node["ms"], 0);
    // x, weights and result.
    EXPECT_GT(node["bytes"], 2 * 16 * 4);
  }
  EXPECT_TRUE(found) << json.dump();
}

TEST_F(CliTest, ALibraryIsShownButNotTakenApart) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot"});
  Do({"link", "@mlp.ingot", "-o", "@mlp.so"});
  // Its native code is no artifact any more.
  EXPECT_EQ(DoJson({"list", "@mlp.so"})["artifacts"].size(), 2u);
  EXPECT_THAT(Do({"inspect", "@mlp.so"}), HasSubstr("x: f32[2, 16]"));
  ExpectError({"dump", "@mlp.so", "-o", "@dump"}, 1, {"linked library"});
}

TEST_F(CliTest, AnEditedKernelIsTheOneThatRuns) {
  ModelMaker maker("leaky");
  maker.Input("x", {4}).Output("y", {4});
  onnx::AttributeProto* alpha =
      maker.Node("LeakyRelu", "leaky", {"x"}, {"y"}).add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  alpha->set_f(0.25f);
  maker.Write(Path("leaky.onnx"));
  WriteTensorProto(Path("x.pb"), "x", {4}, {-4, 4, -8, 8});
  Do({"compile", "@leaky.onnx", "-o", "@leaky.ingot", "--target=c",
      "--dump=@dump"});
  EXPECT_THAT(Do({"run", "@leaky.ingot", "--input=x:@x.pb"}),
              HasSubstr("-1 4 -2 8"));

  const std::string kernel = Path("dump/host/c/leaky_kernels.c");
  const std::string source = ReadFile(kernel);
  ASSERT_THAT(source, HasSubstr("0.25f"));
  WriteFileBytes(kernel, absl::StrReplaceAll(source, {{"0.25f", "0.5f"}}));
  ExpectError({"pack", "@dump", "-o", "@edited.ingot"}, 1,
              {"leaky_kernels.c", "--accept-edits"});
  Do({"pack", "@dump", "-o", "@edited.ingot", "--accept-edits"});
  Do({"link", "@edited.ingot", "-o", "@edited.so"});
  for (const char* form : {"@edited.ingot", "@edited.so"}) {
    EXPECT_THAT(Do({"run", form, "--input=x:@x.pb"}), HasSubstr("-2 4 -4 8"));
  }
  EXPECT_THAT(Do({"run", "@dump", "--accept-edits", "--input=x:@x.pb"}),
              HasSubstr("-2 4 -4 8"));

  WriteFileBytes(kernel, source + "\nthis is not C\n");
  ExpectError({"run", "@dump", "--accept-edits"}, 1, {"leaky_kernels.c"});
}

// --------------------------------------------------------------------- run

Tensor Floats(const std::vector<int64_t>& shape,
              const std::vector<float>& values) {
  Tensor t = Tensor::Empty(DataType::Float(32), shape).value();
  memcpy(t.mutable_raw_data(), values.data(), t.bytes());
  return t;
}

TEST_F(CliTest, RunReadsAndWritesNumpy) {
  WriteSymbolic(Path("relu.onnx"));
  WriteFileBytes(Path("x.npy"),
                 *FormatNpy(Floats({2, 4}, {1, -1, 2, -2, 3, -3, 4, -4})));
  Do({"run", "@relu.onnx", "--input=x:@x.npy", "--output-dir=@out"});
  EXPECT_THAT(FilesIn(Path("out")), ElementsAre("y.npy"));
  absl::StatusOr<Tensor> y = ParseNpy(ReadFile(Path("out/y.npy")));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->TypeString(), "f32[2, 4]");
  EXPECT_THAT(y->values<float>(), ElementsAre(1, 0, 2, 0, 3, 0, 4, 0));

  WriteTensorProto(Path("x.pb"), "x", {1, 4}, {-5, 5, -6, 6});
  const std::string out = Do({"run", "@relu.onnx", "--input=x:@x.pb"});
  EXPECT_THAT(out, HasSubstr("0 5 0 6"));
}

TEST_F(CliTest, RunWithoutInputsSaysThatTheyAreRandom) {
  WriteSymbolic(Path("relu.onnx"));
  const std::string out =
      Do({"run", "@relu.onnx", "--input-shape=x:3x4", "--seed=5"});
  EXPECT_THAT(out, HasSubstr("random numbers (seed 5)"));
  EXPECT_THAT(out, HasSubstr("f32[3, 4]"));
  Do({"compile", "@relu.onnx", "-o", "@relu.ingot"});
  EXPECT_THAT(Do({"run", "@relu.ingot"}), HasSubstr("N is taken as 1"));
  EXPECT_THAT(Do({"run", "@relu.ingot", "--input-shape=x:7x4"}),
              HasSubstr("f32[7, 4]"));
}

TEST_F(CliTest, RunWritesAProfile) {
  Do({"run", "@conv.onnx", "--profile=@trace.json"});
  const nlohmann::json trace = nlohmann::json::parse(
      ReadFile(Path("trace.json")), nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(trace.is_discarded());
  EXPECT_GE(trace["traceEvents"].size(), 2u);
}

TEST_F(CliTest, RunSaysWhatIsWrongWithInputs) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot"});
  Do({"link", "@mlp.ingot", "-o", "@mlp.so"});
  WriteFileBytes(Path("short.npy"), *FormatNpy(Floats({2, 4}, Numbers("", 8))));
  WriteFileBytes(Path("ints.npy"),
                 *FormatNpy(Tensor::Empty(DataType::Int(64), {2, 16}).value()));
  ExpectError({"run", "@mlp.so", "--input=x:@short.npy"}, 1,
              {"x", "f32[2, 16]", "f32[2, 4]"});
  ExpectError({"run", "@mlp.so", "--input=x:@ints.npy"}, 1,
              {"x", "f32[2, 16]", "i64[2, 16]"});
  ExpectError({"run", "@mlp.so", "--input=z:@short.npy"}, 1,
              {"'z' is no input", "'x' (f32[2, 16])"});
  ExpectError({"run", "@mlp.so", "--input=x:@missing.npy"}, 1, {"missing.npy"});
  ExpectError({"run", "@mlp.so", "--input-shape=x:3x3"}, 1, {"f32[2, 16]"});
}

// A byte is too few for any tensor: each has a file of its own.
TEST_F(CliTest, WeightsMayBeInSeveralFiles) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--weights-per-file=1"});
  const nlohmann::json list = DoJson({"list", "@mlp.ingot"});
  int files = 0;
  for (const nlohmann::json& artifact : list["artifacts"]) {
    files += artifact["loader"] == "constants" ? 1 : 0;
  }
  EXPECT_EQ(files, 3);
  EXPECT_THAT(list.dump(), HasSubstr("weights_1.safetensors"));
  Do({"link", "@mlp.ingot", "-o", "@mlp.so"});
  Do({"dump", "@mlp.ingot", "-o", "@mlp_dump"});
  Do({"pack", "@mlp_dump", "-o", "@mlp_packed.ingot"});
  EXPECT_TRUE(ReadFile(Path("mlp.ingot")) ==
              ReadFile(Path("mlp_packed.ingot")));
  for (const char* form : {"@mlp.ingot", "@mlp.so", "@mlp_dump"}) {
    Do({"verify", form, "--reference=@mlp.onnx", "--check-digests"});
  }
  ExpectError(
      {"compile", "@mlp.onnx", "-o", "@x.ingot", "--weights-per-file=much"}, 2,
      {"--weights-per-file", "much"});
}

// "?\?/" is a backslash in C99, and the quotation mark after it is not the end.
TEST_F(CliTest, NamesOfAModelStayTextInC) {
  WriteFileBytes(Path("names.relay"),
                 "module { func @main(%x: f32[2]) -> (%y: \"a?\?/\\\"\") { "
                 "%y = relu(%x) } }");
  Do({"compile", "@names.relay", "-o", "@names.ingot", "--target=c"});
  Do({"link", "@names.ingot", "-o", "@names.so"});
  EXPECT_THAT(Do({"run", "@names.so"}), HasSubstr("a?\?/\""));
}

TEST_F(CliTest, VerifyFindsWhatIsWrong) {
  WriteMlpTestData(Path("data"));
  const std::string output = Path("data/test_data_set_0/output_0.pb");
  WriteTensorProto(output, "y", {2, 4}, std::vector<float>(8, 1000));
  const CommandResult result =
      Ingot({"verify", "@mlp.onnx", "--test-data=@data", "--json"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.err, HasSubstr("1 of 1 outputs are not as they should"));
  EXPECT_THAT(result.out, HasSubstr("\"ok\":false"));
  EXPECT_THAT(result.out, HasSubstr("8 of 8"));
  Do({"verify", "@mlp.onnx", "--test-data=@data", "--rtol-max=2"});
  WriteTensorProto(output, "y", {4, 2}, Numbers("", 8));
  ExpectError({"verify", "@mlp.onnx", "--test-data=@data/test_data_set_0"}, 1,
              {"it is f32[2, 4] and should be f32[4, 2]"});
  ExpectError({"verify", "@mlp.onnx", "--test-data=@nowhere"}, 1, {"nowhere"});
}

// ------------------------------------------------------------------- other

TEST_F(CliTest, IrDumpsFeedBackIntoOpt) {
  Do({"compile", "@conv.onnx", "-o", "@conv.ingot", "--dump-ir=@ir",
      "--time-passes"});
  int modules = 0;
  for (const std::string& file : FilesIn(Path("ir"))) {
    if (!absl::EndsWith(file, ".relay")) continue;
    ++modules;
    const std::string path = Path("ir/" + file);
    EXPECT_THAT(Do({"opt", path, "--passes=infer_types"}),
                HasSubstr("func @main"))
        << file;
  }
  EXPECT_GE(modules, 2);
  // Weights are stored once: passes that make others add to the file.
  const std::vector<std::string> files = FilesIn(Path("ir"));
  EXPECT_EQ(std::count_if(files.begin(), files.end(),
                          [](const std::string& file) {
                            return absl::EndsWith(file, ".weights");
                          }),
            1);
}

// Every call against the interpreter, without any data of its own.
TEST_F(CliTest, VerifyPerNodeAlone) {
  EXPECT_THAT(Do({"verify", "@mlp.onnx", "--per-node"}),
              HasSubstr("every call is as the interpreter says: "));
  const nlohmann::json json = DoJson({"verify", "@mlp.onnx", "--per-node"});
  EXPECT_EQ(json["ok"], true);
  EXPECT_GE(json["per_node"]["calls"], 1);
  EXPECT_LT(json["per_node"]["max_abs_err"], 1e-3);
  // On inputs that are given, which the call's result then follows.
  WriteMlpTestData(Path("data"));
  const std::string input =
      "--input=x:" + Path("data/test_data_set_0/input_0.pb");
  EXPECT_THAT(Do({"verify", "@mlp.onnx", "--per-node", input}),
              HasSubstr("inputs as given"));
  EXPECT_EQ(DoJson({"verify", "@mlp.onnx", "--reference=@mlp.onnx",
                    input})["outputs"][0]["set"],
            "given inputs");
}

TEST_F(CliTest, TargetsAreListed) {
  const nlohmann::json json = DoJson({"targets"});
  std::map<std::string, nlohmann::json> kinds;
  for (const nlohmann::json& kind : json["targets"]) {
    kinds[kind["name"]] = kind;
  }
  for (const char* kind : {"c", "llvm", "llvmjit"}) {
    ASSERT_EQ(kinds.count(kind), 1u);
    // Everything that has loops.
    EXPECT_TRUE(kinds[kind]["operators"].is_null());
    EXPECT_FALSE(kinds[kind]["options"].contains("min-region"));
  }
  EXPECT_EQ(kinds["llvm"]["options"]["O"]["default"], "3");
  ASSERT_EQ(kinds.count("dnnl"), 1u);
  EXPECT_EQ(kinds["dnnl"]["options"]["min-region"]["default"], "1");
  EXPECT_THAT(
      kinds["dnnl"]["operators"].get<std::vector<std::string>>(),
      testing::IsSupersetOf({"conv2d", "max_pool3d", "swish", "minimum"}));
  EXPECT_EQ(kinds["cblas"]["composites"]["dense_bias"], "add(dense(*, *), *)");
  EXPECT_THAT(Do({"targets"}),
              testing::AllOf(
                  HasSubstr("  -O: how hard LLVM optimises, 0 to 3 [3]\n"),
                  HasSubstr("  operators: add sub mul\n"),
                  HasSubstr("  composite dense_bias: add(dense(*, *), *)\n")));
}

TEST_F(CliTest, HelpAndVersion) {
  EXPECT_THAT(Do({"--version"}), testing::StartsWith("ingot "));
  const std::string help = Do({"help"});
  for (const char* command :
       {"compile", "link", "list", "inspect", "dump", "pack", "run", "verify",
        "bench", "targets", "opt"}) {
    EXPECT_THAT(help, HasSubstr(command));
    EXPECT_THAT(Do({"help", command}),
                HasSubstr(std::string("Usage: ingot ") + command));
    EXPECT_EQ(Do({"help", command}), Do({command, "--help"}));
  }
}

}  // namespace
}  // namespace ingot

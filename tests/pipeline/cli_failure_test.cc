// Failures of the `ingot` command: one
// clear line, the right exit status, and no half-written file.

#include <string>
#include <vector>

#include "artifact/artifact_set.h"
#include "artifact/blob.h"
#include "artifact/container.h"
#include "artifact/target_keys.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CliFailureTest : public CliTest {
 protected:
  // A compiled model and its bytes.
  std::string CompileMlp() {
    Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot"});
    return ReadFile(Path("mlp.ingot"));
  }

  // The offset in the container at which the artifact's bytes start.
  static size_t OffsetOf(const std::string& container, const std::string& name,
                         size_t* size) {
    const Blob blob = Blob::CopyAligned(container, 4096);
    ArtifactSet set = ReadContainer(blob).value();
    for (const Artifact& artifact : set.artifacts()) {
      if (!absl::EndsWith(artifact.file_name, name)) continue;
      *size = artifact.content.size();
      return static_cast<size_t>(artifact.content.data() - blob.data());
    }
    ADD_FAILURE() << "no artifact " << name;
    return 0;
  }
};

TEST_F(CliFailureTest, WordsThatAreOffExitWith2) {
  ExpectError({}, 2, {"ingot help"});
  ExpectError({"complie"}, 2, {"'complie'", "did you mean compile"});
  ExpectError({"help", "nothing"}, 2, {"'nothing'"});
  ExpectError({"compile"}, 2, {"compile: needs MODEL"});
  ExpectError({"compile", "@mlp.onnx"}, 2, {"needs -o OUT.ingot"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@x", "--treads=1"}, 2,
              {"no flag --treads"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@x", "--target=mips"}, 2,
              {"mips", "llvm"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@x", "--target=llvm -nope=1"}, 2,
              {"nope"});
  ExpectError({"explain", "@mlp.onnx", "--target=dnnl -minregion=3,llvm"}, 2,
              {"no option -minregion; did you mean -min-region?"});
  ExpectError({"explain", "@mlp.onnx", "--target=lvm"}, 2,
              {"did you mean llvm?"});
  // A target that would get nothing is a slip.
  ExpectError({"explain", "@mlp.onnx", "--target=llvm -O=2,dnnl"}, 2,
              {"dnnl is never asked, because llvm in front of it takes every "
               "operator; write --target=dnnl,llvm -O=2"});
  ExpectError({"explain", "@mlp.onnx", "--target=llvm,c"}, 1,
              {"c gets nothing, because llvm in front of it takes every "
               "operator and no node is pinned to c"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@x", "--opt-level=9"}, 2,
              {"--opt-level=9"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@x", "--input-shape=x"}, 2,
              {"--input-shape=x"});
  ExpectError({"verify", "@mlp.onnx"}, 2,
              {"--test-data", "--reference", "--per-node"});
  ExpectError({"verify", "@mlp.onnx", "--test-data=x", "--reference=y"}, 2,
              {"not both"});
  ExpectError({"verify", "@mlp.onnx", "--test-data=x", "--input=x:y"}, 2,
              {"no --input"});
  ExpectError({"run", "@mlp.onnx", "--threads=0"}, 2, {"--threads=0"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@x", "--symbol-prefix=1st"}, 2,
              {"--symbol-prefix", "is not a C identifier"});
  ExpectError({"opt", "@mlp.onnx", "--passes=nonsense"}, 2, {"nonsense"});
}

TEST_F(CliFailureTest, CallsAndValuesAreOfAModel) {
  CompileMlp();
  WriteMlpTestData(Path("data"));
  Do({"link", "@mlp.ingot", "-o", "@mlp.so", "--quiet"});
  for (const char* form : {"mlp.ingot", "mlp.so"}) {
    const std::string path = absl::StrCat("@", form);
    ExpectError({"verify", path, "--per-node"}, 2,
                {"--per-node needs a model", form});
    ExpectError(
        {"verify", path, "--per-node", "--values=@data", "--test-data=@data"},
        1, {form, "no frontend reads it"});
  }
}

TEST_F(CliFailureTest, MissingFilesAreNamed) {
  for (const char* command :
       {"list", "inspect", "run", "bench", "dump", "link", "pack"}) {
    std::vector<std::string> args = {command, "@missing"};
    for (const char* writer : {"dump", "link", "pack"}) {
      if (args[0] == writer) args.insert(args.end(), {"-o", "@out"});
    }
    ExpectError(args, 1, {command, Path("missing")});
  }
  ExpectError({"compile", "@missing.onnx", "-o", "@out"}, 1, {"missing.onnx"});
  EXPECT_THAT(FilesIn(Path("")), ElementsAre("conv.onnx", "mlp.onnx"));
}

TEST_F(CliFailureTest, UnsupportedOperatorsAreNamedWithTheirNode) {
  ModelMaker maker("odd");
  maker.Input("x", {4}).Output("y", {4});
  maker.Node("Frobnicate", "odd_node", {"x"}, {"y"});
  maker.Write(Path("odd.onnx"));
  ExpectError({"compile", "@odd.onnx", "-o", "@odd.ingot"}, 1,
              {"odd.onnx", "odd_node", "Frobnicate"});
  EXPECT_FALSE(std::filesystem::exists(Path("odd.ingot")));
}

TEST_F(CliFailureTest, BrokenModelsAreNamed) {
  WriteFileBytes(Path("text.onnx"), "this is no model");
  ExpectError({"compile", "@text.onnx", "-o", "@x"}, 1, {"text.onnx"});
  WriteFileBytes(Path("cut.onnx"), ReadFile(Path("mlp.onnx")).substr(0, 500));
  ExpectError({"compile", "@cut.onnx", "-o", "@x"}, 1, {"cut.onnx"});
  WriteFileBytes(Path("empty.onnx"), "");
  ExpectError({"compile", "@empty.onnx", "-o", "@x"}, 1, {"empty.onnx"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@x", "--input-shape=q:1x2"}, 1,
              {"q"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@x", "--input-shape=x:2x17"}, 1,
              {"'x'", "16", "17"});
}

TEST_F(CliFailureTest, OutputThatCannotBeWritten) {
  ExpectError({"compile", "@mlp.onnx", "-o", "@no/out.ingot"}, 1,
              {"no/out.ingot"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@"}, 1, {"not a regular file"});
  CompileMlp();
  ExpectError({"link", "@mlp.ingot", "-o", "@no/out.so"}, 1, {"no/out.so"});
  ExpectError({"run", "@mlp.ingot", "--profile=@no/trace.json"}, 1,
              {"no/trace.json"});
  // A folder that somebody else's files are in.
  ExpectError({"dump", "@mlp.ingot", "-o", "@"}, 1, {Path("")});
}

TEST_F(CliFailureTest, ASetIsNotNamedAsALibrary) {
  CompileMlp();
  Do({"dump", "@mlp.ingot", "-o", "@mlp"});
  ExpectError({"compile", "@mlp.onnx", "-o", "@mlp.so"}, 2,
              {"mlp.so", "`ingot link`"});
  ExpectError({"pack", "@mlp", "-o", "@mlp.so"}, 2, {"`ingot link`"});
  ExpectError({"prepare", "@mlp.ingot", "-o", "@mlp.so"}, 2, {"`ingot link`"});
}

TEST_F(CliFailureTest, AModelThatIsNoFunctionHasNoHeaderAndNoFolder) {
  // Another target's region is in the way.
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--quiet",
      "--target=dnnl,llvm"});
  EXPECT_THAT(Do({"inspect", "@mlp.ingot"}),
              HasSubstr("is not made of loops of the target"));
  ExpectError({"link", "@mlp.ingot", "-o", "@mlp.so", "--header=@mlp.h"}, 1,
              {"the model cannot be one function", "not made of loops"});
  EXPECT_FALSE(std::filesystem::exists(Path("mlp.so")));
  // Code, but no C.
  CompileMlp();
  ExpectError({"export", "@mlp.ingot", "-o", "@folder"}, 1,
              {"mlp_kernels.o", "--target=c"});
  // No size that is known.
  WriteSymbolic(Path("symbolic.onnx"));
  Do({"compile", "@symbolic.onnx", "-o", "@s.ingot", "--quiet", "--target=c"});
  ExpectError({"export", "@s.ingot", "-o", "@folder"}, 1,
              {"symbolic dimensions", "--input-shape"});
  ExpectError({"export", "@s.ingot", "-o", "@folder", "--format=rust"}, 2,
              {"--format=rust"});
  EXPECT_FALSE(std::filesystem::exists(Path("folder")));
}

TEST_F(CliFailureTest, NativeCodeIsRefusedWhereAsked) {
  CompileMlp();
  Do({"link", "@mlp.ingot", "-o", "@mlp.so", "--quiet"});
  Do({"compile", "@mlp.onnx", "-o", "@jit.ingot", "--target=llvmjit",
      "--quiet"});
  for (const char* command : {"run", "bench"}) {
    ExpectError({command, "@mlp.ingot", "--no-native"}, 1,
                {Path("mlp.ingot"), "mlp.h is code", "only data"});
    ExpectError({command, "@mlp.so", "--no-native"}, 1,
                {Path("mlp.so"), "a library is native code"});
    ExpectError({command, "@jit.ingot", "--no-native"}, 1,
                {Path("jit.ingot"), ".bc is code"});
  }
}

TEST_F(CliFailureTest, LimitsOfMemoryAndTime) {
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "a sanitizer ends the program where memory ends";
#endif
  // The model's own words do not matter: the limits hold while it compiles.
  ExpectError(
      {"compile", "@conv.onnx", "-o", "@x", "--max-memory=100K"}, 1,
      {Path("conv.onnx"), "needs more memory than 100.0 KiB", "--max-memory"});
  ExpectError({"compile", "@conv.onnx", "-o", "@x", "--max-seconds=0.001"}, 1,
              {Path("conv.onnx"), "not done after 1 ms", "--max-seconds"});
  ExpectError({"list", "@x", "--max-memory=lots"}, 2, {"'lots' is no size"});
  ExpectError({"list", "@x", "--max-seconds=-1"}, 2, {"--max-seconds=-1"});
  EXPECT_THAT(FilesIn(Path("")), ElementsAre("conv.onnx", "mlp.onnx"));
}

TEST_F(CliFailureTest, AFullDiskLeavesTheOldFiles) {
  WriteFileBytes(Path("out.ingot"), "old");
  WriteFileBytes(Path("out.so"), "old");
  CompileMlp();
  CommandOptions full;
  full.max_file_size = 1500;
  ExpectError({"compile", "@mlp.onnx", "-o", "@out.ingot"}, 1, {"out.ingot"},
              full);
  EXPECT_EQ(ReadFile(Path("out.ingot")), "old");
  ExpectError({"link", "@mlp.ingot", "-o", "@out.so"}, 1, {}, full);
  EXPECT_EQ(ReadFile(Path("out.so")), "old");
  ExpectError({"dump", "@mlp.ingot", "-o", "@dump"}, 1, {}, full);
  EXPECT_FALSE(std::filesystem::exists(Path("dump/manifest.json")));
  EXPECT_THAT(
      FilesIn(Path("")),
      ElementsAre("conv.onnx", "mlp.ingot", "mlp.onnx", "out.ingot", "out.so"));
}

TEST_F(CliFailureTest, EveryTruncationIsFound) {
  const std::string good = CompileMlp();
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{16}, size_t{63}, size_t{64}, size_t{200},
        good.size() / 2, good.size() - 1}) {
    WriteFileBytes(Path("cut.ingot"), good.substr(0, size));
    ExpectError({"run", "@cut.ingot"}, 1, {"cut.ingot"});
    ExpectError({"list", "@cut.ingot"}, 1, {"cut.ingot"});
  }
  WriteFileBytes(Path("long.ingot"), good + "x");
  ExpectError({"list", "@long.ingot"}, 1, {"long.ingot"});
}

TEST_F(CliFailureTest, EveryFlippedByteOfTheHeaderIsFound) {
  const std::string good = CompileMlp();
  for (size_t i = 0; i < 64; ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    WriteFileBytes(Path("bad.ingot"), bad);
    const CommandResult result = Ingot({"list", "@bad.ingot"});
    EXPECT_EQ(result.exit, 1) << i << result.out;
  }
}

TEST_F(CliFailureTest, DamagedManifestPlanAndCodeAreFound) {
  const std::string good = CompileMlp();
  std::vector<size_t> damage = {70, 100, 300};  // the manifest
  for (const char* name : {"plan.binpb", ".o"}) {
    size_t size = 0;
    const size_t offset = OffsetOf(good, name, &size);
    damage.insert(damage.end(), {offset, offset + size / 2, offset + size - 1});
  }
  for (const size_t at : damage) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x01);
    WriteFileBytes(Path("bad.ingot"), bad);
    ExpectError({"run", "@bad.ingot"}, 1, {"bad.ingot"});
    ExpectError({"link", "@bad.ingot", "-o", "@bad.so"}, 1, {"bad.ingot"});
  }
  EXPECT_FALSE(std::filesystem::exists(Path("bad.so")));
}

TEST_F(CliFailureTest, DamagedWeightsAreFoundWhenAsked) {
  std::string bad = CompileMlp();
  size_t size = 0;
  const size_t offset = OffsetOf(bad, "weights.safetensors", &size);
  bad[offset + size - 2] = static_cast<char>(bad[offset + size - 2] ^ 0x01);
  WriteFileBytes(Path("bad.ingot"), bad);
  EXPECT_EQ(Ingot({"run", "@bad.ingot"}).exit, 0);
  ExpectError({"run", "@bad.ingot", "--check-digests"}, 1,
              {"bad.ingot", "weights.safetensors"});
}

TEST_F(CliFailureTest, AnUnknownLoaderIsNamedWithTheKnownOnes) {
  CompileMlp();
  ArtifactSet set = ReadContainerFile(Path("mlp.ingot")).value();
  Artifact odd;
  odd.codegen_id = "odd";
  odd.loader = "mystery";
  odd.file_name = "engine.bin";
  odd.content = Blob::FromString("bytes\x01");
  ASSERT_TRUE(set.Add(odd).ok());
  ASSERT_TRUE(WriteContainer(set, Path("odd.ingot")).ok());
  ExpectError(
      {"run", "@odd.ingot"}, 1,
      {"odd.ingot", "odd/engine.bin", "mystery", "constants", "native"});
  EXPECT_THAT(Do({"list", "@odd.ingot"}), HasSubstr("mystery"));
  EXPECT_THAT(Do({"inspect", "@odd.ingot", "--artifact=engine.bin"}),
              HasSubstr("62 79 74 65 73 01"));
}

TEST_F(CliFailureTest, AMissingCpuFeatureIsNamed) {
  CompileMlp();
  ArtifactSet set = ReadContainerFile(Path("mlp.ingot")).value();
  MutableTargetKey(&set.mutable_provenance(), "host")
      ->add_cpu_features("quantum2");
  ASSERT_TRUE(WriteContainer(set, Path("odd.ingot")).ok());
  ExpectError({"run", "@odd.ingot"}, 1, {"odd.ingot", "quantum2"});
}

TEST_F(CliFailureTest, EditsNeedToBeAccepted) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--dump=@dump"});
  const std::string weights = Path("dump/host/ingot/weights.safetensors");
  std::string bytes = ReadFile(weights);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  WriteFileBytes(weights, bytes);
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{
           {"pack", "@dump", "-o", "@edited.ingot"},
           {"run", "@dump"},
           {"list", "@dump"},
           {"dump", "@dump", "-o", "@again"},
           {"export", "@dump", "-o", "@mlf", "--format=mlf"},
           {"link", "@dump", "-o", "@edited.so"}}) {
    ExpectError(args, 1, {"weights.safetensors"});
    std::vector<std::string> accepted = args;
    accepted.push_back("--accept-edits");
    Do(accepted);
  }
}

// Notes are written for people and never read back.
TEST_F(CliFailureTest, AnEditedNoteIsTold) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--dump=@dump"});
  const std::string note = Path("dump/host/ingot/weights.safetensors.txt");
  WriteFileBytes(note, ReadFile(note) + "an edit\n");
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{
           {"pack", "@dump", "-o", "@again.ingot"},
           {"pack", "@dump", "-o", "@again.ingot", "--accept-edits"},
           {"run", "@dump"},
           {"list", "@dump"},
           {"link", "@dump", "-o", "@again.so"}}) {
    const CommandResult result = Ingot(args);
    EXPECT_EQ(result.exit, 0) << result.err;
    EXPECT_THAT(
        result.err,
        HasSubstr(
            "weights.safetensors.txt was edited, but it only describes "));
    EXPECT_THAT(result.err, HasSubstr("edit " + Path("dump/host/ingot") +
                                      "/weights.safetensors itself\n"));
  }
  EXPECT_EQ(ReadFile(Path("again.ingot")), ReadFile(Path("mlp.ingot")));
}

TEST_F(CliFailureTest, OtherFilesAreNotTakenForSets) {
  WriteFileBytes(Path("text.ingot"), "hello");
  ExpectError({"list", "@text.ingot"}, 1, {"text.ingot"});
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{
           {"list", "@mlp.onnx"},
           {"link", "@mlp.onnx", "-o", "@x.so"},
           {"export", "@mlp.onnx", "-o", "@x"}}) {
    ExpectError(args, 1, {"is a model and not a set"});
  }
  ExpectError({"list", "@"}, 1, {"manifest.json"});
  ExpectError({"run", getenv("INGOT_BINARY")}, 1, {});
  ExpectError({"list", getenv("INGOT_BINARY")}, 1,
              {"library without artifacts"});
}

TEST_F(CliFailureTest, OutputThatNobodyReadsIsNoSuccess) {
  // Output that cannot be written is an error, too.
  const CommandResult result =
      RunCommand({"/bin/sh", "-c",
                  std::string(getenv("INGOT_BINARY")) + " help > /dev/full"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.err, HasSubstr("stdout"));
}

}  // namespace
}  // namespace ingot

#include "tools/export_c/export_c.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "artifact/constants_symbol.h"
#include "artifact/main_header.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlan[] = R"(
  entry: 'net' devices { kind: 'cpu' }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } } tensors { name: 'x' type: 0   input: 0 }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } } tensors { name: 'w' type: 1  
            constant: 'w' }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } } tensors { name: 'h*/' type: 2  
            storage: 0 }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } } tensors { name: 'y' type: 3  
            storage: 0 offset: 64 }
  inputs: 0 outputs: 3 storage { bytes { value: 72 } }
  calls { function: 'net_f' args: [0, 1, 2] num_outputs: 1 }
  calls { function: 'net_f' args: [2, 1, 3] num_outputs: 1 })";

class ExportCTest : public testing::Test {
 protected:
  ExportCTest() {
    Plan plan;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kPlan, &plan));
    plan.set_version(kPlanVersion);
    AssignPhases(&plan);
    EXPECT_TRUE(CheckPlan(plan).ok()) << CheckPlan(plan);
    set_.mutable_provenance().set_symbol_prefix("net");
    Add("ingot", kMetadataLoader, "plan.binpb", plan.SerializeAsString());
    Tensor w = *Tensor::Empty(DataType::Float(32), {2});
    w.mutable_data<float>()[0] = 1.0f;  // 00 00 80 3f
    w.mutable_data<float>()[1] = -2.0f;
    weights_ = std::string(SafetensorsToBlob({{"w", w}})->view());
    symbol_ = FindConstantsSymbol("net", weights_)->name;
  }

  void Add(const std::string& codegen, const std::string& loader,
           const std::string& name, const std::string& content) {
    Artifact artifact;
    artifact.codegen_id = codegen;
    artifact.loader = loader;
    artifact.file_name = name;
    artifact.content = Blob::FromString(content);
    EXPECT_TRUE(set_.Add(std::move(artifact)).ok());
  }
  void AddWeights() {
    Add("ingot", kConstantsLoader, "weights.safetensors", weights_);
  }
  void AddHeader(const std::string& text = "#define NET_ARENA_BYTES 64\n") {
    Add("ingot", kNativeLoader, "net.h", text);
  }
  void AddKernels(const std::string& symbol) {
    Add("c", kNativeLoader, "net_kernels.c",
        absl::StrCat("/* ingot: cflags=-O2 */\nextern ", symbol, ";\n"));
  }

  std::string Error() {
    const auto folder = ExportC(set_);
    return std::string(folder.status().message());
  }

  ArtifactSet set_;
  std::string weights_, symbol_;
};

TEST_F(ExportCTest, WritesAFolder) {
  AddWeights();
  AddHeader();
  AddKernels(symbol_);
  const auto folder = ExportC(set_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  std::string names;
  for (const auto& [name, text] : folder->files) names += name + " ";
  EXPECT_EQ(names,
            "CMakeLists.txt Makefile README.md net.h net_arena.c net_arena.h "
            "net_kernels.c net_weights.c ");
  const auto file = [&](const char* name) { return folder->files.at(name); };
  EXPECT_EQ(
      file("net_kernels.c"),
      absl::StrCat("#define INGOT_FREESTANDING 1\nextern ", symbol_, ";\n"));
  EXPECT_THAT(file("net_weights.c"),
              HasSubstr(absl::StrCat("const uint8_t ", symbol_,
                                     "[8] INGOT_ALIGNED = {\n/* w: f32[2] */\n"
                                     "0,0,128,63,0,0,0,192,\n};\n")));
  EXPECT_THAT(file("net_arena.c"),
              HasSubstr("unsigned char net_arena[NET_ARENA_BYTES + 1];"));
  EXPECT_THAT(file("Makefile"),
              HasSubstr("OBJECTS = net_arena.o net_kernels.o net_weights.o"));
  EXPECT_THAT(file("README.md"), HasSubstr("| arena | 64 | 0 |"));
  // 8 bytes in, 8 out and the arena; y is the caller's, h is in the arena.
  EXPECT_EQ(folder->memory.ram(), 80u);
  EXPECT_EQ(folder->memory.rom(), 8u);
  EXPECT_THAT(file("README.md"), HasSubstr("| arena h*/ | 8 | 0 |"));
  EXPECT_THAT(file("README.md"), Not(HasSubstr("arena y")));
}

TEST_F(ExportCTest, SaysWhatIsInTheWay) {
  EXPECT_THAT(Error(), HasSubstr("compile it for --target=llvm or --target=c"));
  auto* option = set_.mutable_provenance().add_options();
  option->set_name(kNoMainOption);
  option->set_value("net_s works on sequences");
  EXPECT_EQ(Error(),
            "the model cannot be one function: net_s works on "
            "sequences");
  AddHeader("#define NET_ARENA_ALIGNMENT 64\n");
  EXPECT_THAT(Error(), HasSubstr("compile the model for --target=c"));
  AddKernels("net_constants_other");
  EXPECT_THAT(Error(), HasSubstr("no line '#define NET_ARENA_BYTES"));
}

TEST_F(ExportCTest, RefusesWeightsOfAnotherLayout) {
  AddHeader();
  AddKernels("net_constants_other");
  AddWeights();
  EXPECT_EQ(Error(),
            "host/ingot/weights.safetensors is not laid out as the "
            "code was compiled for");
}

TEST_F(ExportCTest, RefusesCodeOfOtherTargets) {
  AddHeader();
  AddKernels(symbol_);
  Add("dnnl", "dnnl", "net_0.json", "{}");
  EXPECT_THAT(Error(), HasSubstr("host/dnnl/net_0.json is not C; compile"));
}

// A library's glue, for example, as it is but for the request to a host's
// compiler.
TEST_F(ExportCTest, TakesCThatKernelsCallAlong) {
  AddWeights();
  AddHeader();
  AddKernels(symbol_);
  Add("lib", kNativeLoader, "lib_calls.c",
      "/* ingot: cflags=-O2 */\n#include \"lib.h\"\n");
  Add("lib", kNativeLoader, "lib.h", "int call(void);\n");
  const auto folder = ExportC(set_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(folder->files.at("lib_calls.c"),
            "#define INGOT_FREESTANDING 1\n#include \"lib.h\"\n");
  EXPECT_EQ(folder->files.at("lib.h"), "int call(void);\n");
  EXPECT_THAT(folder->files.at("Makefile"),
              HasSubstr("OBJECTS = lib_calls.o net_arena.o"));
}

TEST_F(ExportCTest, RefusesFilesOfOneName) {
  AddHeader();
  AddKernels("net_constants_other");
  Add("lib", kNativeLoader, "net_arena.c", "int x;\n");
  EXPECT_EQ(Error(),
            "host/lib/net_arena.c has the name of another file of the folder");
}

}  // namespace
}  // namespace ingot

#include "tools/export_mlf/export_mlf.h"

#include <cstring>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The first call has a workspace, `s`.
constexpr char kPlan[] = R"(
  entry: 'net' devices { kind: 'cpu' }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } } tensors { name: 'x' type: 0   input: 0 }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } } tensors { name: 'w' type: 1  
            constant: 'w' }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } } tensors { name: 'h' type: 2  
            storage: 0 }
  types { dtype { code: 1 bits: 8 } shape { value: 24 } } tensors { name: 's' type: 3  
            storage: 1 }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } } tensors { name: 'y' type: 4  
            storage: 0 offset: 64 }
  inputs: 0 outputs: 4
  storage { bytes { value: 72 } } storage { bytes { value: 24 } }
  calls { function: 'net_f' args: [0, 1, 2, 3] num_outputs: 2 }
  calls { function: 'net_g' args: [2, 1, 4] num_outputs: 1 })";

class ExportMlfTest : public testing::Test {
 protected:
  ExportMlfTest() {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kPlan, &plan_));
    plan_.set_version(kPlanVersion);
    AssignPhases(&plan_);
    EXPECT_TRUE(CheckPlan(plan_).ok()) << CheckPlan(plan_);
    Tensor w = *Tensor::Empty(DataType::Float(32), {2});
    w.mutable_data<float>()[0] = 1.0f;
    w.mutable_data<float>()[1] = -2.0f;
    Provenance& provenance = set_.mutable_provenance();
    provenance.set_symbol_prefix("net");
    provenance.set_target("dsp: example_npu,llvm");
    Add("ingot", kConstantsLoader, "weights.safetensors", kDefaultTargetKey,
        std::string(SafetensorsToBlob({{"w", w}})->view()));
    Add("llvm", kNativeLoader, "net_kernels.o", kDefaultTargetKey, "object");
    Add("ingot", kNativeLoader, "net.h", kDefaultTargetKey, "header");
    Add("c", kNativeLoader, "net.c", "dsp", "source");
    Add("example_npu", "example_npu", "region.bin", "dsp", "stream");
  }

  void Add(const std::string& codegen, const std::string& loader,
           const std::string& name, const std::string& key,
           const std::string& content) {
    Artifact artifact;
    artifact.codegen_id = codegen;
    artifact.loader = loader;
    artifact.file_name = name;
    artifact.target_key = key;
    artifact.content = Blob::FromString(content);
    EXPECT_TRUE(set_.Add(std::move(artifact)).ok());
  }

  std::map<std::string, std::string> Export(const std::string& relay = "") {
    Add("ingot", kMetadataLoader, "plan.binpb", kDefaultTargetKey,
        plan_.SerializeAsString());
    const auto files = ExportMlf(set_, relay, absl::FromUnixSeconds(86400));
    EXPECT_TRUE(files.ok()) << files.status();
    return files.ok() ? *files : std::map<std::string, std::string>();
  }

  Plan plan_;
  ArtifactSet set_;
};

TEST_F(ExportMlfTest, HasAFolderForEachTargetKey) {
  std::vector<std::string> paths;
  for (const auto& [path, content] : Export("module {}\n")) {
    paths.push_back(path);
  }
  EXPECT_THAT(paths,
              ElementsAre("codegen/dsp/example_npu/region.bin",
                          "codegen/dsp/src/net.c", "codegen/host/include/net.h",
                          "codegen/host/lib/net_kernels.o",
                          "executor-config/plan/plan.json", "metadata.json",
                          "parameters/net.params", "src/relay.txt"));
}

TEST_F(ExportMlfTest, MetadataSaysWhatMemoryFunctionsNeed) {
  const json metadata = json::parse(Export()["metadata.json"]);
  EXPECT_EQ(metadata["version"], 7);
  const json& net = metadata["modules"]["net"];
  EXPECT_EQ(net["model_name"], "net");
  EXPECT_EQ(net["export_datetime"], "1970-01-02 00:00:00Z");
  EXPECT_EQ(net["target"], json({"dsp: example_npu", "llvm"}));
  EXPECT_EQ(net["executors"], json({"plan", "aot"}));
  EXPECT_EQ(net["style"], "full-model");
  EXPECT_EQ(net["memory"]["functions"]["main"], json::parse(R"([{
      "device": 1, "workspace_size_bytes": 96, "constants_size_bytes": 8,
      "io_size_bytes": 16, "inputs": {"x": {"size": 8, "dtype": "float32"}},
      "outputs": {"y": {"size": 8, "dtype": "float32"}}}])"));
  EXPECT_EQ(net["memory"]["functions"]["operator_functions"], json::parse(R"([
      {"function_name": "net_f",
       "workspace": [{"device": 1, "workspace_size_bytes": 24}]},
      {"function_name": "net_g",
       "workspace": [{"device": 1, "workspace_size_bytes": 0}]}])"));
}

TEST_F(ExportMlfTest, ATargetKeepsTheCommasOfItsOptions) {
  set_.mutable_provenance().set_target(
      "dnnl, llvm -mattr=+avx2,+fma,-avx512f,c -cflags=\"a,\\\",b\"");
  const json metadata = json::parse(Export()["metadata.json"]);
  EXPECT_EQ(metadata["modules"]["net"]["target"],
            json({"dnnl", "llvm -mattr=+avx2,+fma,-avx512f",
                  "c -cflags=\"a,\\\",b\""}));
}

// Either side of the branch has one call, with a workspace of 24 bytes.
constexpr char kBranch[] = R"(
  entry: 'net' devices { kind: 'cpu' }
  types { dtype { code: 6 bits: 8 } }
  types { dtype { code: 2 bits: 32 } shape { value: 2 } }
  tensors { name: 'c' type: 0 input: 0 }
  tensors { name: 'x' type: 1 input: 1 }
  tensors { name: 'y' type: 1 storage: 0 }
  inputs: [0, 1] outputs: 2 storage { bytes { value: 8 } }
  calls { args: [0, 1, 2] num_outputs: 1 branch { then_body: 0 else_body: 1 } })";

constexpr char kBody[] = R"(
  types { dtype { code: 2 bits: 32 } shape { value: 2 } }
  types { dtype { code: 1 bits: 8 } shape { value: 24 } }
  tensors { name: 'x' type: 0 input: 0 }
  tensors { name: 's' type: 1 storage: 0 }
  tensors { name: 'y' type: 0 storage: 0 offset: 64 }
  inputs: 0 outputs: 2 storage { bytes { value: 72 } }
  calls { function: 'net_f' args: [0, 1, 2] num_outputs: 2 })";

TEST_F(ExportMlfTest, MetadataCountsWhatIsInBodies) {
  plan_ = Plan();
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kBranch, &plan_));
  for (const char* function : {"net_f", "net_g"}) {
    Plan* body = plan_.add_bodies();
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kBody, body));
    body->mutable_calls(0)->set_function(function);
    AssignPhases(body);
  }
  plan_.set_version(kPlanVersion);
  AssignPhases(&plan_);
  ASSERT_TRUE(CheckPlan(plan_).ok()) << CheckPlan(plan_);
  const json metadata = json::parse(Export()["metadata.json"]);
  const json& memory = metadata["modules"]["net"]["memory"]["functions"];
  EXPECT_EQ(memory["main"][0]["workspace_size_bytes"], 8 + 72 + 72);
  EXPECT_EQ(memory["operator_functions"], json::parse(R"([
      {"function_name": "net_f",
       "workspace": [{"device": 1, "workspace_size_bytes": 24}]},
      {"function_name": "net_g",
       "workspace": [{"device": 1, "workspace_size_bytes": 24}]}])"));
}

// The format's bytes, one after the other, as TVM's source has them.
TEST_F(ExportMlfTest, WritesWeightsAsTvmReadsThem) {
  const std::string file = Export()["parameters/net.params"];
  const unsigned char expected[] = {
      0xb7, 0x9c, 0x04, 0x05, 0x4f, 0x8d, 0xe5, 0xf7,  // of a list
      0,    0,    0,    0,    0,    0,    0,    0,     // reserved
      1,    0,    0,    0,    0,    0,    0,    0,     // one name
      1,    0,    0,    0,    0,    0,    0,    0,    'w',
      1,    0,    0,    0,    0,    0,    0,    0,     // one array
      0x3f, 0xa1, 0xb4, 0x96, 0xf0, 0x40, 0x5e, 0xdd,  // of an array
      0,    0,    0,    0,    0,    0,    0,    0,     // reserved
      1,    0,    0,    0,    0,    0,    0,    0,     // the first CPU
      1,    0,    0,    0,                             // dimensions
      2,    32,   1,    0,                             // float32
      2,    0,    0,    0,    0,    0,    0,    0,     // the shape
      8,    0,    0,    0,    0,    0,    0,    0,     // bytes
      0,    0,    0x80, 0x3f, 0,    0,    0,    0xc0};
  ASSERT_EQ(file.size(), sizeof(expected));
  EXPECT_EQ(memcmp(file.data(), expected, sizeof(expected)), 0);
}

TEST_F(ExportMlfTest, ThePlanIsJson) {
  const json plan = json::parse(Export()["executor-config/plan/plan.json"]);
  EXPECT_EQ(plan["calls"].size(), 2u);
  EXPECT_EQ(plan["calls"][0]["function"], "net_f");
  EXPECT_EQ(plan["tensors"][1]["constant"], "w");
}

TEST_F(ExportMlfTest, RefusesTwoCodegensFilesOfOneName) {
  Add("ingot", kMetadataLoader, "plan.binpb", kDefaultTargetKey,
      plan_.SerializeAsString());
  Add("mine", kNativeLoader, "net.c", "dsp", "another source");
  EXPECT_THAT(
      std::string(ExportMlf(set_, "", absl::UnixEpoch()).status().message()),
      HasSubstr("dsp/mine/net.c and another artifact would both be "
                "codegen/dsp/src/net.c"));
}

TEST_F(ExportMlfTest, RefusesWhatTheFormatCannotSay) {
  plan_.add_symbols()->set_name("n");
  DimExpr* dim = plan_.mutable_types(0)->mutable_shape(0);
  dim->set_op(DimExpr::SYMBOL);
  dim->set_value(0);
  AssignPhases(&plan_);
  ASSERT_TRUE(CheckPlan(plan_).ok()) << CheckPlan(plan_);
  Add("ingot", kMetadataLoader, "plan.binpb", kDefaultTargetKey,
      plan_.SerializeAsString());
  EXPECT_THAT(
      std::string(ExportMlf(set_, "", absl::UnixEpoch()).status().message()),
      HasSubstr("--input-shape"));
  set_.mutable_provenance().add_variants()->set_name("v3");
  EXPECT_THAT(
      std::string(ExportMlf(set_, "", absl::UnixEpoch()).status().message()),
      HasSubstr("several variants"));
}

}  // namespace
}  // namespace ingot

#include "loaders/load_test_support.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "artifact/target_keys.h"
#include "loaders/native/linker.h"
#include "runtime/safetensors_writer.h"

namespace ingot::testing_support {
namespace {

PlanTensor* AddTensor(Plan* plan, const std::string& name, int64_t size) {
  PlanTensor* t = plan->add_tensors();
  t->set_name(name);
  t->set_type(static_cast<uint32_t>(plan->types_size()));
  PlanType* type = plan->add_types();
  type->mutable_dtype()->set_code(DataType::kFloat);
  type->mutable_dtype()->set_bits(32);
  type->add_shape()->set_value(size);
  return t;
}

Plan AddPlan() {
  Plan plan;
  plan.set_version(kPlanVersion);
  plan.set_entry("add");
  plan.add_devices()->set_kind(kCpuDeviceKind);
  plan.add_phases();
  AddTensor(&plan, "x", 3)->set_input(0);
  AddTensor(&plan, "w", 1)->set_constant("w");
  AddTensor(&plan, "y", 3)->set_storage(0);
  plan.add_inputs(0);
  plan.add_outputs(2);
  plan.add_storage()->add_bytes()->set_value(64);
  PlanCall* call = plan.add_calls();
  call->set_function("add");
  for (int i = 0; i < 3; ++i) call->add_args(i);
  call->set_num_outputs(1);
  return plan;
}

}  // namespace

Blob Weights(float w) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32), {1});
  *tensor.mutable_data<float>() = w;
  return *SafetensorsToBlob({{"w", tensor}});
}

Artifact Make(const std::string& codegen, const std::string& loader,
              const std::string& file, Blob content) {
  Artifact artifact;
  artifact.codegen_id = codegen;
  artifact.loader = loader;
  artifact.file_name = file;
  artifact.content = std::move(content);
  return artifact;
}

Artifact Make(const std::string& codegen, const std::string& loader,
              const std::string& file, std::string content) {
  return Make(codegen, loader, file, Blob::FromString(std::move(content)));
}

ArtifactSet AddSet(const std::string& source) {
  ArtifactSet set;
  EXPECT_TRUE(set.Add(Make("ingot", kMetadataLoader, "plan.binpb",
                           AddPlan().SerializeAsString()))
                  .ok());
  EXPECT_TRUE(
      set.Add(Make("ingot", kConstantsLoader, "w.safetensors", Weights(10)))
          .ok());
  EXPECT_TRUE(set.Add(Make("c", kNativeLoader, "add.c", source)).ok());
  return set;
}

Provenance::TargetKey* HostKey(ArtifactSet* set) {
  return MutableTargetKey(&set->mutable_provenance(), "host");
}

LoaderRegistry CoreLoaders() {
  LoaderRegistry loaders;
  EXPECT_TRUE(RegisterCoreLoaders(&loaders).ok());
  return loaders;
}

std::string TestFile(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void ExpectAddsTen(const absl::StatusOr<LoadedModel>& model) {
  ASSERT_TRUE(model.ok()) << model.status();
  auto executor = CreateExecutor(*model);
  ASSERT_TRUE(executor.ok()) << executor.status();
  Tensor x = *Tensor::Empty(DataType::Float(32), {3});
  for (int i = 0; i < 3; ++i) x.mutable_data<float>()[i] = i;
  auto out = (*executor)->Run({x});
  ASSERT_TRUE(out.ok()) << out.status();
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*out)[0].data<float>()[i], i + 10);
}

LoadTest::LoadTest() {
  setenv("XDG_CACHE_HOME", testing::TempDir().c_str(), 1);
  options_.link = [this](const ArtifactSet& set) {
    return LinkCached(set, [this](absl::string_view line) {
      reports_.push_back(std::string(line));
    });
  };
}

}  // namespace ingot::testing_support

#include "loaders/load.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/container.h"
#include "gtest/gtest.h"
#include "loaders/native/linker.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

// A kernel that adds its second operand, one element, to each element of its
// first, written by hand against the C ABI.
constexpr char kAddSource[] = R"(/* ingot: cc=cc cflags=-O2 */
#include <stdint.h>
typedef struct { int32_t type, pad; void *ptr; } Any;
typedef struct {
  void *data; int32_t device[2]; int32_t ndim; uint8_t code, bits;
  uint16_t lanes; int64_t *shape, *strides; uint64_t byte_offset;
} Tensor;
int __tvm_ffi_add(void *self, const Any *args, int32_t n, Any *result) {
  const Tensor *a = args[0].ptr, *b = args[1].ptr, *c = args[2].ptr;
  for (int64_t i = 0; i < a->shape[0]; ++i)
    ((float *)c->data)[i] = ((float *)a->data)[i] + ((float *)b->data)[0];
  return 0;
}
)";

void AddDim(PlanTensor* tensor, int64_t size) {
  tensor->add_shape()->set_value(size);
}

PlanTensor* AddTensor(Plan* plan, const std::string& name, int64_t size) {
  PlanTensor* t = plan->add_tensors();
  t->set_name(name);
  t->mutable_dtype()->set_code(DataType::kFloat);
  t->mutable_dtype()->set_bits(32);
  AddDim(t, size);
  return t;
}

Plan AddPlan() {
  Plan plan;
  plan.set_version(kPlanVersion);
  plan.set_entry("add");
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

ArtifactSet AddSet(const std::string& source = kAddSource) {
  ArtifactSet set;
  EXPECT_TRUE(set.Add(Make("ingot", "metadata", "plan.binpb",
                           AddPlan().SerializeAsString()))
                  .ok());
  EXPECT_TRUE(
      set.Add(Make("ingot", "constants", "w.safetensors", Weights(10))).ok());
  EXPECT_TRUE(set.Add(Make("c", "native", "add.c", source)).ok());
  return set;
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

class LoadTest : public testing::Test {
 protected:
  LoadTest() {
    setenv("XDG_CACHE_HOME", testing::TempDir().c_str(), 1);
    options_.link = [this](const ArtifactSet& set) {
      return LinkCached(set, [this](absl::string_view line) {
        reports_.push_back(std::string(line));
      });
    };
  }
  LoadOptions options_;
  std::vector<std::string> reports_;
};

TEST_F(LoadTest, LinksAnUnlinkedSetOnceAndSaysSo) {
  const LoaderRegistry loaders = CoreLoaders();
  // Content of its own, so that no other test has linked it.
  const ArtifactSet set = AddSet(absl::StrCat(kAddSource, "/* once */\n"));
  ExpectAddsTen(Load(set, loaders, options_));
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(reports_[0], "linking"));
  ExpectAddsTen(Load(set, loaders, options_));
  EXPECT_EQ(reports_.size(), 1u);
}

TEST_F(LoadTest, LoadsEveryForm) {
  const LoaderRegistry loaders = CoreLoaders();
  const ArtifactSet set = AddSet();
  const std::string container = TestFile("add.ingot");
  const std::string library = TestFile("add.so");
  ASSERT_TRUE(WriteContainer(set, container).ok());
  absl::Status linked = LinkLibrary(set, library);
  ASSERT_TRUE(linked.ok()) << linked;
  ExpectAddsTen(LoadPath(container, loaders, options_));
  ExpectAddsTen(LoadPath(library, loaders));  // no linker needed
  ExpectAddsTen(LoadMemory(*Blob::MapFile(container), loaders, options_));
  ExpectAddsTen(LoadMemory(*Blob::MapFile(library), loaders));
}

TEST_F(LoadTest, TwoLibrariesFromMemoryStayApart) {
  const LoaderRegistry loaders = CoreLoaders();
  const std::string first = TestFile("first.so"),
                    second = TestFile("second.so");
  std::string subtract = kAddSource;
  subtract.replace(subtract.find("[i] + "), 6, "[i] - ");
  ASSERT_TRUE(LinkLibrary(AddSet(), first).ok());
  ASSERT_TRUE(LinkLibrary(AddSet(subtract), second).ok());
  auto a = LoadMemory(*Blob::MapFile(first), loaders);
  auto b = LoadMemory(*Blob::MapFile(second), loaders);
  ExpectAddsTen(a);
  ASSERT_TRUE(b.ok()) << b.status();
  Tensor x = *Tensor::Empty(DataType::Float(32), {3});
  x.mutable_data<float>()[0] = 1;
  auto out = (*CreateExecutor(*b))->Run({x});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].data<float>()[0], -9);
}

TEST_F(LoadTest, ALibraryMayCarryOnlyItsContainer) {
  ArtifactSet set;
  ASSERT_TRUE(
      set.Add(Make("ingot", "constants", "w.safetensors", Weights(3))).ok());
  const std::string path = TestFile("data.so");
  const absl::Status linked = LinkLibrary(set, path);
  ASSERT_TRUE(linked.ok()) << linked;
  const auto model = LoadPath(path, CoreLoaders());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->constants.at("w").data<float>()[0], 3);
  EXPECT_EQ(model->host->kind(), "native");
}

TEST_F(LoadTest, LinkingIsDeterministic) {
  const std::string a = TestFile("a.so"), b = TestFile("b.so");
  ASSERT_TRUE(LinkLibrary(AddSet(), a).ok());
  ASSERT_TRUE(LinkLibrary(AddSet(), b).ok());
  EXPECT_EQ(ReadFile(a), ReadFile(b));
}

// LLD itself does not survive this.
TEST_F(LoadTest, LinksManyTimesInOneProcess) {
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(LinkLibrary(AddSet(), TestFile("many.so")).ok());
  }
}

TEST_F(LoadTest, DuplicateSymbolNamesBothArtifacts) {
  ArtifactSet set = AddSet();
  ASSERT_TRUE(set.Add(Make("other", "native", "again.c", kAddSource)).ok());
  const absl::Status status = LinkLibrary(set, TestFile("dup.so"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "__tvm_ffi_add")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "host/c/add.c")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "host/other/again.c"))
      << status;
  EXPECT_FALSE(absl::StrContains(status.message(), "/tmp/")) << status;
}

TEST_F(LoadTest, UndefinedSymbolNamesTheArtifact) {
  ArtifactSet set = AddSet();
  ASSERT_TRUE(set.Add(Make("other", "native", "calls.c",
                           "void nowhere(void);\n"
                           "int __tvm_ffi_f(void) { nowhere(); return 0; }\n"))
                  .ok());
  const std::string path = TestFile("undefined.so");
  std::ofstream(path) << "what was there";
  const absl::Status status = LinkLibrary(set, path);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "nowhere")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "host/other/calls.c"))
      << status;
  EXPECT_EQ(ReadFile(path), "what was there");
}

TEST_F(LoadTest, BadCNamesTheArtifact) {
  const absl::Status status =
      LinkLibrary(AddSet("this is not C\n"), TestFile("bad.so"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "host/c/add.c")) << status;
}

TEST_F(LoadTest, RefusesCompileRequestsThatReachOutside) {
  for (const char* line :
       {"/* ingot: cc=/bin/sh */\n", "/* ingot: cc=cc cflags=-fplugin=x */\n",
        "/* ingot: cc=cc cflags=-include/etc/passwd */\n",
        "/* ingot: cc=cc cflags=x.c */\n", "/* ingot: surprise */\n"}) {
    EXPECT_EQ(LinkLibrary(AddSet(line), TestFile("reach.so")).code(),
              absl::StatusCode::kInvalidArgument)
        << line;
  }
}

TEST_F(LoadTest, MissingLibraryIsNamed) {
  ArtifactSet set = AddSet();
  set.mutable_provenance().add_link_libraries("surely_not_installed");
  const absl::Status status = LinkLibrary(set, TestFile("nolib.so"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "surely_not_installed"));
}

TEST_F(LoadTest, MissingLibrarysPackageIsNamed) {
  ArtifactSet set = AddSet();
  set.mutable_provenance().add_link_libraries("surely_not:libsurely-not0");
  EXPECT_TRUE(absl::StrContains(
      LinkLibrary(set, TestFile("nolib.so")).message(),
      "the library 'surely_not' that the set needs is not installed on this "
      "machine; Debian's package libsurely-not0 has it"));
}

// A library that was there when the set was linked, and then is not any more.
TEST_F(LoadTest, LibraryThatIsGoneIsNamed) {
  ArtifactSet set = AddSet(
      "#include <zlib.h>\n"
      "const char* uses_it(void) { return zlibVersion(); }\n");
  set.mutable_provenance().add_link_libraries("z:zlib1g");
  const std::string path = TestFile("gone.so");
  ASSERT_EQ(LinkLibrary(set, path), absl::OkStatus());
  std::string bytes(Blob::MapFile(path)->view());
  const size_t name = bytes.find("libz.so.1");
  ASSERT_NE(name, std::string::npos);
  bytes.replace(name, 9, "libz.so.9");
  const absl::Status status =
      LoadMemory(Blob::FromString(bytes), CoreLoaders()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "libz.so.9: cannot open"))
      << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "Debian's package zlib1g"))
      << status;
}

TEST_F(LoadTest, UnknownLoaderIsFoundBeforeAnythingLoads) {
  ArtifactSet set = AddSet();
  ASSERT_TRUE(set.Add(Make("npu", "npu", "stream.bin", "x")).ok());
  const auto model = Load(set, CoreLoaders(), options_);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(model.status().message(), "'npu'"));
  EXPECT_TRUE(absl::StrContains(model.status().message(), "constants"));
  EXPECT_TRUE(
      absl::StrContains(model.status().message(), "host/npu/stream.bin"));
  EXPECT_TRUE(reports_.empty());
}

TEST_F(LoadTest, MissingCpuFeatureIsNamed) {
  ArtifactSet set = AddSet();
  set.mutable_provenance().add_cpu_features("avx9000");
  const auto model = Load(set, CoreLoaders(), options_);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(model.status().message(), "avx9000"));
}

TEST_F(LoadTest, NeedsALinkerOnlyForUnlinkedSets) {
  const auto model = Load(AddSet(), CoreLoaders());
  EXPECT_EQ(model.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(model.status().message(), "ingot link"));
}

TEST_F(LoadTest, GroupsLoadInOrderAndAreImported) {
  ArtifactSet set = AddSet();
  ASSERT_TRUE(set.Add(Make("a", "zeta", "1", "")).ok());
  ASSERT_TRUE(set.Add(Make("b", "alpha", "2", "")).ok());
  LoaderRegistry loaders = CoreLoaders();
  std::vector<std::string> order;
  for (const std::string name : {"zeta", "alpha"}) {
    ASSERT_TRUE(loaders
                    .Register(name,
                              [&order, name](absl::Span<const Artifact> group,
                                             LoadContext& context)
                                  -> absl::StatusOr<std::shared_ptr<Module>> {
                                EXPECT_EQ(group.size(), 1u);
                                EXPECT_EQ(context.plan.entry(), "add");
                                EXPECT_NE(context.library, nullptr);
                                order.push_back(name);
                                return std::make_shared<TableModule>(name);
                              })
                    .ok());
  }
  const auto model = Load(set, loaders, options_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(order, (std::vector<std::string>{"alpha", "zeta"}));
  ASSERT_EQ(model->host->imports().size(), 2u);
  EXPECT_EQ(model->host->kind(), "native");
  EXPECT_EQ(model->host->imports()[0]->kind(), "alpha");
}

TEST(LoaderRegistryTest, RefusesDuplicates) {
  LoaderRegistry loaders = CoreLoaders();
  EXPECT_EQ(RegisterCoreLoaders(&loaders).code(),
            absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace ingot

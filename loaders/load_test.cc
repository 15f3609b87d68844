#include "loaders/load.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/container.h"
#include "gtest/gtest.h"
#include "loaders/load_test_support.h"
#include "loaders/native/linker.h"

namespace ingot {
namespace {

using testing_support::AddSet;
using testing_support::CoreLoaders;
using testing_support::ExpectAddsTen;
using testing_support::HostKey;
using testing_support::kAddSource;
using testing_support::LoadTest;
using testing_support::Make;
using testing_support::TestFile;
using testing_support::Weights;

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

// A program that loads several knows which.
TEST_F(LoadTest, ErrorsNameTheFileOnce) {
  const std::string unlinked = TestFile("unlinked.ingot");
  ASSERT_EQ(WriteContainer(AddSet(), unlinked), absl::OkStatus());
  EXPECT_EQ(LoadPath(unlinked, CoreLoaders()).status(),
            absl::FailedPreconditionError(absl::StrCat(
                unlinked,
                ": the set has native code that is not linked, and this "
                "program has no linker; make a library of it with `ingot "
                "link`")));
  const std::string none = TestFile("none.so");
  EXPECT_EQ(LoadPath(none, CoreLoaders()).status().message(),
            absl::StrCat("cannot open ", none, ": No such file or directory"));
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

// A library that was there when the set was linked, and then is not any more.
TEST_F(LoadTest, LibraryThatIsGoneIsNamed) {
  ArtifactSet set = AddSet(
      "#include <zlib.h>\n"
      "const char* uses_it(void) { return zlibVersion(); }\n");
  HostKey(&set)->add_link_libraries("z:zlib1g");
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

TEST_F(LoadTest, CodeIsRefusedWhereOnlyDataIsToBeLoaded) {
  LoaderRegistry loaders = CoreLoaders();
  bool ran = false;
  const auto load =
      [&ran](absl::Span<const Artifact>,
             LoadContext&) -> absl::StatusOr<std::shared_ptr<Module>> {
    ran = true;
    return nullptr;
  };
  ASSERT_TRUE(loaders.Register("graph", load).ok());
  ASSERT_TRUE(loaders.Register("jit", load, LoaderInput::kCode).ok());
  options_.only_data = true;

  ArtifactSet data;
  ASSERT_TRUE(
      data.Add(Make("ingot", "constants", "w.safetensors", Weights(3))).ok());
  ASSERT_TRUE(data.Add(Make("npu", "graph", "g.json", "{}")).ok());
  EXPECT_TRUE(Load(data, loaders, options_).ok());
  EXPECT_TRUE(ran);

  ran = false;
  ArtifactSet bitcode = data;
  ASSERT_TRUE(bitcode.Add(Make("jit", "jit", "k.bc", "x")).ok());
  const std::string library = TestFile("add.so");
  ASSERT_TRUE(LinkLibrary(AddSet(), library).ok());
  for (const auto& [status, name] :
       std::vector<std::pair<absl::Status, std::string>>{
           {Load(AddSet(), loaders, options_).status(), "add.c"},
           {Load(bitcode, loaders, options_).status(), "k.bc"},
           {LoadPath(library, loaders, options_).status(), "a library"},
           {LoadMemory(*Blob::MapFile(library), loaders, options_).status(),
            "a library"}}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), name)) << status;
  }
  EXPECT_FALSE(ran);
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
  HostKey(&set)->add_cpu_features("avx9000");
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
                                EXPECT_EQ(context.plan->entry(), "add");
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

TEST_F(LoadTest, NamesALoaderThatThrows) {
  LoaderRegistry loaders = CoreLoaders();
  ASSERT_TRUE(loaders
                  .Register("npu",
                            [](absl::Span<const Artifact>, LoadContext&)
                                -> absl::StatusOr<std::shared_ptr<Module>> {
                              throw std::runtime_error("no driver");
                            })
                  .ok());
  ArtifactSet set = AddSet();
  ASSERT_TRUE(set.Add(Make("npu", "npu", "graph.bin", "x")).ok());
  const absl::Status status = Load(set, loaders, options_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "loader npu: threw an exception: no driver");
}

TEST(LoaderRegistryTest, RefusesDuplicates) {
  LoaderRegistry loaders = CoreLoaders();
  EXPECT_EQ(RegisterCoreLoaders(&loaders).code(),
            absl::StatusCode::kAlreadyExists);
  const absl::Status native = loaders.Register(
      kNativeLoader,
      [](absl::Span<const Artifact>,
         LoadContext&) -> absl::StatusOr<std::shared_ptr<Module>> {
        return absl::UnimplementedError("never asked");
      });
  EXPECT_EQ(native.code(), absl::StatusCode::kAlreadyExists) << native;
}

}  // namespace
}  // namespace ingot

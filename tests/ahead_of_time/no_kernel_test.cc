// Models whose outputs are constants and inputs call no kernel. They are code
// all the same: the function of the whole model, for the machine that they were
// compiled for.

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/target_keys.h"
#include "backends/testing/check_main.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/machines.h"
#include "loaders/native/linker.h"

namespace ingot {
namespace {

using testing_support::CompileFor;
using testing_support::HasMain;
using testing_support::RunModel;
using testing_support::StoreAndLoad;

constexpr char kConstant[] = R"(module {
  func @main(%x: f32[2]) -> (%c: "c", %x: "same", %c: "again") {
    %c = const f32[3] {1, 2, 3}
  }
})";

// No function that C could call gives a sequence: nothing at all is code.
constexpr char kSequence[] = R"(module {
  func @main(%x: f32[2]) -> (%s: "s") { %s = sequence_make(%x, %x) {dtype=f32} }
})";

absl::StatusOr<ArtifactSet> Compile(const std::string& target,
                                    absl::string_view text = kConstant) {
  auto module = relay::ReadModule(text);
  if (!module.ok()) return module.status();
  return CompileFor(module->get(), target);
}

class NoKernelTest : public testing::TestWithParam<const char*> {};

TEST_P(NoKernelTest, TheModelIsOneFunction) {
  const auto set = Compile(GetParam());
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(HasMain(*model));
  Tensor x = *Tensor::Empty(DataType::Float(32), {2});
  x.mutable_data<float>()[0] = 7;
  x.mutable_data<float>()[1] = 8;
  // RunModel compares both ways.
  const auto outputs = RunModel(*model, {x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].data<float>()[2], 3.0f);
  EXPECT_EQ((*outputs)[1].data<float>()[1], 8.0f);
  EXPECT_EQ((*outputs)[2].data<float>()[0], 1.0f);
}

INSTANTIATE_TEST_SUITE_P(Targets, NoKernelTest, testing::Values("llvm", "c"));

// The set of a model, linked for each family of machines, or where this one has
// its C library.
void ExpectLibrariesOfTheTarget(const std::string& kind,
                                absl::string_view model) {
  for (const isa::MachineFamily& family : isa::MachineFamilies()) {
    SCOPED_TRACE(family.name);
    const auto set =
        Compile(absl::StrCat(kind, " -mtriple=", family.gnu), model);
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(
        isa::FindByTriple(FindTargetKey(set->provenance(), "host").triple()),
        &family);
    const std::string path =
        absl::StrCat(testing::TempDir(), "/", family.name, ".so");
    // This machine may lack the other's C library, which the message says.
    if (!LinkLibrary(*set, path).ok() && &family != isa::HostFamily()) continue;
    const Blob library = *Blob::MapFile(path);
    Elf64_Ehdr header;
    ASSERT_GE(library.size(), sizeof(header));
    std::memcpy(&header, library.view().data(), sizeof(header));
    EXPECT_EQ(header.e_machine, family.elf_machine);
  }
}

TEST(NoKernel, TheLibraryIsForTheMachineOfTheTarget) {
  ExpectLibrariesOfTheTarget("llvm", kConstant);
}

TEST(NoKernel, SoIsALibraryWithoutCode) {
  ExpectLibrariesOfTheTarget("llvm", kSequence);
}

TEST(NoKernel, SoIsALibraryThatCarriesBitcode) {
  ExpectLibrariesOfTheTarget("llvmjit", R"(module {
    func @main(%x: f32[2]) -> (%y: "y") { %y = relu(%x) }
  })");
}

TEST(NoKernel, NothingIsLinkedForWebAssembly) {
  const auto set = Compile("llvm -mtriple=wasm32", kSequence);
  ASSERT_TRUE(set.ok()) << set.status();
  const absl::Status linked =
      LinkLibrary(*set, absl::StrCat(testing::TempDir(), "/wasm.so"));
  EXPECT_EQ(linked.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(linked.message()),
      testing::HasSubstr(
          "target key host: it is for wasm32-unknown-unknown, which Ingot does "
          "not link for"));
}

}  // namespace
}  // namespace ingot

// Code for other families of processors, from the compiler to libraries.

#include <elf.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/container.h"
#include "artifact/target_keys.h"
#include "backends/llvm/codegen.h"
#include "compiler/tir/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/machines.h"
#include "loaders/load.h"
#include "loaders/native/find_container.h"
#include "loaders/native/linker.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

// Adds a kernel `name`, compiled for the target, which may have a key.
void AddKernel(const std::string& target_text, const std::string& name,
               ArtifactSet* set) {
  const tir::PrimFunc kernel = *tir::Parse(
      absl::StrCat("func @", name,
                   "(%x: f32[64]) -> (%y: f32[64]) { vectorized i in "
                   "[0, 64) { %y[i] = exp(%x[i]) * 2.0f } }"));
  TargetRegistry registry;
  ASSERT_TRUE(RegisterLlvmTarget(&registry).ok());
  const Target target = *ParseTarget(target_text);
  const TargetKind& kind = **registry.Check(target);
  auto result = kind.tir_to_runtime(target, {kernel}, CodegenOptions());
  ASSERT_TRUE(result.ok()) << result.status();
  for (const Artifact& artifact : result->artifacts) {
    ASSERT_EQ(set->Add(artifact), absl::OkStatus());
  }
  Provenance::TargetKey* key =
      MutableTargetKey(&set->mutable_provenance(), target.key);
  key->set_triple(*kind.triple(target));
  for (const std::string& library : result->link_libraries) {
    key->add_link_libraries(library);
  }
}

uint16_t MachineOf(absl::string_view library) {
  Elf64_Ehdr header;
  EXPECT_GE(library.size(), sizeof(header));
  std::memcpy(&header, library.data(), sizeof(header));
  EXPECT_EQ(header.e_type, ET_DYN);
  return header.e_machine;
}

// Links the set. False, and no more to see, where this machine has no C library
// of `family`: the message must then say what to install.
bool Links(const ArtifactSet& set, const isa::MachineFamily& family,
           const std::string& path) {
  const absl::Status linked = LinkLibrary(set, path);
  if (linked.ok()) return true;
  EXPECT_EQ(linked.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(linked.message()),
      HasSubstr(absl::StrCat("the C library for ", family.name,
                             " is not installed on this machine; Debian's "
                             "package libc6-dev-",
                             family.debian, "-cross has it")));
  return false;
}

TEST(CrossLink, MakesLibrariesForOtherFamilies) {
  for (const isa::MachineFamily& family : isa::MachineFamilies()) {
    SCOPED_TRACE(family.name);
    ArtifactSet set;
    AddKernel(absl::StrCat("llvm -mtriple=", family.gnu, " -mcpu=generic"), "f",
              &set);
    const std::string path =
        absl::StrCat(testing::TempDir(), "/", family.name, ".so");
    const bool here = &family == isa::HostFamily();
    if (!Links(set, family, path) && !here) continue;
    const Blob library = *Blob::MapFile(path);
    EXPECT_EQ(MachineOf(library.view()), family.elf_machine);
    const auto carried = ReadContainer(*FindContainer(library));
    ASSERT_TRUE(carried.ok()) << carried.status();
    EXPECT_EQ(carried->provenance().library_key(), "host");
    const absl::Status loaded = LoadPath(path, LoaderRegistry()).status();
    if (here) {
      EXPECT_EQ(loaded, absl::OkStatus());
      continue;
    }
    EXPECT_EQ(loaded.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(loaded.message()),
                HasSubstr(absl::StrCat("target key host: its code is for ",
                                       family.name)));
  }
}

TEST(CrossLink, TwoFamiliesInOneSet) {
  const bool on_arm = isa::HostFamily()->elf_machine == EM_AARCH64;
  const isa::MachineFamily& other =
      *isa::FindByElf(on_arm ? EM_X86_64 : EM_AARCH64);
  ArtifactSet set;
  AddKernel("llvm", "f", &set);
  AddKernel(absl::StrCat("dsp: llvm -mtriple=", other.gnu), "g", &set);
  const std::string path = testing::TempDir() + "/two.so";
  if (!Links(set, other, path)) return;
  const Blob library = *Blob::MapFile(path);
  EXPECT_EQ(MachineOf(library.view()), isa::HostFamily()->elf_machine);
  const auto carried = ReadContainer(*FindContainer(library));
  ASSERT_TRUE(carried.ok()) << carried.status();
  const Artifact* dsp = carried->Find("dsp", "ingot", "linked.so");
  ASSERT_NE(dsp, nullptr);
  EXPECT_EQ(MachineOf(dsp->content.view()), other.elf_machine);

  for (const absl::Status& status : {LoadPath(path, LoaderRegistry()).status(),
                                     Load(set, LoaderRegistry()).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("target key dsp: its code is for ",
                                       other.name, ", and this machine is ",
                                       isa::HostFamily()->name)));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("this machine can run: host"));
  }
}

}  // namespace
}  // namespace ingot

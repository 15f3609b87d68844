// Linking, and loading what was linked.

#include <elf.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/container.h"
#include "artifact/target_keys.h"
#include "gtest/gtest.h"
#include "isa/machines.h"
#include "loaders/load.h"
#include "loaders/load_test_support.h"
#include "loaders/native/find_container.h"
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
using testing_support::ReadFile;
using testing_support::TestFile;

using LinkTest = LoadTest;

TEST_F(LinkTest, LinkingIsDeterministic) {
  const std::string a = TestFile("a.so"), b = TestFile("b.so");
  ASSERT_TRUE(LinkLibrary(AddSet(), a).ok());
  ASSERT_TRUE(LinkLibrary(AddSet(), b).ok());
  EXPECT_EQ(ReadFile(a), ReadFile(b));
}

TEST_F(LinkTest, ThreadsLinkAtOnceEvenIntoOneFile) {
  const std::string path = TestFile("many.so");
  std::vector<std::thread> threads;
  std::vector<absl::Status> done(4);
  for (absl::Status& status : done) {
    threads.emplace_back(
        [&status, &path] { status = LinkLibrary(AddSet(), path); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : done) EXPECT_EQ(status, absl::OkStatus());
  ExpectAddsTen(LoadPath(path, CoreLoaders()));
}

// A program that calls LLD, in a file of its own.
std::string WriteScript(const std::string& name, const std::string& lines) {
  const std::string path = TestFile(name);
  std::ofstream(path) << "#!/bin/sh\n" << lines << "\n";
  EXPECT_EQ(chmod(path.c_str(), 0755), 0);
  return path;
}

TEST_F(LinkTest, TheUsersLinkerIsUsed) {
  LinkOptions options;
  options.lld =
      WriteScript("my_lld", "echo \"$@\" > \"$0.log\"\nexec ld.lld-19 \"$@\"");
  const std::string library = TestFile("users_lld.so");
  ASSERT_EQ(LinkLibrary(AddSet(), library, options), absl::OkStatus());
  EXPECT_TRUE(absl::StrContains(ReadFile(options.lld + ".log"), "-shared"));
  ExpectAddsTen(LoadPath(library, CoreLoaders()));
}

TEST_F(LinkTest, AMissingLinkerIsNamedWithItsPackage) {
  LinkOptions options;
  options.lld = "surely_no_such_linker";
  const absl::Status status =
      LinkLibrary(AddSet(), TestFile("nolld.so"), options);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(status.message(), "surely_no_such_linker"))
      << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "lld-19")) << status;
}

TEST_F(LinkTest, ACrashOfTheLinkerIsAnError) {
  LinkOptions options;
  options.lld = WriteScript("crash", "echo stack >&2\nkill -SEGV $$");
  const std::string library = TestFile("crash.so");
  std::ofstream(library) << "what was there";
  const absl::Status status = LinkLibrary(AddSet(), library, options);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "signal 11; stack"))
      << status;
  EXPECT_EQ(ReadFile(library), "what was there");
}

TEST_F(LinkTest, DuplicateSymbolNamesBothArtifacts) {
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

TEST_F(LinkTest, UndefinedSymbolNamesTheArtifact) {
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

TEST_F(LinkTest, BadCNamesTheArtifact) {
  const absl::Status status =
      LinkLibrary(AddSet("this is not C\n"), TestFile("bad.so"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "host/c/add.c")) << status;
}

TEST_F(LinkTest, RefusesCompileRequestsThatReachOutside) {
  for (const char* line :
       {"/* ingot: cc=/bin/sh */\n", "/* ingot: cc=cc cflags=-fplugin=x */\n",
        "/* ingot: cc=cc cflags=-include/etc/passwd */\n",
        "/* ingot: cc=cc cflags=x.c */\n", "/* ingot: surprise */\n"}) {
    EXPECT_EQ(LinkLibrary(AddSet(line), TestFile("reach.so")).code(),
              absl::StatusCode::kInvalidArgument)
        << line;
  }
}

// A set cannot choose the program that linking starts: here one that would run
// the artifact's own text.
TEST_F(LinkTest, AnArtifactNamesNoOtherProgramThanACompiler) {
  const std::string proof = TestFile("executed");
  for (const char* program : {"sh", "bash", "perl", "python3", "dash"}) {
    const std::string source =
        absl::StrCat("/* ingot: cc=", program, " */\nopen('", proof,
                     "', 'w')\ntouch ", proof, "\n");
    const absl::Status status =
        LinkLibrary(AddSet(source), TestFile("program.so"));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << program;
    EXPECT_TRUE(absl::StrContains(status.message(), "host/c/add.c")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), program)) << status;
  }
  EXPECT_FALSE(std::ifstream(proof).good());
}

// The user, on the other hand, may name any.
TEST_F(LinkTest, TheUsersCompilerIsUsedForAllSources) {
  const std::string compiler =
      WriteScript("my_cc", "echo \"$@\" >> \"$0.log\"\nexec cc \"$@\"");
  const std::string library = TestFile("users.so");
  LinkOptions options;
  options.cc = compiler;
  ASSERT_EQ(LinkLibrary(AddSet(), library, options), absl::OkStatus());
  EXPECT_TRUE(absl::StrContains(ReadFile(compiler + ".log"), "-O2"));
  ExpectAddsTen(LoadPath(library, CoreLoaders()));
  options.cc = "surely_no_such_compiler";
  EXPECT_EQ(LinkLibrary(AddSet(), library, options).code(),
            absl::StatusCode::kNotFound);
}

// Names that programs could take for options or for lists of options.
TEST_F(LinkTest, NamesAreNotOptions) {
  ArtifactSet set = AddSet();
  Artifact artifact = Make("c", "native", "x.c", "int x;\n");
  artifact.target_key = "-Q";
  EXPECT_EQ(set.Add(artifact).code(), absl::StatusCode::kInvalidArgument);
  artifact.target_key = "host";
  artifact.codegen_id = "-c";
  EXPECT_EQ(set.Add(artifact).code(), absl::StatusCode::kInvalidArgument);
  for (const char* name : {"-E.c", "@x.c", "-o.c", "--version.c", "-.c"}) {
    artifact = Make("c", "native", name,
                    absl::StrCat("int n", set.artifacts().size(), ";\n"));
    ASSERT_EQ(set.Add(artifact), absl::OkStatus()) << name;
  }
  const std::string old = std::filesystem::current_path();
  std::filesystem::current_path(testing::TempDir());
  const absl::Status linked = LinkLibrary(set, "-odd.so");
  std::filesystem::current_path(old);
  ASSERT_EQ(linked, absl::OkStatus());
  ExpectAddsTen(LoadPath(TestFile("-odd.so"), CoreLoaders()));
}

// The system opens such a library, and reading what is missing ends the
// program.
TEST_F(LinkTest, ALibraryThatIsCutOffIsNotOpened) {
  const std::string path = TestFile("whole.so"), cut = TestFile("cut.so");
  ASSERT_EQ(LinkLibrary(AddSet(), path), absl::OkStatus());
  const std::string whole = ReadFile(path);
  // The last tenths are names for debuggers, which nothing loads.
  for (size_t tenth = 1; tenth < 8; ++tenth) {
    std::ofstream(cut, std::ios::binary)
        << whole.substr(0, whole.size() * tenth / 10);
    const Blob bytes = *Blob::MapFile(cut);
    for (const absl::Status& status :
         {LoadPath(cut, CoreLoaders()).status(),
          LoadMemory(bytes, CoreLoaders()).status()}) {
      EXPECT_TRUE(absl::StrContains(status.message(), "cut off")) << status;
    }
  }
}

// A source whose compiler is told of a processor needs what that has, as far as
// its instructions use it; linking finds out.
TEST_F(LinkTest, LinkingFindsTheFeaturesOfCompiledSources) {
#if defined(__x86_64__)
  const auto needs = [](const std::string& flags, const std::string& type) {
    const std::string source = absl::StrCat(
        "/* ingot: cflags=-O2 -ftree-vectorize ", flags, " */\n", type, " f(",
        type, " a, ", type, " b, ", type, " c) { return a * b + c; }\n",
        "#include <string.h>\nint __tvm_ffi_add(void) { return 0; }\n");
    const std::string path = TestFile("features.so");
    EXPECT_EQ(LinkLibrary(AddSet(source), path), absl::OkStatus());
    const auto set = ReadContainer(*FindContainer(*Blob::MapFile(path)));
    EXPECT_TRUE(set.ok()) << set.status();
    const Provenance::TargetKey& key = FindTargetKey(set->provenance(), "host");
    EXPECT_EQ(key.triple(), "x86_64-linux-gnu");
    return absl::StrJoin(key.cpu_features(), " ");
  };
  EXPECT_EQ(needs("", "float"), "");
  EXPECT_EQ(needs("-march=sapphirerapids", "int"), "");
  EXPECT_EQ(needs("-march=haswell -ffp-contract=fast", "float"), "fma");
  EXPECT_EQ(needs("-mavx -mno-fma", "float"), "avx");
#endif
}

// Source text that adds 10 or what the key stands for; two keys, two libraries.
ArtifactSet TwoKeys() {
  ArtifactSet set = AddSet();
  std::string source = kAddSource;
  source.replace(source.find("__tvm_ffi_add"), 13, "__tvm_ffi_sub");
  source.replace(source.find("[i] + "), 6, "[i] - ");
  Artifact artifact = Make("c", "native", "add.c", source);
  artifact.target_key = "dsp";
  EXPECT_TRUE(set.Add(artifact).ok());
  return set;
}

TEST_F(LinkTest, EachKeyIsALibraryOfItsOwn) {
  const std::string path = TestFile("keys.so"), again = TestFile("keys2.so");
  ASSERT_EQ(LinkLibrary(TwoKeys(), path), absl::OkStatus());
  ASSERT_EQ(LinkLibrary(TwoKeys(), again), absl::OkStatus());
  EXPECT_EQ(ReadFile(path), ReadFile(again));
  const auto carried = ReadContainer(*FindContainer(*Blob::MapFile(path)));
  ASSERT_TRUE(carried.ok()) << carried.status();
  EXPECT_EQ(carried->provenance().library_key(), "host");
  const Artifact* dsp = carried->Find("dsp", "ingot", "linked.so");
  ASSERT_NE(dsp, nullptr);
  EXPECT_TRUE(IsElf(dsp->content.view()));

  // Linked before, or now: both functions are there, each from its library.
  const auto linked = LoadPath(path, CoreLoaders());
  const auto unlinked = Load(TwoKeys(), CoreLoaders(), options_);
  for (const auto* model : {&linked, &unlinked}) {
    ExpectAddsTen(*model);
    ASSERT_EQ((*model)->host->imports().size(), 1u);
    const Module& other = *(*model)->host->imports()[0];
    EXPECT_TRUE(other.GetFunction("sub").has_value());
    EXPECT_FALSE(other.GetFunction("add").has_value());
  }
}

TEST_F(LinkTest, SymbolsOfKeysDoNotMeet) {
  ArtifactSet set = AddSet();
  Artifact artifact = Make("c", "native", "add.c", kAddSource);
  artifact.target_key = "dsp";
  ASSERT_TRUE(set.Add(artifact).ok());
  // In one library this would be a symbol that is defined twice.
  EXPECT_EQ(LinkLibrary(set, TestFile("apart.so")), absl::OkStatus());
}

TEST_F(LinkTest, SaysWhichKeysCanRunHere) {
  ArtifactSet set = TwoKeys();
  HostKey(&set)->add_link_libraries("m");
  const std::string foreign =
      isa::HostFamily()->name == std::string("aarch64") ? "x86_64" : "aarch64";
  MutableTargetKey(&set.mutable_provenance(), "dsp")
      ->set_triple(foreign + "-unknown-linux-gnu");
  const absl::Status status = Load(set, CoreLoaders(), options_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  for (const std::string& part :
       {absl::StrCat("target key dsp: its code is for ", foreign),
        absl::StrCat("this machine is ", isa::HostFamily()->name),
        std::string("this machine can run: host")}) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
  }
}

TEST_F(LinkTest, ALinkedSetLoadsOnlyFromItsLibrary) {
  ArtifactSet set = AddSet();
  set.mutable_provenance().set_library_key("host");
  EXPECT_EQ(Load(set, CoreLoaders(), options_).status().code(),
            absl::StatusCode::kInvalidArgument);
  // Nor is it linked again: its native code is not in it.
  const absl::Status again = LinkLibrary(set, TestFile("again.so"));
  EXPECT_EQ(again.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(again.message(), "that it was linked from"));
}

// The head of an object file for `machine`, which is all that is looked at
// before objects of different machines are found.
std::string ObjectFor(uint16_t machine) {
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_REL;
  header.e_machine = machine;
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header));
}

TEST_F(LinkTest, MachinesDoNotMixInOneKey) {
  const bool arm = isa::HostFamily()->elf_machine == EM_AARCH64;
  ArtifactSet set = AddSet();
  ASSERT_TRUE(set.Add(Make("x", "native", "other.o",
                           ObjectFor(arm ? EM_X86_64 : EM_AARCH64)))
                  .ok());
  absl::Status status = LinkLibrary(set, TestFile("mixed.so"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "host/x/other.o, is for "))
      << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "host/c/add.c is for "))
      << status;

  ArtifactSet unknown = AddSet();
  ASSERT_TRUE(
      unknown.Add(Make("x", "native", "other.o", ObjectFor(EM_S390))).ok());
  status = LinkLibrary(unknown, TestFile("mixed.so"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "does not link for"))
      << status;
}

TEST_F(LinkTest, MissingLibraryIsNamed) {
  ArtifactSet set = AddSet();
  HostKey(&set)->add_link_libraries("surely_not_installed");
  const absl::Status status = LinkLibrary(set, TestFile("nolib.so"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "surely_not_installed"));
}

TEST_F(LinkTest, MissingLibrarysPackageIsNamed) {
  ArtifactSet set = AddSet();
  HostKey(&set)->add_link_libraries("surely_not:libsurely-not0");
  EXPECT_TRUE(absl::StrContains(
      LinkLibrary(set, TestFile("nolib.so")).message(),
      "the library 'surely_not' that the set needs is not installed on this "
      "machine; Debian's package libsurely-not0 has it"));
}

}  // namespace
}  // namespace ingot

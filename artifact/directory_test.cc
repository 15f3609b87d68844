// Writing a directory, and reading what was written.

#include "artifact/directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "artifact/container.h"
#include "artifact/open_set.h"
#include "artifact/test_support.h"
#include "artifact/text_inspectors.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::Exists;
using testing::Fails;
using testing::FilesBelow;
using testing::FileSizeLimit;
using testing::MakeArtifact;
using testing::ReadFile;
using testing::SameSets;
using testing::SmallSet;
using testing::TestFolder;
using testing::WriteFile;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

InspectorRegistry TextInspectors() {
  InspectorRegistry registry;
  EXPECT_OK(RegisterTextInspectors(&registry));
  return registry;
}

InspectorRule Rule(const std::string& name, const std::string& output_suffix,
                   Inspector inspect) {
  InspectorRule rule;
  rule.name = name;
  rule.output_suffix = output_suffix;
  rule.inspect = std::move(inspect);
  return rule;
}

TEST(DirectoryTest, HasAFileForEachArtifactAndEachNote) {
  const std::string dir = TestFolder() + "/dump";
  ASSERT_OK(WriteDirectory(SmallSet(), dir, TextInspectors()));
  EXPECT_EQ(FilesBelow(dir),
            (std::vector<std::string>{
                "dsp", "dsp/llvm", "dsp/llvm/lib0.o", "host", "host/c",
                "host/c/empty", "host/c/src", "host/c/src/kernels.c",
                "host/constants", "host/constants/weights.bin", "host/llvm",
                "host/llvm/lib0.o", "host/plan", "host/plan/plan.json",
                "host/plan/plan.json.pretty.json", "manifest.json"}));
  EXPECT_EQ(ReadFile(dir + "/dsp/llvm/lib0.o"), "dsp");
  EXPECT_EQ(ReadFile(dir + "/host/plan/plan.json.pretty.json"),
            "{\"b\": [1, 2.50], \"a\": {}}\n");
}

TEST(DirectoryTest, DumpAndPackGiveTheSameBytes) {
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(SmallSet(), dir, TextInspectors()));
  const auto back = ReadDirectory(dir);
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(SmallSet(), *back));
  EXPECT_EQ(*SerializeContainer(*back), *SerializeContainer(SmallSet()));
}

TEST(DirectoryTest, AnEmptySetHasADirectoryToo) {
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(ArtifactSet(), dir, TextInspectors()));
  const auto back = ReadDirectory(dir);
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(ArtifactSet(), *back));
}

TEST(DirectoryTest, TheManifestIsTheSameEachTimeAndHoldsNoPath) {
  const std::string a = TestFolder(), b = TestFolder();
  ASSERT_OK(WriteDirectory(SmallSet(), a, TextInspectors()));
  ASSERT_OK(WriteDirectory(SmallSet(), b, TextInspectors()));
  const std::string manifest = ReadFile(a + "/manifest.json");
  EXPECT_EQ(manifest, ReadFile(b + "/manifest.json"));
  EXPECT_EQ(manifest.find(a), std::string::npos);
  EXPECT_NE(manifest.find("\"triple\": \"x86_64-linux-gnu\""),
            std::string::npos)
      << manifest;
}

TEST(DirectoryTest, LargeFilesAreMapped) {
  ArtifactSet set;
  ASSERT_OK(set.Add(
      MakeArtifact("c", "constants", "host", "w", std::string(1 << 20, 'w'))));
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(set, dir, TextInspectors()));
  const auto back = ReadDirectory(dir);
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(set, *back));
  // Dumping over the files that the set is mapped from leaves it as it is.
  ASSERT_OK(WriteDirectory(*back, dir, TextInspectors()));
  EXPECT_TRUE(SameSets(set, *back));
  EXPECT_OK(ReadDirectory(dir));
}

TEST(DirectoryTest, AnInspectorThatFailsSaysSoInItsFile) {
  InspectorRegistry registry;
  ASSERT_OK(registry.Register(
      Rule("broken", ".b.txt", [](const Artifact&, const ArtifactSet&) {
        return absl::DataLossError("no symbol table");
      })));
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(SmallSet(), dir, registry));
  const std::string note = ReadFile(dir + "/dsp/llvm/lib0.o.b.txt");
  EXPECT_NE(note.find("broken"), std::string::npos);
  EXPECT_NE(note.find("no symbol table"), std::string::npos);
  EXPECT_OK(ReadDirectory(dir));
}

TEST(DirectoryTest, NotesNeverTakeAnArtifactsPlace) {
  ArtifactSet set;
  for (const char* name : {"a", "A.NOTE", "a.2.note/x"}) {
    ASSERT_OK(set.Add(MakeArtifact("c", "native", "host", name, name)));
  }
  InspectorRegistry registry;
  ASSERT_OK(registry.Register(
      Rule("note", ".note", [](const Artifact& a, const ArtifactSet&) {
        return absl::StatusOr<std::string>("note of " + a.file_name);
      })));
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(set, dir, registry));
  EXPECT_EQ(ReadFile(dir + "/host/c/A.NOTE"), "A.NOTE");
  EXPECT_EQ(ReadFile(dir + "/host/c/a.3.note"), "note of a");
  const auto back = ReadDirectory(dir);
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(set, *back));
}

TEST(DirectoryTest, TwoInspectorsOfOneSuffixGetTwoFiles) {
  ArtifactSet set;
  ASSERT_OK(set.Add(MakeArtifact("c", "native", "host", "a", "")));
  InspectorRegistry registry;
  for (const std::string& name : {"one", "two"}) {
    ASSERT_OK(registry.Register(
        Rule(name, ".txt", [name](const Artifact&, const ArtifactSet&) {
          return absl::StatusOr<std::string>(name);
        })));
  }
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(set, dir, registry));
  EXPECT_EQ(ReadFile(dir + "/host/c/a.txt"), "one");
  EXPECT_EQ(ReadFile(dir + "/host/c/a.2.txt"), "two");
}

TEST(DirectoryTest, ALiveObjectIsRefused) {
  ArtifactSet set;
  Artifact live = MakeArtifact("python", "python", "host", "f", "");
  live.live = std::make_shared<int>(1);
  ASSERT_OK(set.Add(live));
  const std::string dir = TestFolder() + "/dump";
  EXPECT_TRUE(Fails(WriteDirectory(set, dir, TextInspectors()), kRefused,
                    {"host/python/f"}));
  EXPECT_FALSE(Exists(dir));
}

TEST(DirectoryTest, RefusesAFolderThatIsNotADump) {
  const std::string dir = TestFolder();
  WriteFile(dir + "/thesis.txt", "mine");
  EXPECT_TRUE(Fails(WriteDirectory(SmallSet(), dir, TextInspectors()), kRefused,
                    {dir, "neither empty nor"}));
  EXPECT_EQ(FilesBelow(dir), std::vector<std::string>{"thesis.txt"});
  // Another program's manifest.json does not make it one.
  WriteFile(dir + "/manifest.json", R"({"name": "my web application"})");
  EXPECT_TRUE(Fails(WriteDirectory(SmallSet(), dir, TextInspectors()), kRefused,
                    {dir, "neither empty nor"}));
  EXPECT_EQ(ReadFile(dir + "/thesis.txt"), "mine");
}

TEST(DirectoryTest, RefusesAPathThatIsAFileOrHasNoParent) {
  const std::string folder = TestFolder();
  WriteFile(folder + "/file", "x");
  EXPECT_FALSE(
      WriteDirectory(SmallSet(), folder + "/file", TextInspectors()).ok());
  EXPECT_EQ(ReadFile(folder + "/file"), "x");
  EXPECT_TRUE(
      Fails(WriteDirectory(SmallSet(), folder + "/no/dump", TextInspectors()),
            absl::StatusCode::kNotFound, {"/no/dump"}));
}

TEST(DirectoryTest, DumpingAgainReplacesOnlyWhatTheDumpHad) {
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(SmallSet(), dir, TextInspectors()));
  WriteFile(dir + "/notes.txt", "mine");
  WriteFile(dir + "/host/c/mine.txt", "mine too");
  ArtifactSet other;
  ASSERT_OK(other.Add(MakeArtifact("llvm", "native", "host", "lib0.o", "new")));
  ASSERT_OK(WriteDirectory(other, dir, TextInspectors()));
  EXPECT_EQ(FilesBelow(dir),
            (std::vector<std::string>{"host", "host/c", "host/c/mine.txt",
                                      "host/llvm", "host/llvm/lib0.o",
                                      "manifest.json", "notes.txt"}));
  const auto back = ReadDirectory(dir);
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(other, *back));
}

TEST(DirectoryTest, AFileOfAnEarlierDumpMayBecomeAFolder) {
  ArtifactSet file, folder;
  ASSERT_OK(file.Add(MakeArtifact("c", "native", "host", "a", "1")));
  ASSERT_OK(folder.Add(MakeArtifact("c", "native", "host", "a/b", "2")));
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(file, dir, TextInspectors()));
  ASSERT_OK(WriteDirectory(folder, dir, TextInspectors()));
  EXPECT_TRUE(SameSets(folder, *ReadDirectory(dir)));
}

TEST(DirectoryTest, APersonsFileInTheWayIsKept) {
  ArtifactSet set;
  ASSERT_OK(set.Add(MakeArtifact("c", "native", "host", "a", "1")));
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(set, dir, TextInspectors()));
  const std::vector<std::string> before = FilesBelow(dir);
  for (const std::string& mine : {"/host/c/b", "/host/d"}) {
    WriteFile(dir + mine, "mine");
    ArtifactSet more = set;
    ASSERT_OK(more.Add(MakeArtifact("c", "native", "host", "b", "2")));
    ASSERT_OK(more.Add(MakeArtifact("d", "native", "host", "e", "3")));
    EXPECT_TRUE(Fails(WriteDirectory(more, dir, TextInspectors()), kRefused,
                      {dir + mine, "in the way"}));
    EXPECT_EQ(ReadFile(dir + mine), "mine");
    ASSERT_EQ(unlink((dir + mine).c_str()), 0);
    EXPECT_EQ(FilesBelow(dir), before);
    EXPECT_TRUE(SameSets(set, *ReadDirectory(dir)));
  }
  // A folder where a file must go.
  ASSERT_EQ(mkdir((dir + "/host/c/b").c_str(), 0777), 0);
  ASSERT_OK(set.Add(MakeArtifact("c", "native", "host", "b", "2")));
  EXPECT_TRUE(Fails(WriteDirectory(set, dir, TextInspectors()), kRefused,
                    {dir + "/host/c/b/", "in the way"}));
}

TEST(DirectoryTest, NothingIsWrittenThroughALink) {
  const std::string outside = TestFolder();
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(ArtifactSet(), dir, TextInspectors()));
  ASSERT_EQ(symlink(outside.c_str(), (dir + "/host").c_str()), 0);
  EXPECT_TRUE(Fails(WriteDirectory(SmallSet(), dir, TextInspectors()), kRefused,
                    {dir + "/host"}));
  EXPECT_TRUE(FilesBelow(outside).empty());
}

TEST(DirectoryTest, NothingIsRemovedThroughALink) {
  const std::string outside = TestFolder();
  WriteFile(outside + "/lib0.o", "mine");
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(SmallSet(), dir, TextInspectors()));
  ASSERT_EQ(unlink((dir + "/host/llvm/lib0.o").c_str()), 0);
  ASSERT_EQ(rmdir((dir + "/host/llvm").c_str()), 0);
  ASSERT_EQ(symlink(outside.c_str(), (dir + "/host/llvm").c_str()), 0);
  const std::vector<std::string> before = FilesBelow(dir);
  EXPECT_TRUE(Fails(WriteDirectory(ArtifactSet(), dir, TextInspectors()),
                    kRefused, {dir + "/host/llvm"}));
  EXPECT_EQ(ReadFile(outside + "/lib0.o"), "mine");
  EXPECT_EQ(FilesBelow(dir), before);
}

TEST(DirectoryTest, AHostileManifestRemovesNothing) {
  const std::string folder = TestFolder();
  WriteFile(folder + "/precious", "mine");
  const std::string dir = folder + "/dump";
  ASSERT_EQ(mkdir(dir.c_str(), 0777), 0);
  for (const std::string& entry : std::vector<std::string>{
           R"("file_name": "../../../precious")",
           R"("file_name": "x", "notes": ["../../../precious"])",
           R"("file_name": "x", "notes": [".."])"}) {
    WriteFile(dir + "/manifest.json",
              R"({"format_version": 2, "entries": [{"codegen_id": "c",)"
              R"("loader": "l", "target_key": "host", )" +
                  entry + "}]}");
    EXPECT_TRUE(Fails(WriteDirectory(SmallSet(), dir, TextInspectors()),
                      kRefused, {"neither empty nor"}));
    EXPECT_EQ(ReadFile(folder + "/precious"), "mine");
  }
}

TEST(DirectoryTest, WhenTheDiskIsFullTheEarlierDumpStays) {
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(SmallSet(), dir, TextInspectors()));
  const std::vector<std::string> before = FilesBelow(dir);
  ArtifactSet large = SmallSet();
  ASSERT_OK(large.Add(MakeArtifact("zzz", "native", "host", "large",
                                   std::string(3 << 20, 'x'))));
  {
    const FileSizeLimit limit(1 << 20);
    EXPECT_FALSE(WriteDirectory(large, dir, TextInspectors()).ok());
    EXPECT_FALSE(WriteDirectory(large, dir + "2", TextInspectors()).ok());
  }
  EXPECT_EQ(FilesBelow(dir), before);
  EXPECT_FALSE(Exists(dir + "2"));
  EXPECT_TRUE(SameSets(SmallSet(), *ReadDirectory(dir)));
  EXPECT_OK(WriteDirectory(large, dir, TextInspectors()));
}

TEST(ReadSetTest, TakesAFileOrADirectory) {
  const std::string folder = TestFolder();
  ASSERT_OK(WriteContainer(SmallSet(), folder + "/set.ingot"));
  ASSERT_OK(WriteDirectory(SmallSet(), folder + "/dump", TextInspectors()));
  const auto file = ReadSet(folder + "/set.ingot");
  ASSERT_OK(file);
  EXPECT_TRUE(SameSets(SmallSet(), *file));
  const auto directory = ReadSet(folder + "/dump");
  ASSERT_OK(directory);
  EXPECT_TRUE(SameSets(SmallSet(), *directory));
  EXPECT_TRUE(Fails(ReadSet(folder + "/none").status(),
                    absl::StatusCode::kNotFound, {folder + "/none"}));
  EXPECT_TRUE(Fails(ReadSet(folder).status(), absl::StatusCode::kNotFound,
                    {folder, "manifest.json"}));
}

}  // namespace
}  // namespace ingot

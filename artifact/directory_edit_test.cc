// Reading a directory that a person, or someone hostile, has edited.

#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "artifact/container.h"
#include "artifact/directory.h"
#include "artifact/test_support.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::Fails;
using testing::MakeArtifact;
using testing::ReadFile;
using testing::SameSets;
using testing::SmallSet;
using testing::TestFolder;
using testing::WriteFile;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class DirectoryEditTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(WriteDirectory(SmallSet(), dir_, InspectorRegistry()));
  }

  absl::StatusOr<ArtifactSet> ReadAccepting() {
    ReadOptions options;
    options.accept_edits = true;
    return ReadDirectory(dir_, options);
  }

  void EditManifest(const std::string& from, const std::string& to) {
    const std::string before = ReadFile(dir_ + "/manifest.json");
    const std::string after = absl::StrReplaceAll(before, {{from, to}});
    ASSERT_NE(before, after) << before;
    WriteFile(dir_ + "/manifest.json", after);
  }

  const std::string dir_ = TestFolder();
};

TEST_F(DirectoryEditTest, AChangedFileNeedsToBeAccepted) {
  WriteFile(dir_ + "/dsp/llvm/lib0.o", "psd");
  EXPECT_TRUE(Fails(ReadDirectory(dir_).status(), kRefused,
                    {dir_, "dsp/llvm/lib0.o was changed", "--accept-edits"}));
  const auto set = ReadAccepting();
  ASSERT_OK(set);
  EXPECT_EQ(set->Find("dsp", "llvm", "lib0.o")->content.view(), "psd");
}

TEST_F(DirectoryEditTest, AnotherSizeNeedsToBeAccepted) {
  WriteFile(dir_ + "/dsp/llvm/lib0.o", "longer");
  EXPECT_TRUE(
      Fails(ReadDirectory(dir_).status(), kRefused,
            {"dsp/llvm/lib0.o has 6 bytes instead of 3", "--accept-edits"}));
  const auto set = ReadAccepting();
  ASSERT_OK(set);
  EXPECT_EQ(set->Find("dsp", "llvm", "lib0.o")->content.view(), "longer");
}

TEST_F(DirectoryEditTest, EditedWeightsAreFoundWithoutAsking) {
  WriteFile(dir_ + "/host/constants/weights.bin", std::string(100, '\x40'));
  EXPECT_TRUE(Fails(ReadDirectory(dir_).status(), kRefused,
                    {"host/constants/weights.bin was changed"}));
}

TEST_F(DirectoryEditTest, AMissingFileNeedsToBeAccepted) {
  ASSERT_EQ(unlink((dir_ + "/dsp/llvm/lib0.o").c_str()), 0);
  EXPECT_TRUE(Fails(ReadDirectory(dir_).status(), kRefused,
                    {"dsp/llvm/lib0.o is missing", "--accept-edits"}));
  const auto set = ReadAccepting();
  ASSERT_OK(set);
  EXPECT_EQ(set->Find("dsp", "llvm", "lib0.o"), nullptr);
  EXPECT_EQ(set->artifacts().size(), SmallSet().artifacts().size() - 1);
}

TEST_F(DirectoryEditTest, OneErrorNamesEveryFile) {
  WriteFile(dir_ + "/dsp/llvm/lib0.o", "psd");
  WriteFile(dir_ + "/host/c/empty", "no longer");
  ASSERT_EQ(unlink((dir_ + "/host/plan/plan.json").c_str()), 0);
  EXPECT_TRUE(Fails(ReadDirectory(dir_).status(), kRefused,
                    {"dsp/llvm/lib0.o", "host/c/empty", "plan.json"}));
}

TEST_F(DirectoryEditTest, ManyEditsMakeAShortError) {
  ArtifactSet set;
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(set.Add(
        MakeArtifact("c", "native", "host", absl::StrCat("f", i), "x")));
  }
  const std::string dir = TestFolder();
  ASSERT_OK(WriteDirectory(set, dir, InspectorRegistry()));
  for (int i = 0; i < 100; ++i) {
    WriteFile(absl::StrCat(dir, "/host/c/f", i), "y");
  }
  EXPECT_TRUE(
      Fails(ReadDirectory(dir).status(), kRefused, {"and 90 more files"}));
}

TEST_F(DirectoryEditTest, AcceptingAnEditGivesASetLikeAnyOther) {
  WriteFile(dir_ + "/dsp/llvm/lib0.o", "psd");
  const auto set = ReadAccepting();
  ASSERT_OK(set);
  const auto bytes = SerializeContainer(*set);
  ASSERT_OK(bytes);
  const auto back = ReadContainer(Blob::FromString(*bytes));
  ASSERT_OK(back);
  EXPECT_TRUE(SameSets(*set, *back));
}

// A note changes nothing in the set, so whoever edited one is told, whether or
// not edits are accepted.
TEST_F(DirectoryEditTest, AnEditedNoteIsTold) {
  InspectorRegistry inspectors;
  InspectorRule rule;
  rule.name = "size";
  rule.file_suffixes = {".o"};
  rule.output_suffix = ".txt";
  rule.inspect = [](const Artifact& artifact, const ArtifactSet&) {
    return absl::StrCat(artifact.content.size(), " bytes\n");
  };
  ASSERT_OK(inspectors.Register(rule));
  ASSERT_OK(WriteDirectory(SmallSet(), dir_, inspectors));

  std::vector<std::string> told;
  ReadOptions options;
  options.on_edited_note = [&](absl::string_view note, absl::string_view of) {
    told.push_back(absl::StrCat(note, " of ", of));
  };
  for (const bool accept : {false, true}) {
    options.accept_edits = accept;
    told.clear();
    ASSERT_OK(ReadDirectory(dir_, options));
    EXPECT_EQ(told, std::vector<std::string>());
  }
  const std::string note = dir_ + "/dsp/llvm/lib0.o.txt";
  WriteFile(note, "4 bytes\n");
  for (const bool accept : {false, true}) {
    options.accept_edits = accept;
    told.clear();
    const auto set = ReadDirectory(dir_, options);
    ASSERT_OK(set);
    EXPECT_TRUE(SameSets(*set, SmallSet()));
    EXPECT_EQ(told, std::vector<std::string>{
                        absl::StrCat(note, " of ", dir_, "/dsp/llvm/lib0.o")});
  }
  ASSERT_EQ(unlink(note.c_str()), 0);
  told.clear();
  ASSERT_OK(ReadDirectory(dir_, options));
  EXPECT_EQ(told, std::vector<std::string>());

  EditManifest("\"note_sha256\": [", "\"note_sha256\": [ \"ab\",");
  EXPECT_TRUE(Fails(ReadDirectory(dir_).status(), kInvalid,
                    {"1 notes and 2 digests of notes"}));
}

TEST_F(DirectoryEditTest, OtherFilesAreNotArtifacts) {
  WriteFile(dir_ + "/host/llvm/README.md", "what I found");
  const auto set = ReadDirectory(dir_);
  ASSERT_OK(set);
  EXPECT_TRUE(SameSets(SmallSet(), *set));
}

TEST_F(DirectoryEditTest, APersonMayAddAnArtifact) {
  WriteFile(dir_ + "/host/c/mine.c", "int g;\n");
  EditManifest("\"entries\": [",
               "\"entries\": [{\"codegen_id\": \"c\", \"loader\": \"native\", "
               "\"target_key\": \"host\", \"file_name\": \"mine.c\"},");
  EXPECT_TRUE(Fails(ReadDirectory(dir_).status(), kRefused,
                    {"host/c/mine.c", "--accept-edits"}));
  const auto set = ReadAccepting();
  ASSERT_OK(set);
  EXPECT_EQ(set->Find("host", "c", "mine.c")->content.view(), "int g;\n");
}

TEST_F(DirectoryEditTest, LinksAreRefused) {
  const std::string outside = TestFolder();
  WriteFile(outside + "/lib0.o", "dsp");
  ASSERT_EQ(unlink((dir_ + "/dsp/llvm/lib0.o").c_str()), 0);
  ASSERT_EQ(symlink((outside + "/lib0.o").c_str(),
                    (dir_ + "/dsp/llvm/lib0.o").c_str()),
            0);
  EXPECT_TRUE(Fails(ReadDirectory(dir_).status(), kRefused,
                    {"dsp/llvm/lib0.o", "links"}));
  EXPECT_TRUE(Fails(ReadAccepting().status(), kRefused, {"links"}));

  // The same through a folder.
  ASSERT_EQ(unlink((dir_ + "/dsp/llvm/lib0.o").c_str()), 0);
  ASSERT_EQ(rmdir((dir_ + "/dsp/llvm").c_str()), 0);
  ASSERT_EQ(symlink(outside.c_str(), (dir_ + "/dsp/llvm").c_str()), 0);
  EXPECT_TRUE(Fails(ReadAccepting().status(), kRefused, {"links"}));
}

TEST_F(DirectoryEditTest, TheDirectoryItselfMayBeALink) {
  const std::string link = TestFolder() + "/link";
  ASSERT_EQ(symlink(dir_.c_str(), link.c_str()), 0);
  EXPECT_OK(ReadDirectory(link));
}

TEST_F(DirectoryEditTest, HostileNamesAreRefused) {
  const std::string manifest = ReadFile(dir_ + "/manifest.json");
  for (const std::string& name :
       std::vector<std::string>{"../x", "/etc/passwd", "a/../../../x", "",
                                "a\\u0000b", "a\\nb", "\\u00e4"}) {
    WriteFile(dir_ + "/manifest.json",
              absl::StrReplaceAll(manifest, {{"src/kernels.c", name}}));
    EXPECT_TRUE(Fails(ReadAccepting().status(), kInvalid, {"file name"}))
        << name;
  }
  WriteFile(dir_ + "/manifest.json",
            absl::StrReplaceAll(manifest, {{"\"dsp\"", "\"..\""}}));
  EXPECT_TRUE(Fails(ReadAccepting().status(), kInvalid, {"target key"}));
}

TEST_F(DirectoryEditTest, BadManifestsAreRefused) {
  const std::string deep = "{\"provenance\": " + std::string(100000, '[');
  for (const std::string& bad : std::vector<std::string>{
           "", "{", "[]", "7", "null", "{\"entries\": 7}", deep,
           "{\"entries\": [{\"size\": -1}]}",
           "{\"entries\": [{\"size\": 1e30}]}", "\xff\xfe"}) {
    WriteFile(dir_ + "/manifest.json", bad);
    const absl::Status status = ReadDirectory(dir_).status();
    EXPECT_FALSE(status.ok()) << bad;
    EXPECT_NE(status.message().find("manifest.json"), absl::string_view::npos)
        << status;
  }
}

TEST_F(DirectoryEditTest, AMisspeltFieldIsAnError) {
  EditManifest("\"symbol_prefix\"", "\"symbol_perfix\"");
  EXPECT_TRUE(Fails(ReadAccepting().status(), kInvalid, {"symbol_perfix"}));
}

TEST_F(DirectoryEditTest, AnotherVersionIsNamedBeforeItsFields) {
  EditManifest("\"symbol_prefix\"", "\"later_field\"");
  EditManifest("\"format_version\": 2", "\"format_version\": 3");
  EXPECT_TRUE(Fails(ReadAccepting().status(), kRefused, {"format version 3"}));
}

TEST_F(DirectoryEditTest, TheSameArtifactTwiceIsAnError) {
  EditManifest("\"dsp\"", "\"host\"");
  EXPECT_TRUE(Fails(ReadAccepting().status(), kInvalid, {"host/llvm/lib0.o"}));
}

TEST_F(DirectoryEditTest, HostileProvenanceIsRefused) {
  EditManifest("libdnnl.so.3", "-Wl,-rpath=.");
  EXPECT_TRUE(Fails(ReadAccepting().status(), kInvalid, {"link library"}));
}

}  // namespace
}  // namespace ingot

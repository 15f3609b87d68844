// Commands that write, killed at moments from their start to their end, and on
// a disk that is full after every so many bytes: what had the name before is
// there, or the whole new file is. INGOT_KILLS asks for more moments.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kOld[] = "what was there before";

class KillTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    Do({"compile", "@conv.onnx", "-o", "@conv.ingot", "--quiet"});
    Do({"dump", "@conv.ingot", "-o", "@dumped"});
  }

  // The words of each command that writes @out, and what it writes.
  struct Writer {
    std::vector<std::string> words;
    std::string whole;
  };

  std::vector<Writer> Writers() {
    std::vector<Writer> writers = {
        {{"compile", "@conv.onnx", "-o", "@out", "--quiet"}, ""},
        {{"pack", "@dumped", "-o", "@out"}, ""},
        {{"link", "@conv.ingot", "-o", "@out", "--quiet"}, ""}};
    for (Writer& writer : writers) {
      Do(writer.words);
      writer.whole = ReadFile(Path("out"));
    }
    return writers;
  }

  // Runs a command to its end and returns how long that took: on a busy machine
  // moments of a fixed length would all be too early.
  std::chrono::microseconds TimeOf(const std::vector<std::string>& words) {
    const auto start = std::chrono::steady_clock::now();
    Do(words);
    return std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - start);
  }

  // Runs a command and kills it after so long; returns whether it was done.
  bool KillAfter(const std::vector<std::string>& words,
                 std::chrono::microseconds time) {
    std::vector<std::string> args = {
        std::filesystem::absolute(getenv("INGOT_BINARY")).string()};
    for (const std::string& word : words) {
      args.push_back(word[0] == '@' ? Path(word.substr(1)) : word);
    }
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    // Both do it, so that it is done when either goes on.
    if (child > 0) setpgid(child, child);
    if (child == 0) {
      setpgid(0, 0);
      const int null = open("/dev/null", O_RDWR);
      for (const int fd : {0, 1, 2}) dup2(null, fd);
      execv(argv[0], argv.data());
      _exit(127);
    }
    std::this_thread::sleep_for(time);
    // The linker, too, or it would go on in a folder that is removed.
    kill(-child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
};

// A moment of a command that takes `whole`. Not only while it computes: also
// while it writes and renames.
std::chrono::microseconds Moment(std::chrono::microseconds whole,
                                 std::mt19937* random) {
  return whole * static_cast<int>((*random)() % 1200) / 1000;
}

int Kills() {
  const char* const asked = getenv("INGOT_KILLS");
  return asked == nullptr ? 40 : atoi(asked);
}

TEST_F(KillTest, WhatIsKilledLeavesTheOldFileOrTheNewOne) {
  const int kills = Kills();
  std::mt19937 random(7);
  for (const Writer& writer : Writers()) {
    std::chrono::microseconds whole_time = TimeOf(writer.words);
    int done = 0, old = 0;
    for (int i = 0; i < kills; ++i) {
      WriteFileBytes(Path("out"), kOld);
      const auto time = Moment(whole_time, &random);
      done += KillAfter(writer.words, time);
      const std::string now = ReadFile(Path("out"));
      old += now == kOld;
      // A machine that has become busier, or less busy, would see all too early
      // or all too late.
      whole_time = whole_time * (now == kOld ? 105 : 95) / 100;
      EXPECT_TRUE(now == kOld || now == writer.whole)
          << writer.words[0] << " killed after " << time.count() << " us left "
          << now.size() << " bytes";
    }
    // The moments were neither all too early nor all too late.
    EXPECT_GT(old, 0) << writer.words[0];
    EXPECT_LT(old, kills) << writer.words[0];
    std::printf("%s: %d kills, %d were done, %d left the old file\n",
                writer.words[0].c_str(), kills, done, old);
    Do(writer.words);
    EXPECT_THAT(FilesIn(Path("")), Not(Contains(StartsWith(".ingot-link-"))));
  }
}

TEST_F(KillTest, ADirectoryThatWasKilledIsNoSet) {
  const std::string whole = ReadFile(Path("conv.ingot"));
  const std::vector<std::string> dump = {"dump", "@conv.ingot", "-o",
                                         "@folder"};
  const std::chrono::microseconds whole_time = TimeOf(dump);
  std::mt19937 random(8);
  int sets = 0;
  for (int i = 0; i < Kills(); ++i) {
    std::filesystem::remove_all(Path("folder"));
    KillAfter(dump, Moment(whole_time, &random));
    const CommandResult packed = Ingot({"pack", "@folder", "-o", "@packed"});
    if (packed.exit != 0) continue;
    ++sets;
    EXPECT_EQ(ReadFile(Path("packed")), whole);
  }
  EXPECT_GT(sets, 0);
}

TEST_F(KillTest, AFolderThatWasNotExportedToTheEndHasWholeFiles) {
  Do({"compile", "@conv.onnx", "--target=c", "-o", "@c.ingot", "--quiet"});
  Do({"export", "@c.ingot", "-o", "@whole", "--quiet"});
  const std::vector<std::string> words = {"export", "@c.ingot", "-o", "@out",
                                          "--quiet"};
  const std::chrono::microseconds whole_time = TimeOf(words);
  const std::vector<std::string> names = FilesIn(Path("whole"));
  std::mt19937 random(9);
  int some = 0;
  for (int i = 0; i < Kills(); ++i) {
    std::filesystem::remove_all(Path("out"));
    KillAfter(words, Moment(whole_time, &random));
    for (const std::string& name : names) {
      if (!std::filesystem::is_regular_file(Path("out/" + name))) continue;
      ++some;
      EXPECT_EQ(ReadFile(Path("out/" + name)), ReadFile(Path("whole/" + name)));
    }
  }
  EXPECT_GT(some, 0);
}

// A log is written after each kernel, and what it says differs from run to run:
// it is the old one, or has whole lines that a compilation takes.
TEST_F(KillTest, ATuningThatWasKilledLeavesAWholeLog) {
  const std::vector<std::string> tune = {"tune",   "@conv.onnx", "-o",
                                         "@out",   "--trials=3", "--seconds=60",
                                         "--quiet"};
  // Another file takes the place of the old one, which stays what it is.
  WriteFileBytes(Path("out"), kOld);
  std::filesystem::create_hard_link(Path("out"), Path("before"));
  const auto start = std::chrono::steady_clock::now();
  Do(tune);
  const auto whole_time = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  EXPECT_EQ(ReadFile(Path("before")), kOld);
  std::mt19937 random(10);
  const int kills = Kills() / 4;
  int old = 0;
  for (int i = 0; i < kills; ++i) {
    WriteFileBytes(Path("out"), kOld);
    KillAfter(tune, whole_time * static_cast<int>(random() % 1200) / 1000);
    const std::string now = ReadFile(Path("out"));
    if (now == kOld) {
      ++old;
      continue;
    }
    ASSERT_FALSE(now.empty());
    EXPECT_EQ(now.back(), '\n');
    // A line that was cut would be a warning.
    Do({"compile", "@conv.onnx", "-o", "@tuned", "--tuning-log=@out",
        "--quiet"});
  }
  EXPECT_GT(old, 0);
  EXPECT_LT(old, kills);
  std::printf("tune: %d kills, %d left the old log\n", kills, old);
}

TEST_F(KillTest, ATuningOnAFullDiskLeavesTheOldLog) {
  WriteFileBytes(Path("out"), kOld);
  const std::vector<std::string> before = FilesIn(Path(""));
  // The error goes to a file, too; libraries do not fit.
  CommandOptions full;
  full.max_file_size = 1000;
  ExpectError({"tune", "@mlp.onnx", "-o", "@out", "--trials=1", "--quiet"}, 1,
              {"tune"}, full);
  EXPECT_EQ(ReadFile(Path("out")), kOld);
  EXPECT_EQ(FilesIn(Path("")), before);
}

TEST_F(KillTest, ADiskThatIsFullAfterAnyNumberOfBytes) {
  for (const Writer& writer : Writers()) {
    CommandOptions full;
    // The error itself goes to a file, too.
    for (full.max_file_size = 1000; full.max_file_size < writer.whole.size();
         full.max_file_size += 1 + writer.whole.size() / 12) {
      WriteFileBytes(Path("out"), kOld);
      const std::vector<std::string> before = FilesIn(Path(""));
      ExpectError(writer.words, 1, {writer.words[0]}, full);
      EXPECT_EQ(ReadFile(Path("out")), kOld);
      EXPECT_EQ(FilesIn(Path("")), before);
    }
  }
}

}  // namespace
}  // namespace ingot

// Where outputs of the `ingot` command go: through links, to the longest names,
// and what is left of them where a command was interrupted.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "artifact/artifact_set.h"
#include "artifact/blob.h"
#include "artifact/directory.h"
#include "artifact/inspector.h"
#include "base/folder_in_use.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OutputFilesTest : public CliTest {
 protected:
  // Starts `ingot` and returns its process.
  pid_t Start(const std::vector<std::string>& words) const {
    const std::string binary =
        std::filesystem::absolute(getenv("INGOT_BINARY")).string();
    std::vector<char*> argv = {const_cast<char*>(binary.c_str())};
    for (const std::string& word : words) {
      argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      execv(argv[0], argv.data());
      _exit(127);
    }
    return child;
  }

  // Makes a folder in which somebody works until the descriptor is closed.
  static int UseFolder(const std::string& path) {
    std::filesystem::create_directories(
        std::filesystem::path(path).parent_path());
    return MakeFolderInUse(AT_FDCWD, path);
  }

  bool HasTemporaryFile() const {
    for (const std::string& name : FilesIn(Path(""))) {
      if (absl::EndsWith(name, ".tmp")) return true;
    }
    return false;
  }
};

TEST_F(OutputFilesTest, ALinkStaysAndItsFileIsReplaced) {
  for (const std::string ending : {"ingot", "so"}) {
    WriteFileBytes(Path("real." + ending), "old");
    std::filesystem::create_symlink("real." + ending, Path("link." + ending));
  }
  Do({"compile", "@mlp.onnx", "-o", "@link.ingot", "--quiet"});
  Do({"link", "@real.ingot", "-o", "@link.so", "--quiet"});
  Do({"run", "@real.so"});
  for (const char* link : {"link.ingot", "link.so"}) {
    EXPECT_TRUE(std::filesystem::is_symlink(Path(link))) << link;
  }
}

TEST_F(OutputFilesTest, WhatIsReadIsNotReplaced) {
  const std::string model = ReadFile(Path("mlp.onnx"));
  const std::vector<std::string> why = {"is what is read"};
  ExpectError({"compile", "@mlp.onnx", "-o", "@mlp.onnx"}, 1, why);
  std::filesystem::create_symlink("mlp.onnx", Path("same"));
  ExpectError({"tune", "@mlp.onnx", "-o", "@same"}, 1, why);
  EXPECT_EQ(ReadFile(Path("mlp.onnx")), model);
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--quiet"});
  const std::string set = ReadFile(Path("mlp.ingot"));
  ExpectError({"link", "@mlp.ingot", "-o", "@mlp.ingot"}, 1, why);
  ExpectError({"report", "@mlp.ingot", "-o", "@mlp.ingot"}, 1, why);
  EXPECT_EQ(ReadFile(Path("mlp.ingot")), set);
}

TEST_F(OutputFilesTest, NamesMayBeAsLongAsTheSystemAllows) {
  const std::string set = "@" + std::string(249, 's') + ".ingot";
  const std::string library = "@" + std::string(252, 'l') + ".so";
  Do({"compile", "@mlp.onnx", "-o", set, "--quiet"});
  Do({"link", set, "-o", library, "--quiet"});
  Do({"run", library});
}

// Symbols and artifacts are named after the file.
TEST_F(OutputFilesTest, AModelMayHaveALongNameToo) {
  const std::string model = std::string(250, 'm') + ".onnx";
  std::filesystem::rename(Path("mlp.onnx"), Path(model));
  Do({"run", "@" + model, "--target=c"});
}

// Both would be s.1.npy.
TEST_F(OutputFilesTest, TensorsOfASequenceHaveFilesOfTheirOwn) {
  WriteFileBytes(Path("pair.relay"), R"(module {
    func @main(%x: f32[2]) -> (%s: "s", %n: "s.1") {
      %n = neg(%x) : f32[2]
      %s = sequence_make(%x, %x) {dtype=f32} : sequence<f32>
    }
  })");
  Do({"run", "@pair.relay", "--output-dir=@out"});
  EXPECT_THAT(FilesIn(Path("out")),
              ElementsAre("s.0.npy", "s.1.npy", "s.1_.npy"));
}

// dlopen knows $LIB and takes it for a folder of the system.
TEST_F(OutputFilesTest, ALibraryMayHaveADollarInItsName) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--quiet"});
  Do({"link", "@mlp.ingot", "-o", "@$LIB.so", "--quiet"});
  EXPECT_THAT(Do({"run", "@$LIB.so"}), HasSubstr("f32[2, 4]"));
}

TEST_F(OutputFilesTest, AnInterruptedCommandLeavesNothing) {
  // A set that takes some time to write.
  ArtifactSet set;
  Artifact large;
  large.codegen_id = "odd";
  large.loader = "odd";
  large.file_name = "large.bin";
  large.content = Blob::FromString(std::string(64 << 20, 'x'));
  ASSERT_TRUE(set.Add(std::move(large)).ok());
  ASSERT_TRUE(WriteDirectory(set, Path("dir"), InspectorRegistry()).ok());
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = Start({"pack", Path("dir"), "-o", Path("out.ingot")});
    while (!HasTemporaryFile() && !std::filesystem::exists(Path("out.ingot"))) {
      usleep(100);
    }
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_FALSE(HasTemporaryFile());
    std::filesystem::remove(Path("out.ingot"));
  }
}

TEST_F(OutputFilesTest, AnInterruptedDumpIsNotInTheWayOfTheNext) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--quiet"});
  // A process of another machine may have had the number of one here.
  const std::string left = absl::StrCat(".ingot-dump-", getpid(), "-0");
  for (const char* what : {"a new dump", "one over another"}) {
    const int mark = UseFolder(Path("dump/" + left));
    std::filesystem::create_directory(Path("dump/" + left + "/host"));
    WriteFileBytes(Path("dump/" + left + "/host/file"), "bytes");
    close(mark);
    Do({"dump", "@mlp.ingot", "-o", "@dump"});
    EXPECT_THAT(FilesIn(Path("dump")), ElementsAre("host", "manifest.json"))
        << what;
  }
  // One that goes on is, and no process here need have its number.
  const int mark = UseFolder(Path("busy/.ingot-dump-2000000000-0"));
  ExpectError({"dump", "@mlp.ingot", "-o", "@busy"}, 1,
              {"neither empty nor an earlier dump"});
  close(mark);
}

TEST_F(OutputFilesTest, WhatAKilledLinkLeftGoesWithTheNext) {
  Do({"compile", "@mlp.onnx", "-o", "@mlp.ingot", "--quiet"});
  const int left = UseFolder(Path(".ingot-link-left"));
  WriteFileBytes(Path(".ingot-link-left/linked.so"), "bytes");
  const int busy = UseFolder(Path(".ingot-link-busy"));
  close(left);
  Do({"link", "@mlp.ingot", "-o", "@mlp.so", "--quiet"});
  EXPECT_THAT(FilesIn(Path("")),
              ElementsAre(".ingot-link-busy", "conv.onnx", "mlp.ingot",
                          "mlp.onnx", "mlp.so"));
  close(busy);
}

}  // namespace
}  // namespace ingot

// Inspectors that are programs of the user's, named on the command line.
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::HasSubstr;
using testing::Not;

class InspectorCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    Do({"compile", "@conv.onnx", "--target=c", "-o", "@c.ingot", "--quiet"});
    Script("lines.sh",
           "echo \"$(wc -l < \"$1\") lines in $(basename \"$1\")\"");
    Script("fails.sh", "echo 'this is why' >&2; exit 3");
    Script("much.sh", "head -c 20000000 /dev/zero | tr '\\0' x");
    Script("folder.sh",
           "ls \"$1\"/host/c; test -s \"$1\"/manifest.json && echo whole");
  }

  void Script(const std::string& name, const std::string& text) {
    WriteFileBytes(Path(name), "#!/bin/sh\n" + text + "\n");
    chmod(Path(name).c_str(), 0755);
  }
};

TEST_F(InspectorCommandTest, ShowsArtifactsByTheEndOfTheirNames) {
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspector=.c=@lines.sh",
                  "--artifact=conv_kernels.c"}),
              HasSubstr("lines in conv_kernels.c"));
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspector=codegen:c=@lines.sh",
                  "--artifact=conv_kernels.c"}),
              HasSubstr("lines in conv_kernels.c"));
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspector=loader:native=@lines.sh",
                  "--artifact=conv_kernels.c"}),
              HasSubstr("lines in conv_kernels.c"));
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspector=.other=@lines.sh",
                  "--artifact=conv_kernels.c"}),
              Not(HasSubstr("lines in")));
}

TEST_F(InspectorCommandTest, WritesNotesIntoADump) {
  Do({"dump", "@c.ingot", "-o", "@folder", "--inspector=.c=@lines.sh"});
  EXPECT_THAT(ReadFile(Path("folder/host/c/conv_kernels.c.lines.txt")),
              HasSubstr("lines in conv_kernels.c"));
  // A note is no artifact.
  Do({"pack", "@folder", "-o", "@again.ingot"});
  EXPECT_EQ(ReadFile(Path("again.ingot")), ReadFile(Path("c.ingot")));
}

TEST_F(InspectorCommandTest, ComesFromAFileOfThem) {
  WriteFileBytes(Path("inspectors"), "# what we look at\n.c " +
                                         Path("lines.sh") + "\nset " +
                                         Path("folder.sh") + "\n");
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspectors=@inspectors",
                  "--artifact=conv_kernels.c"}),
              HasSubstr("lines in conv_kernels.c"));
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspectors=@inspectors"}),
              HasSubstr("\nconv_kernels.c\nwhole\n"));
  WriteFileBytes(Path("bad"), ".c\n");
  ExpectError({"inspect", "@c.ingot", "--inspectors=@bad"}, 2,
              {"bad: line 1", "in a file PATTERN COMMAND"});
}

TEST_F(InspectorCommandTest, SaysWhatFailed) {
  const CommandResult failed =
      Ingot({"inspect", "@c.ingot", "--inspector=.c=@fails.sh",
             "--artifact=conv_kernels.c"});
  EXPECT_THAT(failed.out, HasSubstr("fails.sh ended with status 3"));
  EXPECT_THAT(failed.err, HasSubstr("this is why"));
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspector=.c=@much.sh",
                  "--artifact=conv_kernels.c"}),
              HasSubstr("much.sh wrote more than 16 MiB"));
  Script("endless.sh", "yes | cat");
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspector=.c=@endless.sh",
                  "--artifact=conv_kernels.c"}),
              HasSubstr("endless.sh wrote more than 16 MiB"));
  EXPECT_THAT(Do({"inspect", "@c.ingot", "--inspector=.c=@missing",
                  "--artifact=conv_kernels.c"}),
              HasSubstr("there is no program"));
  const CommandResult set =
      Ingot({"inspect", "@c.ingot", "--inspector=set=@fails.sh"});
  EXPECT_EQ(set.exit, 1);
  EXPECT_THAT(set.err, HasSubstr("c.ingot: "));
  ExpectError({"inspect", "@c.ingot", "--inspector=.c"}, 2,
              {"PATTERN=COMMAND"});
}

}  // namespace
}  // namespace ingot

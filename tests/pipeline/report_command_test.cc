// `ingot report`, and its page in a browser: headless Chromium, where it is
// installed.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// The program, or nothing.
std::string Chromium() {
  for (const std::string path :
       {"/usr/bin/chromium", "/usr/bin/google-chrome"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

class ReportCommandTest : public CliTest {
 protected:
  // The elements of a page after its script has run. `place` is what follows
  // the file's name in the address.
  std::string Elements(const std::string& page,
                       const std::string& place) const {
    const CommandResult result = RunCommand(
        {Chromium(), "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--window-size=1400,1000",
         "--user-data-dir=" + Path("browser"), "--enable-logging=stderr",
         "--virtual-time-budget=20000", "--dump-dom",
         "file://" + std::filesystem::absolute(Path(page)).string() + place});
    EXPECT_EQ(result.exit, 0) << result.err;
    // What a page's script says or fails with; Chromium itself says more.
    EXPECT_THAT(result.err, Not(HasSubstr("CONSOLE"))) << place;
    return result.out;
  }

  // Skips the running test where there is no browser.
  bool NeedsBrowser() const { return !Chromium().empty(); }
};

TEST_F(ReportCommandTest, WritesAPageWithTimes) {
  Do({"compile", "@conv.onnx", "-o", "@conv.ingot", "--quiet"});
  const std::string said = Do({"report", "@conv.ingot", "-o", "@plain.html"});
  EXPECT_THAT(said, HasSubstr("plain.html: "));
  EXPECT_THAT(ReadFile(Path("plain.html")), Not(HasSubstr("Medians of")));
  Do({"report", "@conv.ingot", "-o", "@timed.html", "--time", "--runs=3"});
  EXPECT_THAT(ReadFile(Path("timed.html")), HasSubstr("Medians of 3 runs"));
  // Nothing is loaded from anywhere.
  EXPECT_THAT(ReadFile(Path("timed.html")),
              Not(ContainsRegex("(src|href)=\"http")));
}

TEST_F(ReportCommandTest, RefusesWhatIsNoSet) {
  ExpectError({"report", "@conv.onnx", "-o", "@x.html"}, 1, {"conv.onnx"});
  ExpectError({"report", "@missing.ingot", "-o", "@x.html"}, 1,
              {"missing.ingot"});
  Do({"compile", "@conv.onnx", "-o", "@conv.ingot", "--quiet"});
  ExpectError({"report", "@conv.ingot", "-o", "@no/where.html"}, 1,
              {"no/where.html"});
  EXPECT_FALSE(std::filesystem::exists(Path("x.html")));
}

TEST_F(ReportCommandTest, ShowsEverythingInABrowser) {
  if (!NeedsBrowser()) GTEST_SKIP() << "Chromium is not installed";
  Do({"compile", "@conv.onnx", "--target=c", "-o", "@c.ingot", "--quiet"});
  Do({"report", "@c.ingot", "-o", "@c.html", "--time", "--runs=3"});
  const std::string graph = Elements("c.html", "");
  EXPECT_THAT(graph, ContainsRegex("<canvas[^>]*data-drawn=\"[1-9]"));
  EXPECT_THAT(graph, HasSubstr("scores"));
  // A click on a node has an address.
  const std::string node = Elements("c.html", "#node=0.0");
  EXPECT_THAT(node, ContainsRegex("<pre id=\"code\">[^<]*conv2d"));
  EXPECT_THAT(node, HasSubstr("host/c/"));
  EXPECT_THAT(Elements("c.html", "#time"), HasSubstr("Medians of 3 runs"));
  EXPECT_THAT(Elements("c.html", "#memory"), HasSubstr("One arena of"));
  EXPECT_THAT(Elements("c.html", "#weights"), HasSubstr("class=\"histogram\""));
  EXPECT_THAT(Elements("c.html", "#about"), HasSubstr("SHA-256"));
}

TEST_F(ReportCommandTest, NamesInAModelAreText) {
  if (!NeedsBrowser()) GTEST_SKIP() << "Chromium is not installed";
  const std::string evil = "</script><img src=x onerror=document.title='got'>";
  ModelMaker maker(evil);
  maker.Input(evil + "in", {4, 8}).Output(evil + "out", {4, 8});
  maker.RandomWeights(evil + "w", {8, 8});
  maker.Node("MatMul", evil + "node", {evil + "in", evil + "w"}, {evil + "m"});
  maker.Node("Softmax", evil + "soft", {evil + "m"}, {evil + "out"});
  maker.Write(Path("evil.onnx"));
  Do({"compile", "@evil.onnx", "-o", "@evil.ingot", "--quiet"});
  Do({"report", "@evil.ingot", "-o", "@evil.html"});
  for (const std::string place : {"", "#node=0.0", "#time", "#weights"}) {
    const std::string elements = Elements("evil.html", place);
    EXPECT_THAT(elements, Not(HasSubstr("<img"))) << place;
    EXPECT_THAT(elements, Not(HasSubstr("<title>got"))) << place;
    EXPECT_THAT(elements, HasSubstr("&lt;img src=x")) << place;
  }
}

TEST_F(ReportCommandTest, SixThousandNodes) {
  if (!NeedsBrowser()) GTEST_SKIP() << "Chromium is not installed";
  constexpr int kNodes = 6000;
  ModelMaker maker("long");
  maker.Input("v0", {2, 4}).Output("v" + std::to_string(kNodes), {2, 4});
  for (int i = 0; i < kNodes; ++i) {
    const std::string from = "v" + std::to_string(i);
    maker.Node("Softmax", "n" + std::to_string(i), {from},
               {"v" + std::to_string(i + 1)});
  }
  maker.Write(Path("long.onnx"));
  Do({"compile", "@long.onnx", "-o", "@long.ingot", "--quiet"});
  Do({"report", "@long.ingot", "-o", "@long.html"});
  EXPECT_LT(std::filesystem::file_size(Path("long.html")), 8 << 20);
  EXPECT_THAT(Elements("long.html", "#node=0.5999"), HasSubstr("n5999"));
  EXPECT_THAT(Elements("long.html", "#time"), HasSubstr("Show all 6000 rows"));
}

}  // namespace
}  // namespace ingot

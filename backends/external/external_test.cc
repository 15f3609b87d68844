// The protocol from this side: what a backend is told, and what becomes of its
// answers. python/tests has the other side.

#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/inspector.h"
#include "backends/c/codegen.h"
#include "backends/external/codegen.h"
#include "backends/external/connection.h"
#include "backends/external/inspectors.h"
#include "backends/external/region_json.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::external {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kModel[] = R"(module {
  func @main(%x: f32[N, 3]) -> (%y) {
    %l = leaky_relu(%x) {alpha=0.5}
    %low = const f32[] {-inf}
    %m = add(%l, %low)
    %y = exp(%m)
  }
})";

// The other side: a thread that answers lines until the connection closes.
class Backend {
 public:
  explicit Backend(std::function<std::string(const json&)> answer) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ours_ = ends[0];
    thread_ = std::thread([fd = ends[1], answer = std::move(answer)] {
      std::string line;
      char c;
      while (read(fd, &c, 1) == 1) {
        if (c != '\n') {
          line += c;
          continue;
        }
        const std::string text = answer(json::parse(line));
        line.clear();
        if (text.empty()) break;
        EXPECT_EQ(write(fd, text.data(), text.size()),
                  static_cast<ssize_t>(text.size()));
      }
      close(fd);
    });
  }
  ~Backend() { thread_.join(); }

  absl::StatusOr<std::shared_ptr<Connection>> Open() const {
    auto connection = Connection::Open(absl::StrCat("fd:", ours_));
    close(ours_);  // the connection has its own
    return connection;
  }

 private:
  int ours_;
  std::thread thread_;
};

std::string Describe() {
  return R"({"version": 1, "targets": [{"name": "mine", "doc": "d",)"
         R"( "loaders": ["mine"], "operators": ["leaky_relu", "add"],)"
         R"( "supports": true, "options": {"o": "an option"}}],)"
         R"( "inspectors": [{"name": "mine.text", "loader": "mine",)"
         R"( "output_suffix": ".txt"}]})"
         "\n";
}

absl::StatusOr<ArtifactSet> Compile(std::shared_ptr<Connection> connection,
                                    const std::string& target) {
  TargetRegistry targets;
  CompileOptions options;
  options.known_loaders = {kNativeLoader, kMetadataLoader, kConstantsLoader};
  absl::Status registered = RegisterCTarget(&targets);
  if (registered.ok()) {
    registered = RegisterTargets(std::move(connection), &targets,
                                 &options.known_loaders);
  }
  if (!registered.ok()) return registered;
  auto module = relay::ReadModule(kModel);
  if (!module.ok()) return module.status();
  auto parsed = ParseTargets(target);
  if (!parsed.ok()) return parsed.status();
  options.targets = *parsed;
  options.target_text = target;
  return CompileModule(module->get(), "model", "", targets, options);
}

TEST(ExternalTest, ARegionBecomesTheBackendsArtifacts) {
  std::vector<json> asked;
  Backend backend([&asked](const json& request) -> std::string {
    asked.push_back(request);
    const std::string method = request["method"];
    if (method == "describe") return Describe();
    if (method == "supports") return "{}\n";
    if (method == "inspect") return "{\"text\": \"seen\"}\n";
    return R"({"artifacts": [{"loader": "mine", "file_name": "f.mine",)"
           R"( "base64": "aGVsbG8AIQ=="}]})"
           "\n";
  });
  auto connection = backend.Open();
  ASSERT_TRUE(connection.ok()) << connection.status();
  const auto set = Compile(*connection, "mine -o=7,c");
  ASSERT_TRUE(set.ok()) << set.status();
  const Artifact* made = nullptr;
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.codegen_id == "mine") made = &artifact;
  }
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->file_name, "f.mine");
  EXPECT_EQ(made->content.view(), absl::string_view("hello\0!", 7));

  const json& last = asked.back();
  EXPECT_EQ(last["method"], "relay_to_runtime");
  EXPECT_EQ(last["target"]["options"]["o"], "7");
  const json& region = last["region"];
  EXPECT_EQ(region["symbol"], "model_mine_0");
  EXPECT_EQ(region["inputs"][0]["shape"], json::array({"N", 3}));
  ASSERT_EQ(region["nodes"].size(), 2u);
  EXPECT_EQ(region["nodes"][0]["op"], "leaky_relu");
  EXPECT_EQ(region["nodes"][0]["attrs"]["alpha"], 0.5);
  EXPECT_EQ(region["nodes"][1]["inputs"][1]["constant"], true);
  EXPECT_EQ(region["constants"][0]["value"], json::array({"-inf"}));
  EXPECT_THAT(region["text"].get<std::string>(), HasSubstr("leaky_relu(%x)"));

  InspectorRegistry inspectors;
  ASSERT_TRUE(RegisterInspectors(*connection, &inspectors).ok());
  ASSERT_EQ(inspectors.Find(*made).size(), 1u);
  EXPECT_EQ(*inspectors.Find(*made)[0]->inspect(*made), "seen");
  EXPECT_EQ(asked.back()["artifact"]["base64"], "aGVsbG8AIQ==");
}

// Returns what the compilation says when the backend answers `text` to the call
// of `method`.
std::string WhatComesOf(const std::string& method, const std::string& text) {
  Backend backend([&](const json& request) -> std::string {
    if (request["method"] == method) return text;
    if (request["method"] == "describe") return Describe();
    return "{}\n";
  });
  auto connection = backend.Open();
  if (!connection.ok()) return std::string(connection.status().message());
  const absl::Status status = Compile(*connection, "mine,c").status();
  connection->reset();
  return std::string(status.message());
}

TEST(ExternalTest, ErrorsSayWhat) {
  EXPECT_THAT(WhatComesOf("relay_to_runtime", "{\"error\": \"no rain\"}\n"),
              HasSubstr("no rain"));
  EXPECT_THAT(WhatComesOf("relay_to_runtime", "{}\n"),
              HasSubstr("made no artifact for the region model_mine_0"));
  EXPECT_THAT(
      WhatComesOf("relay_to_runtime",
                  R"({"artifacts": [{"loader": "mine", "file_name": "f",)"
                  R"( "base64": "?"}]})"
                  "\n"),
      HasSubstr("base64"));
  EXPECT_THAT(
      WhatComesOf("relay_to_runtime",
                  R"({"artifacts": [{"loader": "other", "file_name": "f"}]})"
                  "\n"),
      AllOf(HasSubstr("host/mine/f"), HasSubstr("'other'")));
  EXPECT_THAT(
      WhatComesOf("relay_to_runtime",
                  R"({"artifacts": [{"loader": "mine", "file_name": "../f"}]})"
                  "\n"),
      HasSubstr("../f"));
  EXPECT_THAT(WhatComesOf("relay_to_runtime", ""),
              HasSubstr("ended without an answer"));
  EXPECT_THAT(WhatComesOf("describe", "[]\n"), HasSubstr("no JSON object"));
  EXPECT_THAT(WhatComesOf("describe", "{\"version\": 9}\n"),
              HasSubstr("version 9"));
  EXPECT_THAT(
      WhatComesOf("describe",
                  "{\"version\": 1, \"targets\": [{\"doc\": \"d\"}]}\n"),
      HasSubstr("without name"));
  EXPECT_THAT(
      WhatComesOf("describe",
                  "{\"version\": 1, \"targets\": [{\"name\": \"c\"}]}\n"),
      HasSubstr("target kind c is registered twice"));
}

TEST(ExternalTest, WhatTheBackendRefusesStaysWithTheHost) {
  Backend backend([](const json& request) -> std::string {
    if (request["method"] == "describe") return Describe();
    return "{\"why_not\": \"not today\"}\n";
  });
  auto connection = backend.Open();
  ASSERT_TRUE(connection.ok()) << connection.status();
  const auto set = Compile(*connection, "mine,c");
  ASSERT_TRUE(set.ok()) << set.status();
  for (const Artifact& artifact : set->artifacts()) {
    EXPECT_NE(artifact.codegen_id, "mine");
  }
  connection->reset();
}

TEST(ExternalTest, AProgramThatIsNotThereIsNamed) {
  EXPECT_THAT(
      std::string(Connection::Open("/nowhere/backend").status().message()),
      HasSubstr("/nowhere/backend"));
  EXPECT_THAT(std::string(Connection::Open("fd:x").status().message()),
              HasSubstr("fd:x"));
}

}  // namespace
}  // namespace ingot::external

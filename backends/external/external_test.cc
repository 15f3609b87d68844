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
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kModel[] = R"(module {
  func @main(%x: f32[N, 3]) -> (%y) {
    %l = leaky_relu(%x) {alpha=0.5}
    %low = const f32[] {-inf}
    %m = add(%l, %low)
    %y = exp(%m)
  }
})";

// The other side is a thread that answers requests until the connection closes.
// `answer` also gets the raw bytes that came.
class Backend {
 public:
  explicit Backend(
      std::function<std::string(const json&, const std::string&)> answer) {
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
        const json request = json::parse(line);
        line.clear();
        std::string bytes(request.value("bytes", size_t{0}), '\0');
        for (char& byte : bytes) EXPECT_EQ(read(fd, &byte, 1), 1);
        const std::string text = answer(request, bytes);
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
  return R"({"version": 2, "targets": [{"name": "mine", "doc": "d",)"
         R"( "loaders": ["mine"], "operators": ["leaky_relu", "add"],)"
         R"( "supports": true, "options": {"o": "an option"}}],)"
         R"( "inspectors": [{"name": "mine.text", "loader": "mine",)"
         R"( "output_suffix": ".txt"}]})"
         "\n";
}

absl::StatusOr<ArtifactSet> Compile(std::shared_ptr<Connection> connection,
                                    const std::string& target,
                                    const char* model = kModel) {
  TargetRegistry targets;
  CompileOptions options;
  options.known_loaders = {kNativeLoader, kMetadataLoader, kConstantsLoader};
  absl::Status registered = RegisterCTarget(&targets);
  if (registered.ok()) {
    registered = RegisterTargets(std::move(connection), &targets,
                                 &options.known_loaders);
  }
  if (!registered.ok()) return registered;
  auto module = relay::ReadModule(model);
  if (!module.ok()) return module.status();
  auto parsed = ParseTargets(target);
  if (!parsed.ok()) return parsed.status();
  options.targets = *parsed;
  options.target_text = target;
  return CompileModule(module->get(), "model", "", targets, options);
}

TEST(ExternalTest, ARegionBecomesTheBackendsArtifacts) {
  std::vector<json> asked;
  std::string sent;
  Backend backend([&](const json& request, const std::string& bytes) {
    asked.push_back(request);
    sent = bytes;
    const std::string method = request["method"];
    if (method == "describe") return Describe();
    if (method == "supports") return std::string("{}\n");
    if (method == "inspect") return std::string("{\"text\": \"seen\"}\n");
    return absl::StrCat(
        R"({"artifacts": [{"loader": "mine", "file_name": "f.mine",)"
        R"( "content": [2, 7]}], "bytes": 9})",
        absl::string_view("\n\n\nhello\0!", 10));
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
  ASSERT_EQ(region["constants"][0]["bytes"], json::array({0, 4}));
  EXPECT_EQ(sent, absl::string_view("\0\0\x80\xff", 4));
  EXPECT_THAT(region["text"].get<std::string>(), HasSubstr("leaky_relu(%x)"));

  InspectorRegistry inspectors;
  ASSERT_TRUE(RegisterInspectors(*connection, &inspectors).ok());
  ASSERT_EQ(inspectors.Find(*made).size(), 1u);
  EXPECT_EQ(*inspectors.Find(*made)[0]->inspect(*made, {}), "seen");
  EXPECT_EQ(asked.back()["artifact"]["content"], json::array({0, 7}));
  EXPECT_EQ(sent, absl::string_view("hello\0!", 7));
}

// Returns what the compilation says when the backend answers `text` to the call
// of `method`.
std::string WhatComesOf(const std::string& method, const std::string& text) {
  Backend backend([&](const json& request, const std::string&) {
    if (request["method"] == method) return text;
    if (request["method"] == "describe") return Describe();
    return std::string("{}\n");
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
  // No reason to give the node to the next target.
  EXPECT_THAT(WhatComesOf("supports", "{\"error\": \"no rain\"}\n"),
              HasSubstr("target mine, asked about node m: the backend"));
  EXPECT_THAT(WhatComesOf("supports", "[]\n"), HasSubstr("no JSON object"));
  EXPECT_THAT(WhatComesOf("supports", "{\"why_not\": true}\n"),
              HasSubstr("'why_not' is no text"));
  EXPECT_THAT(WhatComesOf("supports", ""),
              HasSubstr("ended without an answer"));
  EXPECT_THAT(WhatComesOf("relay_to_runtime", "{}\n"),
              HasSubstr("made no artifact for the region model_mine_0"));
  EXPECT_THAT(
      WhatComesOf("relay_to_runtime",
                  R"({"artifacts": [{"loader": "mine", "file_name": "f",)"
                  R"( "content": [0, 4]}], "bytes": 3})"
                  "\nabc"),
      HasSubstr("'f': 'content' is no [offset, size] of the 3 bytes"));
  EXPECT_THAT(
      WhatComesOf("relay_to_runtime",
                  R"({"artifacts": [{"loader": "mine", "file_name": "f"}]})"
                  "\n"),
      HasSubstr("'content' is no [offset, size] of the 0 bytes"));
  EXPECT_THAT(WhatComesOf("relay_to_runtime", "{\"bytes\": -1}\n"),
              HasSubstr("answered with -1 bytes"));
  EXPECT_THAT(
      WhatComesOf("relay_to_runtime",
                  R"({"artifacts": [{"loader": "other", "file_name": "f",)"
                  R"( "content": [0, 0]}]})"
                  "\n"),
      AllOf(HasSubstr("host/mine/f"), HasSubstr("'other'")));
  EXPECT_THAT(
      WhatComesOf("relay_to_runtime",
                  R"({"artifacts": [{"loader": "mine", "file_name": "../f",)"
                  R"( "content": [0, 0]}]})"
                  "\n"),
      HasSubstr("../f"));
  EXPECT_THAT(WhatComesOf("relay_to_runtime", ""),
              HasSubstr("ended without an answer"));
  EXPECT_THAT(WhatComesOf("describe", "[]\n"), HasSubstr("no JSON object"));
  EXPECT_THAT(WhatComesOf("describe", "{\"version\": 9}\n"),
              HasSubstr("version 9"));
  EXPECT_THAT(
      WhatComesOf("describe",
                  "{\"version\": 2, \"targets\": [{\"doc\": \"d\"}]}\n"),
      HasSubstr("without name"));
  EXPECT_THAT(
      WhatComesOf("describe",
                  "{\"version\": 2, \"targets\": [{\"name\": \"c\"}]}\n"),
      HasSubstr("target kind c is registered twice"));
  const auto composite = [](const std::string& described) {
    return WhatComesOf(
        "describe", absl::StrCat(R"({"version": 2, "targets": [{"name": "m",)",
                                 R"("composites": [)", described, "]}]}\n"));
  };
  EXPECT_THAT(
      composite(R"json({"name": "linear", "pattern": "add(dens)"})json"),
      HasSubstr("composite 'linear': 1:5: relay has no operator"));
  EXPECT_THAT(composite(R"({"pattern": "add"})"), HasSubstr("it has no name"));
}

constexpr char kLinear[] = R"(module {
  func @main(%x: f32[N, 3]) -> (%y) {
    %w = const f32[2, 3] {1, 2, 3, 4, 5, 6}
    %b = const f32[2] {7, 8}
    %d = dense(%x, %w)
    %s = add(%d, %b)
    %r = relu(%s)
    %y = exp(%r)
  }
})";

TEST(ExternalTest, ACompositeIsOneNodeAndKeepsItsConstants) {
  std::vector<json> supports;
  json region;
  std::string sent;
  Backend backend([&](const json& request, const std::string& bytes) {
    const std::string method = request["method"];
    if (method == "describe") {
      return std::string(
          R"({"version": 2, "targets": [{"name": "mine", "supports": true,)"
          R"( "loaders": ["mine"], "operators": [], "constants": true,)"
          R"( "composites": [{"name": "linear",)"
          R"json( "pattern": "[relu](add(dense(*, const), const))"}]}]})json"
          "\n");
    }
    if (method == "supports") {
      supports.push_back(request["node"]);
      return std::string("{}\n");
    }
    region = request["region"];
    sent = bytes;
    return std::string(R"({"artifacts": [{"loader": "mine", "file_name": "f",)"
                       R"( "content": [0, 0]}]})"
                       "\n");
  });
  auto connection = backend.Open();
  ASSERT_TRUE(connection.ok()) << connection.status();
  const auto set = Compile(*connection, "mine,c", kLinear);
  connection->reset();
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(supports.size(), 1u);
  EXPECT_EQ(supports[0]["op"], "linear");
  EXPECT_EQ(supports[0]["nodes"].size(), 3u);
  EXPECT_EQ(supports[0]["inputs"].size(), 3u);
  EXPECT_EQ(supports[0]["outputs"][0]["name"], "r");

  ASSERT_EQ(region["nodes"].size(), 1u) << region;
  const json& node = region["nodes"][0];
  EXPECT_EQ(node["op"], "linear");
  std::vector<std::string> ops, inputs, outputs;
  for (const json& inner : node["nodes"]) {
    ops.push_back(inner["op"]);
    for (const json& value : inner["inputs"]) inputs.push_back(value["name"]);
    outputs.push_back(inner["outputs"][0]["name"]);
  }
  EXPECT_THAT(ops, ElementsAre("dense", "add", "relu"));
  EXPECT_THAT(inputs, ElementsAre("x", "w", "r.d", "b", "r.s"));
  EXPECT_THAT(outputs, ElementsAre("r.d", "r.s", "r"));
  EXPECT_THAT(region["text"].get<std::string>(),
              AllOf(HasSubstr("composite=\"linear\""), HasSubstr("dense(")));

  // Both constants cross, the second where it is aligned.
  ASSERT_EQ(region["constants"].size(), 2u);
  const json& w = region["constants"][0];
  EXPECT_EQ(w["bytes"], json::array({0, 24}));
  EXPECT_EQ(region["constants"][1]["bytes"], json::array({64, 8}));
  EXPECT_EQ(sent.size(), 72u);
  EXPECT_EQ(sent.substr(20, 4), absl::string_view("\0\0\xc0\x40", 4));  // 6
  EXPECT_FALSE(w["key"].get<std::string>().empty());
}

TEST(ExternalTest, WhatTheBackendRefusesStaysWithTheHost) {
  Backend backend([](const json& request, const std::string&) {
    if (request["method"] == "describe") return Describe();
    return std::string("{\"why_not\": \"not today\"}\n");
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

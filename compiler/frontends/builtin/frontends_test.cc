#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "compiler/frontends/builtin/builtin_frontends.h"
#include "compiler/frontends/frontend.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/read_model.h"
#include "compiler/relay/ir.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

constexpr char kText[] =
    "// a comment\n\nmodule {\n  func @main(%x: f32[n, 2, n]) -> (%y: \"y\") "
    "{\n    %t = neg(%x)\n    %y = transpose(%t) {axes=[1, 0, 2]}\n  }\n}\n";

const FrontendRegistry& Builtin() {
  static const FrontendRegistry* const registry = [] {
    auto* r = new FrontendRegistry;
    EXPECT_TRUE(RegisterBuiltinFrontends(r).ok());
    return r;
  }();
  return *registry;
}

std::string AcceptedBy(absl::string_view bytes) {
  const auto found = Builtin().Find(bytes);
  return found.ok() ? (*found)->name : std::string(found.status().message());
}

absl::StatusOr<ReadModel> ReadText(const std::string& text,
                                   const ImportOptions& options = {}) {
  const std::string path = testing::TempDir() + "/a.b.relay";
  std::ofstream(path, std::ios::binary) << text;
  return ReadModelFile(path, Builtin(), options);
}

TEST(FrontendsTest, TheBytesTellTheFrontend) {
  onnx_frontend::ModelBuilder b;
  b.Input("x", {"2"}).Output("y");
  b.Node("Relu", {"x"}, {"y"});
  const Blob model = b.Build();
  EXPECT_EQ(AcceptedBy(model.view()), "onnx");
  // A model that is cut off still is one, so that its frontend says so.
  EXPECT_EQ(AcceptedBy(model.view().substr(0, model.size() - 1)), "onnx");
  EXPECT_EQ(AcceptedBy(kText), "relay");
  for (const std::string& other :
       {std::string(), std::string("modules {"), std::string("// module {"),
        std::string("\x7f"
                    "ELF\2\1\1",
                    7),
        std::string(40, '\0'), std::string(40, '\xff'),
        std::string("{\"a\": 1}")}) {
    EXPECT_TRUE(absl::StrContains(AcceptedBy(other), "onnx looks for"))
        << AcceptedBy(other);
    EXPECT_TRUE(absl::StrContains(AcceptedBy(other), "relay looks for"));
  }
}

TEST(FrontendsTest, NamesAndSuffixesAreUnique) {
  FrontendRegistry registry;
  EXPECT_TRUE(absl::StrContains(registry.Find("").status().message(),
                                "no frontend is built in"));
  ASSERT_TRUE(RegisterBuiltinFrontends(&registry).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(RegisterBuiltinFrontends(&registry)));
  Frontend other = registry.all()[0];
  other.name = "another";
  EXPECT_TRUE(absl::IsAlreadyExists(registry.Register(other)));
  other.suffix = ".another";
  other.accepts = nullptr;
  EXPECT_TRUE(absl::IsInvalidArgument(registry.Register(other)));
  EXPECT_TRUE(registry.HasSuffix("a/B.ONNX"));
  EXPECT_FALSE(registry.HasSuffix("onnx"));
}

TEST(FrontendsTest, RelayTextNamesItsNodesAndTakesShapes) {
  ImportOptions options;
  options.input_shapes["x"] = {3, -1, -1};
  options.extra_outputs = {"t", "y", "none"};
  const auto model = ReadText(kText, options);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name, "a.b");
  ASSERT_EQ(model->module.model_nodes.size(), 2u);
  EXPECT_EQ(model->module.model_nodes[0].name, "t");
  const relay::Function& main = *model->module.main();
  // The symbol is the same one in both places.
  EXPECT_EQ(relay::ToString(main.inputs[0]->outputs[0]), "f32[3, 2, 3]");
  ASSERT_EQ(main.outputs.size(), 2u);
  EXPECT_EQ(relay::ToString(main.outputs[0].type()), "f32[2, 3, 3]");
  EXPECT_EQ(main.output_names[1], "t");
}

TEST(FrontendsTest, RelayTextRefusesShapesThatDoNotFit) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{3, 2}, {3, 1, -1}, {3, 2, 4}, {-2, 2, -2}}) {
    ImportOptions options;
    options.input_shapes["x"] = shape;
    const auto model = ReadText(kText, options);
    EXPECT_TRUE(absl::IsInvalidArgument(model.status())) << model.status();
    EXPECT_TRUE(absl::StrContains(model.status().message(), "input 'x'"));
  }
  ImportOptions options;
  options.input_shapes["z"] = {1};
  EXPECT_TRUE(absl::IsInvalidArgument(ReadText(kText, options).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      ReadText("module {\n  func @other(%x: f32[]) -> (%x) {\n  }\n}\n")
          .status()));
}

}  // namespace
}  // namespace ingot

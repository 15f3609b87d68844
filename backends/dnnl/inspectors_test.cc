#include "backends/dnnl/inspectors.h"

#include <string>

#include "artifact/artifact_set.h"
#include "backends/dnnl/graph.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

absl::StatusOr<std::string> Inspect(std::string content) {
  InspectorRegistry registry;
  EXPECT_TRUE(RegisterDnnlInspectors(&registry).ok());
  Artifact artifact;
  artifact.codegen_id = artifact.loader = dnnl_backend::kName;
  artifact.file_name = "r.dnnl.json";
  artifact.content = Blob::FromString(std::move(content));
  return registry.Find(artifact)[0]->inspect(artifact, {});
}

TEST(DnnlInspectors, ShowAGraphAsAFunction) {
  dnnl_backend::Graph graph;
  graph.symbol = "r";
  graph.tensors = {{"x", {{1, 3, 8, 8}, ""}},
                   {"z", {{1, 4, 6, 6}, ""}},
                   {"y 1", {{1, 4, 6, 6}, ""}},
                   {"conv/w", {{4, 3, 3, 3}, "conv.weight"}}};
  graph.inputs = {"x", "z"};
  graph.outputs = {"y 1"};
  dnnl_backend::Node conv;
  conv.name = "Conv_0, Relu_1";
  conv.op = "convolution";
  conv.inputs = {"x", "conv/w"};
  conv.output = "y 1";
  conv.attributes = {{"strides", dnnl_backend::Dims{1, 1}},
                     {"dilations", dnnl_backend::Dims{1, 1}},
                     {"groups", int64_t{1}},
                     {"pads", dnnl_backend::Dims{0, 0, 0, 0}}};
  conv.post_ops.resize(3);
  conv.post_ops[0].add = "z";
  conv.post_ops[1].algorithm = "relu";
  conv.post_ops[2].algorithm = "clip";
  conv.post_ops[2].beta = 6;
  graph.nodes = {conv};
  const absl::StatusOr<std::string> text =
      Inspect(dnnl_backend::WriteGraph(graph));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(
      *text,
      R"(r(%x: f32[1, 3, 8, 8], %z: f32[1, 4, 6, 6]) -> (%"y 1": f32[1, 4, 6, 6]) {
  %conv/w: f32[4, 3, 3, 3] = constant "conv.weight"
  %"y 1": f32[1, 4, 6, 6] = convolution(%x, %conv/w) {dilations=[1, 1], groups=1, pads=[0, 0, 0, 0], strides=[1, 1]} then add(%z) then relu then clip(0, 6)  # Conv_0, Relu_1
}
)");
}

TEST(DnnlInspectors, SayWhatIsNoGraph) {
  EXPECT_FALSE(Inspect("").ok());
  EXPECT_FALSE(Inspect("{\"format\": \"ingot-dnnl\"}").ok());
}

}  // namespace
}  // namespace ingot

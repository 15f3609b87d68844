// `ingot verify` on text, whose tensors are as wide as their longest string may
// be, which test data does not say.
#include <filesystem>
#include <string>
#include <vector>

#include "onnx/onnx.pb.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

void WriteStrings(const std::string& path, const std::string& name,
                  const std::vector<int64_t>& shape,
                  const std::vector<std::string>& strings) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::STRING);
  for (int64_t d : shape) tensor.add_dims(d);
  for (const std::string& s : strings) tensor.add_string_data(s);
  WriteFileBytes(path, tensor.SerializeAsString());
}

// The words of two strings.
void WriteSplit(const std::string& path) {
  onnx::ModelProto model;
  model.set_ir_version(9);
  model.add_opset_import()->set_version(20);
  onnx::GraphProto* graph = model.mutable_graph();
  onnx::ValueInfoProto* x = graph->add_input();
  x->set_name("x");
  auto* type = x->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::STRING);
  type->mutable_shape()->add_dim()->set_dim_value(2);
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type("StringSplit");
  node->set_name("split");
  node->add_input("x");
  node->add_output("words");
  node->add_output("");
  graph->add_output()->set_name("words");
  WriteFileBytes(path, model.SerializeAsString());
}

TEST_F(CliTest, VerifyComparesStrings) {
  WriteSplit(Path("split.onnx"));
  const std::string set = Path("data/test_data_set_0");
  std::filesystem::create_directories(set);
  WriteStrings(set + "/input_0.pb", "x", {2}, {"a bb", "ccc"});
  WriteStrings(set + "/output_0.pb", "words", {2, 2}, {"a", "bb", "ccc", ""});
  const nlohmann::json json =
      DoJson({"verify", "@split.onnx", "--test-data=@data"});
  EXPECT_EQ(json["ok"], true) << json;
  EXPECT_EQ(json["elements"], 4);
  const nlohmann::json interpreted =
      DoJson({"verify", "@split.onnx", "--test-data=@data", "--interpret"});
  EXPECT_EQ(interpreted["ok"], true) << interpreted;

  WriteStrings(set + "/output_0.pb", "words", {2, 2}, {"a", "b", "ccc", ""});
  ExpectError({"verify", "@split.onnx", "--test-data=@data"}, 1,
              {"output 'words'", "[0, 1] is \"bb\" and should be \"b\""});
  WriteStrings(set + "/output_0.pb", "words", {2, 1}, {"a", "ccc"});
  ExpectError({"verify", "@split.onnx", "--test-data=@data"}, 1,
              {"it is u8[2, 2, 4] and should be u8[2, 1, 3], of strings"});
}

}  // namespace
}  // namespace ingot

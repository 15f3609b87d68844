#include "tests/pipeline/run_time_models.h"

namespace ingot {

onnx::GraphProto* AddGraph(onnx::NodeProto* node, const std::string& name) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name(name);
  return attribute->mutable_g();
}

onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type(op);
  node->set_name(outputs[0]);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return node;
}

void AddOutputs(onnx::GraphProto* graph,
                const std::vector<std::string>& names) {
  for (const std::string& name : names) graph->add_output()->set_name(name);
}

void AddInt(onnx::NodeProto* node, const std::string& name, int64_t value) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void AddConstant(onnx::GraphProto* graph, const std::string& name,
                 const std::vector<int64_t>& dims,
                 const std::vector<int64_t>& values) {
  onnx::TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(kInt64);
  for (int64_t dim : dims) tensor->add_dims(dim);
  for (int64_t value : values) tensor->add_int64_data(value);
}

void AddFloat(onnx::GraphProto* graph, const std::string& name, float value) {
  onnx::TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(kFloat);
  tensor->add_float_data(value);
}

void AddValue(onnx::ValueInfoProto* info, const std::string& name, int type) {
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  info->mutable_type()->mutable_tensor_type()->mutable_shape();
}

void AddVector(onnx::ValueInfoProto* info, const std::string& name) {
  AddValue(info, name, kFloat);
  onnx::TypeProto::Tensor* type = info->mutable_type()->mutable_tensor_type();
  type->mutable_shape()->add_dim()->set_dim_param("N");
}

onnx::GraphProto* StartModel(onnx::ModelProto* model) {
  model->set_ir_version(8);
  model->add_opset_import()->set_version(15);
  return model->mutable_graph();
}

void RunTimeTest::ExpectVerified(size_t sets, size_t outputs) {
  for (const char* level : {"--opt-level=2", "--opt-level=0"}) {
    Do({"compile", "@m.onnx", "-o", "@m.ingot", Target(), level});
    const nlohmann::json json =
        DoJson({"verify", "@m.ingot", "--test-data=@data"});
    EXPECT_EQ(json["ok"], true) << json;
    EXPECT_EQ(json["sets"], sets);
    EXPECT_EQ(json["outputs"].size(), outputs);
  }
}

}  // namespace ingot

// Small ONNX models for tests.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TESTING_MODEL_BUILDER_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TESTING_MODEL_BUILDER_H_

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "artifact/blob.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
  }

  onnx::ModelProto& model() { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  // A dimension that is no number is a symbol; "?" has no name.
  ModelBuilder& Input(const std::string& name,
                      const std::vector<std::string>& dims,
                      int type = onnx::TensorProto::FLOAT) {
    auto* info = graph().add_input();
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (const std::string& d : dims) {
      auto* dim = tensor->mutable_shape()->add_dim();
      int64_t value;
      if (absl::SimpleAtoi(d, &value)) {
        dim->set_dim_value(value);
      } else if (d != "?") {
        dim->set_dim_param(d);
      }
    }
    return *this;
  }
  ModelBuilder& Output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  onnx::TensorProto* Floats(const std::string& name,
                            const std::vector<int64_t>& dims,
                            const std::vector<float>& values) {
    auto* t = graph().add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t d : dims) t->add_dims(d);
    for (float v : values) t->add_float_data(v);
    return t;
  }
  onnx::TensorProto* Ints(const std::string& name,
                          const std::vector<int64_t>& values) {
    auto* t = graph().add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::INT64);
    t->add_dims(static_cast<int64_t>(values.size()));
    for (int64_t v : values) t->add_int64_data(v);
    return t;
  }
  onnx::NodeProto* Node(const std::string& op,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::string& name = "") {
    auto* node = graph().add_node();
    node->set_op_type(op);
    node->set_name(name);
    for (const std::string& i : inputs) node->add_input(i);
    for (const std::string& o : outputs) node->add_output(o);
    return node;
  }
  // Another operator set than ONNX's own.
  ModelBuilder& Domain(const std::string& domain, int version = 1) {
    auto* opset = model_.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
    return *this;
  }
  Blob Build() const { return Blob::FromString(model_.SerializeAsString()); }

 private:
  onnx::ModelProto model_;
};

// An attribute that is a graph, and a node of a graph.
inline onnx::GraphProto* AddGraph(onnx::NodeProto* node,
                                  const std::string& name) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  return attribute->mutable_g();
}
inline onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                                const std::vector<std::string>& inputs,
                                const std::string& output) {
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

inline void SetInt(onnx::NodeProto* node, const std::string& name, int64_t v) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(v);
}

inline void SetFloat(onnx::NodeProto* node, const std::string& name, float v) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::FLOAT);
  a->set_f(v);
}

inline void SetString(onnx::NodeProto* node, const std::string& name,
                      const std::string& v) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::STRING);
  a->set_s(v);
}

inline void SetInts(onnx::NodeProto* node, const std::string& name,
                    const std::vector<int64_t>& values) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INTS);
  for (int64_t v : values) a->add_ints(v);
}

inline void SetFloats(onnx::NodeProto* node, const std::string& name,
                      const std::vector<float>& values) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::FLOATS);
  for (float v : values) a->add_floats(v);
}

inline void SetStrings(onnx::NodeProto* node, const std::string& name,
                       const std::vector<std::string>& values) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& v : values) a->add_strings(v);
}

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TESTING_MODEL_BUILDER_H_

// ONNX models: what is imported verifies.
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/relay/verifier.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

using onnx_frontend::ModelBuilder;

// Weights, symbolic dimensions and shapes that are computed.
std::string Layers() {
  ModelBuilder b;
  b.Input("x", {"n", "4"}).Output("y");
  b.Floats("w", {4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  b.Ints("shape", {0, -1});
  b.Node("Gemm", {"x", "w"}, {"g"}, "gemm");
  b.Node("Relu", {"g"}, {"r"});
  b.Node("Shape", {"r"}, {"s"});
  b.Node("Concat", {"s", "shape"}, {"c"})->add_attribute()->set_name("axis");
  b.Node("Reshape", {"r", "shape"}, {"y"});
  return b.model().SerializeAsString();
}

// A branch, a function of the model's own, and text.
std::string Parts() {
  ModelBuilder b;
  b.Input("x", {"4"}).Output("y");
  b.Domain("own");
  auto* function = b.model().add_functions();
  function->set_name("Twice");
  function->set_domain("own");
  function->add_input("a");
  function->add_output("b");
  function->add_opset_import()->set_version(17);
  auto* add = function->add_node();
  add->set_op_type("Add");
  add->add_input("a");
  add->add_input("a");
  add->add_output("b");
  b.Node("Twice", {"x"}, {"t"}, "twice")->set_domain("own");
  auto* condition = b.graph().add_initializer();
  condition->set_name("c");
  condition->set_data_type(onnx::TensorProto::BOOL);
  condition->add_int32_data(1);
  auto* branch = b.Node("If", {"c"}, {"y"}, "if");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = branch->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    auto* graph = attribute->mutable_g();
    auto* node = graph->add_node();
    node->set_op_type("Exp");
    node->add_input("t");
    node->add_output("z");
    graph->add_output()->set_name("z");
  }
  return b.model().SerializeAsString();
}

}  // namespace

std::vector<std::string> Seeds() { return {Layers(), Parts()}; }

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<relay::Module> module =
      ImportOnnx(Blob::FromString(std::string(bytes)));
  if (absl::IsInternal(module.status())) return module.status();
  if (!module.ok()) return false;
  INGOT_RETURN_IF_ERROR(relay::Verify(*module));
  return true;
}

}  // namespace ingot::fuzz

// Branches and loops, whose bodies read values from around them.
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/protos.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

// A graph to be a body, named apart from everything else.
class Body {
 public:
  Body(Grower* g, const std::string& prefix)
      : prefix_(prefix + std::to_string(g->operators()) + "_") {
    graph_.set_name(prefix_);
  }

  std::string Input(DataType t, bool scalar = false) {
    const std::string name = Name();
    auto* input = graph_.add_input();
    input->set_name(name);
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(OnnxTypeOf(t));
    if (scalar) type->mutable_shape();
    return name;
  }
  std::string Node(const std::string& op,
                   const std::vector<std::string>& operands) {
    onnx::NodeProto* node = graph_.add_node();
    node->set_op_type(op);
    for (const std::string& operand : operands) node->add_input(operand);
    node->add_output(Name());
    return node->output(0);
  }
  // Sets an attribute of the last node.
  void Attribute(const std::string& name, int64_t value) {
    auto* attribute =
        graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  void Output(const std::string& name, DataType t) {
    auto* output = graph_.add_output();
    output->set_name(name);
    output->mutable_type()->mutable_tensor_type()->set_elem_type(OnnxTypeOf(t));
  }
  const onnx::GraphProto& graph() const { return graph_; }

 private:
  std::string Name() { return prefix_ + std::to_string(next_++); }

  const std::string prefix_;
  onnx::GraphProto graph_;
  int next_ = 0;
};

void AddIf(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const std::string x = g->Some(t, 0, 3);
  const std::string y = r.Chance(30) ? x : g->Like(t, g->ShapeOf(x));
  Body yes(g, "then"), no(g, "else");
  yes.Output(yes.Node("Add", {x, y}), t);
  // Branches may differ in shape, even in rank.
  const bool sums = r.Chance(30);
  const std::string shaped = no.Node(
      sums ? "ReduceSum" : "Mul",
      sums ? std::vector<std::string>{y} : std::vector<std::string>{x, y});
  if (sums) no.Attribute("keepdims", r.Next(2));
  no.Output(no.Node("Tanh", {shaped}), t);
  g->Try(Call(op, {g->New(DataType::Bool(), {})})
             .Graph("then_branch", yes.graph())
             .Graph("else_branch", no.graph()));
}

void AddLoop(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const std::string x = g->Some(t, 0, 3);
  const std::string y = g->Like(t, g->ShapeOf(x));
  Body body(g, "loop");
  body.Input(DataType::Int(64), /*scalar=*/true);
  const std::string go = body.Input(DataType::Bool(), /*scalar=*/true);
  const std::string state = body.Input(t);
  body.Output(body.Node("Identity", {go}), DataType::Bool());
  const std::string next = body.Node("Tanh", {body.Node("Add", {state, y})});
  body.Output(next, t);
  const bool scan = r.Chance(60);
  if (scan) body.Output(body.Node("Mul", {next, y}), t);
  g->Add(Call(op, {g->ScalarParameter(static_cast<double>(r.Next(5)),
                                      DataType::Int(64)),
                   g->ScalarParameter(1, DataType::Bool()), x})
             .Graph("body", body.graph())
             .Results(scan ? 2 : 1));
}

void AddScan(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const std::string xs = g->Some(t, 2, 3);
  Shape one = g->ShapeOf(xs);
  one.erase(one.begin());
  Body body(g, "scan");
  const std::string state = body.Input(t), x = body.Input(t);
  const std::string next =
      body.Node("Softsign", {body.Node("Sub", {x, state})});
  body.Output(next, t);
  body.Output(body.Node("Mul", {next, next}), t);
  Call call(op, {g->Like(t, one), xs});
  call.Graph("body", body.graph()).Int("num_scan_inputs", 1).Results(2);
  if (r.Chance(30)) call.Ints("scan_input_directions", {1});
  if (r.Chance(30)) call.Ints("scan_output_directions", {1});
  g->Add(call);
}

}  // namespace

void AddControlFlow(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"If"}, AddIf});
  samplers->push_back({{"Loop"}, AddLoop});
  samplers->push_back({{"Scan"}, AddScan});
}

}  // namespace ingot::fuzz

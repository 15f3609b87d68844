// SequenceMap: a loop over a sequence that inserts what its body computes into
// others. Written as the graph that it stands for, so that loops and sequences
// are imported in one way.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"

namespace ingot::onnx_frontend {
namespace {

onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::string& output, const std::string& name) {
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type(op);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

// One iteration: reads the sequences' tensors at its number, then the node's
// own body, then inserts its results after those so far.
onnx::GraphProto IterationGraph(NodeContext& c, const onnx::GraphProto& body,
                                const std::string& prefix) {
  onnx::GraphProto iteration;
  iteration.set_name(c.name());
  iteration.add_input()->set_name(absl::StrCat(prefix, "iteration"));
  iteration.add_input()->set_name(absl::StrCat(prefix, "go"));
  iteration.add_output()->set_name(absl::StrCat(prefix, "go"));
  *iteration.mutable_initializer() = body.initializer();
  *iteration.mutable_sparse_initializer() = body.sparse_initializer();
  for (int i = 0; i < body.input_size(); ++i) {
    const std::string from = absl::StrCat(prefix, "in", i);
    const std::string& to = body.input(i).name();
    const std::string name = absl::StrCat(c.name(), "/at", i);
    if (c.IsSequence(i)) {
      AddNode(&iteration, "SequenceAt",
              {from, absl::StrCat(prefix, "iteration")}, to, name);
    } else {
      AddNode(&iteration, "Identity", {from}, to, name);
    }
  }
  iteration.mutable_node()->MergeFrom(body.node());
  for (int i = 0; i < body.output_size(); ++i) {
    const std::string so_far = absl::StrCat(prefix, "so_far", i);
    const std::string now = absl::StrCat(prefix, "now", i);
    onnx::ValueInfoProto* input = iteration.add_input();
    input->set_name(so_far);
    *input->mutable_type()->mutable_sequence_type()->mutable_elem_type() =
        body.output(i).type();
    AddNode(&iteration, "SequenceInsert", {so_far, body.output(i).name()}, now,
            absl::StrCat(c.name(), "/insert", i));
    iteration.add_output()->set_name(now);
  }
  return iteration;
}

absl::Status SequenceMap(NodeContext& c) {
  const onnx::GraphProto* body = c.Graph("body");
  if (body == nullptr || body->input_size() != c.num_inputs() ||
      !c.IsSequence(0)) {
    return c.Error("its body does not fit its inputs");
  }
  // Names that the body does not use.
  std::string prefix = absl::StrCat(c.name(), "/");
  const std::string bytes = body->SerializeAsString();
  while (absl::StrContains(bytes, prefix)) prefix += "/";
  onnx::GraphProto graph;
  std::vector<Binding> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.has_input(i)) return c.Error("input ", i, " is missing");
    if (c.binding(i)->initializer != nullptr) {
      INGOT_RETURN_IF_ERROR(c.Input(i).status());
    }
    inputs.push_back(*c.binding(i));
    graph.add_input()->set_name(absl::StrCat(prefix, "in", i));
  }
  const std::string length = absl::StrCat(prefix, "length");
  AddNode(&graph, "SequenceLength", {absl::StrCat(prefix, "in0")}, length,
          absl::StrCat(c.name(), "/length"));
  std::vector<std::string> loop_inputs = {length, ""};
  for (int i = 0; i < body->output_size(); ++i) {
    const std::string empty = absl::StrCat(prefix, "empty", i);
    onnx::AttributeProto* dtype = AddNode(&graph, "SequenceEmpty", {}, empty,
                                          absl::StrCat(c.name(), "/empty", i))
                                      ->add_attribute();
    dtype->set_name("dtype");
    dtype->set_type(onnx::AttributeProto::INT);
    dtype->set_i(body->output(i).type().tensor_type().elem_type());
    loop_inputs.push_back(empty);
  }
  onnx::NodeProto* loop =
      AddNode(&graph, "Loop", loop_inputs, "", absl::StrCat(c.name(), "/loop"));
  loop->clear_output();
  for (int i = 0; i < body->output_size(); ++i) {
    const std::string name = absl::StrCat(prefix, "out", i);
    loop->add_output(name);
    graph.add_output()->set_name(name);
  }
  onnx::AttributeProto* iteration = loop->add_attribute();
  iteration->set_name("body");
  iteration->set_type(onnx::AttributeProto::GRAPH);
  *iteration->mutable_g() = IterationGraph(c, *body, prefix);
  INGOT_ASSIGN_OR_RETURN(std::vector<Binding> results,
                         c.importer()->Inline(graph, std::move(inputs)));
  results.resize(c.outputs().size());
  c.outputs() = std::move(results);
  return absl::OkStatus();
}

}  // namespace

void AddSequenceMapConverters(ConverterTable* t) {
  t->Add("SequenceMap", 17, &SequenceMap);
}

}  // namespace ingot::onnx_frontend

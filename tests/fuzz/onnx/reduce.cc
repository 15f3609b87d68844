#include "tests/fuzz/onnx/reduce.h"

#include <set>
#include <utility>
#include <vector>

#include "tests/fuzz/onnx/check_seed.h"
#include "tests/fuzz/onnx/protos.h"

namespace ingot::fuzz {
namespace {

// The nodes of `model` that `kept` names, with everything else that they read
// as inputs, and as outputs what none of them reads.
OnnxModel PartOf(const OnnxModel& model, const Scope& scope,
                 const std::vector<int>& kept) {
  OnnxModel part;
  part.proto = EmptyModel(OpsetOf(model.proto));
  onnx::GraphProto* graph = part.proto.mutable_graph();
  std::set<std::string> made, read;
  for (int k : kept) {
    const onnx::NodeProto& node = model.proto.graph().node(k);
    *graph->add_node() = node;
    made.insert(node.output().begin(), node.output().end());
    read.merge(NamesReadBy(node));
  }
  std::set<std::string> constants;
  for (const auto& weight : model.proto.graph().initializer()) {
    if (read.count(weight.name()) == 0) continue;
    *graph->add_initializer() = weight;
    constants.insert(weight.name());
  }
  for (const std::string& name : read) {
    if (made.count(name) > 0 || constants.count(name) > 0) continue;
    const auto it = scope.find(name);
    if (it == scope.end()) return {};  // a sequence, say
    *graph->add_input() = InfoOf(name, it->second.value);
    part.inputs[name] = it->second.value;
  }
  for (int k : kept) {
    for (const std::string& name : model.proto.graph().node(k).output()) {
      const auto it = scope.find(name);
      if (read.count(name) > 0 || it == scope.end()) continue;
      *graph->add_output() = InfoOf(name, it->second.value);
    }
  }
  return part;
}

bool Fails(const OnnxModel& model, const Way& way, const std::string& folder) {
  ChildPool pool(absl::Minutes(1));
  StartModel(0, model, {way}, folder, &pool);
  const std::vector<WayResult> results = ResultsOf(pool.Next(), {way});
  return !results.empty() && results[0].failed();
}

}  // namespace

OnnxModel Reduce(const OnnxModel& model, const Way& way,
                 const std::string& folder) {
  const absl::StatusOr<Scope> scope =
      EvaluateModel(model.proto, model.inputs, 1);
  if (!scope.ok()) return model;
  std::vector<int> kept;
  for (int k = 0; k < model.proto.graph().node_size(); ++k) kept.push_back(k);
  OnnxModel smallest = model;
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (size_t k = kept.size(); k-- > 0 && kept.size() > 1;) {
      std::vector<int> fewer = kept;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      OnnxModel part = PartOf(model, *scope, fewer);
      if (part.proto.graph().output_size() == 0) continue;
      if (!Fails(part, way, folder)) continue;
      kept = std::move(fewer);
      smallest = std::move(part);
      shrunk = true;
    }
  }
  return smallest;
}

}  // namespace ingot::fuzz

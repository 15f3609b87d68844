#include "tests/bisect/planted/spoil.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "compiler/tir/visitor.h"

namespace ingot::planted {
namespace {

using relay::Function;
using relay::Node;

struct Candidate {
  Function* function;
  Node* node;
};

std::vector<Candidate> CandidatesIn(const relay::Module& module) {
  std::vector<Candidate> candidates;
  for (const auto& function : module.functions()) {
    const bool is_region =
        function->attrs.Has("target") || function->attrs.Has("composite");
    if (is_region) continue;
    for (const auto& node : function->nodes()) {
      if (node->IsKernel() && node->outputs.size() == 1 &&
          node->outputs[0].dtype == DataType::Float(32)) {
        candidates.push_back({function.get(), node.get()});
      }
    }
  }
  return candidates;
}

// Its own, and those of calls of its function.
relay::Sources SourcesOf(const relay::Module& module, const Candidate& c) {
  relay::Sources sources = c.node->sources;
  for (const auto& caller : module.functions()) {
    for (const auto& node : caller->nodes()) {
      if (node->callee == c.function->name) sources.Add(node->sources);
    }
  }
  return sources;
}

class Spoiler final : public tir::StmtMutator {
 public:
  explicit Spoiler(const tir::PrimFunc& func) {
    for (int i = 0; i < func.num_outputs; ++i) {
      results_.insert(func.params[func.num_inputs() + i].get());
    }
  }

 protected:
  tir::Stmt MutateStore(const tir::Stmt& s, const tir::Store& node) override {
    if (results_.count(node.buffer.get()) == 0 ||
        !node.buffer->dtype.is_float()) {
      return StmtMutator::MutateStore(s, node);
    }
    return tir::MakeStore(node.buffer, node.indices,
                          node.value + tir::MakeConst(node.value->dtype, 0.5));
  }

 private:
  std::set<const tir::BufferNode*> results_;
};

}  // namespace

absl::StatusOr<std::string> SpoilNode(int number, relay::Module* module) {
  const std::vector<Candidate> candidates = CandidatesIn(*module);
  if (candidates.empty()) return absl::NotFoundError("no node to spoil");
  const Candidate& c = candidates[number % candidates.size()];
  const relay::Value value{c.node};
  const relay::Sources sources = SourcesOf(*module, c);
  INGOT_ASSIGN_OR_RETURN(Tensor one, Tensor::Empty(DataType::Float(32), {}));
  *one.mutable_data<float>() = 1;
  Node* const constant = c.function->AddConstant("planted_one", std::move(one));
  INGOT_ASSIGN_OR_RETURN(
      Node * sum,
      c.function->AddOp("add", "planted_sum", {value, relay::Value{constant}}));
  INGOT_ASSIGN_OR_RETURN(
      Node * wave, c.function->AddOp("sin", "planted", {relay::Value{sum}}));
  sum->sources = sources;
  wave->sources = sources;
  c.function->ReplaceUses(value, relay::Value{wave});
  sum->inputs[0] = value;
  INGOT_RETURN_IF_ERROR(c.function->Sort());
  return absl::StrJoin(sources, ", ");
}

tir::PrimFunc SpoilStores(const tir::PrimFunc& func) {
  tir::PrimFunc spoiled = func;
  spoiled.body = Spoiler(func).Mutate(func.body);
  return spoiled;
}

}  // namespace ingot::planted

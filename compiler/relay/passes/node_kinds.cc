#include "compiler/relay/passes/node_kinds.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/verifier.h"

namespace ingot::relay {
namespace {

std::vector<Node*> Leaves(const Function& main) {
  std::vector<Node*> leaves;
  for (const auto& node : main.nodes()) {
    if (node->inputs.empty()) leaves.push_back(node.get());
  }
  return leaves;
}

// Calls with one tensor as their result.
std::vector<Node*> InnerCalls(const Function& main) {
  std::vector<Node*> calls;
  for (const auto& node : main.nodes()) {
    if (node->kind == NodeKind::kOp && node->outputs.size() == 1 &&
        !node->inputs.empty() && !node->outputs[0].is_sequence &&
        !node->IsExecutorStep()) {
      calls.push_back(node.get());
    }
  }
  return calls;
}

void Replace(Function* main, Node* old, const Value& value) {
  main->ReplaceUses(Value{old}, value);
  main->inputs.erase(std::remove(main->inputs.begin(), main->inputs.end(), old),
                     main->inputs.end());
}

// The extents of leaves, each once.
std::vector<int64_t> Extents(const Function& main) {
  std::set<int64_t> extents;
  for (const Node* leaf : Leaves(main)) {
    for (const Dim& dim : leaf->outputs[0].shape) {
      int64_t value;
      if (tir::AsConstInt(dim, &value)) extents.insert(value);
    }
  }
  return {extents.begin(), extents.end()};
}

// Every leaf, with `changed` as its type.
void ChangeLeaves(Function* main, const std::function<LeafKind(Node*)>& kind,
                  const std::function<TensorType(const TensorType&)>& changed) {
  for (Node* leaf : Leaves(*main)) {
    Replace(main, leaf, AddLeaf(main, kind(leaf), changed(leaf->outputs[0])));
  }
}

LeafKind KindOf(Node* leaf) {
  if (leaf->kind == NodeKind::kInput) return LeafKind::kInput;
  return leaf->kind == NodeKind::kConstant ? LeafKind::kConstant
                                           : LeafKind::kGenerated;
}

TensorType Unchanged(const TensorType& type) { return type; }

using Change = std::function<std::string(Module*, Function*)>;

std::vector<Change> ChangesOf(const Function& example) {
  std::vector<Change> changes;
  for (LeafKind kind : kLeafKinds) {
    for (size_t i = 0; i < Leaves(example).size(); ++i) {
      changes.push_back([=](Module*, Function* main) {
        Node* leaf = Leaves(*main)[i];
        const std::string name = leaf->name;
        Replace(main, leaf, AddLeaf(main, kind, leaf->outputs[0]));
        return absl::StrCat("leaf %", name, " of kind ", kind);
      });
    }
    for (size_t i = 0; i < InnerCalls(example).size(); ++i) {
      changes.push_back([=](Module*, Function* main) {
        Node* call = InnerCalls(*main)[i];
        const std::string name = call->name;
        Replace(main, call, AddLeaf(main, kind, call->outputs[0]));
        return absl::StrCat("call %", name, " as leaf of kind ", kind);
      });
    }
    changes.push_back([=](Module*, Function* main) {
      ChangeLeaves(
          main, [=](Node*) { return kind; }, Unchanged);
      return absl::StrCat("all leaves of kind ", kind);
    });
    changes.push_back([=](Module*, Function* main) {
      ChangeLeaves(
          main, [=](Node*) { return kind; },
          [](TensorType type) {
            type.shape.clear();
            return type;
          });
      return absl::StrCat("scalars of kind ", kind);
    });
    for (int64_t extent : Extents(example)) {
      changes.push_back([=](Module*, Function* main) {
        ChangeLeaves(
            main, [=](Node*) { return kind; },
            [=](TensorType type) {
              for (Dim& dim : type.shape) {
                if (tir::IsConstInt(dim, extent)) dim = tir::MakeInt(0);
              }
              return type;
            });
        return absl::StrCat("0 for ", extent, " in leaves of kind ", kind);
      });
    }
  }
  for (int64_t extent : Extents(example)) {
    changes.push_back([=](Module* module, Function* main) {
      const Dim n = module->Symbol("n");
      ChangeLeaves(main, KindOf, [=](TensorType type) {
        for (Dim& dim : type.shape) {
          if (tir::IsConstInt(dim, extent)) dim = n;
        }
        return type;
      });
      return absl::StrCat("a symbol for ", extent);
    });
  }
  changes.push_back([](Module*, Function* main) {
    const std::vector<Node*> leaves = Leaves(*main);
    for (size_t i = 1; i < leaves.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (!Agrees(leaves[i]->outputs[0], leaves[k]->outputs[0])) continue;
        Replace(main, leaves[i], Value{leaves[k]});
        break;
      }
    }
    return std::string("equal types as one value");
  });
  return changes;
}

}  // namespace

Value AddLeaf(Function* function, LeafKind kind, const TensorType& type) {
  const auto shape = ConstShape(type.shape);
  if (kind == LeafKind::kGenerated && !type.is_sequence) {
    auto made = function->AddOp(
        "full", "made", {},
        {{"shape", type.shape}, {"dtype", type.dtype}, {"value", 1.0}});
    if (made.ok()) return Value{*made};
  }
  if (kind == LeafKind::kInput || type.is_sequence || !shape ||
      kind == LeafKind::kGenerated) {
    return Value{function->AddInput("x", type)};
  }
  return Value{function->AddConstant(
      "c", TestTensor(type.dtype, *shape, kind == LeafKind::kSplat ? 0 : 7))};
}

int NumVariants(absl::string_view text) {
  const auto module = ParseForTest(text);
  return module == nullptr
             ? 0
             : static_cast<int>(ChangesOf(*module->main()).size());
}

std::unique_ptr<Module> MakeVariant(absl::string_view text, int variant,
                                    std::string* name) {
  auto module = ParseForTest(text);
  Function* main = module->main();
  *name = ChangesOf(*main)[variant](module.get(), main);
  main->RemoveDead();
  PassContext context = TestContext();
  if (!main->Sort().ok() ||
      !RunPasses({"infer_types"}, module.get(), &context).ok()) {
    return nullptr;
  }
  return module;
}

}  // namespace ingot::relay

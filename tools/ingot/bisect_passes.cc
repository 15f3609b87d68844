#include "tools/ingot/bisect_passes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/interpreter/evaluate.h"

namespace ingot {
namespace {

using relay::Node;
using relay::NodeKind;
using relay::Value;

// The problem of a value of which there was none of its name.
constexpr char kNew[] = "new";

std::string NameOf(const Value& value) {
  return absl::StrCat(value.node->name, "#", value.index);
}

// The elements of a tensor of f32 in ascending order, as one dimension; of
// another type it is as it was.
absl::StatusOr<Tensor> Sorted(const Tensor& tensor) {
  INGOT_ASSIGN_OR_RETURN(Tensor sorted,
                         Tensor::Empty(tensor.dtype(), {tensor.NumElements()}));
  memcpy(sorted.mutable_raw_data(), tensor.raw_data(), tensor.bytes());
  if (tensor.dtype() == DataType::Float(32)) {
    float* const data = sorted.mutable_data<float>();
    std::sort(data, data + tensor.NumElements(), [](float a, float b) {
      return a < b || (b != b && a == a);  // NaNs come last
    });
  }
  return sorted;
}

// Whether a tensor [n, blocks, ..., block] may be one of shape [n, c, ...] in
// blocks of channels, the last of them filled up.
bool IsBlocked(absl::Span<const int64_t> blocked,
               absl::Span<const int64_t> shape) {
  const size_t rank = shape.size();
  if (rank < 2 || blocked.size() != rank + 1) return false;
  const int64_t block = blocked.back();
  return block > 0 && blocked[0] == shape[0] &&
         blocked[1] == (shape[1] + block - 1) / block &&
         blocked.subspan(2, rank - 2) == shape.subspan(2);
}

// The elements of a blocked tensor as they lie without blocks.
absl::StatusOr<Tensor> WithoutBlocks(const Tensor& blocked,
                                     absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(Tensor plain, Tensor::Empty(blocked.dtype(), shape));
  const int64_t channels = shape[1], block = blocked.shape().back();
  const int64_t blocks = blocked.shape()[1];
  const auto bytes = static_cast<int64_t>(blocked.dtype().bytes());
  int64_t points = 1;
  for (const int64_t extent : shape.subspan(2)) points *= extent;
  const char* const from = static_cast<const char*>(blocked.raw_data());
  char* to = static_cast<char*>(plain.mutable_raw_data());
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = (n * blocks + c / block) * points * block;
      for (int64_t i = 0; i < points; ++i, to += bytes) {
        memcpy(to, from + (first + i * block + c % block) * bytes, bytes);
      }
    }
  }
  return plain;
}

// Compares two values of one name, the second of which was there first.
absl::StatusOr<Comparison> CompareInAnyLayout(const Tensor& after,
                                              const Tensor& before,
                                              const Tolerance& tolerance) {
  if (IsBlocked(after.shape(), before.shape())) {
    INGOT_ASSIGN_OR_RETURN(const Tensor plain,
                           WithoutBlocks(after, before.shape()));
    return Compare(plain, before, tolerance);
  }
  if (after.shape() == before.shape() || after.dtype() != before.dtype() ||
      after.NumElements() != before.NumElements()) {
    return Compare(after, before, tolerance);
  }
  INGOT_ASSIGN_OR_RETURN(const Tensor a, Sorted(after));
  INGOT_ASSIGN_OR_RETURN(const Tensor b, Sorted(before));
  return Compare(a, b, tolerance);
}

// Whether a value has the elements of any that was there before.
absl::StatusOr<bool> WasThere(const Tensor& value, const ModuleValues& before,
                              const Tolerance& tolerance) {
  for (const Tensor& tensor : before.tensors) {
    if (tensor.dtype() != value.dtype() ||
        tensor.NumElements() != value.NumElements()) {
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(const Comparison c,
                           CompareInAnyLayout(value, tensor, tolerance));
    if (c.ok()) return true;
  }
  return false;
}

// What became of each value of `after`: empty where it is as before.
absl::StatusOr<std::map<Value, std::string>> Problems(
    const ModuleValues& before, const ModuleValues& after,
    const Tolerance& tolerance) {
  std::map<std::string, const Tensor*> by_name;
  for (size_t i = 0; i < before.values.size(); ++i) {
    by_name[NameOf(before.values[i])] = &before.tensors[i];
  }
  std::map<Value, std::string> problems;
  for (size_t i = 0; i < after.values.size(); ++i) {
    std::string& problem = problems[after.values[i]];
    const auto found = by_name.find(NameOf(after.values[i]));
    if (found == by_name.end()) {
      problem = kNew;
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(
        Comparison c,
        CompareInAnyLayout(after.tensors[i], *found->second, tolerance));
    problem = std::move(c.problem);
  }
  return problems;
}

bool IsRight(const std::map<Value, std::string>& problems, const Value& value) {
  if (value.node == nullptr || value.node->kind == NodeKind::kConstant ||
      value.node->kind == NodeKind::kInput) {
    return true;
  }
  const auto found = problems.find(value);
  return found == problems.end() || found->second.empty();
}

// The model's nodes that a node computes, also in the function that it calls. A
// branch or a loop is one itself, whatever its bodies hold.
std::vector<std::string> SourcesOf(const relay::Module& module,
                                   const Node& node) {
  relay::Sources all = node.sources;
  if (node.kind == NodeKind::kCallFunction) {
    for (const auto& inner : module.Find(node.callee)->nodes()) {
      all.Add(inner->sources);
    }
  }
  return {all.begin(), all.end()};
}

// The model's nodes that what reads `node` computes, or what reads that.
std::vector<std::string> SourcesOfReaders(const relay::Module& module,
                                          const Node& node) {
  const auto users = module.main()->Users();
  std::set<const Node*> seen = {&node};
  std::vector<const Node*> next = {&node};
  for (size_t i = 0; i < next.size(); ++i) {
    std::vector<std::string> sources = SourcesOf(module, *next[i]);
    if (!sources.empty()) return sources;
    const auto readers = users.find(next[i]);
    if (readers == users.end()) continue;
    for (const Node* reader : readers->second) {
      if (seen.insert(reader).second) next.push_back(reader);
    }
  }
  return {};
}

}  // namespace

absl::StatusOr<int> FirstWrongPass(
    int right, int wrong,
    const std::function<absl::StatusOr<bool>(int passes)>& is_right) {
  while (wrong - right > 1) {
    const int middle = right + (wrong - right) / 2;
    INGOT_ASSIGN_OR_RETURN(const bool is, is_right(middle));
    (is ? right : wrong) = middle;
  }
  return wrong;
}

absl::StatusOr<ModuleValues> ComputeAll(
    relay::Module* module, const std::vector<TensorOrSequence>& inputs) {
  relay::Function* const main = module->main();
  std::vector<Value> outputs;
  for (const auto& node : main->nodes()) {
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->kind == NodeKind::kConstant || node->outputs[i].is_sequence) {
        continue;
      }
      outputs.push_back({node.get(), static_cast<int>(i)});
    }
  }
  const std::vector<Value> own = main->outputs;
  main->outputs = outputs;
  absl::StatusOr<std::vector<TensorOrSequence>> computed =
      relay::EvaluateFunctionOnSequences(*module, *main, inputs);
  main->outputs = own;
  if (!computed.ok()) return computed.status();
  ModuleValues all{module, std::move(outputs), {}};
  for (TensorOrSequence& value : *computed) {
    all.tensors.push_back(std::get<Tensor>(std::move(value)));
  }
  return all;
}

absl::StatusOr<WrongNode> FirstWrongNode(const ModuleValues& before,
                                         const ModuleValues& after,
                                         const Tolerance& tolerance) {
  INGOT_ASSIGN_OR_RETURN(auto problems, Problems(before, after, tolerance));
  // From the outputs back to where the operands are as before. What is not as
  // before may well be right by itself, such as a product without the factor
  // that a pass has moved away, and then nothing wrong comes of it.
  std::set<const Node*> cone;
  std::vector<Value> next = after.module->main()->outputs;
  while (!next.empty()) {
    const Value value = next.back();
    next.pop_back();
    if (IsRight(problems, value) || !cone.insert(value.node).second) continue;
    next.insert(next.end(), value.node->inputs.begin(),
                value.node->inputs.end());
  }
  for (const auto& node : after.module->main()->nodes()) {
    const bool is_first =
        cone.count(node.get()) > 0 &&
        std::all_of(node->inputs.begin(), node->inputs.end(),
                    [&](const Value& v) { return IsRight(problems, v); });
    if (!is_first) continue;
    const Value result{node.get(), 0};
    const auto tensor =
        std::find(after.values.begin(), after.values.end(), result);
    if (tensor != after.values.end() && problems[result] == kNew) {
      INGOT_ASSIGN_OR_RETURN(
          const bool was_there,
          WasThere(after.tensors[tensor - after.values.begin()], before,
                   tolerance));
      if (was_there) {
        problems[result].clear();
        continue;
      }
    }
    WrongNode wrong;
    wrong.name = node->name;
    wrong.sources = SourcesOf(*after.module, *node);
    wrong.is_between_nodes = wrong.sources.empty();
    if (wrong.is_between_nodes) {
      wrong.sources = SourcesOfReaders(*after.module, *node);
    }
    if (problems[result] != kNew) wrong.problem = problems[result];
    return wrong;
  }
  return WrongNode();
}

}  // namespace ingot

#include "compiler/relay/passes/fusion_groups.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/quantized_operands.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

// An operand read n times in a kernel is computed n times there, unless it is
// kept; chains of diamonds would grow without end. As counted by TreeSize.
constexpr int kMaxTree = 64;

// The virtual node that uses all outputs of the function.
constexpr int kExit = -1;

bool IsFusible(const Node& node) {
  return node.IsKernel() && node.outputs.size() == 1 &&
         node.op->fusion != FusionKind::kOpaque;
}

bool IsPointwise(const Node& node) {
  return IsFusible(node) && node.op->IsPointwise();
}

// Sums up its operand, so that a kernel has at most one of them.
bool IsHeavy(const Node& node) {
  return node.kind == NodeKind::kOp && node.op->IsReduction();
}

class Grouper {
 public:
  Grouper(const Function& function, int max_group) : max_group_(max_group) {
    for (const auto& node : function.nodes()) {
      index_[node.get()] = static_cast<int>(nodes_.size());
      nodes_.push_back(node.get());
    }
    const int count = static_cast<int>(nodes_.size());
    users_.resize(count);
    for (int i = 0; i < count; ++i) {
      for (const Value& input : nodes_[i]->inputs) {
        if (input.node == nullptr) continue;
        std::vector<int>& users = users_[index_[input.node]];
        if (users.empty() || users.back() != i) users.push_back(i);
      }
    }
    for (const Value& output : function.outputs) {
      users_[index_[output.node]].push_back(kExit);
    }
    FindPostDominators();
    group_.resize(count);
    members_.resize(count);
    for (int i = 0; i < count; ++i) {
      group_[i] = i;
      members_[i] = {i};
    }
  }

  std::vector<FusionGroup> Run() {
    const int count = static_cast<int>(nodes_.size());
    // Reductions take their epilogues first; then the rest joins.
    for (int i = 0; i < count; ++i) {
      if (!IsFusible(*nodes_[i]) || !IsHeavy(*nodes_[i])) continue;
      int last = i;
      for (int sink = i; sink >= 0; sink = ExtendHeavy(sink)) last = sink;
      LeaveToReader(last);
    }
    for (int i = 0; i < count; ++i) {
      if (IsFusible(*nodes_[i]) && Sink(group_[i]) == i) ExtendLight(i);
    }
    for (int node : left_) TakeBack(node);
    std::vector<FusionGroup> groups;
    for (int i = 0; i < count; ++i) {
      if (!nodes_[i]->IsKernel() || Sink(group_[i]) != i) continue;
      groups.emplace_back();
      for (int member : members_[group_[i]]) {
        groups.back().nodes.push_back(nodes_[member]);
      }
    }
    return groups;
  }

  // The groups' last nodes that dequantise for several readers, each of which
  // would rather do that itself.
  std::vector<Node*> SharedDequantizes() const {
    std::vector<Node*> shared;
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      if (nodes_[i]->kind != NodeKind::kOp ||
          !nodes_[i]->op->Has(kDequantizes) || Sink(group_[i]) != i ||
          members_[group_[i]].size() == 1 || users_[i].size() < 2) {
        continue;
      }
      const bool fits = std::all_of(
          users_[i].begin(), users_[i].end(),
          [&](int user) { return user != kExit && TakesDequantized(i, user); });
      if (fits) shared.push_back(nodes_[i]);
    }
    return shared;
  }

 private:
  // The first node that every way from a node to the outputs goes through.
  // Nodes without users count as used by kExit: they are dead anyway.
  void FindPostDominators() {
    const int count = static_cast<int>(nodes_.size());
    dominator_.assign(count, kExit);
    depth_.assign(count, 1);
    for (int i = count - 1; i >= 0; --i) {
      int common = users_[i].empty() ? kExit : users_[i][0];
      for (int user : users_[i]) common = CommonDominator(common, user);
      dominator_[i] = common;
      depth_[i] = common == kExit ? 1 : depth_[common] + 1;
    }
  }

  int CommonDominator(int a, int b) const {
    while (a != b) {
      if (a == kExit || b == kExit) return kExit;
      if (depth_[a] >= depth_[b]) {
        a = dominator_[a];
      } else {
        b = dominator_[b];
      }
    }
    return a;
  }

  int Sink(int group) const { return members_[group].back(); }

  // The member that sums up; null when there is none.
  const Node* Heavy(int group) const {
    for (int member : members_[group]) {
      if (IsHeavy(*nodes_[member])) return nodes_[member];
    }
    return nullptr;
  }

  // All nodes on ways from `from` to its dominator `to`, both excluded; nothing
  // more when one of them does not pass `fits`.
  template <typename F>
  bool NodesBetween(int from, int to, const F& fits,
                    std::vector<int>* between) const {
    absl::flat_hash_set<int> seen;
    std::vector<int> work = {from};
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      for (int user : users_[node]) {
        if (user == to || !seen.insert(user).second) continue;
        if (static_cast<int>(seen.size()) > max_group_ || !fits(user)) {
          return false;
        }
        between->push_back(user);
        work.push_back(user);
      }
    }
    return true;
  }

  bool SameShapeAs(int a, int b) const {
    return SameShape(nodes_[a]->outputs[0].shape, nodes_[b]->outputs[0].shape);
  }
  // Whether a run may find that, and nothing is known to be repeated.
  bool MaySameShapeAs(int a, int b) const {
    const Shape& x = nodes_[a]->outputs[0].shape;
    const Shape& y = nodes_[b]->outputs[0].shape;
    if (x.size() != y.size()) return false;
    for (size_t d = 0; d < x.size(); ++d) {
      int64_t extent;
      if (!SameShape({x[d]}, {y[d]}) && tir::AsConstInt(x[d], &extent)) {
        return false;
      }
    }
    return true;
  }
  bool SameTarget(int a, int b) const {
    return TargetOf(nodes_[a]->attrs) == TargetOf(nodes_[b]->attrs);
  }

  // Counts the operators that a kernel of `members` evaluates for one element
  // of its last one, when everything but sums is computed where it is read.
  int TreeSize(const std::vector<int>& members) const {
    absl::flat_hash_map<const Node*, int> size;
    for (int member : members) {
      int total = 1;
      for (const Value& input : nodes_[member]->inputs) {
        auto it = size.find(input.node);
        if (it != size.end()) total += it->second;
      }
      size[nodes_[member]] =
          IsHeavy(*nodes_[member]) ? 1 : std::min(total, kMaxTree + 1);
    }
    return size[nodes_[members.back()]];
  }

  // Joins the groups of `nodes` unless the result breaks a limit.
  bool Join(const std::vector<int>& nodes) {
    std::vector<int> all;
    absl::flat_hash_set<int> groups;
    for (int node : nodes) {
      if (!groups.insert(group_[node]).second) continue;
      const std::vector<int>& members = members_[group_[node]];
      all.insert(all.end(), members.begin(), members.end());
    }
    std::sort(all.begin(), all.end());
    if (static_cast<int>(all.size()) > max_group_ || TreeSize(all) > kMaxTree) {
      return false;
    }
    const int group = group_[nodes[0]];
    for (int old : groups) {
      if (old != group) members_[old].clear();
    }
    for (int member : all) group_[member] = group;
    members_[group] = std::move(all);
    return true;
  }

  // Takes what follows `sink`, the last node of a group that sums. Returns the
  // new last node, or kExit when nothing fits.
  int ExtendHeavy(int sink) {
    const int to = dominator_[sink];
    if (to == kExit) return kExit;
    auto fits = [&](int node) {
      return IsPointwise(*nodes_[node]) && SameShapeAs(node, sink) &&
             SameTarget(node, sink) && Heavy(group_[node]) == nullptr &&
             Sink(group_[node]) == node && AllPointwise(group_[node]);
    };
    std::vector<int> nodes = {sink};
    if (!fits(to) || !NodesBetween(sink, to, fits, &nodes)) return kExit;
    nodes.push_back(to);
    return Join(nodes) ? to : kExit;
  }

  // Whether a kernel of `reader` may compute the `dequantize` that it reads,
  // and does so once for each element.
  bool TakesDequantized(int dequantize, int reader) const {
    const Node& node = *nodes_[reader];
    const Value read{nodes_[dequantize]};
    if (!IsFusible(node) || !SameTarget(dequantize, reader) ||
        node.op->Has(kOperandsInMemory) || node.op->Has(kPacksOperands)) {
      return false;
    }
    if (IsPointwise(node)) return MaySameShapeAs(dequantize, reader);
    if (IsHeavy(node)) {
      return node.op->Has(kReadsOnce) && node.inputs[0] == read &&
             std::count(node.inputs.begin(), node.inputs.end(), read) == 1;
    }
    return NotMore(reader, dequantize);
  }

  // A `dequantize` at the end of a group is for the group of its only reader,
  // which reads fewer bytes then.
  void LeaveToReader(int sink) {
    const int to = dominator_[sink];
    if (to == kExit || members_[group_[sink]].size() == 1 ||
        !nodes_[sink]->op->Has(kDequantizes) ||
        users_[sink] != std::vector<int>{to} || !TakesDequantized(sink, to)) {
      return;
    }
    members_[group_[sink]].pop_back();
    group_[sink] = sink;
    members_[sink] = {sink};
    left_.push_back(sink);
  }

  // Where the reader did not take it, it ends the group again.
  void TakeBack(int node) {
    if (members_[group_[node]].size() > 1) return;
    const int from = index_[nodes_[node]->inputs[0].node];
    if (Sink(group_[from]) == from) Join({from, node});
  }

  bool AllPointwise(int group) const {
    return std::all_of(
        members_[group].begin(), members_[group].end(),
        [&](int member) { return IsPointwise(*nodes_[member]); });
  }

  // Joins the group that ends in `sink`, which does not sum, with its reader.
  void ExtendLight(int sink) {
    const int to = dominator_[sink];
    if (to == kExit || Heavy(group_[sink]) != nullptr ||
        !IsFusible(*nodes_[to]) || !SameTarget(sink, to)) {
      return;
    }
    auto fits = [&](int node) {
      return IsPointwise(*nodes_[node]) && SameShapeAs(node, sink) &&
             SameTarget(node, sink) && Heavy(group_[node]) == nullptr;
    };
    std::vector<int> nodes = {sink};
    if (!NodesBetween(sink, to, fits, &nodes)) return;
    if (!MayRead(sink, to, nodes.size() == 1) || IsForReader(to)) return;
    nodes.push_back(to);
    Join(nodes);
  }

  // Whether a node is a `dequantize` for its only reader, which no other kernel
  // can be one with.
  bool IsForReader(int node) const {
    const int reader = dominator_[node];
    return nodes_[node]->op->Has(kDequantizes) && reader != kExit &&
           users_[node] == std::vector<int>{reader} &&
           IsPointwise(*nodes_[reader]) && !SameShapeAs(node, reader) &&
           TakesDequantized(node, reader) && Heavy(group_[reader]) == nullptr;
  }

  // Whether the group of `sink` may be computed inside of the loops of `to`.
  // `direct`: nothing lies between.
  bool MayRead(int sink, int to, bool direct) const {
    const Node& reader = *nodes_[to];
    const Node* heavy = Heavy(group_[to]);
    if (IsPointwise(reader)) {
      // Computed once for each element, and no more often than by itself.
      if (!SameShapeAs(sink, to)) {
        return heavy == nullptr && members_[group_[sink]].size() == 1 &&
               nodes_[sink]->op->Has(kDequantizes) && MaySameShapeAs(sink, to);
      }
      // Next to a sum only what follows it element by element.
      return heavy == nullptr ||
             (heavy != &reader && AllPointwise(group_[sink]));
    }
    if (reader.op->Has(kPacksOperands)) {
      return direct && Copies(group_[sink]);
    }
    if (reader.op->Has(kOperandsInMemory) || !direct) return false;
    if (reader.op->fusion == FusionKind::kInjective) {
      return heavy == nullptr && NotMore(to, sink) &&
             (reader.op->Has(kCuts) || !Resizes(group_[sink]));
    }
    // A reduction: its data operand only, and again and again only if cheap.
    if (!(reader.inputs[0] == Value{nodes_[sink]}) ||
        std::count(reader.inputs.begin(), reader.inputs.end(),
                   Value{nodes_[sink]}) != 1 ||
        !AllPointwise(group_[sink])) {
      return false;
    }
    return reader.op->Has(kReadsOnce) ||
           std::all_of(
               members_[group_[sink]].begin(), members_[group_[sink]].end(),
               [&](int member) { return nodes_[member]->op->Has(kCheap); });
  }

  // Whether a group resamples an image, whose rows it computes as vectors:
  // another order of elements would gather each of them.
  bool Resizes(int group) const {
    return std::any_of(
        members_[group].begin(), members_[group].end(), [&](int member) {
          return nodes_[member]->op->layout_rule == LayoutRule::kResizes;
        });
  }

  // Whether a group does nothing but take a part of a tensor and reorder its
  // dimensions.
  bool Copies(int group) const {
    return members_[group].size() <= 2 &&
           std::all_of(members_[group].begin(), members_[group].end(),
                       [&](int member) {
                         const OpDef& op = *nodes_[member]->op;
                         return op.fusion == FusionKind::kInjective &&
                                op.Has(kNeverGrows);
                       });
  }

  // Whether `a` provably has no more elements than `b`.
  bool NotMore(int a, int b) const {
    const Shape& x = nodes_[a]->outputs[0].shape;
    const Shape& y = nodes_[b]->outputs[0].shape;
    const auto m = ConstShape(x), n = ConstShape(y);
    if (m && n) {
      int64_t product_m = 1, product_n = 1;
      for (int64_t dim : *m) product_m *= dim;
      for (int64_t dim : *n) product_n *= dim;
      return product_m <= product_n;
    }
    return nodes_[a]->op->Has(kNeverGrows) || SameShape(x, y);
  }

  const int max_group_;
  std::vector<Node*> nodes_;  // of the function, by position
  absl::flat_hash_map<const Node*, int> index_;
  std::vector<std::vector<int>> users_;
  std::vector<int> dominator_, depth_;
  std::vector<int> group_;                 // of each node
  std::vector<std::vector<int>> members_;  // of each group, in order
  std::vector<int> left_;                  // by LeaveToReader
};

}  // namespace

absl::StatusOr<std::vector<FusionGroup>> MakeFusionGroups(Function* function,
                                                          int max_group) {
  Grouper grouper(*function, max_group);
  std::vector<FusionGroup> groups = grouper.Run();
  const std::vector<Node*> shared = grouper.SharedDequantizes();
  if (shared.empty()) return groups;
  INGOT_RETURN_IF_ERROR(UnshareDequantize(function, shared));
  return Grouper(*function, max_group).Run();
}

}  // namespace ingot::relay

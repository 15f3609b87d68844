#include "compiler/relay/passes/regions.h"

#include <algorithm>
#include <utility>

namespace ingot::relay {

int Region::num_nodes() const {
  int count = 0;
  for (const RegionUnit& unit : units) count += unit.nodes.size();
  return count;
}

RegionGraph::RegionGraph(const Function& function) : users_(function.Users()) {
  int position = 0;
  for (const auto& node : function.nodes()) {
    position_[node.get()] = position;
    group_of_[node.get()] = next_group_;
    groups_[next_group_++] = Group{{node.get()}, position, position};
    ++position;
  }
}

void RegionGraph::Merge(int from, int into) {
  if (from == into) return;
  Group& source = groups_.at(from);
  Group& target = groups_.at(into);
  for (Node* node : source.nodes) group_of_[node] = into;
  target.nodes.insert(target.nodes.end(), source.nodes.begin(),
                      source.nodes.end());
  target.first = std::min(target.first, source.first);
  target.last = std::max(target.last, source.last);
  groups_.erase(from);
}

bool RegionGraph::HasDetour(int a, int b) const {
  std::vector<int> stack = {a};
  std::set<int> seen = {a};
  const int last = groups_.at(b).last;
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    for (const Node* node : groups_.at(at).nodes) {
      auto users = users_.find(node);
      if (users == users_.end()) continue;
      for (const Node* user : users->second) {
        const int next = GroupOf(user);
        if (next == b && at != a) return true;
        // A region that starts after all of b cannot lead back to it.
        if (next == b || groups_.at(next).first > last) continue;
        if (seen.insert(next).second) stack.push_back(next);
      }
    }
  }
  return false;
}

std::vector<Region> RegionGraph::Grow(const std::vector<RegionUnit>& units) {
  std::vector<const RegionUnit*> sorted;
  for (const RegionUnit& unit : units) sorted.push_back(&unit);
  std::sort(sorted.begin(), sorted.end(),
            [&](const RegionUnit* a, const RegionUnit* b) {
              return position_.at(a->nodes.back()) <
                     position_.at(b->nodes.back());
            });
  std::set<int> ours;
  for (const RegionUnit* unit : sorted) {
    const int group = GroupOf(unit->nodes.back());
    for (Node* node : unit->nodes) Merge(GroupOf(node), group);
    ours.insert(group);
  }
  // A merge can clear the way for another, so until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (const RegionUnit* unit : sorted) {
      for (const Node* node : unit->nodes) {
        for (const Value& input : node->inputs) {
          if (input.node == nullptr) continue;
          const int from = GroupOf(input.node);
          const int into = GroupOf(node);
          if (from == into || ours.count(from) == 0 || HasDetour(from, into)) {
            continue;
          }
          Merge(from, into);
          ours.erase(from);
          changed = true;
        }
      }
    }
  }
  std::vector<Region> regions;
  std::map<int, size_t> region_of;
  for (const RegionUnit* unit : sorted) {
    const int group = GroupOf(unit->nodes.back());
    auto [it, added] = region_of.emplace(group, regions.size());
    if (added) regions.emplace_back();
    regions[it->second].units.push_back(*unit);
  }
  return regions;
}

void RegionGraph::Dissolve(const Region& region) {
  const int group = GroupOf(region.units.front().nodes.front());
  for (Node* node : groups_.at(group).nodes) {
    const int position = position_.at(node);
    group_of_[node] = next_group_;
    groups_[next_group_++] = Group{{node}, position, position};
  }
  groups_.erase(group);
}

}  // namespace ingot::relay

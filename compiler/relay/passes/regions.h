// Decides which operators of one target become one region. Private to this
// folder; partition decides what a target takes, outline_region builds the
// function.
#ifndef INGOT_COMPILER_RELAY_PASSES_REGIONS_H_
#define INGOT_COMPILER_RELAY_PASSES_REGIONS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/relay/ir.h"

namespace ingot::relay {

// The unit that a target takes as one: an operator, or those of a composite.
struct RegionUnit {
  std::vector<Node*> nodes;  // operands first; the last one is the result
  std::string composite;     // the pattern's name; empty for an operator
};

struct Region {
  std::vector<RegionUnit> units;  // in topological order
  int num_nodes() const;
};

// A function as a graph of groups of nodes without a cycle. A node is a group
// of its own until it is put into another.
class RegionGraph {
 public:
  explicit RegionGraph(const Function& function);

  // Joins `units` that feed one another into regions as large as they get
  // without a path that leaves a region and comes back to it. In the order of
  // their first units. Each region is one group from then on.
  std::vector<Region> Grow(const std::vector<RegionUnit>& units);

  // Makes every node of `region` a group of its own again.
  void Dissolve(const Region& region);

 private:
  int GroupOf(const Node* node) const { return group_of_.at(node); }
  void Merge(int from, int into);
  // Whether a path leads from `a` to `b` other than by an edge between them.
  bool HasDetour(int a, int b) const;

  struct Group {
    std::vector<Node*> nodes;
    int first = 0, last = 0;  // positions in the function
  };
  std::map<const Node*, std::vector<Node*>> users_;
  std::map<const Node*, int> position_;
  std::map<const Node*, int> group_of_;
  std::map<int, Group> groups_;
  int next_group_ = 0;
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_REGIONS_H_

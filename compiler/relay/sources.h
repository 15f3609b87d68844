// The names of the model's nodes that a node of relay computes.
#ifndef INGOT_COMPILER_RELAY_SOURCES_H_
#define INGOT_COMPILER_RELAY_SOURCES_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace ingot::relay {

// Names in the order of their addition, each once. An addition takes constant
// time also where a pass merges a hundred thousand nodes into one.
class Sources {
 public:
  using value_type = std::string;
  using const_iterator = std::vector<std::string>::const_iterator;

  Sources() = default;
  Sources(std::initializer_list<std::string> names) {
    for (const std::string& name : names) Add(name);
  }

  // Adds `name` unless it is there.
  void Add(std::string name);
  // Adds those of `others` that are not there.
  void Add(const Sources& others);

  const_iterator begin() const { return names_.begin(); }
  const_iterator end() const { return names_.end(); }
  size_t size() const { return names_.size(); }
  bool empty() const { return names_.empty(); }

 private:
  bool Contains(const std::string& name);

  std::vector<std::string> names_;
  absl::flat_hash_set<std::string> index_;  // empty while the names are few
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_SOURCES_H_

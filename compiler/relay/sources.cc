#include "compiler/relay/sources.h"

#include <algorithm>
#include <utility>

namespace ingot::relay {

namespace {

// Up to this many names, comparing them all beats an index of them.
constexpr size_t kFew = 16;

}  // namespace

bool Sources::Contains(const std::string& name) {
  if (names_.size() <= kFew) {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  if (index_.empty()) index_.insert(names_.begin(), names_.end());
  return index_.contains(name);
}

void Sources::Add(std::string name) {
  if (Contains(name)) return;
  if (!index_.empty()) index_.insert(name);
  names_.push_back(std::move(name));
}

void Sources::Add(const Sources& others) {
  if (&others == this) return;
  for (const std::string& name : others) Add(name);
}

}  // namespace ingot::relay

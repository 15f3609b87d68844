// The order of the rooms inside of compiler/, that folders form no circle, and
// what loaders of backends may use: read off every edge of the build's graph.

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace {

// A room may use those below it and beside it, as long as folders form
// no circle. A room that is not listed has the place of the folder around it.
const std::vector<std::vector<std::string>> kLayers = {
    {"compiler/machine", "compiler/pass", "compiler/text"},
    {"compiler/tir"},
    {"compiler/tir/arith"},
    {"compiler/te", "compiler/tir/passes"},
    {"compiler/relay"},
    {"compiler/target"},
    {"compiler/codegen", "compiler/frontends", "compiler/relay/passes",
     "compiler/schedules", "compiler/tuning"},
    {"compiler/driver"},
};

// "//a/b:c" -> "a/b"
std::string FolderOf(absl::string_view label) {
  return std::string(label.substr(2, label.find(':') - 2));
}

bool IsWithin(absl::string_view folder, absl::string_view room) {
  return folder == room || absl::StartsWith(folder, absl::StrCat(room, "/"));
}

// The layer of the innermost room around the folder; -1 when there is none.
int LayerOf(absl::string_view folder) {
  int layer = -1;
  size_t longest = 0;
  for (size_t i = 0; i < kLayers.size(); ++i) {
    for (const std::string& room : kLayers[i]) {
      if (IsWithin(folder, room) && room.size() > longest) {
        longest = room.size();
        layer = static_cast<int>(i);
      }
    }
  }
  return layer;
}

// Label -> labels that it is built from, of this repository alone.
using Graph = std::map<std::string, std::set<std::string>>;

Graph ReadGraph() {
  Graph graph;
  std::ifstream file("tests/architecture/edges");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, '"');
    // "from" -> "to"
    if (parts.size() < 5 || !absl::StrContains(parts[2], "->")) continue;
    if (absl::StartsWith(parts[1], "//") && absl::StartsWith(parts[3], "//")) {
      graph[parts[1]].insert(parts[3]);
    }
  }
  return graph;
}

class RoomsTest : public testing::Test {
 protected:
  RoomsTest() : graph_(ReadGraph()) {}

  // Everything that `label` is built from.
  std::set<std::string> AllBelow(const std::string& label) const {
    std::set<std::string> found;
    std::vector<std::string> work = {label};
    while (!work.empty()) {
      const std::string at = work.back();
      work.pop_back();
      const auto edges = graph_.find(at);
      if (edges == graph_.end()) continue;
      for (const std::string& to : edges->second) {
        if (found.insert(to).second) work.push_back(to);
      }
    }
    return found;
  }

  const Graph graph_;
};

TEST_F(RoomsTest, CompilerIsInOrder) {
  std::set<std::string> seen;
  for (const auto& [from, targets] : graph_) {
    const std::string above = FolderOf(from);
    if (!IsWithin(above, "compiler")) continue;
    seen.insert(above);
    for (const std::string& to : targets) {
      const std::string below = FolderOf(to);
      if (!IsWithin(below, "compiler")) continue;
      EXPECT_GE(LayerOf(above), LayerOf(below))
          << from << " must not need " << to;
    }
  }
  // Each room has a place of its own in the list, and the list no other.
  std::set<std::string> rooms, listed;
  for (const std::string& folder : seen) {
    const std::vector<std::string> parts = absl::StrSplit(folder, '/');
    rooms.insert(absl::StrJoin(
        parts.begin(), parts.begin() + std::min<size_t>(parts.size(), 2), "/"));
  }
  for (const auto& layer : kLayers) listed.insert(layer.begin(), layer.end());
  for (const std::string& room : rooms) {
    EXPECT_EQ(listed.count(room), 1u) << room << " has no place in the order";
  }
  for (const std::string& room : listed) {
    EXPECT_TRUE(std::any_of(
        seen.begin(), seen.end(),
        [&](const std::string& folder) { return IsWithin(folder, room); }))
        << room << " is not in the build";
  }
}

TEST_F(RoomsTest, FoldersFormNoCircle) {
  std::map<std::string, std::set<std::string>> folders;
  for (const auto& [from, targets] : graph_) {
    for (const std::string& to : targets) {
      if (FolderOf(from) != FolderOf(to)) {
        folders[FolderOf(from)].insert(FolderOf(to));
      }
    }
  }
  EXPECT_GT(folders.size(), 20u) << "the build said nothing of folders";
  // Depth first; `path` is from the root to where the walk is.
  std::set<std::string> done;
  std::vector<std::string> path;
  const std::function<void(const std::string&)> walk =
      [&](const std::string& folder) {
        const auto circle = std::find(path.begin(), path.end(), folder);
        if (circle != path.end()) {
          ADD_FAILURE() << absl::StrJoin(circle, path.end(), " -> ") << " -> "
                        << folder;
          return;
        }
        if (done.count(folder) > 0) return;
        path.push_back(folder);
        for (const std::string& below : folders[folder]) walk(below);
        path.pop_back();
        done.insert(folder);
      };
  for (const auto& [folder, below] : std::map(folders)) walk(folder);
}

// A program that runs models links loaders, and none of what makes models.
TEST_F(RoomsTest, LoadersOfBackendsUseTheLoadersInterface) {
  int loaders = 0;
  for (const auto& [label, targets] : graph_) {
    if (!absl::StartsWith(label, "//backends/") ||
        !absl::EndsWith(label, ":loader")) {
      continue;
    }
    ++loaders;
    for (const std::string& below : AllBelow(label)) {
      const std::string folder = FolderOf(below);
      const bool own = folder == FolderOf(label);
      const bool room = IsWithin(folder, "artifact") ||
                        IsWithin(folder, "base") || IsWithin(folder, "isa") ||
                        IsWithin(folder, "runtime") ||
                        IsWithin(folder, "third_party");
      // From loaders/ the registry and the helpers of those who write loaders,
      // but not what calls them.
      const bool interface = folder == "loaders" && below != "//loaders:load";
      // Backends with devices share these, which have the same limits.
      const bool shared = folder == "backends/device" ||
                          folder == "backends/gpu" ||
                          folder == "backends/library_calls";
      // How it is compiled.
      const bool rules = folder == "tools/cc";
      EXPECT_TRUE(own || room || interface || shared || rules)
          << label << " must not need " << below;
    }
  }
  EXPECT_GE(loaders, 5) << "the build said nothing of loaders";
}

}  // namespace

#include "artifact/edits.h"

namespace ingot {

void MarkEdited(const std::vector<std::string>& paths, Provenance* provenance) {
  std::set<std::string> all = EditedPaths(*provenance);
  all.insert(paths.begin(), paths.end());
  provenance->clear_edited();
  for (const std::string& path : all) provenance->add_edited(path);
}

std::set<std::string> EditedPaths(const Provenance& provenance) {
  return {provenance.edited().begin(), provenance.edited().end()};
}

}  // namespace ingot

#include "loaders/loader_registry.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot {

absl::Status LoaderRegistry::Register(absl::string_view name, LoadBinaryFn load,
                                      LoaderInput input) {
  if (load == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("loader '", name, "' has no function"));
  }
  if (!loaders_.emplace(std::string(name), Loader{std::move(load), input})
           .second) {
    return absl::AlreadyExistsError(
        absl::StrCat("loader '", name, "' is registered twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<const LoadBinaryFn*> LoaderRegistry::Find(
    absl::string_view name) const {
  auto it = loaders_.find(std::string(name));
  if (it == loaders_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no loader is named '", name,
                     "'; known: ", absl::StrJoin(Names(), ", ")));
  }
  return &it->second.load;
}

bool LoaderRegistry::TakesCode(absl::string_view name) const {
  if (name == kNativeLoader) return true;
  auto it = loaders_.find(name);
  return it != loaders_.end() && it->second.input == LoaderInput::kCode;
}

std::vector<std::string> LoaderRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, loader] : loaders_) names.push_back(name);
  return names;
}

}  // namespace ingot

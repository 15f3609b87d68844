#include "runtime/module.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace ingot {
namespace {

// `root` and all that it imports, each once, depth first. Shared imports make
// this a graph; walking it as a tree could take exponential time.
std::vector<const Module*> Reachable(const Module* root) {
  std::vector<const Module*> found;
  std::vector<const Module*> stack = {root};
  while (!stack.empty()) {
    const Module* module = stack.back();
    stack.pop_back();
    if (std::find(found.begin(), found.end(), module) != found.end()) continue;
    found.push_back(module);
    const auto imports = module->imports();
    for (auto it = imports.rbegin(); it != imports.rend(); ++it) {
      stack.push_back(it->get());
    }
  }
  return found;
}

}  // namespace

absl::Status Module::Import(std::shared_ptr<Module> module) {
  if (module == nullptr) {
    return absl::InvalidArgumentError("the imported module is null");
  }
  const std::vector<const Module*> reachable = Reachable(module.get());
  if (std::find(reachable.begin(), reachable.end(), this) != reachable.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("importing module '", module->kind(), "' into '", kind(),
                     "' would make a cycle"));
  }
  if (std::find(imports_.begin(), imports_.end(), module) == imports_.end()) {
    imports_.push_back(std::move(module));
  }
  return absl::OkStatus();
}

absl::StatusOr<Function> Module::Find(absl::string_view name) const {
  if (std::optional<Function> own = GetFunction(name)) return *std::move(own);
  std::vector<std::string> searched;
  for (const Module* module : Reachable(this)) {
    if (module != this) {
      if (std::optional<Function> found = module->GetFunction(name)) {
        return *std::move(found);
      }
    }
    searched.emplace_back(module->kind());
  }
  return absl::NotFoundError(absl::StrCat("no function '", name,
                                          "' in the modules ",
                                          absl::StrJoin(searched, ", ")));
}

absl::Status TableModule::Add(absl::string_view name, Function function) {
  if (!function.defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat("function '", name, "' is undefined"));
  }
  if (!functions_.emplace(std::string(name), std::move(function)).second) {
    return absl::AlreadyExistsError(absl::StrCat(
        "module '", kind_, "' has a function '", name, "' already"));
  }
  return absl::OkStatus();
}

std::optional<Function> TableModule::GetFunction(absl::string_view name) const {
  auto it = functions_.find(std::string(name));
  if (it == functions_.end()) return std::nullopt;
  return it->second;
}

std::vector<std::string> TableModule::FunctionNames() const {
  std::vector<std::string> names;
  for (const auto& entry : functions_) names.push_back(entry.first);
  return names;
}

}  // namespace ingot

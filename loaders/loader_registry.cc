#include "loaders/loader_registry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/check.h"

namespace ingot {

OpenDevice LoadContext::DeviceOf(absl::string_view target_key) const {
  for (size_t i = 1; i < devices.size(); ++i) {
    const PlanDevice& device = plan->devices(static_cast<int>(i));
    const auto& others = device.shared_by();
    if (device.target_key() == target_key ||
        std::find(others.begin(), others.end(), target_key) != others.end()) {
      return devices[i];
    }
  }
  return OpenDevice::Cpu();
}

absl::Status LoaderRegistry::Register(absl::string_view name, LoadBinaryFn load,
                                      LoaderInput input) {
  if (load == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("loader '", name, "' has no function"));
  }
  if (name == kNativeLoader) {
    return absl::AlreadyExistsError(absl::StrCat(
        "loader '", name, "' is the load stage's own; choose another name"));
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
    std::vector<std::string> known = Names();
    known.emplace_back(kNativeLoader);  // the load stage's own
    std::sort(known.begin(), known.end());
    return absl::NotFoundError(
        absl::StrCat("no loader is named '", name,
                     "'; known: ", absl::StrJoin(known, ", ")));
  }
  return &it->second.load;
}

absl::Status LoaderRegistry::RegisterDevice(absl::string_view kind,
                                            OpenDeviceFn open) {
  if (open == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("device '", kind, "' has no function"));
  }
  if (!devices_.emplace(std::string(kind), std::move(open)).second) {
    return absl::AlreadyExistsError(
        absl::StrCat("device '", kind, "' is registered twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<const OpenDeviceFn*> LoaderRegistry::FindDevice(
    absl::string_view kind) const {
  auto it = devices_.find(kind);
  if (it != devices_.end()) return &it->second;
  std::vector<absl::string_view> kinds = {kCpuDeviceKind};
  for (const auto& [name, open] : devices_) kinds.push_back(name);
  return absl::NotFoundError(
      absl::StrCat("no device is of kind '", kind,
                   "'; known: ", absl::StrJoin(kinds, ", ")));
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

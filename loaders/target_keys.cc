#include "loaders/target_keys.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "isa/machines.h"
#include "runtime/host_cpu.h"

namespace ingot {
absl::Status CheckTargetKeyHere(const Provenance::TargetKey& key) {
  // Source code has no triple, and machine code of unknown families none that
  // could be compared.
  if (!key.triple().empty()) {
    const isa::MachineFamily* family = isa::FindByTriple(key.triple());
    const isa::MachineFamily* host = isa::HostFamily();
    if (family == nullptr || family != host) {
      return absl::FailedPreconditionError(absl::StrCat(
          "its code is for ", family == nullptr ? key.triple() : family->name,
          ", and this machine is ",
          host == nullptr ? "of another family" : host->name));
    }
  }
  return CheckCpuFeatures(std::vector<std::string>(key.cpu_features().begin(),
                                                   key.cpu_features().end()));
}

absl::Status CheckTargetKeyOn(const Provenance::TargetKey& key,
                              absl::string_view name,
                              const std::set<std::string>& features) {
  std::vector<std::string> missing;
  for (const std::string& feature : key.cpu_features()) {
    if (features.count(feature) == 0) missing.push_back(feature);
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(name, " lacks ", absl::StrJoin(missing, ", "),
                   ", which the code was compiled for"));
}

std::vector<std::string> UnusedVectorUnits(
    const Provenance::TargetKey& key, const std::set<std::string>& features) {
  const std::set<std::string> used(key.cpu_features().begin(),
                                   key.cpu_features().end());
  std::vector<std::string> unused;
  for (const char* unit : {"avx2", "avx512f"}) {
    if (used.count(unit) != 0) {
      unused.clear();  // it is wider than those before it
    } else if (features.count(unit) != 0) {
      unused.emplace_back(unit);
    }
  }
  return unused;
}

std::vector<TargetKeyCheck> CheckTargetKeys(const Provenance& provenance) {
  std::vector<TargetKeyCheck> checks;
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    checks.push_back({key.name(), CheckTargetKeyHere(key)});
  }
  return checks;
}

absl::Status RequireTargetKeys(const Provenance& provenance) {
  std::vector<std::string> missing, able;
  for (const TargetKeyCheck& check : CheckTargetKeys(provenance)) {
    if (check.runs_here.ok()) {
      able.push_back(check.key);
    } else {
      missing.push_back(absl::StrCat("target key ", check.key, ": ",
                                     check.runs_here.message()));
    }
  }
  if (missing.empty()) return absl::OkStatus();
  if (!able.empty()) {
    missing.push_back(
        absl::StrCat("this machine can run: ", absl::StrJoin(able, ", ")));
  }
  return absl::FailedPreconditionError(absl::StrJoin(missing, "; "));
}

}  // namespace ingot

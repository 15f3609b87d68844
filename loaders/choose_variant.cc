#include "loaders/choose_variant.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "artifact/loader_names.h"
#include "artifact/variants.h"
#include "base/status_macros.h"
#include "isa/features.h"
#include "loaders/target_keys.h"

namespace ingot {
namespace {

// The rarity of the rarest feature that the variant's code needs, and the
// number of features that it needs.
std::pair<size_t, size_t> DemandOf(const Provenance& provenance,
                                   absl::string_view variant) {
  size_t rarest = 0;
  std::set<std::string> needed;
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    if (VariantOfKey(provenance, key.name()) != variant) continue;
    needed.insert(key.cpu_features().begin(), key.cpu_features().end());
    const absl::Span<const isa::Feature> known = isa::FeaturesOf(key.triple());
    for (size_t i = 0; i < known.size(); ++i) {
      if (needed.count(known[i].name) != 0) rarest = std::max(rarest, i + 1);
    }
  }
  return {rarest, needed.size()};
}

}  // namespace

std::vector<VariantCheck> CheckVariants(const ArtifactSet& set,
                                        const LoaderRegistry& loaders,
                                        const RunsKeyFn& runs_key) {
  const Provenance& provenance = set.provenance();
  std::vector<VariantCheck> checks;
  for (const Provenance::Variant& variant : provenance.variants()) {
    VariantCheck check = {variant.name(), absl::OkStatus()};
    for (const Provenance::TargetKey& key : provenance.target_keys()) {
      if (VariantOfKey(provenance, key.name()) != variant.name()) continue;
      check.runs.Update(runs_key(key));
    }
    for (const Artifact& artifact : set.artifacts()) {
      if (artifact.loader == kNativeLoader ||
          VariantOfKey(provenance, artifact.target_key) != variant.name()) {
        continue;
      }
      if (loaders.Find(artifact.loader).ok()) continue;
      check.runs.Update(absl::FailedPreconditionError(
          absl::StrCat("this program has no loader '", artifact.loader, "'")));
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

absl::StatusOr<std::string> BestVariant(
    const Provenance& provenance, const std::vector<VariantCheck>& checks) {
  const VariantCheck* best = nullptr;
  std::pair<size_t, size_t> most;
  std::vector<std::string> reasons;
  for (const VariantCheck& check : checks) {
    if (!check.runs.ok()) {
      reasons.push_back(
          absl::StrCat("variant ", check.name, ": ", check.runs.message()));
      continue;
    }
    const std::pair<size_t, size_t> demand = DemandOf(provenance, check.name);
    if (best != nullptr && demand <= most) continue;
    best = &check;
    most = demand;
  }
  if (best == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no variant can run: ", absl::StrJoin(reasons, "; ")));
  }
  return best->name;
}

absl::StatusOr<ArtifactSet> ChooseVariant(const ArtifactSet& set,
                                          const LoaderRegistry& loaders,
                                          absl::string_view name,
                                          std::string* chosen) {
  if (set.provenance().variants().empty() && name.empty()) return set;
  *chosen = std::string(name);
  if (name.empty()) {
    INGOT_ASSIGN_OR_RETURN(
        *chosen, BestVariant(set.provenance(),
                             CheckVariants(set, loaders, CheckTargetKeyHere)));
  }
  return SelectVariant(set, *chosen);
}

}  // namespace ingot

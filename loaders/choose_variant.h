// Chooses among the variants of a set (artifact/variants.h).
#ifndef INGOT_LOADERS_CHOOSE_VARIANT_H_
#define INGOT_LOADERS_CHOOSE_VARIANT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/provenance.pb.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Whether a processor runs the code of a key.
using RunsKeyFn = std::function<absl::Status(const Provenance::TargetKey&)>;

struct VariantCheck {
  std::string name;
  // OK, or FailedPrecondition for a key that cannot run or a loader that is not
  // known.
  absl::Status runs;
};

// One for each variant of `set`, in its order.
std::vector<VariantCheck> CheckVariants(const ArtifactSet& set,
                                        const LoaderRegistry& loaders,
                                        const RunsKeyFn& runs_key);

// The best of those that run: the one whose code needs the rarest CPU feature
// (isa/features.h), then the most of them; of equals the first. C source needs
// none until it is linked. FailedPrecondition says of each why it cannot run.
absl::StatusOr<std::string> BestVariant(
    const Provenance& provenance, const std::vector<VariantCheck>& checks);

// The best variant of `set` for this machine, or the one called `name` if that
// is not empty, as a set of its own; `set` itself if it has no variants.
// `*chosen` gets its name. Errors: those of SelectVariant and of BestVariant.
absl::StatusOr<ArtifactSet> ChooseVariant(const ArtifactSet& set,
                                          const LoaderRegistry& loaders,
                                          absl::string_view name,
                                          std::string* chosen);

}  // namespace ingot

#endif  // INGOT_LOADERS_CHOOSE_VARIANT_H_

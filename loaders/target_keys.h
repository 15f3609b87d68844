// Tells which target keys of a set this machine can run.

#ifndef INGOT_LOADERS_TARGET_KEYS_H_
#define INGOT_LOADERS_TARGET_KEYS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "artifact/provenance.pb.h"

namespace ingot {

// OK, or FailedPrecondition: the code of the key is for another family of
// processors than this machine's, or needs features that this one lacks.
absl::Status CheckTargetKeyHere(const Provenance::TargetKey& key);

struct TargetKeyCheck {
  std::string key;
  absl::Status runs_here;  // from CheckTargetKeyHere
};

// One for each key that `provenance` describes, in its order. Runs nothing.
std::vector<TargetKeyCheck> CheckTargetKeys(const Provenance& provenance);

// The same of a processor of the key's family with these features, which may
// not be this machine's. `name` is for the error.
absl::Status CheckTargetKeyOn(const Provenance::TargetKey& key,
                              absl::string_view name,
                              const std::set<std::string>& features);

// The units for wider vectors than the key's code uses that a processor with
// `features` has, so that the code could have been compiled for them.
std::vector<std::string> UnusedVectorUnits(
    const Provenance::TargetKey& key, const std::set<std::string>& features);

// OK if all of them can run; otherwise FailedPrecondition that says for each
// key that cannot what is missing, and which keys can.
absl::Status RequireTargetKeys(const Provenance& provenance);

}  // namespace ingot

#endif  // INGOT_LOADERS_TARGET_KEYS_H_

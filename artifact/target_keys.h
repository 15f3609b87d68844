// The parts of a provenance that belong to one target key.

#ifndef INGOT_ARTIFACT_TARGET_KEYS_H_
#define INGOT_ARTIFACT_TARGET_KEYS_H_

#include "absl/strings/string_view.h"
#include "artifact/provenance.pb.h"

namespace ingot {

// The entry of `provenance` for `key`; an empty one if it has none. Valid
// as long as `provenance` is not changed.
const Provenance::TargetKey& FindTargetKey(const Provenance& provenance,
                                           absl::string_view key);

// The same to be filled in; added, in order, if there was none. Valid until the
// next call.
Provenance::TargetKey* MutableTargetKey(Provenance* provenance,
                                        absl::string_view key);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_TARGET_KEYS_H_

// Sets that hold one model compiled in several ways, for different machines,
// with the weights that they have in common stored once.
#ifndef INGOT_ARTIFACT_VARIANTS_H_
#define INGOT_ARTIFACT_VARIANTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact_set.h"

namespace ingot {

// One of the ways, as a set of its own.
struct Variant {
  std::string name;
  ArtifactSet set;
};

// One set of all of them, in whose provenance they are described in their order
// (Provenance.variants). An artifact of the target key "host" gets the
// variant's name for its key, one of another key "<name>.<key>". Weights that
// all of them have alike stay where they are: under "host" there is what every
// variant uses. What the provenances have in common is the whole set's.
//
// Errors: InvalidArgument for a name that breaks a rule of names.h, for two of
// one name, for a set that has variants or was linked, and for sets of
// different models, symbol prefixes or versions of Ingot.
absl::StatusOr<ArtifactSet> CombineVariants(absl::Span<const Variant> variants);

// The variant `name` of `set` as a set of its own, with what it shares: the
// reverse of CombineVariants. In a linked set its library_key is empty unless
// the library's own code is the variant's. NotFound lists the names that there
// are; InvalidArgument for a set that is no such set in truth.
absl::StatusOr<ArtifactSet> SelectVariant(const ArtifactSet& set,
                                          absl::string_view name);

// The name of the variant that a target key belongs to, or "" for what all
// variants share.
absl::string_view VariantOfKey(const Provenance& provenance,
                               absl::string_view key);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_VARIANTS_H_

// Views of a whole set, as text and as JSON. Every set may come from
// anywhere.
#ifndef INGOT_TOOLS_INGOT_INSPECT_SET_H_
#define INGOT_TOOLS_INGOT_INSPECT_SET_H_

#include <string>

#include "absl/status/statusor.h"
#include "artifact/artifact_set.h"
#include "nlohmann/json.hpp"

namespace ingot {

// Says what it was made from and what it needs, what the model takes and gives,
// its artifacts, and what each target key has of it.
std::string DescribeSet(const ArtifactSet& set);

// Tables: the functions that the plan calls, each with its target key, calls,
// code, weights, types and nodes of the model; and the bytes of storage that
// are in use at each call. Of a set with variants, of the first one.
// InvalidArgument for a plan that makes no sense.
absl::StatusOr<std::string> DescribeFunctions(const ArtifactSet& set);
absl::StatusOr<std::string> DescribeMemory(const ArtifactSet& set);

// All of that: {"about": [[what, value]], "artifacts": […], "targets": […],
// "functions": […], "memory": […]}. The same error.
absl::StatusOr<nlohmann::ordered_json> SetAsJson(const ArtifactSet& set);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_INSPECT_SET_H_

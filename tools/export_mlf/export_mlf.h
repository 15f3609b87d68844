// A compiled set in TVM's Model Library Format.
#ifndef INGOT_TOOLS_EXPORT_MLF_EXPORT_MLF_H_
#define INGOT_TOOLS_EXPORT_MLF_EXPORT_MLF_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "artifact/artifact_set.h"

namespace ingot {

// The files, by path, of version 7 of that format:
//
//   metadata.json
//   codegen/<target key>/lib/      objects
//   codegen/<target key>/src/      C
//   codegen/<target key>/include/  headers
//   codegen/<target key>/<loader>/ what is of other loaders
//   executor-config/plan/plan.json the plan (runtime/plan/plan.proto)
//   parameters/<model>.params      as TVM's save_param_dict writes weights
//   src/relay.txt                  `relay`, unless it is empty
//
// <model> is the set's symbol prefix. `time` is what the metadata gives as that
// of the export. FailedPrecondition for a set with variants, or whose plan has
// symbolic dimensions, of which the format knows nothing, or with two artifacts
// that would be one file; InvalidArgument for a plan or weights that make no
// sense.
absl::StatusOr<std::map<std::string, std::string>> ExportMlf(
    const ArtifactSet& set, absl::string_view relay, absl::Time time);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_MLF_EXPORT_MLF_H_

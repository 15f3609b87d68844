// Everything that a report's page shows, as JSON.
#ifndef INGOT_TOOLS_REPORT_SET_FACTS_H_
#define INGOT_TOOLS_REPORT_SET_FACTS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/artifact_set.h"
#include "nlohmann/json.hpp"

namespace ingot::report {

// The text that a person reads of an artifact, such as a disassembly.
using DescribeFn =
    std::function<absl::StatusOr<std::string>(const Artifact& artifact)>;

// The time of all calls of a function for the same nodes.
struct CallTime {
  std::string function;
  std::string source;  // the model's nodes
  int calls = 1;       // in a run
  double seconds = 0;  // of all of them
};

// Times, and what they are set against: limits of the machine a second.
struct Measurement {
  std::vector<CallTime> times;
  double operations = 0;
  double bytes = 0;
  std::string how;  // it was made, for people
};

// The graphs of the set's plan (graphs.h), of the first one of a set with
// variants; none without a plan. InvalidArgument for a plan that makes no
// sense, with the artifact named.
absl::StatusOr<nlohmann::ordered_json> DescribePlan(const ArtifactSet& set);

// {"title": the model's name, "about": [[what, value]],
//  "artifacts": [{"path", "codegen", "loader", "size", "sha256", "edited"}],
//  "graphs": as DescribeGraphs has them; a call has "k", its kernel, where one
//            was found, and where they are known "t", the seconds of one turn,
//            and "n", the turns in a run, which are many in a loop,
//  "kernels": [{"name", "artifact": index, "text", "bytes": of its code}],
//  "weights": [as DescribeWeight], and where somebody measured:
//  "timed": how, "limits": {"ops", "bytes"}}
// Of a set with variants, the plan of the first is shown. Errors: those of
// `describe`, with the artifact named; InvalidArgument for a plan or weights
// that make no sense.
absl::StatusOr<nlohmann::ordered_json> DescribeForReport(
    const ArtifactSet& set, const DescribeFn& describe,
    const std::optional<Measurement>& measured);

}  // namespace ingot::report

#endif  // INGOT_TOOLS_REPORT_SET_FACTS_H_

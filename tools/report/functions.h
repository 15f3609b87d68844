// The functions of a set: a row for each that its plan calls.
#ifndef INGOT_TOOLS_REPORT_FUNCTIONS_H_
#define INGOT_TOOLS_REPORT_FUNCTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifact/artifact_set.h"
#include "nlohmann/json.hpp"

namespace ingot::report {

struct FunctionFacts {
  std::string name;
  // "(f32[1, 3], f32[3]) -> f32[1, 3]": of its first call.
  std::string signature;
  std::string target_key, artifact;    // its code's; empty where none was found
  int calls = 0;                       // in the plan and its bodies
  std::optional<uint64_t> code_bytes;  // as FindCode counts them
  uint64_t weight_bytes = 0;           // of the constants that it reads
  std::vector<std::string> nodes;      // of the model
};

// The functions that `graphs` (graphs.h) call, in the order of their first
// calls.
std::vector<FunctionFacts> ListFunctions(const ArtifactSet& set,
                                         const nlohmann::ordered_json& graphs);

// The part of a set that a target key has.
struct TargetFacts {
  std::string target_key;
  std::vector<std::string> codegens;
  int artifacts = 0;
  uint64_t bytes = 0;  // of these
  int functions = 0, calls = 0;
  uint64_t code_bytes = 0, weight_bytes = 0;  // of its functions
};

// One for each target key that has an artifact.
std::vector<TargetFacts> ListTargets(
    const ArtifactSet& set, const std::vector<FunctionFacts>& functions);

}  // namespace ingot::report

#endif  // INGOT_TOOLS_REPORT_FUNCTIONS_H_

// Tells which target keys of a set this machine can run.

#ifndef INGOT_LOADERS_TARGET_KEYS_H_
#define INGOT_LOADERS_TARGET_KEYS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "artifact/provenance.pb.h"

namespace ingot {

struct TargetKeyCheck {
  std::string key;
  // OK, or FailedPrecondition: the code is for another family of processors, or
  // needs features that this one lacks.
  absl::Status runs_here;
};

// One for each key that `provenance` describes, in its order. Runs nothing.
std::vector<TargetKeyCheck> CheckTargetKeys(const Provenance& provenance);

// OK if all of them can run; otherwise FailedPrecondition that says for each
// key that cannot what is missing, and which keys can.
absl::Status RequireTargetKeys(const Provenance& provenance);

}  // namespace ingot

#endif  // INGOT_LOADERS_TARGET_KEYS_H_

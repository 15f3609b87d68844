#ifndef INGOT_TOOLS_EXPORT_MLF_METADATA_H_
#define INGOT_TOOLS_EXPORT_MLF_METADATA_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "artifact/provenance.pb.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/safetensors.h"

namespace ingot {

// metadata.json. `has_main`: the code has the whole model as one function. The
// plan passes CheckPlan. FailedPrecondition for symbolic dimensions.
absl::StatusOr<std::string> MlfMetadata(const Provenance& provenance,
                                        const Plan& plan,
                                        const NamedTensors& weights,
                                        bool has_main, absl::Time time);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_MLF_METADATA_H_

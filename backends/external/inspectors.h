// Inspectors that another program computes.
#ifndef INGOT_BACKENDS_EXTERNAL_INSPECTORS_H_
#define INGOT_BACKENDS_EXTERNAL_INSPECTORS_H_

#include <memory>

#include "absl/status/status.h"
#include "artifact/inspector.h"
#include "backends/external/connection.h"

namespace ingot::external {

// Registers the inspectors that the other side describes, which keep the
// connection. Errors: those of InspectorRegistry::Register.
absl::Status RegisterInspectors(std::shared_ptr<Connection> connection,
                                InspectorRegistry* registry);

}  // namespace ingot::external

#endif  // INGOT_BACKENDS_EXTERNAL_INSPECTORS_H_

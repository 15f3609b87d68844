// Targets whose hooks another program computes.
#ifndef INGOT_BACKENDS_EXTERNAL_CODEGEN_H_
#define INGOT_BACKENDS_EXTERNAL_CODEGEN_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/external/connection.h"
#include "compiler/target/target.h"

namespace ingot::external {

// Registers the targets that the other side describes, whose kinds keep the
// connection. `*loaders` gets the loaders that their artifacts name. Errors:
// AlreadyExists for a name that is taken, InvalidArgument for a description
// without a name.
absl::Status RegisterTargets(std::shared_ptr<Connection> connection,
                             TargetRegistry* registry,
                             std::vector<std::string>* loaders);

}  // namespace ingot::external

#endif  // INGOT_BACKENDS_EXTERNAL_CODEGEN_H_

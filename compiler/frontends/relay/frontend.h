#ifndef INGOT_COMPILER_FRONTENDS_RELAY_FRONTEND_H_
#define INGOT_COMPILER_FRONTENDS_RELAY_FRONTEND_H_

#include "absl/status/status.h"
#include "compiler/frontends/frontend.h"

namespace ingot {

// Relay's text form (compiler/relay/parser.h), such as --dump-ir writes. Its
// large constants are in the file NAME.relay.weights beside it.
absl::Status RegisterRelayFrontend(FrontendRegistry* registry);

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_RELAY_FRONTEND_H_

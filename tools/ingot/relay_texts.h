// The module in a dump: as it was read, and before and after it was
// partitioned.
#ifndef INGOT_TOOLS_INGOT_RELAY_TEXTS_H_
#define INGOT_TOOLS_INGOT_RELAY_TEXTS_H_

#include <string>

#include "absl/status/status.h"

namespace ingot {

// Copies, of what --dump-ir wrote into the folder `ir`, these modules into the
// folder `dump`/relay, without weights: imported.relay, before_partition.relay
// and partitioned.relay (where a target took a region of its own), and
// kernels.relay, whose functions are what code is made of. With variants, into
// a folder for each. Reports what the file system does.
absl::Status CopyRelayTexts(const std::string& ir, const std::string& dump);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_RELAY_TEXTS_H_

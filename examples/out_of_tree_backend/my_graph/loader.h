#ifndef MY_GRAPH_LOADER_H_
#define MY_GRAPH_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace acme {

absl::Status RegisterMyGraphLoader(ingot::LoaderRegistry* registry);

}  // namespace acme

#endif  // MY_GRAPH_LOADER_H_

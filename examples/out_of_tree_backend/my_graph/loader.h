#ifndef MY_GRAPH_LOADER_H_
#define MY_GRAPH_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

absl::Status RegisterMyGraphLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // MY_GRAPH_LOADER_H_

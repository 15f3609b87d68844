#ifndef MY_GRAPH_INSPECTORS_H_
#define MY_GRAPH_INSPECTORS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace acme {

absl::Status RegisterMyGraphInspectors(ingot::InspectorRegistry* registry);

}  // namespace acme

#endif  // MY_GRAPH_INSPECTORS_H_

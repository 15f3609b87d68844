#ifndef MY_GRAPH_CODEGEN_H_
#define MY_GRAPH_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace acme {

absl::Status RegisterMyGraphTarget(ingot::TargetRegistry* registry);

}  // namespace acme

#endif  // MY_GRAPH_CODEGEN_H_

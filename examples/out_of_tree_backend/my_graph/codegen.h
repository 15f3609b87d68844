#ifndef MY_GRAPH_CODEGEN_H_
#define MY_GRAPH_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

absl::Status RegisterMyGraphTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // MY_GRAPH_CODEGEN_H_

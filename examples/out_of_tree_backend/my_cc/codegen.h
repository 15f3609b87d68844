#ifndef MY_CC_CODEGEN_H_
#define MY_CC_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

absl::Status RegisterMyCcTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // MY_CC_CODEGEN_H_

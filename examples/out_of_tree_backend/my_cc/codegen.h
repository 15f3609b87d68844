#ifndef MY_CC_CODEGEN_H_
#define MY_CC_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace acme {

absl::Status RegisterMyCcTarget(ingot::TargetRegistry* registry);

}  // namespace acme

#endif  // MY_CC_CODEGEN_H_

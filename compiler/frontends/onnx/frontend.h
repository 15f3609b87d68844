#ifndef INGOT_COMPILER_FRONTENDS_ONNX_FRONTEND_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_FRONTEND_H_

#include "absl/status/status.h"
#include "compiler/frontends/frontend.h"

namespace ingot {

// ONNX's files (import.h).
absl::Status RegisterOnnxFrontend(FrontendRegistry* registry);

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_FRONTEND_H_

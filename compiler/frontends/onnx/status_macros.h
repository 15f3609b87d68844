// Early return of a failed Status. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_STATUS_MACROS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define ONNX_RETURN_IF_ERROR(expr)                              \
  do {                                                          \
    if (absl::Status onnx_status = (expr); !onnx_status.ok()) { \
      return onnx_status;                                       \
    }                                                           \
  } while (false)

// ONNX_ASSIGN_OR_RETURN(T t, F()); declares t from F's StatusOr.
#define ONNX_ASSIGN_OR_RETURN(lhs, expr) \
  ONNX_ASSIGN_OR_RETURN_(ONNX_CONCAT_(onnx_or_, __LINE__), lhs, expr)
#define ONNX_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                           \
  if (!tmp.ok()) return tmp.status();          \
  lhs = *std::move(tmp)
#define ONNX_CONCAT_(a, b) ONNX_CONCAT__(a, b)
#define ONNX_CONCAT__(a, b) a##b

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_STATUS_MACROS_H_

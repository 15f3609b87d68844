// Early return of a failed Status, which Abseil does not ship.
#ifndef INGOT_BASE_STATUS_MACROS_H_
#define INGOT_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// INGOT_RETURN_IF_ERROR(F()); returns F's Status from the function unless ok.
#define INGOT_RETURN_IF_ERROR(expr)                               \
  do {                                                            \
    if (absl::Status ingot_status = (expr); !ingot_status.ok()) { \
      return ingot_status;                                        \
    }                                                             \
  } while (false)

// INGOT_ASSIGN_OR_RETURN(Node* n, F()); declares n from F's StatusOr.
#define INGOT_ASSIGN_OR_RETURN(lhs, expr) \
  INGOT_ASSIGN_OR_RETURN_(INGOT_CONCAT_(ingot_or_, __LINE__), lhs, expr)
#define INGOT_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return tmp.status();           \
  lhs = *std::move(tmp)
#define INGOT_CONCAT_(a, b) INGOT_CONCAT__(a, b)
#define INGOT_CONCAT__(a, b) a##b

#endif  // INGOT_BASE_STATUS_MACROS_H_

// What Abseil does not ship: early return of a failed Status.
#ifndef INGOT_COMPILER_RELAY_STATUS_MACROS_H_
#define INGOT_COMPILER_RELAY_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// RELAY_RETURN_IF_ERROR(F()); returns F's Status from the function unless ok.
#define RELAY_RETURN_IF_ERROR(expr)                               \
  do {                                                            \
    if (absl::Status relay_status = (expr); !relay_status.ok()) { \
      return relay_status;                                        \
    }                                                             \
  } while (false)

// RELAY_ASSIGN_OR_RETURN(Node* n, F()); declares n from F's StatusOr.
#define RELAY_ASSIGN_OR_RETURN(lhs, expr) \
  RELAY_ASSIGN_OR_RETURN_(RELAY_CONCAT_(relay_or_, __LINE__), lhs, expr)
#define RELAY_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return tmp.status();           \
  lhs = *std::move(tmp)
#define RELAY_CONCAT_(a, b) RELAY_CONCAT__(a, b)
#define RELAY_CONCAT__(a, b) a##b

#endif  // INGOT_COMPILER_RELAY_STATUS_MACROS_H_

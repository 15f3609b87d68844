#ifndef INGOT_RUNTIME_ERROR_H_
#define INGOT_RUNTIME_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

// An error crosses the C ABI like this: the callee describes it on its own
// thread with SetLastError and returns -1; the caller takes it on the same
// thread.

namespace ingot {

// The name of a Python exception ("ValueError") and a text for people. An empty
// kind means that there is no error.
struct LastError {
  std::string kind;
  std::string message;
};

// Replaces this thread's error. Copies both.
void SetLastError(absl::string_view kind, absl::string_view message);

// Replaces this thread's error by what `status` says, which must not be OK.
void SetLastError(const absl::Status& status);

// Returns this thread's error and leaves none behind.
LastError TakeLastError();

// The exception name that stands for a status code, and back; an unknown kind
// is Internal. StatusKind and KindToCode are inverse for every code but OK.
absl::string_view StatusKind(absl::StatusCode code);
absl::StatusCode KindToCode(absl::string_view kind);

// Takes this thread's error as a status. Internal, saying that the function
// gave no reason, where there is none. Never OK.
absl::Status TakeLastErrorAsStatus();

}  // namespace ingot

#endif  // INGOT_RUNTIME_ERROR_H_

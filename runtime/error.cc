#include "runtime/error.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ingot {
namespace {

LastError& ThreadError() {
  thread_local LastError error;
  return error;
}

struct KindAndCode {
  absl::string_view kind;
  absl::StatusCode code;
};

// The first row of a code is the one that StatusKind gives. Kinds that Python
// does not know become its RuntimeError there, with their name in the text.
constexpr KindAndCode kKinds[] = {
    {"ValueError", absl::StatusCode::kInvalidArgument},
    {"TypeError", absl::StatusCode::kInvalidArgument},
    {"AssertionError", absl::StatusCode::kInvalidArgument},
    {"IndexError", absl::StatusCode::kOutOfRange},
    {"KeyError", absl::StatusCode::kNotFound},
    {"AttributeError", absl::StatusCode::kNotFound},
    {"FileNotFoundError", absl::StatusCode::kNotFound},
    {"MemoryError", absl::StatusCode::kResourceExhausted},
    {"NotImplementedError", absl::StatusCode::kUnimplemented},
    {"RuntimeError", absl::StatusCode::kInternal},
    {"PermissionError", absl::StatusCode::kPermissionDenied},
    {"FileExistsError", absl::StatusCode::kAlreadyExists},
    {"TimeoutError", absl::StatusCode::kDeadlineExceeded},
    {"FailedPreconditionError", absl::StatusCode::kFailedPrecondition},
    {"CancelledError", absl::StatusCode::kCancelled},
    {"UnknownError", absl::StatusCode::kUnknown},
    {"AbortedError", absl::StatusCode::kAborted},
    {"UnavailableError", absl::StatusCode::kUnavailable},
    {"DataLossError", absl::StatusCode::kDataLoss},
    {"UnauthenticatedError", absl::StatusCode::kUnauthenticated},
};

}  // namespace

void SetLastError(absl::string_view kind, absl::string_view message) {
  LastError& error = ThreadError();
  error.kind = kind.empty() ? "RuntimeError" : std::string(kind);
  error.message = std::string(message);
}

void SetLastError(const absl::Status& status) {
  SetLastError(StatusKind(status.code()), status.message());
}

LastError TakeLastError() { return std::exchange(ThreadError(), LastError()); }

absl::string_view StatusKind(absl::StatusCode code) {
  for (const KindAndCode& row : kKinds) {
    if (row.code == code) return row.kind;
  }
  return "RuntimeError";
}

absl::StatusCode KindToCode(absl::string_view kind) {
  for (const KindAndCode& row : kKinds) {
    if (row.kind == kind) return row.code;
  }
  return absl::StatusCode::kInternal;
}

absl::Status TakeLastErrorAsStatus() {
  LastError error = TakeLastError();
  if (error.kind.empty()) {
    return absl::InternalError("the function failed and gave no reason");
  }
  return absl::Status(KindToCode(error.kind), error.message);
}

}  // namespace ingot

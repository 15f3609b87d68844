#include "loaders/c_api/report.h"

namespace ingot::c_api {

static_assert(INGOT_INVALID_ARGUMENT ==
                  static_cast<int>(absl::StatusCode::kInvalidArgument),
              "");
static_assert(INGOT_NOT_FOUND == static_cast<int>(absl::StatusCode::kNotFound),
              "");
static_assert(INGOT_RESOURCE_EXHAUSTED ==
                  static_cast<int>(absl::StatusCode::kResourceExhausted),
              "");
static_assert(INGOT_FAILED_PRECONDITION ==
                  static_cast<int>(absl::StatusCode::kFailedPrecondition),
              "");
static_assert(INGOT_ABORTED == static_cast<int>(absl::StatusCode::kAborted),
              "");
static_assert(INGOT_UNIMPLEMENTED ==
                  static_cast<int>(absl::StatusCode::kUnimplemented),
              "");
static_assert(INGOT_INTERNAL == static_cast<int>(absl::StatusCode::kInternal),
              "");
static_assert(INGOT_DATA_LOSS == static_cast<int>(absl::StatusCode::kDataLoss),
              "");

std::string& LastError() {
  thread_local std::string text;
  return text;
}

IngotStatus Report(const absl::Status& status) {
  if (!status.ok()) LastError() = std::string(status.message());
  return static_cast<IngotStatus>(status.code());
}

}  // namespace ingot::c_api

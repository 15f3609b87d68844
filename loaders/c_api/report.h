// Functions of the C API return what went wrong through Report.
#ifndef INGOT_LOADERS_C_API_REPORT_H_
#define INGOT_LOADERS_C_API_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "loaders/c_api/ingot.h"

namespace ingot::c_api {

// The text of this thread's last failure.
std::string& LastError();

// The code of `status`, whose message becomes LastError unless it is OK.
IngotStatus Report(const absl::Status& status);

}  // namespace ingot::c_api

#endif  // INGOT_LOADERS_C_API_REPORT_H_

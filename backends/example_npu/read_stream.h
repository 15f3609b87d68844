#ifndef INGOT_BACKENDS_EXAMPLE_NPU_READ_STREAM_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_READ_STREAM_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/example_npu/stream.h"

namespace ingot::example_npu {

// Reads what WriteStream wrote, or something hostile. InvalidArgument says what
// is wrong, and in which command: one whose operands are not as large as it
// says, do not lie where there is memory for them, or which writes to what is
// only read.
absl::StatusOr<Stream> ReadStream(absl::string_view bytes);

}  // namespace ingot::example_npu

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_READ_STREAM_H_

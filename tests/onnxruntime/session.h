// ONNX Runtime through its C API: the reference and the peer that shares no
// code with Ingot.
#ifndef INGOT_TESTS_ONNXRUNTIME_SESSION_H_
#define INGOT_TESTS_ONNXRUNTIME_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor.h"

namespace ingot::onnxruntime {

struct SessionOptions {
  int threads = 1;
  // All graph optimisations; without them each node runs as it stands in the
  // file.
  bool optimized = false;
};

// A model that ONNX Runtime has read. Errors are ONNX Runtime's own messages
// unless said otherwise. Use it from one thread at a time.
class Session {
 public:
  // `model` is a serialised ModelProto.
  static absl::StatusOr<std::unique_ptr<Session>> Create(
      absl::string_view model, const SessionOptions& options = {});
  // The same from a file, whose external weights lie beside it.
  static absl::StatusOr<std::unique_ptr<Session>> Open(
      const std::string& path, const SessionOptions& options = {});

  virtual ~Session() = default;

  virtual absl::StatusOr<std::vector<std::string>> InputNames() = 0;
  virtual absl::StatusOr<std::vector<std::string>> OutputNames() = 0;

  // The named inputs that runs read from now on, and the outputs that they
  // compute. Unimplemented for a type that ONNX has not.
  virtual absl::Status Bind(std::vector<std::string> input_names,
                            std::vector<Tensor> inputs,
                            std::vector<std::string> output_names) = 0;
  virtual absl::Status Run() = 0;
  // Copies of what the last run computed. Unimplemented for an output that is
  // no tensor, or of a type that DataTypeFromOnnx does not know.
  virtual absl::StatusOr<std::vector<Tensor>> Outputs() = 0;

  // All three.
  absl::StatusOr<std::vector<Tensor>> Run(
      absl::Span<const std::string> input_names,
      absl::Span<const Tensor> inputs,
      absl::Span<const std::string> output_names);
};

}  // namespace ingot::onnxruntime

#endif  // INGOT_TESTS_ONNXRUNTIME_SESSION_H_

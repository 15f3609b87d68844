// ONNX Runtime, the reference that shares no code with Ingot.
#ifndef INGOT_TESTS_FUZZ_ONNX_REFERENCE_SESSION_H_
#define INGOT_TESTS_FUZZ_ONNX_REFERENCE_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor.h"

namespace ingot::fuzz {

// A model that ONNX Runtime has read, on one thread and with its graph
// optimisations off, so that each node runs as it stands in the file. Use it
// from one thread at a time.
class ReferenceSession {
 public:
  // `model` is a serialised ModelProto. The error is ONNX Runtime's own
  // message.
  static absl::StatusOr<std::unique_ptr<ReferenceSession>> Create(
      absl::string_view model);

  virtual ~ReferenceSession() = default;

  // The named outputs for the named inputs. Unimplemented for an output that is
  // no tensor, or of a type that TypeOfOnnx does not know; otherwise the error
  // is ONNX Runtime's own.
  virtual absl::StatusOr<std::vector<Tensor>> Run(
      absl::Span<const std::string> input_names,
      absl::Span<const Tensor> inputs,
      absl::Span<const std::string> output_names) = 0;
};

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_REFERENCE_SESSION_H_

// The inputs of a run: files that a person names, or random numbers.

#ifndef INGOT_TOOLS_INGOT_INPUTS_H_
#define INGOT_TOOLS_INGOT_INPUTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"

namespace ingot {

using InputShapes = std::map<std::string, std::vector<int64_t>>;

// Parses texts such as "image:1x3x224x224". A name may have colons of its own.
// UsageError for anything else.
absl::StatusOr<InputShapes> ParseInputShapes(
    absl::Span<const std::string> texts);

// The array in the file at `path`, by its ending: .npy, or ONNX's .pb. Errors
// name the path.
absl::StatusOr<Tensor> ReadTensorFile(absl::string_view path);

// The values that `texts` name, in the order of `declared`. A text is
// "name:file", where the file may also be a .npz that has an array of that name
// or one array only; or just a .npz file, whose arrays go by their names. An
// input that is a sequence may be named again and again, each time with a
// tensor more, or once with a .pb of a sequence or an optional value. Errors
// name the text; for an unknown or a missing name, they list those there are.
absl::StatusOr<std::vector<TensorOrSequence>> ReadInputs(
    absl::Span<const TensorInfo> declared, absl::Span<const std::string> texts);

// Random tensors for `declared`, the same for the same seed on every machine:
// floats in [-1, 1), 8-bit integers of their whole range, other integers from 0
// to 9. A dimension that is not fixed has the size in `shapes`, or else 1;
// `note` gets a line for a person on what was chosen. InvalidArgument for a
// shape that is not as declared, or whose name is not, and for a sequence.
absl::StatusOr<std::vector<Tensor>> MakeRandomInputs(
    absl::Span<const TensorInfo> declared, const InputShapes& shapes,
    int64_t seed, std::string* note);

// The values for `declared`: those that `texts` name, or random ones where
// there are no texts. `note` then says what was chosen, and is empty otherwise.
// Errors: those of the two functions above.
absl::StatusOr<std::vector<TensorOrSequence>> GivenOrRandomInputs(
    absl::Span<const TensorInfo> declared, absl::Span<const std::string> texts,
    const InputShapes& shapes, int64_t seed, std::string* note);

// Sets them all. Errors name the input, what it should be and what it is.
absl::Status SetInputs(absl::Span<const TensorOrSequence> inputs,
                       GraphExecutor* executor);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_INPUTS_H_

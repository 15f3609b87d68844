// NumPy's file formats: .npy, one array, and .npz, a ZIP archive of them.

#ifndef INGOT_TOOLS_INGOT_NPY_H_
#define INGOT_TOOLS_INGOT_NPY_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor.h"

namespace ingot {

// The array in the bytes of a .npy file of version 1, 2 or 3, as a new tensor.
// Arrays of the other byte order or in Fortran's order are converted. Safe for
// hostile bytes: memory is taken only for elements that are there.
// InvalidArgument for bytes that are no such file; Unimplemented for an element
// type that no tensor has (objects, strings, records, complex numbers).
absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes);

// The bytes of a .npy file (version 1, little-endian) with `tensor`, which is
// on a CPU. NumPy has no bf16: such elements are written as f32, exactly.
// Unimplemented for a type that NumPy does not have at all.
absl::StatusOr<std::string> FormatNpy(const Tensor& tensor);

// The arrays in the bytes of a .npz file by name (without ".npy"). Stored and
// deflated members, also with ZIP64 sizes; checksums are checked. Safe for
// hostile bytes, like ParseNpy: a member may not claim to be larger than its
// compressed bytes can be. Errors name the member.
absl::StatusOr<std::map<std::string, Tensor>> ParseNpz(absl::string_view bytes);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_NPY_H_

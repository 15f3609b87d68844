// Running the C compiler.

#ifndef INGOT_LOADERS_NATIVE_TOOLCHAIN_H_
#define INGOT_LOADERS_NATIVE_TOOLCHAIN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace ingot {

// Compiles the source file `source`, a path relative to the folder `dir`, to
// the object file `object` there, position independent. `cc` is a program's
// name, found in PATH, or a path; whoever calls answers for it and for `flags`.
// The compiler runs in `dir`, so that its output holds no path of this machine.
// NotFound when there is no such compiler; FailedPrecondition with the
// compiler's own words when it refuses.
absl::Status CompileC(const std::string& cc,
                      absl::Span<const std::string> flags,
                      const std::string& dir, const std::string& source,
                      const std::string& object);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_TOOLCHAIN_H_

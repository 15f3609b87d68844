// Running the C compiler.

#ifndef INGOT_LOADERS_NATIVE_TOOLCHAIN_H_
#define INGOT_LOADERS_NATIVE_TOOLCHAIN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// How a C source asks to be compiled, in its first line:
//   /* ingot: cc=gcc cflags=-O3 -march=native */
// Both parts may be missing; the rest of the line belongs to cflags.
struct CompileRequest {
  std::string cc = "cc";           // a program's name, found in PATH
  std::vector<std::string> flags;  // -O, -f, -m, -std, -D flags only
};

// Reads the request from a source's first line. InvalidArgument for a compiler
// with a folder in its name and for flags other than those above, which could
// name files of this machine.
absl::StatusOr<CompileRequest> ParseCompileRequest(absl::string_view source);

// Compiles the source file `source`, relative to the folder `dir`, to the
// object file `object` there, position independent. The compiler runs in `dir`,
// so that its output holds no path of this machine.
// NotFound when there is no such compiler; FailedPrecondition with the
// compiler's own words when it refuses.
absl::Status CompileC(const CompileRequest& request, const std::string& dir,
                      const std::string& source, const std::string& object);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_TOOLCHAIN_H_

// A compile request says how a C source in an artifact set wants to be
// compiled. A set may come from anywhere, so it chooses only among compilers
// and flags that are listed here: it can neither start another program nor name
// a file of the machine.

#ifndef INGOT_ARTIFACT_COMPILE_REQUEST_H_
#define INGOT_ARTIFACT_COMPILE_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// The first line of a C source:
//   /* ingot: cc=gcc cflags=-O3 -march=native */
// Both parts may be missing; the rest of the line belongs to cflags.
struct CompileRequest {
  std::string cc;  // empty: the C compiler of the machine that the code is for
  std::vector<std::string> flags;
};

// OK for `cc`, `gcc` and `clang`, with a version after a dash or without, and
// for the same names after the triple of a cross compiler, such as
// `aarch64-linux-gnu-gcc-12`. InvalidArgument otherwise.
absl::Status CheckCompilerName(absl::string_view cc);

// OK for the flags of a fixed list: levels of optimisation, language standards,
// definitions of macros, processors and their features, and those code
// generation switches that name no file. InvalidArgument otherwise.
absl::Status CheckCompilerFlag(absl::string_view flag);

// Reads and checks the request in the first line of `source`; one without such
// a line asks for nothing. InvalidArgument says which word is not allowed.
absl::StatusOr<CompileRequest> ParseCompileRequest(absl::string_view source);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_COMPILE_REQUEST_H_

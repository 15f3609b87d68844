// The parts of artifacts' texts that are the code of one function.
#ifndef INGOT_TOOLS_REPORT_KERNEL_TEXTS_H_
#define INGOT_TOOLS_REPORT_KERNEL_TEXTS_H_

#include <map>
#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot::report {

using FunctionNames = std::set<std::string, std::less<>>;

// The one of `functions` that `name` belongs to, which is that name or that of
// a helper: "f" for "f.parallel.0" and "f_parallel_0". Empty for others.
std::string OwnerOf(absl::string_view name, const FunctionNames& functions);

// Finds, in the text of an artifact, what belongs to each of `functions`: C
// and OpenCL C definitions, and the parts of a disassembly. A function's text
// has its helpers ("f.parallel.0", "f_parallel_0") and the comments above; it
// is cut after `most_bytes`, at the end of a line, which says so. What is not
// found is not in the result.
std::map<std::string, std::string> FindKernelTexts(
    absl::string_view text, const FunctionNames& functions, size_t most_bytes);

}  // namespace ingot::report

#endif  // INGOT_TOOLS_REPORT_KERNEL_TEXTS_H_

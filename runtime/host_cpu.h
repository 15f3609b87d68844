#ifndef INGOT_RUNTIME_HOST_CPU_H_
#define INGOT_RUNTIME_HOST_CPU_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace ingot {

// The features that this machine's CPU and operating system let a program use,
// in LLVM's
// names ("avx2", "avx512vnni", "amx-bf16"; "neon", "dotprod" on AArch64). A
// feature whose registers the system does not save is not in it. Found once;
// valid for ever; empty on a CPU that Ingot cannot ask.
const std::set<std::string>& HostCpuFeatures();

// OK if all of `needed` can be used here; a leading '+' is allowed. Otherwise
// FailedPrecondition that names the missing ones. Where an AMX feature is
// needed it also asks the system, on behalf of the whole process, for
// permission to use it.
absl::Status CheckCpuFeatures(absl::Span<const std::string> needed);

}  // namespace ingot

#endif  // INGOT_RUNTIME_HOST_CPU_H_

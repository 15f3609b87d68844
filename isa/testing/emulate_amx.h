// AMX for tests on processors that have none.
#ifndef INGOT_ISA_TESTING_EMULATE_AMX_H_
#define INGOT_ISA_TESTING_EMULATE_AMX_H_

#include "absl/status/status.h"

namespace ingot::isa {

// From now on threads of this process may use AMX: its instructions for tiles,
// their loads and stores, and products of bf16 and of bytes. Where the
// processor has them and Linux gives them, nothing else happens. Elsewhere each
// of them is computed by a handler of SIGILL, in microseconds; and a filter of
// system calls, which child processes inherit, lets a handler of SIGSYS answer
// who asks Linux for the tiles. What a handler refuses, such as a product of
// tiles that do not fit, ends the process with a message.
//
// The features of the processor are told as before: HostCpuFeatures() does not
// get AMX. Not thread-safe. FailedPrecondition where this is not x86-64, or
// Linux installs no filter.
//
// Source of the semantics: Intel's Instruction Set Extensions Programming
// Reference (319433), chapter 3.
absl::Status EmulateAmx();

}  // namespace ingot::isa

#endif  // INGOT_ISA_TESTING_EMULATE_AMX_H_

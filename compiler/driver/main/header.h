#ifndef INGOT_COMPILER_DRIVER_MAIN_HEADER_H_
#define INGOT_COMPILER_DRIVER_MAIN_HEADER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/driver/main/build_main.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// The C header of a whole model: its functions, its inputs and outputs, and the
// sizes of its memory, for C, C++ and whoever reads C headers. `prefix` is what
// the names of functions begin with, `constants_bytes` the size of the weights.
std::string MainHeader(const BuiltMain& built, const Plan& plan,
                       absl::string_view prefix, uint64_t constants_bytes);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_MAIN_HEADER_H_

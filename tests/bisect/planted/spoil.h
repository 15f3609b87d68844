// Changes that keep IR valid and make its results wrong.
#ifndef INGOT_TESTS_BISECT_PLANTED_SPOIL_H_
#define INGOT_TESTS_BISECT_PLANTED_SPOIL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/relay/ir.h"
#include "compiler/tir/ir.h"

namespace ingot::planted {

// Puts operators behind one of the module's operators of f32, the one of that
// number among them, round and round. Returns its sources as one line.
absl::StatusOr<std::string> SpoilNode(int number, relay::Module* module);

// Adds a half to what the function stores in its results of floats.
tir::PrimFunc SpoilStores(const tir::PrimFunc& func);

}  // namespace ingot::planted

#endif  // INGOT_TESTS_BISECT_PLANTED_SPOIL_H_

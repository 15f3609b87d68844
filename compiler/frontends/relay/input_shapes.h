// Internal to the relay frontend.
#ifndef INGOT_COMPILER_FRONTENDS_RELAY_INPUT_SHAPES_H_
#define INGOT_COMPILER_FRONTENDS_RELAY_INPUT_SHAPES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/relay/ir.h"

namespace ingot {

// Gives the symbols of main's inputs the extents that ImportOptions::
// input_shapes has for them, everywhere in the module. InvalidArgument for an
// input that there is not, and for extents that do not fit its type.
absl::Status SetInputShapes(
    const std::map<std::string, std::vector<int64_t>>& shapes,
    relay::Module* module);

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_RELAY_INPUT_SHAPES_H_

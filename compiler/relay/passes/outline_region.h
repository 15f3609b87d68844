// Turns a region into a function of its own. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_OUTLINE_REGION_H_
#define INGOT_COMPILER_RELAY_PASSES_OUTLINE_REGION_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/regions.h"

namespace ingot::relay {

// Adds a function that computes `region` of `function`, named after `stem`,
// with attrs {"target": key}; its composites as functions beside it; and
// replaces the region by a call. Its results are what is used outside.
// Constants of one element go along; others too where `owns_constants`, else
// they are inputs. The replaced nodes go; the function wants sorting
// afterwards.
absl::Status OutlineRegion(Module* module, Function* function,
                           const Region& region, absl::string_view stem,
                           absl::string_view key, bool owns_constants);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_OUTLINE_REGION_H_

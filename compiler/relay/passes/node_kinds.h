// For tests: functions whose values are of every kind that an operator can
// meet.
#ifndef INGOT_COMPILER_RELAY_PASSES_NODE_KINDS_H_
#define INGOT_COMPILER_RELAY_PASSES_NODE_KINDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

// The origin of a value without operands of its own.
enum class LeafKind { kInput, kConstant, kSplat, kGenerated };
constexpr LeafKind kLeafKinds[] = {LeafKind::kInput, LeafKind::kConstant,
                                   LeafKind::kSplat, LeafKind::kGenerated};

// A new value of that type. An input where its kind cannot have the type.
Value AddLeaf(Function* function, LeafKind kind, const TensorType& type);

// A module whose main calls `op` with operands and attributes that follow from
// `seed`, or null when that call is not valid. Operands are of all leaf kinds,
// also seen through other calls; of rank 0, empty and symbolic; one value may
// stand in several places; optional ones may be left out.
std::unique_ptr<Module> SampleCall(const OpDef& op, uint64_t seed);

// A change of a module for which a rule was written, one of NumVariants().
// Leaves, and results of calls, become leaves of other kinds, the same value,
// scalars, empty or symbolic. Null when the module cannot be changed so, or is
// not valid then. `name` says what was done.
std::unique_ptr<Module> MakeVariant(absl::string_view text, int variant,
                                    std::string* name);
int NumVariants(absl::string_view text);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_NODE_KINDS_H_

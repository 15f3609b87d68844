// Relay's passes, each followed by what is planted there. The linker's --wrap
// gives every caller of a pass the function here.
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "compiler/relay/passes/pass.h"
#include "tests/bisect/planted/plant.h"
#include "tests/bisect/planted/spoil.h"

namespace ingot::planted {
namespace {

using relay::Module;
using relay::PassContext;

absl::StatusOr<bool> Spoiled(absl::string_view pass,
                             absl::StatusOr<bool> changed, Module* module) {
  // Every compilation begins with this one.
  static auto* const runs = new std::map<std::string, int>;
  if (pass == "infer_types") runs->clear();
  const int run = (*runs)[std::string(pass)]++;
  const Plant& plant = PlantOfThisProcess();
  int number = 0;
  if (!changed.ok() || plant.level != "pass" || plant.pass != pass ||
      plant.occurrence != run || !absl::SimpleAtoi(plant.what, &number)) {
    return changed;
  }
  absl::StatusOr<std::string> sources = SpoilNode(number, module);
  if (!sources.ok()) return sources.status();
  Tell(*sources);
  return true;
}

}  // namespace

// `symbol` is the length and the name of the function, as C++ mangles it.
#define INGOT_WRAP(Name, symbol, pass)                                       \
  absl::StatusOr<bool> Real##Name(Module*, PassContext*) __asm__(            \
      "__real__ZN5ingot5relay" symbol "EPNS0_6ModuleEPNS0_11PassContextE");  \
  absl::StatusOr<bool> Wrapped##Name(Module*, PassContext*) __asm__(         \
      "__wrap__ZN5ingot5relay" symbol "EPNS0_6ModuleEPNS0_11PassContextE");  \
  absl::StatusOr<bool> Wrapped##Name(Module* module, PassContext* context) { \
    return Spoiled(pass, Real##Name(module, context), module);               \
  }

INGOT_WRAP(InferTypes, "14InferTypesPass", "infer_types")
INGOT_WRAP(FoldConstants, "13FoldConstants", "fold_constants")
INGOT_WRAP(FoldBatchNorm, "13FoldBatchNorm", "fold_batch_norm")
INGOT_WRAP(Simplify, "8Simplify", "simplify")
INGOT_WRAP(EliminateDead, "13EliminateDead", "eliminate_dead")
INGOT_WRAP(EliminateCommon, "15EliminateCommon", "eliminate_common")
INGOT_WRAP(Partition, "9Partition", "partition")
INGOT_WRAP(ByteProducts, "12ByteProducts", "byte_products")
INGOT_WRAP(JoinAttention, "13JoinAttention", "join_attention")
INGOT_WRAP(SubPixel, "8SubPixel", "sub_pixel")
INGOT_WRAP(BlockLayout, "11BlockLayout", "block_layout")
INGOT_WRAP(PackWeights, "11PackWeights", "pack_weights")
INGOT_WRAP(ByteTables, "10ByteTables", "byte_tables")
INGOT_WRAP(FuseOps, "7FuseOps", "fuse_ops")
INGOT_WRAP(FlattenRows, "11FlattenRows", "flatten_rows")
INGOT_WRAP(NameSizes, "9NameSizes", "name_sizes")
INGOT_WRAP(PlaceParts, "10PlaceParts", "place_parts")

#undef INGOT_WRAP

}  // namespace ingot::planted

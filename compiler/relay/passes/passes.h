// The passes, one per file, and the lists that are made of them. Private to
// this folder; pass.h is the interface.
#ifndef INGOT_COMPILER_RELAY_PASSES_PASSES_H_
#define INGOT_COMPILER_RELAY_PASSES_PASSES_H_

#include "absl/status/statusor.h"
#include "compiler/relay/passes/pass.h"

namespace ingot::relay {

absl::StatusOr<bool> InferTypesPass(Module* module, PassContext* context);
absl::StatusOr<bool> FoldConstants(Module* module, PassContext* context);
absl::StatusOr<bool> FoldBatchNorm(Module* module, PassContext* context);
absl::StatusOr<bool> Simplify(Module* module, PassContext* context);
absl::StatusOr<bool> EliminateDead(Module* module, PassContext* context);
absl::StatusOr<bool> EliminateCommon(Module* module, PassContext* context);
absl::StatusOr<bool> Partition(Module* module, PassContext* context);
absl::StatusOr<bool> ByteProducts(Module* module, PassContext* context);
absl::StatusOr<bool> JoinAttention(Module* module, PassContext* context);
absl::StatusOr<bool> SubPixel(Module* module, PassContext* context);
absl::StatusOr<bool> BlockLayout(Module* module, PassContext* context);
absl::StatusOr<bool> PackWeights(Module* module, PassContext* context);
absl::StatusOr<bool> ByteTables(Module* module, PassContext* context);
absl::StatusOr<bool> UpdateStates(Module* module, PassContext* context);
absl::StatusOr<bool> FuseOps(Module* module, PassContext* context);
absl::StatusOr<bool> FlattenRows(Module* module, PassContext* context);
absl::StatusOr<bool> NameSizes(Module* module, PassContext* context);
absl::StatusOr<bool> ShareKernels(Module* module, PassContext* context);
absl::StatusOr<bool> PlaceOnDevices(Module* module, PassContext* context);
absl::StatusOr<bool> PlaceParts(Module* module, PassContext* context);

struct PassRow {
  const char* name;
  const char* doc;
  absl::StatusOr<bool> (*run)(Module* module, PassContext* context);
};

// In the order in which a compilation may use them.
inline constexpr PassRow kPasses[] = {
    {"infer_types", "infer the types of all results again", InferTypesPass},
    {"fold_constants", "compute what depends on constants only", FoldConstants},
    {"fold_batch_norm",
     "put batch norms and other factors and terms per channel into weights",
     FoldBatchNorm},
    {"simplify", "rewrite by rules into fewer and cheaper operators", Simplify},
    {"eliminate_common", "compute equal things once", EliminateCommon},
    {"eliminate_dead", "drop what no output needs", EliminateDead},
    {"partition", "give each target the regions that it takes", Partition},
    {"sub_pixel",
     "run transposed convolutions as ordinary ones that interleave", SubPixel},
    {"byte_products",
     "multiply quantised data and weights as the bytes that they are",
     ByteProducts},
    {"join_attention", "run the products around a softmax as one operator",
     JoinAttention},
    {"block_layout",
     "run convolutions and what lies between on blocks of channels",
     BlockLayout},
    {"pack_weights", "lay out constant matrices as kernels read them",
     PackWeights},
    {"byte_tables", "look up what depends on one byte alone", ByteTables},
    {"update_states", "change what stays from run to run where it is",
     UpdateStates},
    {"fuse_ops", "group operators into kernels", FuseOps},
    {"flatten_rows",
     "run convolutions of single points on one long row, and products by one "
     "matrix on rows in one dimension",
     FlattenRows},
    {"name_sizes",
     "give kernels symbols of their own for sizes that the model's make up",
     NameSizes},
    {"share_kernels", "keep one of the kernels that differ in symbols only",
     ShareKernels},
    {"place_on_devices", "copy values to and from devices where they cross",
     PlaceOnDevices},
    {"place_parts", "let values lie in what they are concatenated to or cut of",
     PlaceParts},
};

// The passes that a compilation runs, by its level of optimization.
inline constexpr const char* kPassesOfLevel0[] = {
    "infer_types", "fold_constants", "eliminate_dead",
    "partition",   "fold_constants", "update_states",
    "fuse_ops",    "share_kernels",  "place_on_devices"};
inline constexpr const char* kPassesOfLevel1[] = {
    "infer_types",   "fold_constants",   "simplify",         "fold_batch_norm",
    "simplify",      "fold_constants",   "eliminate_common", "eliminate_dead",
    "partition",     "fold_constants",   "update_states",    "fuse_ops",
    "share_kernels", "place_on_devices", "place_parts"};
inline constexpr const char* kPassesOfLevel2[] = {
    "infer_types",    "fold_constants", "simplify",         "fold_batch_norm",
    "simplify",       "fold_constants", "eliminate_common", "eliminate_dead",
    "partition",      "sub_pixel",      "byte_products",    "fold_constants",
    "simplify",       "join_attention", "block_layout",     "pack_weights",
    "fold_constants", "simplify",       "eliminate_common", "byte_tables",
    "eliminate_dead", "update_states",  "fuse_ops",         "flatten_rows",
    "name_sizes",     "share_kernels",  "place_on_devices", "place_parts"};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_PASSES_H_

#include "compiler/relay/passes/passes.h"

namespace ingot::relay {

const std::vector<Pass>& AllPasses() {
  static const auto* const kPasses = new std::vector<Pass>{
      {"infer_types", "infer the types of all results again", InferTypesPass},
      {"fold_constants", "compute what depends on constants only",
       FoldConstants},
      {"fold_batch_norm",
       "put batch norms and other factors and terms a channel into weights",
       FoldBatchNorm},
      {"simplify", "rewrite by rules into fewer and cheaper operators",
       Simplify},
      {"eliminate_common", "compute equal things once", EliminateCommon},
      {"eliminate_dead", "drop what no output needs", EliminateDead},
      {"partition", "give each target the regions that it takes", Partition},
      {"block_layout",
       "run convolutions and what lies between on blocks of channels",
       BlockLayout},
      {"pack_weights", "lay out constant matrices as kernels read them",
       PackWeights},
      {"fuse_ops", "group operators into kernels", FuseOps},
  };
  return *kPasses;
}

std::vector<std::string> DefaultPasses(int opt_level) {
  if (opt_level <= 0) {
    return {"infer_types", "fold_constants", "eliminate_dead", "partition",
            "fuse_ops"};
  }
  std::vector<std::string> names = {
      "infer_types",      "fold_constants", "simplify",
      "fold_batch_norm",  "simplify",       "fold_constants",
      "eliminate_common", "eliminate_dead", "partition"};
  if (opt_level >= 2) {
    for (const char* name :
         {"block_layout", "pack_weights", "fold_constants", "simplify",
          "eliminate_common", "eliminate_dead"}) {
      names.push_back(name);
    }
  }
  names.push_back("fuse_ops");
  return names;
}

}  // namespace ingot::relay

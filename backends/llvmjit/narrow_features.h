// CPU features of a module of LLVM IR.
#ifndef INGOT_BACKENDS_LLVMJIT_NARROW_FEATURES_H_
#define INGOT_BACKENDS_LLVMJIT_NARROW_FEATURES_H_

#include <set>
#include <string>

namespace llvm {
class Module;
}  // namespace llvm

namespace ingot {

// Takes away from each function of `module` the features that are not
// `available`. IR holds no instructions of them: LLVM cuts its vectors to the
// length that the remaining features have, and computes what no instruction
// does.
void NarrowFeatures(llvm::Module* module,
                    const std::set<std::string>& available);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVMJIT_NARROW_FEATURES_H_

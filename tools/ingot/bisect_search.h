// The search for what makes a model's results wrong.
#ifndef INGOT_TOOLS_INGOT_BISECT_SEARCH_H_
#define INGOT_TOOLS_INGOT_BISECT_SEARCH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/ingot/bisect_subject.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/output.h"
#include "tools/ingot/verdict.h"

namespace ingot {

// The part of the way from a model to its results that is wrong.
enum class Culprit {
  kImport,      // the model as read, or what should come of it
  kModulePass,  // a pass over the module
  kLowering,    // a kernel's definition or schedule
  kLoopPass,    // a pass over a kernel's loops
  kCode,        // a kernel's code
  kPlan,        // all that lies between kernels
};

// "import", "module pass", "lowering", "loop pass", "code" or "plan".
std::string ToString(Culprit culprit);

// What was found; what its culprit does not have is empty.
struct Finding {
  Culprit culprit;
  std::vector<std::string> nodes;  // of the model, the first that is wrong
  bool is_between_nodes = false;   // a kernel next to those, of no node
  std::string problem;             // an element, and what it should be
  std::string pass;
  int pass_number = 0;  // of a pass over the module, from 1
  std::string value;    // of the module, the first that is wrong
  std::string symbol;   // of the kernel
  bool has_loops = false;
  std::vector<std::string> artifacts;  // with the kernel's code
  // The reason why the kernel's loops could not be looked at.
  std::string blind;
  // The interpreter does not give the expected outputs of the model either, so
  // its own were looked for instead.
  bool against_interpreter = false;
  // The outputs are off by a thousandth of their largest number at most.
  bool may_be_rounding = false;
};

// Nothing when the compiled code gives the outputs of `expected`, or of the
// interpreter where it has none. The model runs at most 20 times: once as it
// is, once with every wrong kernel repaired, about log2 of them times to find
// which counts, or about log2 of the passes times to find which changes what
// the model means, and at most four times more. Errors: those of running and
// interpreting.
absl::StatusOr<std::optional<Finding>> FindCulprit(Case expected,
                                                   const Tolerance& tolerance,
                                                   BisectSubject* subject,
                                                   Progress* progress);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BISECT_SEARCH_H_

// The kernels of a compiled model that compute something else than their
// functions say.
#ifndef INGOT_TOOLS_INGOT_BISECT_KERNELS_H_
#define INGOT_TOOLS_INGOT_BISECT_KERNELS_H_

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"
#include "tools/ingot/call_reference.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/output.h"

namespace ingot {

// The first call of a kernel that was wrong, with what it takes to see it
// again.
struct WrongKernel {
  std::string symbol;  // under which it is called
  std::string nodes;   // of the model, that the call computes
  // It computes none of them itself; those are next to it.
  bool is_between_nodes = false;
  std::vector<Tensor> operands;
  std::vector<Tensor> expected;
  Comparison comparison;  // of the first result that is wrong
};

// Puts what the interpreter computes in the place of wrong results, call by
// call, so that a run goes on as if its kernels were right.
class KernelRepair {
 public:
  // Both outlive it.
  KernelRepair(const CallReference* reference, const Tolerance& tolerance,
               Progress* progress)
      : reference_(*reference), tolerance_(tolerance), progress_(progress) {}

  // Repairs the calls of these kernels only, and looks for no others.
  void Only(std::set<std::string> symbols) { only_ = std::move(symbols); }

  // For ExecutorOptions::observer; this must outlive the run. Errors: those of
  // the interpreter, with the call.
  absl::Status Observe(const PlanCall& call,
                       absl::Span<const DLTensor* const> args);

  // Those found so far, in the order of their first wrong calls.
  const std::vector<WrongKernel>& wrong() const { return wrong_; }

 private:
  absl::Status Remember(const PlanCall& call, const ReferredCall& referred,
                        Comparison comparison);

  const CallReference& reference_;
  const Tolerance tolerance_;
  Progress* const progress_;
  std::set<std::string> only_;
  std::set<std::string> known_;
  std::vector<WrongKernel> wrong_;
};

// The first of `wrong`, of which there is one at least, that makes the model's
// results wrong; earlier ones are off by less than they can bear. `is_right`
// runs the model with these kernels repaired and says whether its results then
// are right, as they are when all of them are, and are not when none is. It is
// asked about log2(wrong.size()) times.
absl::StatusOr<const WrongKernel*> FindGuilty(
    absl::Span<const WrongKernel> wrong,
    const std::function<absl::StatusOr<bool>(std::set<std::string> repaired)>&
        is_right);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BISECT_KERNELS_H_

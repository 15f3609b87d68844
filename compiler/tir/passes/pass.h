#ifndef INGOT_COMPILER_TIR_PASSES_PASS_H_
#define INGOT_COMPILER_TIR_PASSES_PASS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// One transformation of a function into an equivalent one. It may be run any
// number of times and from any thread.
struct Pass {
  std::string name;     // what text tests and dumps call it
  std::string purpose;  // one line
  std::function<absl::StatusOr<PrimFunc>(const PrimFunc&)> run;
};

// The passes by name.
class PassRegistry {
 public:
  // Holds the passes of this folder.
  static PassRegistry Builtin();

  // AlreadyExists for a name that is taken.
  absl::Status Add(Pass pass);
  // NotFound, with the known names.
  absl::StatusOr<Pass> Find(absl::string_view name) const;
  // In the order added.
  const std::vector<Pass>& passes() const { return passes_; }

 private:
  std::vector<Pass> passes_;
};

struct PassHooks {
  // Called after each pass with its result, whether that differs from its
  // input, and the time it took. May be null.
  std::function<void(const Pass& pass, const PrimFunc& result, bool changed,
                     double seconds)>
      after_pass;
};

// Runs the passes in order and verifies after each. An error names the pass
// and the function; nothing of the function is lost, since it is not changed
// in place.
absl::StatusOr<PrimFunc> RunPasses(const PrimFunc& func,
                                   absl::Span<const Pass> passes,
                                   const PassHooks& hooks = {});

// The same for names of built-in passes. NotFound for an unknown one.
absl::StatusOr<PrimFunc> RunPasses(const PrimFunc& func,
                                   absl::Span<const absl::string_view> names,
                                   const PassHooks& hooks = {});

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_PASSES_PASS_H_

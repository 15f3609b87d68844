// Every call of a run against the interpreter, one by one.
#ifndef INGOT_TOOLS_INGOT_PER_NODE_H_
#define INGOT_TOOLS_INGOT_PER_NODE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/relay/ir.h"
#include "runtime/executor/executor.h"
#include "tools/ingot/call_reference.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/compiler.h"
#include "tools/ingot/output.h"

namespace ingot {

// Compares what each call of compiled code computed with what the interpreter
// computes of the same function on the same operands. A wrong result is thus
// found where it arises, and nothing is kept from call to call, however large
// the model is.
class PerNodeCheck final : public CallCheck {
 public:
  // `module` after compiling; `functions`: symbol -> function of it.
  PerNodeCheck(std::shared_ptr<const relay::Module> module,
               std::map<std::string, std::string> functions,
               const Tolerance& tolerance, Progress* progress)
      : reference_(std::move(module), std::move(functions)),
        tolerance_(tolerance),
        progress_(progress) {}

  absl::Status Observe(const PlanCall& call,
                       absl::Span<const DLTensor* const> args) override;
  int calls() const override { return calls_; }
  double worst() const override { return worst_; }
  const std::string& worst_call() const override { return worst_call_; }

 private:
  const CallReference reference_;
  const Tolerance tolerance_;
  Progress* const progress_;
  int calls_ = 0;
  double worst_ = -1;
  std::string worst_call_;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_PER_NODE_H_

// What each call of compiled code should compute.
#ifndef INGOT_TOOLS_INGOT_CALL_REFERENCE_H_
#define INGOT_TOOLS_INGOT_CALL_REFERENCE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/relay/ir.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"

namespace ingot {

// One call that an executor made, beside what the interpreter computes of the
// same function on the same operands.
struct ReferredCall {
  const relay::Function* function;  // of the module
  // Views of the call's arguments, valid as long as these: the operands, among
  // them weights that the function's target made, and the results.
  std::vector<Tensor> operands;
  std::vector<Tensor> got;
  std::vector<Tensor> expected;
};

class CallReference {
 public:
  // `module` after compiling; `functions`: symbol -> function of it.
  CallReference(std::shared_ptr<const relay::Module> module,
                std::map<std::string, std::string> functions)
      : module_(std::move(module)), functions_(std::move(functions)) {}

  // For what ExecutorOptions::observer is told. Errors: those of the
  // interpreter; Internal for a call of a function that is not known.
  absl::StatusOr<ReferredCall> Refer(
      const PlanCall& call, absl::Span<const DLTensor* const> args) const;

  // The model's nodes that read the results of a function that computes none of
  // them, such as a change of layout; where none reads them, those that make
  // its operands.
  std::string NodesAround(const relay::Function& function) const;

 private:
  const std::shared_ptr<const relay::Module> module_;
  const std::map<std::string, std::string> functions_;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_CALL_REFERENCE_H_

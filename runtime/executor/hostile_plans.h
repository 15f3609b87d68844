// Plans that come from someone who wishes us ill, for tests.
#ifndef INGOT_RUNTIME_EXECUTOR_HOSTILE_PLANS_H_
#define INGOT_RUNTIME_EXECUTOR_HOSTILE_PLANS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/executor/executor.h"
#include "runtime/module.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/tensor.h"

namespace ingot {

// A plan of one call that passes every check.
Plan GoodPlan();

// Writes every byte of its arguments, so that a sanitizer sees a wrong one.
std::shared_ptr<Module> Touch();

absl::StatusOr<Tensor> FourFloats(absl::string_view);

// Runs the plan with an input of `n` elements.
absl::Status CreateAndRun(const Plan& plan, int64_t n,
                          const ConstantLookup& constants = FourFloats,
                          std::shared_ptr<Module> module = Touch(),
                          ExecutorOptions options = {});

// Expects an error, with this in its message, of the good plan once it is
// changed.
void ExpectError(const std::function<void(Plan*)>& change,
                 absl::StatusCode code, const std::string& text);

DimExpr Const(int64_t value);
DimExpr Times(int64_t factor);  // of the first symbol

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_HOSTILE_PLANS_H_

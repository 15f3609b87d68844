#include "runtime/executor/hostile_plans.h"

#include <memory>
#include <utility>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "runtime/any.h"
#include "runtime/data_type.h"
#include "runtime/function.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {

Plan GoodPlan() {
  Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        version: 7
        devices { kind: "cpu" }
        symbols { name: "N" }
        types {
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL }
        }
        tensors { name: "x" type: 0 input: 0 }
        types {
          dtype { code: 2 bits: 32 }
          shape { value: 4 }
        }
        tensors { name: "w" type: 1 constant: "w" }
        types {
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL }
        }
        tensors { name: "y" type: 2 storage: 0 }
        types {
          dtype { code: 2 bits: 32 }
          shape { value: 8 }
        }
        tensors { name: "z" type: 3 storage: 1 }
        inputs: 0
        outputs: [ 2, 3 ]
        storage {
          bytes {
            op: MUL
            operands { op: SYMBOL }
            operands { value: 4 }
          }
        }
        storage { bytes { value: 32 } }
        calls {
          function: "touch"
          args: [ 0, 1, 2, 3 ]
          num_outputs: 2
        }
      )pb",
      &plan));
  AssignPhases(&plan);
  return plan;
}

std::shared_ptr<Module> Touch() {
  auto module = std::make_shared<TableModule>("touch");
  EXPECT_TRUE(
      module
          ->Add("touch", Function::FromLambda(
                             [](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
                               for (const TVMFFIAny& arg : args.subspan(2)) {
                                 DLTensor* dl = *AnyToTensor(arg);
                                 int64_t n = 1;
                                 for (int i = 0; i < dl->ndim; ++i) {
                                   n *= dl->shape[i];
                                 }
                                 for (int64_t i = 0; i < n; ++i) {
                                   static_cast<float*>(dl->data)[i] = 1;
                                 }
                               }
                               return absl::OkStatus();
                             }))
          .ok());
  return module;
}

absl::StatusOr<Tensor> FourFloats(absl::string_view) {
  return Tensor::Empty(DataType::Float(32), {4});
}

absl::Status CreateAndRun(const Plan& plan, int64_t n,
                          const ConstantLookup& constants,
                          std::shared_ptr<Module> module,
                          ExecutorOptions options) {
  INGOT_ASSIGN_OR_RETURN(
      auto executor,
      GraphExecutor::Create(SharePlan(plan), module, constants, options));
  return executor->Run({*Tensor::Empty(DataType::Float(32), {n})}).status();
}

void ExpectError(const std::function<void(Plan*)>& change,
                 absl::StatusCode code, const std::string& text) {
  Plan plan = GoodPlan();
  change(&plan);
  const absl::Status status = CreateAndRun(plan, 5);
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(text));
}

DimExpr Const(int64_t value) {
  DimExpr expr;
  expr.set_value(value);
  return expr;
}

DimExpr Times(int64_t factor) {
  DimExpr expr;
  expr.set_op(DimExpr::MUL);
  expr.add_operands()->set_op(DimExpr::SYMBOL);
  *expr.add_operands() = Const(factor);
  return expr;
}

}  // namespace ingot

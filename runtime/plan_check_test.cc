#include "runtime/plan_check.h"

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

// y = f(x, w): x f32[N, 4], w f32[4], y f32[N, 4].
Plan GoodPlan() {
  Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        version: 3
        entry: "model"
        symbols: "N"
        tensors {
          name: "x"
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL value: 0 }
          shape { value: 4 }
          input: 0
        }
        tensors {
          name: "w"
          dtype { code: 2 bits: 32 }
          shape { value: 4 }
          constant: "w"
        }
        tensors {
          name: "y"
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL value: 0 }
          shape { value: 4 }
          storage: 0
        }
        inputs: 0
        outputs: 2
        storage {
          bytes {
            op: MUL
            operands { op: SYMBOL }
            operands { value: 16 }
          }
        }
        calls {
          function: "f"
          args: 0
          args: 1
          args: 2
          num_outputs: 1
          source: "n1"
        }
      )pb",
      &plan));
  return plan;
}

void ExpectBad(const std::function<void(Plan*)>& change,
               const std::string& text) {
  Plan plan = GoodPlan();
  change(&plan);
  const absl::Status status = CheckPlan(plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST(PlanCheck, PassesAGoodOne) {
  EXPECT_TRUE(CheckPlan(GoodPlan()).ok()) << CheckPlan(GoodPlan());
}

TEST(PlanCheck, OtherVersions) {
  Plan plan = GoodPlan();
  plan.set_version(kPlanVersion + 1);
  EXPECT_EQ(CheckPlan(plan).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CheckPlan(Plan()).code(), absl::StatusCode::kUnimplemented);
}

TEST(PlanCheck, Names) {
  ExpectBad([](Plan* p) { p->set_symbols(0, ""); }, "a symbol has no name");
  ExpectBad([](Plan* p) { p->add_symbols("N"); }, "two symbols are named 'N'");
  ExpectBad([](Plan* p) { p->add_symbols("M"); },
            "symbol 'M' is not a dimension of any input");
  ExpectBad([](Plan* p) { p->mutable_tensors(1)->set_name("x"); },
            "two tensors are named 'x'");
  ExpectBad([](Plan* p) { p->mutable_tensors(1)->clear_name(); },
            "tensor 1 has no name");
}

TEST(PlanCheck, Tensors) {
  auto tensor = [](int i, std::function<void(PlanTensor*)> change) {
    return [i, change](Plan* p) { change(p->mutable_tensors(i)); };
  };
  ExpectBad(tensor(2, [](PlanTensor* t) { t->mutable_dtype()->set_bits(33); }),
            "tensor 'y': no tensor has the data type with code 2 and 33 bits");
  ExpectBad(
      tensor(2, [](PlanTensor* t) { t->mutable_dtype()->set_bits(32 + 256); }),
      "data type");
  ExpectBad(tensor(2,
                   [](PlanTensor* t) {
                     t->mutable_dtype()->set_code(3);
                     t->mutable_dtype()->set_bits(64);
                   }),
            "data type");
  ExpectBad(tensor(2, [](PlanTensor* t) { t->clear_dtype(); }), "data type");
  ExpectBad(tensor(2, [](PlanTensor* t) { t->set_storage(1); }),
            "tensor 'y': it is in storage 1 of 1");
  ExpectBad(tensor(2, [](PlanTensor* t) { t->set_storage(0xffffffffu); }),
            "storage 4294967295 of 1");
  ExpectBad(tensor(2, [](PlanTensor* t) { t->set_input(7); }),
            "it is input 7 of 1");
  ExpectBad(tensor(2, [](PlanTensor* t) { t->clear_storage(); }),
            "it is nowhere");
  ExpectBad(tensor(1, [](PlanTensor* t) { t->set_constant(""); }),
            "its constant has no key");
  ExpectBad(tensor(2, [](PlanTensor* t) { t->set_offset(3); }),
            "not a multiple of its element's size");
  ExpectBad(tensor(1, [](PlanTensor* t) { t->set_offset(4); }),
            "it has an offset, but is not in storage");
  ExpectBad(tensor(2, [](PlanTensor* t) { t->mutable_shape(0)->set_value(1); }),
            "a dimension names symbol 1 of 1");
  ExpectBad(tensor(1,
                   [](PlanTensor* t) {
                     t->mutable_shape(0)->set_op(DimExpr::SYMBOL);
                     t->mutable_shape(0)->set_value(0);
                   }),
            "it is a constant with a symbolic dimension");
  ExpectBad(tensor(2,
                   [](PlanTensor* t) {
                     for (int i = 0; i < 100; ++i) t->add_shape();
                   }),
            "it has 102 dimensions");
}

TEST(PlanCheck, Requirements) {
  auto require = [](int64_t symbol) {
    return [symbol](Plan* p) {
      PlanRequirement* requirement = p->add_requirements();
      requirement->mutable_left()->set_op(DimExpr::SYMBOL);
      requirement->mutable_left()->set_value(symbol);
      requirement->mutable_right()->set_value(3);
      requirement->set_source("n1");
    };
  };
  Plan plan = GoodPlan();
  require(0)(&plan);
  EXPECT_TRUE(CheckPlan(plan).ok()) << CheckPlan(plan);
  ExpectBad(require(1), "what n1 requires: ");
  ExpectBad(require(-1), "what n1 requires: ");
}

TEST(PlanCheck, ExpressionsThatNestForEver) {
  ExpectBad(
      [](Plan* p) {
        DimExpr* expr = p->mutable_storage(0)->mutable_bytes(0);
        for (int i = 0; i < 5000; ++i) {
          expr->set_op(DimExpr::ADD);
          expr->clear_operands();
          expr->add_operands()->set_value(1);
          expr = expr->add_operands();
        }
      },
      "storage 0: a dimension's expression is too deep");
}

TEST(PlanCheck, InputsAndOutputs) {
  ExpectBad([](Plan* p) { p->set_inputs(0, 9); }, "input 0 is tensor 9 of 3");
  ExpectBad([](Plan* p) { p->set_inputs(0, 1); },
            "input 0 is tensor 'w', whose place is another");
  ExpectBad([](Plan* p) { p->add_inputs(0); },
            "input 1 is tensor 'x', whose place is another");
  ExpectBad([](Plan* p) { p->set_outputs(0, 3); }, "output 0 is tensor 3 of 3");
  ExpectBad([](Plan* p) { p->clear_calls(); },
            "output 0, 'y', is written by no call");
}

TEST(PlanCheck, Calls) {
  ExpectBad([](Plan* p) { p->mutable_calls(0)->clear_function(); },
            "it has no function");
  ExpectBad([](Plan* p) { p->mutable_calls(0)->set_args(1, 12); },
            "call 0 (f): argument 1 is tensor 12 of 3");
  ExpectBad([](Plan* p) { p->mutable_calls(0)->set_num_outputs(4); },
            "it writes 4 of 3 arguments");
  ExpectBad([](Plan* p) { p->mutable_calls(0)->set_num_outputs(0x80000001u); },
            "it writes 2147483649 of 3 arguments");
  ExpectBad([](Plan* p) { p->mutable_calls(0)->set_num_outputs(2); },
            "it writes 'w', which is not in storage");
  ExpectBad([](Plan* p) { p->mutable_calls(0)->set_args(0, 2); },
            "it reads 'y' before any call wrote it");
}

}  // namespace
}  // namespace ingot

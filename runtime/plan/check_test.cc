#include "runtime/plan/check.h"

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/small_plan.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

void ExpectBad(const std::function<void(Plan*)>& change,
               const std::string& text) {
  Plan plan = SmallPlan();
  change(&plan);
  const absl::Status status = CheckPlan(plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST(PlanCheck, PassesAGoodOne) {
  EXPECT_TRUE(CheckPlan(SmallPlan()).ok()) << CheckPlan(SmallPlan());
}

TEST(PlanCheck, OtherVersions) {
  Plan plan = SmallPlan();
  plan.set_version(kPlanVersion + 1);
  EXPECT_EQ(CheckPlan(plan).code(), absl::StatusCode::kUnimplemented);
  plan.set_version(3);
  EXPECT_EQ(CheckPlan(plan).message(),
            "the plan has version 3, this program reads version 7; compile the "
            "model again");
  EXPECT_EQ(CheckPlan(Plan()).code(), absl::StatusCode::kUnimplemented);
}

TEST(PlanCheck, Names) {
  ExpectBad([](Plan* p) { p->mutable_symbols(0)->clear_name(); },
            "a symbol has no name");
  ExpectBad([](Plan* p) { p->add_symbols()->set_name("N"); },
            "two symbols are named 'N'");
  ExpectBad([](Plan* p) { p->mutable_symbols(0)->set_lower_bound(-1); },
            "symbol 'N' may be as low as -1");
  ExpectBad(
      [](Plan* p) {
        PlanSymbol* symbol = p->add_symbols();
        symbol->set_name("itself");
        symbol->mutable_value()->set_op(DimExpr::SYMBOL);
        symbol->mutable_value()->set_value(1);
      },
      "symbol 'itself': a dimension names symbol 1 of 1");
  ExpectBad([](Plan* p) { p->mutable_symbols(0)->mutable_value(); },
            "symbol 'N' has a value and is bound");
  ExpectBad(
      [](Plan* p) {
        p->mutable_symbols(0)->mutable_value();
        AssignPhases(p);
      },
      "input 0 has the dimension 'N', which follows from others");
  ExpectBad([](Plan* p) { p->mutable_tensors(1)->set_name("x"); },
            "two tensors are named 'x'");
  ExpectBad([](Plan* p) { p->mutable_tensors(1)->clear_name(); },
            "tensor 1 has no name");
}

TEST(PlanCheck, Tensors) {
  auto tensor = [](int i, std::function<void(PlanTensor*)> change) {
    return [i, change](Plan* p) { change(p->mutable_tensors(i)); };
  };
  ExpectBad(tensor(2, [](PlanTensor* t) { t->set_type(3); }),
            "tensor 'y': it is of type 3 of 3");
  ExpectBad(tensor(2, [](PlanTensor* t) { t->set_type(0xffffffffu); }),
            "tensor 'y': it is of type 4294967295 of 3");
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
            "it has an offset, but is neither in storage nor a part");
}

TEST(PlanCheck, Types) {
  auto type = [](int i, std::function<void(PlanType*)> change) {
    return [i, change](Plan* p) { change(p->mutable_types(i)); };
  };
  ExpectBad(type(2, [](PlanType* t) { t->mutable_dtype()->set_bits(33); }),
            "type 2: no tensor has the data type with code 2 and 33 bits");
  ExpectBad(
      type(2, [](PlanType* t) { t->mutable_dtype()->set_bits(32 + 256); }),
      "data type");
  ExpectBad(type(2,
                 [](PlanType* t) {
                   t->mutable_dtype()->set_code(3);
                   t->mutable_dtype()->set_bits(64);
                 }),
            "data type");
  ExpectBad(type(2, [](PlanType* t) { t->clear_dtype(); }), "data type");
  ExpectBad(type(2, [](PlanType* t) { t->mutable_shape(0)->set_value(1); }),
            "type 2: a dimension names symbol 1 of 1");
  ExpectBad(type(1,
                 [](PlanType* t) {
                   t->mutable_shape(0)->set_op(DimExpr::SYMBOL);
                   t->mutable_shape(0)->set_value(0);
                 }),
            "tensor 'w': it is a constant with a symbolic dimension");
  ExpectBad(type(2,
                 [](PlanType* t) {
                   for (int i = 0; i < 100; ++i) t->add_shape();
                 }),
            "type 2: it has 102 dimensions");
  // Types that no tensor has are checked, too.
  ExpectBad([](Plan* p) { p->add_types(); }, "type 3: no tensor has");
}

TEST(PlanCheck, Phases) {
  ExpectBad([](Plan* p) { p->clear_phases(); }, "it has no phases");
  ExpectBad([](Plan* p) { p->mutable_phases(0)->set_first_call(1); },
            "phase 0 begins with call 1");
  ExpectBad([](Plan* p) { p->add_phases()->set_first_call(1); },
            "no call before phase 1 binds symbols");
  ExpectBad([](Plan* p) { p->mutable_phases(0)->clear_symbols(); },
            "symbol 'N' is bound in no phase");
  ExpectBad([](Plan* p) { p->mutable_phases(0)->add_symbols(0); },
            "symbol 'N' is bound twice");
  ExpectBad([](Plan* p) { p->mutable_phases(0)->add_symbols(1); },
            "phase 0 binds symbol 1 of 1");
  ExpectBad(
      [](Plan* p) {
        p->add_symbols()->set_name("M");
        p->mutable_phases(0)->add_symbols(1);
      },
      "symbol 'M' is not a dimension of any input");
  ExpectBad([](Plan* p) { p->mutable_tensors(2)->set_phase(1); },
            "tensor 'y' is known in phase 1 of 1");
  ExpectBad([](Plan* p) { p->mutable_storage(0)->set_phase(1); },
            "storage 0 is known in phase 1 of 1");
}

// A plan with a symbol M that call 0 binds, and a tensor m[M] that it writes.
Plan TwoPhases() {
  Plan plan = SmallPlan();
  plan.add_symbols()->set_name("M");
  auto add = [&plan](const std::string& name) {
    PlanTensor* tensor = plan.add_tensors();
    tensor->set_name(name);
    tensor->set_type(static_cast<uint32_t>(plan.types_size()));
    plan.add_types()->mutable_dtype()->set_bits(64);
    return tensor;
  };
  PlanTensor* count = add("count");
  count->set_input(1);
  plan.add_inputs(3);
  PlanTensor* m = add("m");
  PlanType* type = plan.mutable_types(static_cast<int>(m->type()));
  type->add_shape()->set_op(DimExpr::SYMBOL);
  type->mutable_shape(0)->set_value(1);
  type->add_shape()->set_value(0);
  m->set_storage(1);
  plan.add_storage()->add_bytes()->set_value(0);
  PlanCall bind;
  bind.mutable_bind_dims();
  bind.add_args(3);
  bind.add_args(4);
  bind.set_num_outputs(1);
  bind.add_binds()->set_symbol(1);
  *plan.add_calls() = bind;
  plan.mutable_calls()->SwapElements(0, 1);
  AssignPhases(&plan);
  return plan;
}

TEST(PlanCheck, LaterPhases) {
  EXPECT_TRUE(CheckPlan(TwoPhases()).ok()) << CheckPlan(TwoPhases());
  const auto bad = [](const std::function<void(Plan*)>& change,
                      const std::string& text) {
    Plan plan = TwoPhases();
    change(&plan);
    EXPECT_EQ(CheckPlan(plan).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(CheckPlan(plan).message()), HasSubstr(text));
  };
  bad([](Plan* p) { p->mutable_tensors(4)->set_phase(0); },
      "tensor 'm' is said to be known in phase 0, but needs the symbol 'M' of "
      "phase 1");
  bad(
      [](Plan* p) {
        p->mutable_storage(1)->set_phase(1);
        p->mutable_tensors(4)->set_phase(0);
        p->mutable_types(4)->clear_shape();
      },
      "tensor 'm' is said to be known in phase 0, its place is in phase 1");
  bad([](Plan* p) { p->mutable_tensors(0)->set_phase(1); },
      "input 0 is known in phase 1 only");
  bad(
      [](Plan* p) {
        p->mutable_tensors(2)->set_phase(1);
        p->mutable_calls()->SwapElements(0, 1);
        p->mutable_phases(1)->set_first_call(2);
      },
      "a dimension of 'y' is not bound by then");
  bad([](Plan* p) { p->mutable_phases(1)->set_first_call(0); },
      "phase 1 begins with call 0, but call 0 binds symbols");
  bad([](Plan* p) { p->mutable_phases()->RemoveLast(); },
      "no phase begins after call 0, which binds symbols");
  bad([](Plan* p) { p->mutable_phases(1)->set_symbols(0, 0); },
      "phase 1 binds other symbols than call 0 before it");
  bad(
      [](Plan* p) {
        PlanRequirement* requirement = p->add_requirements();
        requirement->mutable_left()->set_op(DimExpr::SYMBOL);
        requirement->mutable_left()->set_value(1);
        requirement->set_source("n1");
      },
      "a requirement of n1 is said to be known in phase 0, but needs");
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
  Plan plan = SmallPlan();
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
  ExpectBad([](Plan* p) { p->mutable_tensors(2)->set_input(0); },
            "tensor 'y' is where input 'x' is, but no view of it");
  ExpectBad([](Plan* p) { p->set_outputs(0, 3); }, "output 0 is tensor 3 of 3");
  ExpectBad([](Plan* p) { p->clear_calls(); },
            "output 0, 'y', is written by no call");
}

TEST(PlanCheck, Calls) {
  ExpectBad([](Plan* p) { p->mutable_calls(0)->set_function(""); },
            "its function has no name");
  ExpectBad([](Plan* p) { p->mutable_calls(0)->clear_step(); },
            "it has nothing to do");
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

#include "tools/ingot/plan_facts.h"

#include "gtest/gtest.h"

namespace ingot {
namespace {

Plan OneCall(const std::string& function) {
  Plan plan;
  PlanTensor* x = plan.add_tensors();
  x->set_name("x");
  PlanType* type = plan.add_types();
  type->mutable_dtype()->set_code(2);
  type->mutable_dtype()->set_bits(32);
  type->add_shape()->set_value(3);
  plan.add_inputs(0);
  plan.add_outputs(7);  // of no tensor
  plan.add_storage()->add_bytes()->set_value(2048);
  DimExpr* open = plan.add_storage()->add_bytes();
  open->set_op(DimExpr::SYMBOL);
  plan.add_calls()->set_function(function);
  return plan;
}

TEST(PlanFactsTest, SayWhatAPlanComesTo) {
  const auto facts = PlanFacts(OneCall("f"));
  EXPECT_EQ(facts.at("input x"), "f32[3]");
  EXPECT_EQ(facts.at("storage"),
            "2.0 KiB in 1 places, and 1 that grow with inputs");
  EXPECT_EQ(facts.at("calls"), "1");
  EXPECT_EQ(facts.count("output "), 0U);
}

TEST(PlanFactsTest, TheFirstOtherCallIsNamed) {
  std::string a, b;
  EXPECT_EQ(FirstOtherCall(OneCall("f"), OneCall("f"), &a, &b), "");
  EXPECT_EQ(FirstOtherCall(OneCall("f"), OneCall("g"), &a, &b), "call 0");
  EXPECT_EQ(a, "f");
  EXPECT_EQ(b, "g");
  Plan two = OneCall("f");
  two.add_calls()->set_function("h");
  EXPECT_EQ(FirstOtherCall(OneCall("f"), two, &a, &b), "call 1");
  EXPECT_EQ(a, "nothing");
  EXPECT_EQ(b, "h");
}

}  // namespace
}  // namespace ingot

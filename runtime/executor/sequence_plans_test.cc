// Plans that mistake sequences for tensors, or the other way round.
#include "runtime/executor/sequence_plans.h"

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/plan/check.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

void ExpectBad(Plan plan, const std::function<void(Plan*)>& change,
               const std::string& text) {
  ASSERT_TRUE(CheckPlan(plan).ok()) << CheckPlan(plan);
  change(&plan);
  const absl::Status status = CheckPlan(plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST(SequencePlans, StepsAreChecked) {
  const auto tensor = [](Plan* p, int i) { return p->mutable_tensors(i); };
  const auto bad = [](const std::function<void(Plan*)>& change,
                      const std::string& text) {
    ExpectBad(InsertAndAt(), change, text);
  };
  bad([&](Plan* p) { p->mutable_types(3)->add_shape()->set_value(1); },
      "tensor 'more': it is a sequence, which has no shape");
  bad([&](Plan* p) { tensor(p, 3)->set_view_of(0); },
      "tensor 'more': it is a sequence, which has no place");
  bad([&](Plan* p) { tensor(p, 3)->set_storage(0); },
      "tensor 'more': it is a sequence, which has no place");
  bad([&](Plan* p) { tensor(p, 3)->set_input(9); },
      "tensor 'more': it is input 9 of 3");
  bad([&](Plan* p) { tensor(p, 3)->set_input(0); },
      "tensor 'more' is where input 'sequence' is, but no view of it");
  bad([&](Plan* p) { tensor(p, 3)->set_input(1); },
      "tensor 'more' is where input 'x' is, but no view of it");
  bad([&](Plan* p) { tensor(p, 5)->set_view_of(0); },
      "tensor 'count': it is a view of a sequence");
  bad([&](Plan* p) { tensor(p, 3)->set_is_sequence(false); },
      "tensor 'more': it is nowhere");
  bad([&](Plan* p) { tensor(p, 0)->set_is_sequence(false); },
      "'sequence' is not what sequence_insert takes as operand 0");
  bad([&](Plan* p) { tensor(p, 2)->set_is_sequence(true); },
      "'at' is not what sequence_at takes as operand 1");
  bad([&](Plan* p) { p->mutable_types(0)->mutable_dtype()->set_bits(64); },
      "'sequence' is not what sequence_insert takes as operand 0");
  bad([&](Plan* p) { p->mutable_types(4)->mutable_dtype()->set_bits(64); },
      "'more' is not what sequence_at takes as operand 0");
  bad([&](Plan* p) { p->mutable_types(2)->mutable_dtype()->set_bits(32); },
      "'at' is not what sequence_at takes as operand 1");
  bad([&](Plan* p) { p->mutable_calls(2)->set_args(1, 3); },
      "'more' is not what sequence_length gives");
  bad(
      [&](Plan* p) {
        p->mutable_calls(0)->mutable_sequence()->set_op("list_of");
      },
      "there is no 'list_of' on sequences");
  bad([&](Plan* p) { p->mutable_calls(0)->set_num_outputs(2); },
      "sequence_insert has one result");
  bad(
      [&](Plan* p) {
        p->mutable_calls(1)->mutable_sequence()->set_op("optional_get");
      },
      "optional_get does not take 2 operands");
  bad([&](Plan* p) { p->mutable_calls(1)->mutable_binds(0)->set_index(1); },
      "it binds to dimension 1 of 'y'");
  bad([&](Plan* p) { *p->mutable_calls(0)->add_binds() = PlanBind(); },
      "it binds to dimension 0 of 'more'");
  bad([&](Plan* p) { p->mutable_calls()->SwapElements(0, 1); },
      "phase 1 begins with call 2, but call 0 binds symbols");
  bad(
      [&](Plan* p) {
        p->mutable_calls()->SwapElements(0, 1);
        p->mutable_phases(1)->set_first_call(1);
      },
      "it reads 'more' before any call wrote it");
  bad([&](Plan* p) { p->mutable_calls(0)->set_args(2, 0); },
      "it writes 'sequence', which is not in storage");
  bad([&](Plan* p) { p->mutable_calls(2)->set_function("f"); },
      "argument 0, 'more', is a sequence");
  bad(
      [&](Plan* p) {
        p->mutable_calls(2)->mutable_bind_dims();
        p->mutable_calls(2)->add_binds();
      },
      "argument 0, 'more', is a sequence");
  bad([&](Plan* p) { p->mutable_calls(0)->clear_step(); },
      "it has nothing to do");
  bad(
      [&](Plan* p) {
        p->clear_outputs();
        p->add_outputs(3);
        p->mutable_calls()->DeleteSubrange(0, 3);
        p->mutable_symbols()->RemoveLast();
        p->mutable_phases()->RemoveLast();
        for (PlanTensor& t : *p->mutable_tensors()) t.clear_phase();
        for (PlanStorage& s : *p->mutable_storage()) s.clear_phase();
        p->mutable_types(4)->clear_shape();
        p->mutable_storage(0)->mutable_bytes(0)->mutable_operands(1)->set_value(
            0);
      },
      "output 0, 'more', is written by no call");
}

TEST(SequencePlans, BodiesAreChecked) {
  const auto bad = [](const std::function<void(Plan*)>& change,
                      const std::string& text) {
    ExpectBad(LoopAndBranch(), change, text);
  };
  bad([](Plan* p) { p->mutable_calls(0)->set_args(1, 3); },
      "body 0 does not fit its arguments");
  bad([](Plan* p) { p->mutable_calls(0)->set_args(2, 1); },
      "body 0 does not fit its arguments");
  bad([](Plan* p) { p->mutable_calls(0)->set_args(0, 1); },
      "its number of iterations is not one i64");
  bad([](Plan* p) { p->mutable_calls(1)->set_args(0, 1); },
      "its condition is not one bool");
  bad([](Plan* p) { p->mutable_calls(1)->set_args(1, 3); },
      "body 1 does not fit its arguments");
  // Results that are stacked cannot be sequences.
  bad([](Plan* p) { p->mutable_calls(0)->mutable_loop()->set_carried(0); },
      "body 0 does not fit its arguments");
}

TEST(SequencePlans, UpdatesInPlaceAreChecked) {
  const auto bad = [](const std::function<void(Plan*)>& change,
                      const std::string& text) {
    ExpectBad(InPlace(LoopAndBranch()), change, text);
  };
  bad([](Plan* p) { p->mutable_calls(0)->add_in_place()->set_operand(1); },
      "it puts 'grown' in the place of the input 'start'");
  bad([](Plan* p) { p->add_outputs(4); },
      "output 2, 'grown', was updated in place");
  bad(
      [](Plan* p) {
        PlanCall* call = p->add_calls();
        call->mutable_sequence()->set_op("sequence_copy");
        call->add_args(4);
        call->add_args(5);
        call->set_num_outputs(1);
      },
      "it reads 'grown', which was updated in place");
  bad(
      [](Plan* p) {
        p->mutable_bodies(0)
            ->mutable_calls(0)
            ->mutable_in_place(0)
            ->set_operand(1);
      },
      "it cannot put 'now' in the place of 'x'");
  // A sequence that stays is not the loop's to use up.
  bad(
      [](Plan* p) {
        p->mutable_calls(0)->mutable_loop()->set_carried(0);
        p->mutable_calls(0)->mutable_args()->RemoveLast();
        p->mutable_calls(0)->set_num_outputs(0);
        p->mutable_bodies(0)->mutable_outputs()->RemoveLast();
      },
      "body 0 updates its input 1, which stays, in place");
}

}  // namespace
}  // namespace ingot

// Plans with sequences, which tests run and check.
#ifndef INGOT_RUNTIME_EXECUTOR_SEQUENCE_PLANS_H_
#define INGOT_RUNTIME_EXECUTOR_SEQUENCE_PLANS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/plan/small_plan.h"

namespace ingot {

// A plan, each of whose tensors has a type of its own.
inline Plan ParsePlan(const std::string& text) {
  Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan));
  NumberTypes(&plan);
  plan.set_version(kPlanVersion);
  plan.add_devices()->set_kind(kCpuDeviceKind);
  AssignPhases(&plan);
  for (Plan& body : *plan.mutable_bodies()) AssignPhases(&body);
  return plan;
}

// Fields of PlanType, of types that come up again and again.
inline constexpr char kFloats[] = "dtype { code: 2 bits: 32 }";
inline constexpr char kNumber[] = "dtype { code: 0 bits: 64 }";
inline constexpr char kFlag[] = "dtype { code: 6 bits: 8 }";

inline std::string TensorText(const std::string& name, const std::string& type,
                              const std::string& rest) {
  return absl::StrCat("types { ", type, " } tensors { name: '", name, "' ",
                      rest, " } ");
}

// Inserts a tensor into a sequence, then reads a position of it.
inline Plan InsertAndAt() {
  return ParsePlan(absl::StrCat(
      "symbols { name: 'N' } symbols { name: '?A' } ",
      TensorText("sequence", kFloats, "is_sequence: true input: 0"),
      TensorText("x", absl::StrCat(kFloats, " shape { op: SYMBOL value: 0 }"),
                 "input: 1"),
      TensorText("at", kNumber, "input: 2"),
      TensorText("more", kFloats, "is_sequence: true"),
      TensorText("y", absl::StrCat(kFloats, " shape { op: SYMBOL value: 1 }"),
                 "storage: 0"),
      TensorText("count", kNumber, "storage: 1"),
      "inputs: 0 inputs: 1 inputs: 2 outputs: 3 outputs: 4 outputs: 5 "
      "storage { bytes { op: MUL operands { value: 4 } "
      "                  operands { op: SYMBOL value: 1 } } } "
      "storage { bytes { value: 8 } } "
      "calls { args: 0 args: 1 args: 3 num_outputs: 1 source: 'Insert_0' "
      "        sequence { op: 'sequence_insert' } } "
      "calls { args: 3 args: 2 args: 4 num_outputs: 1 source: 'At_1' "
      "        sequence { op: 'sequence_at' } binds { symbol: 1 } } "
      "calls { args: 3 args: 5 num_outputs: 1 sequence { op: 'sequence_length' "
      "} }"));
}

// A sequence that grows by its own length, as one f32, in
// each iteration; then a branch gives
// it, or one that is missing.
inline Plan LoopAndBranch() {
  return ParsePlan(absl::StrCat(
      TensorText("count", kNumber, "input: 0"),
      TensorText("start", kFloats, "is_sequence: true input: 1"),
      TensorText("keep", kFlag, "input: 2"),
      TensorText("x", kFloats, "input: 3"),
      TensorText("grown", kFloats, "is_sequence: true"),
      TensorText("result", kFloats, "is_sequence: true"),
      "inputs: 0 inputs: 1 inputs: 2 inputs: 3 outputs: 5 outputs: 1 "
      "calls { args: 0 args: 1 args: 3 args: 4 num_outputs: 1 "
      "        loop { body: 0 has_max_iterations: true carried: 1 } } "
      "calls { args: 2 args: 4 args: 5 num_outputs: 1 "
      "        branch { then_body: 1 else_body: 2 } } "
      "bodies { ",
      TensorText("number", kNumber, "input: 0"),
      TensorText("so_far", kFloats, "is_sequence: true input: 1"),
      TensorText("x", kFloats, "input: 2"),
      TensorText("go_on", kFlag, "constant: 'true'"),
      TensorText("now", kFloats, "is_sequence: true"),
      "inputs: 0 inputs: 1 inputs: 2 outputs: 3 outputs: 4 "
      "calls { args: 1 args: 2 args: 0 args: 4 num_outputs: 1 "
      "        sequence { op: 'sequence_insert' } } } "
      "bodies { ",
      TensorText("sequence", kFloats, "is_sequence: true input: 0"),
      "inputs: 0 outputs: 0 } "
      "bodies { ",
      TensorText("sequence", kFloats, "is_sequence: true input: 0"),
      TensorText("none", kFloats, "is_sequence: true"),
      "inputs: 0 outputs: 1 "
      "calls { args: 1 num_outputs: 1 sequence { op: 'optional_none' } } }"));
}

// The plan with every sequence that grows or is passed on moved to where it
// goes.
inline Plan InPlace(Plan plan) {
  plan.mutable_bodies(0)->mutable_calls(0)->add_in_place();
  plan.mutable_calls(1)->add_in_place()->set_operand(1);
  return plan;
}

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_SEQUENCE_PLANS_H_

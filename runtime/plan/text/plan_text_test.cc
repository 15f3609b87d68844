#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/small_plan.h"
#include "runtime/plan/text/plan_parser.h"
#include "runtime/plan/text/plan_printer.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

constexpr char kSmall[] = R"(plan "model" version 7 {
  devices {
    cpu
  }
  symbols {
    N
  }
  inputs {
    %x  # f32[N, 4]
  }
  outputs {
    %y  # f32[N, 4]
  }
  storage {
    0: [N*16]
    #       offset       bytes  first   last  tensor
    #            0      varies      0    end  %y
  }
  tensors {
    %x:  f32[N, 4]  input
    %w:  f32[4]     constant "w"
    %y:  f32[N, 4]  storage 0 at 0
  }
  calls {
    %y = @f(%x, %w) from "n1"  # 0: f32[N, 4]
  }
}
)";

std::string Print(const Plan& plan) {
  absl::StatusOr<std::string> text = PrintPlan(plan);
  return text.ok() ? *text : text.status().ToString();
}

// The plan with each of its types once, in the order of its tensors.
Plan WithTypesOnce(const Plan& plan) {
  Plan once = plan;
  once.clear_types();
  PlanTypeList types(&once);
  for (PlanTensor& tensor : *once.mutable_tensors()) {
    tensor.set_type(types.Add(PlanTypeOf(plan, tensor)));
  }
  for (Plan& body : *once.mutable_bodies()) body = WithTypesOnce(body);
  return once;
}

void ExpectSameAfterReading(const Plan& written) {
  const Plan plan = WithTypesOnce(written);
  const std::string text = Print(plan);
  const absl::StatusOr<Plan> read = ParsePlan(text);
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << text;
  EXPECT_EQ(read->SerializeAsString(), plan.SerializeAsString())
      << text << "\n"
      << Print(*read);
}

// The error of the small plan's text in which `from` is `to`.
std::string ErrorOf(absl::string_view from, absl::string_view to) {
  EXPECT_THAT(kSmall, HasSubstr(std::string(from)));
  const absl::StatusOr<Plan> read =
      ParsePlan(absl::StrReplaceAll(kSmall, {{from, to}}));
  return std::string(read.status().message());
}

TEST(PlanText, IsATableThatReadsBack) {
  EXPECT_EQ(Print(SmallPlan()), kSmall);
  ExpectSameAfterReading(SmallPlan());
}

TEST(PlanText, KeepsStates) {
  Plan plan = SmallPlan(), state;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        types {
          dtype { code: 2 bits: 32 }
          shape { value: 8 }
        }
        tensors { name: "cache" type: 0 state: 0 }
      )pb",
      &state));
  plan.MergeFrom(state);
  plan.mutable_tensors(3)->set_type(3);
  plan.add_states(3);
  EXPECT_THAT(Print(plan), HasSubstr("  states {\n"
                                     "    %cache  # f32[8]\n"
                                     "  }\n"));
  EXPECT_THAT(Print(plan), HasSubstr("%cache:  f32[8]     state\n"));
  ExpectSameAfterReading(plan);
  EXPECT_THAT(ErrorOf("constant \"w\"", "state"),
              HasSubstr("it is not among the states"));
  plan.add_state_results("next cache");
  EXPECT_THAT(Print(plan), HasSubstr("%cache becomes %\"next cache\"  # f32"));
  ExpectSameAfterReading(plan);
  // A second one, whose next value has no name.
  *plan.add_tensors() = plan.tensors(3);
  plan.mutable_tensors(4)->set_name("other");
  plan.mutable_tensors(4)->set_state(1);
  plan.add_states(4);
  plan.add_state_results();
  ExpectSameAfterReading(plan);
  plan.add_state_results("v");
  EXPECT_THAT(CheckPlan(plan).message(), HasSubstr("3 results of 2 states"));
}

// Names that are no words, every kind of step, devices, bodies, requirements.
TEST(PlanText, KeepsEverything) {
  Plan plan;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        version: 7
        entry: "a \"b\"\n"
        devices { kind: "cpu" }
        devices { kind: "opencl" target_key: "gpu.0" shared_by: "lib" }
        symbols { name: "N" lower_bound: 2 }
        symbols { name: "?0" }
        symbols { name: "from" }
        symbols {
          name: "half"
          value {
            op: FLOOR_DIV
            operands { op: SYMBOL value: 0 }
            operands { value: 2 }
          }
        }
        types {
          dtype { code: 2 bits: 32 }
          shape { op: SYMBOL value: 0 }
          shape { op: SYMBOL value: 2 }
        }
        tensors { name: "x y" type: 0 input: 0 }
        types { dtype { code: 4 bits: 16 } }
        tensors { name: "seq/0" type: 1 is_sequence: true input: 1 }
        types {
          dtype { code: 6 bits: 8 }
          shape { value: 1 }
        }
        tensors { name: "c" type: 2 constant: "k \\ 1" }
        types {
          dtype { code: 0 bits: 64 }
          shape { value: 1 }
        }
        tensors { name: "n" type: 3 storage: 0 offset: 64 }
        types {
          dtype { code: 0 bits: 64 }
          shape { op: SYMBOL value: 1 }
          shape {
            op: MAX
            operands {
              op: FLOOR_MOD
              operands { op: SYMBOL value: 0 }
              operands { value: 3 }
            }
            operands {
              op: SUB
              operands { op: SYMBOL value: 2 }
              operands {
                op: ADD
                operands { op: SYMBOL value: 0 }
                operands { value: -5 }
              }
            }
          }
        }
        tensors { name: "z" type: 4 storage: 1 }
        types { dtype { code: 4 bits: 16 } }
        tensors { name: "held" type: 5 is_sequence: true }
        types { dtype { code: 4 bits: 16 } }
        tensors { name: "copy" type: 6 is_sequence: true }
        tensors { name: "last of n" type: 3 part_of: 3 offset: 8 }
        inputs: [ 0, 1 ]
        outputs: 4
        storage {
          bytes { value: 128 }
          bytes { value: 72 }
        }
        storage {}
        calls {
          sequence { op: "sequence_length" axis: -1 }
          args: [ 1, 3 ]
          num_outputs: 1
          source: "len \"1\""
        }
        calls {
          bind_dims {}
          args: [ 3, 4 ]
          num_outputs: 1
          binds { symbol: 1 index: 0 }
        }
        calls {
          sequence { op: "sequence_copy" flag: true }
          args: [ 1, 6 ]
          num_outputs: 1
        }
        calls {
          loop {
            body: 0
            carried: 1
            has_max_iterations: true
            has_condition: true
          }
          args: [ 3, 2, 6, 5 ]
          num_outputs: 1
          in_place { result: 0 operand: 2 }
          operations: 77
        }
        requirements {
          left { op: SYMBOL value: 0 }
          right { op: SYMBOL value: 2 }
          or_one: true
          source: "Add"
        }
        bodies {
          entry: "body"
          phases {}
          types {
            dtype { code: 0 bits: 64 }
            shape { value: 1 }
          }
          tensors { name: "i" type: 0 input: 0 }
          types { dtype { code: 4 bits: 16 } }
          tensors { name: "s" type: 1 is_sequence: true input: 1 }
          types {
            dtype { code: 6 bits: 8 }
            shape { value: 1 }
          }
          tensors { name: "go" type: 2 constant: "t" }
          inputs: [ 0, 1 ]
          outputs: [ 2, 1 ]
        }
      )pb",
      &plan));
  AssignPhases(&plan);
  const std::string text = Print(plan);
  const absl::StatusOr<Plan> read = ParsePlan(text);
  // Its meaning is not checked here, only that nothing is lost.
  const std::string error(read.status().message());
  EXPECT_TRUE(read.ok()) << error << "\n" << text;
  if (read.ok()) {
    EXPECT_EQ(read->SerializeAsString(),
              WithTypesOnce(plan).SerializeAsString());
  }
  EXPECT_THAT(text, HasSubstr("max(N % 3, \"from\" - (N + -5))"));
  EXPECT_THAT(text, HasSubstr("%n = sequence_length(%seq/0) {axis=-1} from "
                              "\"len \\\"1\\\"\"  # 0: i64[1]\n"));
  EXPECT_THAT(text, HasSubstr("%z = bind_dims(%n) binds \"?0\" = element 0"));
  EXPECT_THAT(text,
              HasSubstr("%copy = sequence_copy(%seq/0) {axis=0, flag}  # 2"));
  EXPECT_THAT(text, HasSubstr("%held = loop(%n, %c, %copy) {body=0, "
                              "carried=1, max_iterations, condition} in_place "
                              "result 0 = operand 2 operations 77"));
  EXPECT_THAT(text, HasSubstr("N = \"from\" or one from \"Add\""));
  EXPECT_THAT(text, HasSubstr("opencl for \"gpu.0\", lib"));
}

TEST(PlanText, TakesEdits) {
  const absl::StatusOr<Plan> renamed =
      ParsePlan(absl::StrReplaceAll(kSmall, {{"%y", "%result"}}));
  ASSERT_TRUE(renamed.ok()) << renamed.status();
  EXPECT_EQ(renamed->tensors(2).name(), "result");
  const absl::StatusOr<Plan> longer = ParsePlan(absl::StrReplaceAll(
      kSmall, {{"    %y = @f(%x, %w) from \"n1\"",
                "    %y = @f(%x, %w)\n%y = @g(%x) operations 12"},
               {"N*16", "N*16, 4096"}}));
  ASSERT_TRUE(longer.ok()) << longer.status();
  EXPECT_EQ(longer->calls_size(), 2);
  EXPECT_EQ(longer->calls(1).function(), "g");
  EXPECT_EQ(longer->storage(0).bytes(1).value(), 4096);
}

TEST(PlanText, ErrorsSayWhere) {
  EXPECT_EQ(ErrorOf("(%x, %w)", "(%x, %v)"), "25:17: no tensor is named 'v'");
  EXPECT_EQ(ErrorOf("(%x, %w)", "(%x %w)"), "25:16: expected ',', found 'w'");
  EXPECT_EQ(ErrorOf("N*16", "M*16"), "15:9: no symbol is named 'M'");
  EXPECT_EQ(ErrorOf("storage 0 at", "storage 7 at"),
            "22:29: there are 1 storages");
  EXPECT_EQ(ErrorOf("f32[4]", "f33[4]"), "21:10: 'f33' is no type");
  EXPECT_EQ(ErrorOf("%y:", "%x:"), "22:5: two tensors are named 'x'");
  EXPECT_EQ(ErrorOf("  0: [", "  1: ["), "15:5: expected storage 0, found '1'");
  EXPECT_EQ(ErrorOf("storage 0 at 0", "nowhere"),
            "22:21: expected input, state, constant, storage, view, part or "
            "held, found "
            "'nowhere'");
  EXPECT_EQ(ErrorOf("version 7", "version 3").substr(0, 27),
            "1:1: the plan has version 3");
  EXPECT_EQ(ErrorOf("plan \"model\"", "plan model"),
            "1:6: expected the model's name, found 'model'");
  EXPECT_EQ(ErrorOf("%x, %w)", "%x, %w) on gpu"),
            "25:24: no device is for 'gpu'");
}

// Errors that only CheckPlan finds have the place of what they are about.
TEST(PlanText, ErrorsOfTheCheckSayWhereToo) {
  EXPECT_THAT(ErrorOf("at 0\n", "at 3\n"),
              HasSubstr("22:5: tensor 'y': its offset 3 is not a multiple"));
  EXPECT_THAT(ErrorOf("%y = @f(%x, %w)", "%x = @f(%y, %w)"),
              HasSubstr("25:5: call 0 (f): "));
  EXPECT_THAT(ErrorOf("    N\n", "    N\n    M\n"),
              HasSubstr("7:5: symbol 'M' is not a dimension of any input"));
  EXPECT_THAT(ErrorOf("%y = @f(%x, %w)", "@f(%x, %w)"),
              HasSubstr("output 0, 'y', is written by no call"));
}

TEST(PlanText, DeepAndLongTextEndsInAnError) {
  const std::string many(200000, '(');
  EXPECT_THAT(ErrorOf("N*16", many), HasSubstr("nested too deeply"));
  std::string sum = "N";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  EXPECT_THAT(ErrorOf("N*16", sum), HasSubstr("the expression is too deep"));
  std::string bodies;
  for (int i = 0; i < 100000; ++i) {
    absl::StrAppend(&bodies, "body \"b\" {\ncalls {\n}\n");
  }
  EXPECT_THAT(ErrorOf("    N\n  }\n", absl::StrCat("N } calls { } ", bodies)),
              HasSubstr("nested too deeply"));
}

// An index out of range shows, and does not read back.
TEST(PlanText, ShowsPlansThatMakeNoSense) {
  Plan plan = SmallPlan();
  plan.mutable_calls(0)->set_args(1, 77);
  plan.mutable_tensors(2)->set_storage(9);
  plan.mutable_storage(0)->mutable_bytes(0)->mutable_operands(0)->set_value(5);
  const std::string text = Print(plan);
  EXPECT_THAT(text, HasSubstr("@f(%x, ?77)"));
  EXPECT_THAT(text, HasSubstr("0: [?5*16]"));
  EXPECT_FALSE(ParsePlan(text).ok());
  Plan long_names = SmallPlan();
  long_names.mutable_symbols(0)->set_name(std::string(1 << 20, 'N'));
  for (int i = 0; i < 2000; ++i) {
    long_names.mutable_storage(0)->add_bytes()->set_op(DimExpr::SYMBOL);
  }
  EXPECT_EQ(PrintPlan(long_names).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace ingot

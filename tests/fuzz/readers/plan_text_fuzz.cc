// Plans as text, which a person edits in a dump: what is read prints as what
// reads back.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/plan/small_plan.h"
#include "runtime/plan/text/plan_parser.h"
#include "runtime/plan/text/plan_printer.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {R"(plan "m" version 7 {
  devices { cpu opencl for "gpu.0" }
  symbols { N at least 1 "?0" }
  inputs { %x %s }
  outputs { %z %held }
  storage { 0: [N*16 + 4, 128] 1: [] 2: [64] on "gpu.0" }
  tensors {
    %x: f32[N, 4] input
    %s: sequence<bf16> input
    %"a b": bool[1] constant "k"
    %n: i64[1] storage 0 at 64
    %z: i64["?0", max(N % 3, N - (4 + -5)) / 2] storage 1 at 0
    %v: f32[4, N] view of %x
    %copy: sequence<bf16> held
    %held: sequence<bf16> held
  }
  calls {
    %n = sequence_length(%s) {axis=-1} from "len"  # 0
    %z = bind_dims(%n) binds "?0" = element 0
    %copy = sequence_copy(%s) {axis=0, flag}
    %held = loop(%n, %"a b", %copy) {body=0, carried=1, max_iterations, condition} in_place result 0 = operand 2 operations 7
  }
  requirements { N = 2 or one from "Add" }
  body "b" {
    inputs { %i %t }
    outputs { %go %t }
    tensors { %i: i64[1] input %t: sequence<bf16> input %go: bool[1] constant "t" }
    calls { }
  }
}
)"};
  const absl::StatusOr<std::string> small = PrintPlan(SmallPlan());
  if (small.ok()) seeds.push_back(*small);
  return seeds;
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<Plan> plan = ParsePlan(bytes);
  if (!plan.ok()) return false;
  INGOT_ASSIGN_OR_RETURN(const std::string text, PrintPlan(*plan));
  const absl::StatusOr<Plan> again = ParsePlan(text);
  if (!again.ok() || again->SerializeAsString() != plan->SerializeAsString()) {
    return absl::InternalError(
        absl::StrCat("printed and read, it is another plan:\n", text));
  }
  return true;
}

}  // namespace ingot::fuzz

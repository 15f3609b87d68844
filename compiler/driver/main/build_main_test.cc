#include "compiler/driver/main/build_main.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/printer.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/small_plan.h"

namespace ingot {
namespace {

// A tensor of f32, unless `type` says otherwise, in `place`.
std::string TensorText(absl::string_view name, absl::string_view shape,
                       absl::string_view place,
                       absl::string_view type = "code: 2 bits: 32") {
  return absl::StrCat("types { dtype { ", type, " } ", shape,
                      " } tensors { name: '", name, "' ", place, " } ");
}

constexpr char kFour[] = "shape { value: 4 }";
constexpr char kN[] = "shape { op: SYMBOL value: 0 }";
constexpr char kI64[] = "code: 0 bits: 64";
constexpr char kBool[] = "code: 6 bits: 8";

class BuildMainTest : public testing::Test {
 protected:
  BuildMainTest() {
    AddKernel(
        "func @net_twice(%a: f32[4]) -> (%b: f32[4]) { for i in [0, 4) "
        "{ %b[i] = %a[i] * 2.0f } }");
    AddKernel(
        "func @net_add(%a: f32[n], %b: f32[n]) -> (%c: f32[n]) "
        "workspace(%w: f32[n]) { for i in [0, n) { %c[i] = %a[i] + %b[i] } }");
    AddKernel(
        "func @net_positive(%a: f32[4]) -> (%b: bool[]) { %b[] = %a[0] > 0.0f "
        "}");
    parts_.symbol_prefix = "net";
    parts_.constants_symbol = "net_constants_1";
    parts_.constants_bytes = 64;
    parts_.constant_offsets = {{"w", 32}};
  }

  void AddKernel(const std::string& text) {
    kernels_.push_back(std::make_unique<tir::PrimFunc>(*tir::Parse(text)));
    parts_.kernels[kernels_.back()->name] = kernels_.back().get();
  }

  absl::StatusOr<BuiltMain> Build(const std::string& text) {
    Plan plan;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan));
    NumberTypes(&plan);
    for (Plan& body : *plan.mutable_bodies()) AssignPhases(&body);
    AssignPhases(&plan);
    parts_.plan = &plan;
    return BuildMain(parts_);
  }

  std::string Text(const std::string& text) {
    absl::StatusOr<BuiltMain> built = Build(text);
    return built.ok() ? tir::Print(built->function)
                      : std::string(built.status().message());
  }

  std::vector<std::unique_ptr<tir::PrimFunc>> kernels_;
  MainParts parts_;
};

TEST_F(BuildMainTest, CallsKernelsOnPartsOfTheArena) {
  EXPECT_EQ(
      Text(TensorText("x", kFour, "input: 0") +
           TensorText("w", kFour, "constant: 'w'") +
           TensorText("a", kFour, "storage: 0") +
           TensorText("y", kFour, "storage: 0 offset: 64") +
           TensorText("work", kFour, "storage: 0 offset: 128") +
           "inputs: 0 outputs: 3 storage { bytes { value: 144 } } "
           "calls { function: 'net_twice' args: [0, 2] num_outputs: 1 } "
           "calls { function: 'net_add' args: [2, 1, 3, 4] num_outputs: 2 }"),
      R"(func @net_main(%in_x: f32[4], %constants: u8[64]) -> (%out_y: f32[4]) workspace(%arena: u8[192]) {
  {
    part %a: f32[4] of %arena at 0
    extern @net_twice(%in_x) -> (%a)
  }
  part %a: f32[4] of %arena at 0
  part %w: f32[4] of %constants at 32
  part %work: f32[4] of %arena at 128
  extern @net_add(%a, %w) -> (%out_y, %work) with (4)
}
)");
}

TEST_F(BuildMainTest, ConstantsWithoutElementsHaveAPlace) {
  parts_.constants_bytes = 0;
  parts_.constant_offsets = {{"w", 0}};
  EXPECT_EQ(
      Text(TensorText("w", "shape { value: 0 }", "constant: 'w'") +
           TensorText("y", "shape { value: 0 }", "storage: 0") +
           TensorText("work", "shape { value: 0 }", "storage: 0") +
           "outputs: 1 storage { bytes { value: 0 } } calls { function: "
           "'net_add' args: [0, 0, 1, 2] num_outputs: 2 }"),
      R"(func @net_main(%constants: u8[0]) -> (%out_y: f32[0]) workspace(%arena: u8[0]) {
  part %w: f32[0] of %constants at 0
  part %w_1: f32[0] of %constants at 0
  part %work: f32[0] of %arena at 0
  extern @net_add(%w, %w_1) -> (%out_y, %work) with (0)
}
)");
}

// Parts are where their whole is, even in an output; one that is an output
// itself has no room for the whole.
TEST_F(BuildMainTest, WritesPartsOfWholes) {
  parts_.constants_symbol.clear();
  const std::string calls =
      "storage { bytes { value: 32 } } "
      "calls { function: 'net_twice' args: [0, 2] num_outputs: 1 } "
      "calls { function: 'net_twice' args: [2, 3] num_outputs: 1 } ";
  const std::string tensors =
      TensorText("x", kFour, "input: 0") +
      TensorText("whole", "shape { value: 8 }", "storage: 0") +
      TensorText("a", kFour, "part_of: 1") +
      TensorText("b", kFour, "part_of: 1 offset: 16");
  EXPECT_EQ(Text(tensors + "inputs: 0 outputs: 1 " + calls),
            R"(func @net_main(%in_x: f32[4]) -> (%out_whole: f32[8]) {
  {
    part %a: f32[4] of %out_whole at 0
    extern @net_twice(%in_x) -> (%a)
  }
  part %a: f32[4] of %out_whole at 0
  part %b: f32[4] of %out_whole at 16
  extern @net_twice(%a) -> (%b)
}
)");
  EXPECT_EQ(
      Text(tensors + "inputs: 0 outputs: 3 " + calls),
      R"(func @net_main(%in_x: f32[4]) -> (%out_b: f32[4]) workspace(%arena: u8[64]) {
  {
    part %a: f32[4] of %arena at 0
    extern @net_twice(%in_x) -> (%a)
  }
  {
    part %a: f32[4] of %arena at 0
    part %b: f32[4] of %arena at 16
    extern @net_twice(%a) -> (%b)
  }
  part %from: u32[4] of %arena at 16
  part %to: u32[4] of %out_b at 0
  for i in [0, 4) {
    %to[i] = %from[i]
  }
}
)");
}

// An output that is an input, one that is a view of an output, and one that is
// there twice.
TEST_F(BuildMainTest, CopiesOutputsThatHaveAnotherPlace) {
  parts_.constants_symbol.clear();
  EXPECT_EQ(
      Text(TensorText("x", kFour, "input: 0") +
           TensorText("y", kFour, "storage: 0") +
           TensorText("row", "shape { value: 1 } shape { value: 4 }",
                      "view_of: 1") +
           "inputs: 0 outputs: [0, 2, 1] storage { bytes { value: 16 } } "
           "calls { function: 'net_twice' args: [0, 1] num_outputs: 1 }"),
      R"(func @net_main(%in_x: f32[4]) -> (%out_x: f32[4], %out_row: f32[1, 4], %out_y: f32[4]) {
  {
    part %y: f32[4] of %out_row at 0
    extern @net_twice(%in_x) -> (%y)
  }
  {
    part %from: u32[4] of %in_x at 0
    part %to: u32[4] of %out_x at 0
    for i in [0, 4) {
      %to[i] = %from[i]
    }
  }
  part %from: u32[4] of %out_row at 0
  part %to: u32[4] of %out_y at 0
  for i in [0, 4) {
    %to[i] = %from[i]
  }
}
)");
}

TEST_F(BuildMainTest, OffsetsAreFormulasOverSymbols) {
  parts_.constants_symbol.clear();
  EXPECT_EQ(
      Text("symbols { name: 'n' lower_bound: 2 } " +
           TensorText("x", kN, "input: 0") + TensorText("z", kN, "input: 1") +
           TensorText("y", kN, "storage: 0") +
           TensorText("work", kN, "storage: 1") +
           "inputs: [0, 1] outputs: 2 "
           "storage { bytes { op: MUL operands { op: SYMBOL } "
           "operands { value: 4 } } } "
           "storage { bytes { op: MUL operands { op: SYMBOL } "
           "operands { value: 4 } } } "
           "calls { function: 'net_add' args: [0, 1, 2, 3] num_outputs: 2 } "
           "requirements { left { op: SYMBOL } right { value: 8 } "
           "or_one: true source: 'add' }"),
      R"(func @net_main(%in_x: f32[n], %in_z: f32[n]) -> (%out_y: f32[n]) workspace(%arena: u8[(n + 15) // 16 * 64]) {
  assert max(max(f64(n) + 15.0, 0.0) / 16.0, 0.0) * 64.0 <= 1099511627776.0, "the arena would be larger than 1 TiB"
  assert n >= 2, "the dimension n would be less than 2, the least it can be"
  assert n == 8 || n == 1, "dimensions n and 8 must be equal, or one of them 1, for add"
  part %work: f32[n] of %arena at 0
  extern @net_add(%in_x, %in_z) -> (%out_y, %work) with (n)
}
)");
}

// One of them is a view of another.
TEST_F(BuildMainTest, TellsTheShapesOfOutputsThatInputsDecide) {
  parts_.constants_symbol.clear();
  const absl::StatusOr<BuiltMain> built = Build(absl::StrCat(
      "symbols { name: 'n' } ", TensorText("x", kN, "input: 0"),
      TensorText("y", kN, "storage: 0"), TensorText("work", kN, "storage: 1"),
      TensorText("row", absl::StrCat("shape { value: 1 } ", kN), "view_of: 1"),
      "inputs: 0 outputs: [1, 3] storage { bytes { op: MUL operands { op: "
      "SYMBOL value: 0 } operands { value: 4 } } } storage { bytes { op: MUL "
      "operands { op: SYMBOL value: 0 } operands { value: 4 } } } "
      "calls { function: 'net_add' args: [0, 0, 1, 2] num_outputs: 2 }"));
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->main.inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(built->main.outputs, (std::vector<std::string>{"y", "row"}));
  EXPECT_EQ(built->main.output_shapes, "net_output_shapes");
  ASSERT_TRUE(built->output_shapes.has_value());
  EXPECT_EQ(tir::Print(*built->output_shapes),
            R"(func @net_output_shapes(%in_x: f32[n]) -> (%shapes: i64[3]) {
  %shapes[0] = n
  %shapes[1] = 1
  %shapes[2] = n
}
)");
}

TEST_F(BuildMainTest, BranchesAreInLine) {
  parts_.constants_symbol.clear();
  const std::string twice =
      TensorText("a", kFour, "input: 0") +
      TensorText("b", kFour, "storage: 0") +
      "inputs: 0 outputs: 1 storage { bytes { value: 16 } } "
      "calls { function: 'net_twice' args: [0, 1] num_outputs: 1 }";
  const std::string same =
      TensorText("a", kFour, "input: 0") + "inputs: 0 outputs: 0";
  EXPECT_EQ(
      Text(TensorText("x", kFour, "input: 0") +
           TensorText("c", "", "storage: 0", kBool) +
           TensorText("y", kFour, "storage: 0 offset: 64") +
           "inputs: 0 outputs: 2 storage { bytes { value: 80 } } "
           "calls { function: 'net_positive' args: [0, 1] num_outputs: 1 } "
           "calls { branch { then_body: 0 else_body: 1 } args: [1, 0, 2] "
           "num_outputs: 1 } "
           "bodies { " +
           twice + " } bodies { " + same + " }"),
      R"(func @net_main(%in_x: f32[4]) -> (%out_y: f32[4]) workspace(%arena: u8[128]) {
  {
    part %c: bool[] of %arena at 0
    extern @net_positive(%in_x) -> (%c)
  }
  part %condition: bool[1] of %arena at 0
  if %condition[0] {
    {
      part %b: f32[4] of %arena at 64
      extern @net_twice(%in_x) -> (%b)
    }
    part %from: u32[4] of %arena at 64
    part %to: u32[4] of %out_y at 0
    for i in [0, 4) {
      %to[i] = %from[i]
    }
  } else {
    part %from: u32[4] of %in_x at 0
    part %to: u32[4] of %out_y at 0
    for i in [0, 4) {
      %to[i] = %from[i]
    }
  }
}
)");
}

// Two carried values that change places, so that none may be written before
// both were read.
TEST_F(BuildMainTest, LoopsCarryValuesThatChangePlaces) {
  parts_.constants_symbol.clear();
  const std::string body =
      TensorText("i", "", "input: 0", kI64) +
      TensorText("p", kFour, "input: 1") + TensorText("q", kFour, "input: 2") +
      TensorText("on", "", "storage: 0", kBool) +
      "inputs: [0, 1, 2] outputs: [3, 2, 1] storage { bytes { value: 1 } } "
      "calls { function: 'net_positive' args: [1, 3] num_outputs: 1 }";
  const std::string text = Text(
      TensorText("most", "", "input: 0", kI64) +
      TensorText("x", kFour, "input: 1") + TensorText("z", kFour, "input: 2") +
      TensorText("r", kFour, "storage: 0") +
      TensorText("s", kFour, "storage: 0 offset: 64") +
      "inputs: [0, 1, 2] outputs: [3, 4] storage { bytes { value: 80 } } "
      "calls { loop { body: 0 has_max_iterations: true carried: 2 } "
      "args: [0, 1, 2, 3, 4] num_outputs: 2 } bodies { " +
      body + " }");
  const size_t loop = text.find("while %goes_on[0] && %iteration[0] < ");
  ASSERT_NE(loop, std::string::npos) << text;
  const std::string inside = text.substr(loop);
  // Both are copied away before either is written.
  std::vector<std::string> to;
  for (size_t at = inside.find("%to: u32[4] of "); at != std::string::npos;
       at = inside.find("%to: u32[4] of ", at + 1)) {
    to.push_back(inside.substr(at + 15, inside.find('\n', at) - at - 15));
  }
  EXPECT_EQ(to, (std::vector<std::string>{"%arena at 320", "%arena at 384",
                                          "%arena at 128", "%arena at 192",
                                          "%out_r at 0", "%out_s at 0"}))
      << text;
  EXPECT_NE(inside.find("%iteration[0] = %iteration[0] + 1"), std::string::npos)
      << text;
}

TEST_F(BuildMainTest, SaysWhatCannotBeOneFunction) {
  const std::string io =
      TensorText("x", kFour, "input: 0") +
      TensorText("y", kFour, "storage: 0") +
      "inputs: 0 outputs: 1 storage { bytes { value: 16 } } ";
  const auto refused = [this](const std::string& text) {
    const absl::StatusOr<BuiltMain> built = Build(text);
    EXPECT_TRUE(absl::IsUnimplemented(built.status())) << built.status();
    return std::string(built.status().message());
  };
  EXPECT_EQ(refused(io + "calls { function: 'net_dnnl_0' source: 'conv1' "
                         "args: [0, 1] num_outputs: 1 }"),
            "net_dnnl_0 (for conv1) is not made of loops of the target that "
            "generates the code, but by another one");
  EXPECT_EQ(refused(io + "calls { function: 'net_dnnl_0' source: 'a, b, c, d, "
                         "e, f' args: [0, 1] num_outputs: 1 }"),
            "net_dnnl_0 (for a, b, c, d and 2 more) is not made of loops of "
            "the target that generates the code, but by another one");
  EXPECT_EQ(refused(io + "calls { random_state {} source: 'noise' args: 1 "
                         "num_outputs: 1 }"),
            "random_state (for noise) needs the executor's seed");
  EXPECT_EQ(refused("types { dtype { code: 2 bits: 32 } } tensors { name: "
                    "'s' is_sequence: true input: 0 } inputs: 0"),
            "'s' is a sequence");
  // y[k], where k is an element of x.
  EXPECT_EQ(refused("symbols { name: '?k' } " +
                    TensorText("x", "shape { value: 1 }", "input: 0", kI64) +
                    TensorText("dims", kN, "storage: 0") +
                    TensorText("y", kN, "storage: 1") +
                    "inputs: 0 outputs: 2 storage { bytes { value: 0 } } "
                    "storage { bytes { op: SYMBOL } } "
                    "calls { bind_dims {} args: [0, 1] num_outputs: 1 "
                    "binds { symbol: 0 } }"),
            "the shape of the output 'y' is known only while the model runs");
}

}  // namespace
}  // namespace ingot

#include <string>

#include "compiler/relay/parser.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::HasSubstr;

// Everything that the text form has.
constexpr char kAll[] = R"(module {
  func @main(%x: f32[n, 3, 8, 8], %"odd name": f32[n * 2 + 1, (m - 1) / 2, max(n, 4), "a b"]) -> (%relu: "the output", %cut, %b) {
    %b = const f32[2] {1, -2.5}
    %empty = const i64[0] {}
    %flags = const bool[2] {true, false}
    %scalar = const f64[] {0.1}
    %halves = const f16[2] {0.5, inf}
    %nan = const bf16[1] {nan}
    %w = const f32[16, 3, 3, 3] @"w"
    %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]} : f32[n, 16, 8, 8] from "Conv_0", "Conv \"1\""
    %relu = relu(%c) : f32[n, 16, 8, 8]
    %clip = clip(%relu) {max=6.0, min=-1e-05, target="dnnl"} : f32[n, 16, 8, 8]
    %flat = reshape(%clip) {shape=[n, 1024]} : f32[n, 1024]
    %cut = slice(%flat) {axes=[1], ends=[min(n * 2, 1024)], starts=[0]} : f32[n, min(n * 2, 1024)]
    %cast = cast(%b) {dtype=i32} : i32[2]
    %y = @f.1(%b, %"odd name") {target="host"} : (f32[2], f32[2])
    %sum = add(%y#0, %y#1) : f32[2]
  }
  func @f.1(%a: f32[2], %odd: f32[k, l, i, j]) -> (%r, %r) attrs {primitive=1, words=["x", "y"]} {
    %r = neg(%a) : f32[2]
  }
}
)";

// Sequences, where they may be.
constexpr char kSequences[] = R"(module {
  func @main(%seq: sequence<f32>, %n: i64[], %x: f32[n]) -> (%out: "out", %opt, %z, %all, %none) {
    %more = sequence_insert(%seq, %x, %n) : sequence<f32>
    %less = sequence_erase(%more) : sequence<f32>
    %y = sequence_at(%less, %n) {shape=["?a"]} : f32["?a"]
    %z = relu(%y) : f32["?a"]
    %count = sequence_length(%less) : i64[]
    %has = optional_has_value(%seq) : bool[]
    %all = sequence_concat(%less) {axis=0, new_axis=1, shape=["?b", 2]} : f32["?b", 2]
    %parts = sequence_split(%x, %n) {axis=0} : sequence<f32>
    %made = sequence_make(%n) {dtype=i64} : sequence<i64>
    %none = optional_none() {dtype=bf16} : sequence<bf16>
    %out = loop(%count, _, %parts, %x) {body="grow", carried=1} : sequence<f32>
    %opt = if(%has, %seq) {else="none", then="same"} : sequence<f32>
  }
  func @grow(%iteration: i64[], %l: sequence<f32>, %v: f32[n]) -> (%go, %now) {
    %go = const bool[] {true}
    %now = sequence_insert(%l, %v) : sequence<f32>
  }
  func @same(%l: sequence<f32>) -> (%there) {
    %there = optional_get(%l) : sequence<f32>
  }
  func @none(%l: sequence<f32>) -> (%none) {
    %none = optional_none() {dtype=f32} : sequence<f32>
  }
}
)";

std::map<std::string, Tensor> AllConstants() {
  Tensor w = *Tensor::Empty(DataType::Float(32), {16, 3, 3, 3});
  for (int i = 0; i < 16 * 27; ++i) w.mutable_data<float>()[i] = 0.25f * i;
  return {{"w", w}};
}

std::unique_ptr<Module> Parse(absl::string_view text) {
  auto module = ReadModule(text, AllConstants());
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

TEST(TextTest, PrintsWhatItReads) {
  const auto module = Parse(kAll);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Print(*module), kAll);
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module);
}

TEST(TextTest, PrintsTheListsThatItReads) {
  const auto module = Parse(kSequences);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Print(*module), kSequences);
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module);
  const TensorType& type = module->main()->inputs[0]->outputs[0];
  EXPECT_TRUE(type.is_sequence);
  EXPECT_FALSE(Agrees(type, {DataType::Float(32), {}}));
}

// A module that reads well but makes no sense.
std::string VerifyError(const std::string& body, const std::string& more = "") {
  const auto module = ReadModule(
      "module { func @main(%l: sequence<i64>, %b: sequence<bool>, %x: i64[]) "
      "-> () {" +
      body + "} " + more + "}");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? std::string(Verify(**module).message()) : "";
}

TEST(TextTest, SequencesAreNoTensors) {
  const std::string grow =
      "func @f(%t: i64[], %l: sequence<i64>) -> (%go, %l) {"
      "  %go = const bool[] {true} }";
  EXPECT_EQ(VerifyError("%y = loop(%x, _, %l) {body=\"f\", carried=1} : "
                        "sequence<i64>",
                        grow),
            "");
  EXPECT_THAT(VerifyError("%y = loop(%l, _, %l) {body=\"f\", carried=1} : "
                          "sequence<i64>",
                          grow),
              HasSubstr("operand 0 is sequence<i64>, not one i64"));
  EXPECT_THAT(VerifyError("%y = loop(%x, %b, %l) {body=\"f\", carried=1} : "
                          "sequence<i64>",
                          grow),
              HasSubstr("operand 1 is sequence<bool>, not one bool"));
  EXPECT_THAT(VerifyError("%y = loop(%x, _, %x) {body=\"f\", carried=1} : "
                          "sequence<i64>",
                          grow),
              HasSubstr("operand 1 is i64[] here and sequence<i64> there"));
  EXPECT_THAT(VerifyError("%y = loop(%x, _, %l) {body=\"f\", carried=0} : "
                          "sequence<i64>",
                          grow),
              HasSubstr("stacks into a scalar or a sequence"));
  EXPECT_THAT(VerifyError("%y = sequence_at(%l, %x) {shape=[\"?a\" + 1]}"),
              HasSubstr("no operand has the dimension '?a'"));
}

TEST(TextTest, CollectsLargeConstants) {
  const auto module = Parse(kAll);
  ASSERT_NE(module, nullptr);
  std::map<std::string, Tensor> constants;
  PrintOptions options;
  options.constants = &constants;
  const std::string text = Print(*module, options);
  ASSERT_EQ(constants.size(), 1u);
  EXPECT_EQ(constants["w"].data<float>()[5], 1.25f);
  const auto again = ReadModule(text, constants);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Print(**again), text);
}

TEST(TextTest, FilesHoldTheWeights) {
  const auto module = Parse(kAll);
  ASSERT_NE(module, nullptr);
  const std::string path = ::testing::TempDir() + "/all.relay";
  ASSERT_TRUE(WriteModuleFiles(*module, path).ok());
  const auto again = ReadModuleFile(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Print(**again), kAll);
  const Node* w = nullptr;
  for (const auto& node : (*again)->main()->nodes()) {
    if (node->name == "w") w = node.get();
  }
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->constant->data<float>()[7], 1.75f);
}

TEST(TextTest, TypesOfOperatorsMayBeLeftOut) {
  const auto module = Parse(R"(module {
    func @main(%x: f32[4]) -> (%y) {   // a comment
      %s = const f32[4] fill(2)
      %t = const f32[4] random(7)
      %y = add(%x, %s)
      %z = mul(%t, %y)
    }
  })");
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Print(*module), HasSubstr("%y = add(%x, %s) : f32[4]"));
  EXPECT_THAT(Print(*module), HasSubstr("%s = const f32[4] {2, 2, 2, 2}"));
}

TEST(TextTest, FloatsKeepTheirBits) {
  Module module;
  Function* main = module.AddFunction("main");
  const float values[] = {0.1f, 1e-45f, 3.4028235e38f, -0.0f, 16777216.f};
  Tensor tensor = *Tensor::Empty(DataType::Float(32), {5});
  std::copy(values, values + 5, tensor.mutable_data<float>());
  main->outputs.push_back(Value{main->AddConstant("c", tensor)});
  const auto again = ReadModule(Print(module));
  ASSERT_TRUE(again.ok()) << again.status();
  const Tensor& back = *(*again)->main()->outputs[0].node->constant;
  EXPECT_EQ(std::memcmp(back.raw_data(), values, sizeof(values)), 0);
}

struct BadText {
  const char* text;
  const char* error;
};

class BadTextTest : public ::testing::TestWithParam<BadText> {};

TEST_P(BadTextTest, IsReportedWhereItIs) {
  const auto module = ReadModule(GetParam().text);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(std::string(module.status().message()),
              HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTextTest,
    ::testing::Values(
        BadText{"", "1:1: expected 'module'"},
        BadText{"module {", "1:9: expected 'func', found the end"},
        BadText{"module {} x", "1:11: text after the module"},
        BadText{"module { func @f() -> () { %y = what(%x) } }",
                "1:33: there is no operator 'what'"},
        BadText{"module { func @f() -> () { %y = relu(%x) } }",
                "1:38: no value %x stands before this"},
        BadText{"module { func @f(%x: f32[2]) -> (%y) { } }",
                "1:34: no value %y"},
        BadText{"module { func @f(%x: f32[2], %x: f32[2]) -> () { } }",
                "1:30: %x is defined twice"},
        BadText{"module { func @f() -> () {} func @f() -> () {} }",
                "1:34: @f is defined twice"},
        BadText{"module { func @f(%x: f33[2]) -> () { } }",
                "1:22: 'f33' is not a type"},
        BadText{"module { func @f(%x: f32[-2]) -> () { } }",
                "1:22: the type is of an impossible size"},
        BadText{"module { func @f(%x: f32[99999999999, 99999999999]) -> () {",
                "1:22: the type is of an impossible size"},
        BadText{"module { func @f(%x: f32[n / 0]) -> () { } }",
                "division by zero"},
        BadText{"module { func @f(%x: f32[(n < 2) + 1]) -> () { } }",
                "a truth value in a sum"},
        BadText{"module { func @f(%x: f32[2]) -> () { %y = relu(%x, %x) } }",
                "1:43: node y: relu: takes 1 operands, not 2"},
        BadText{"module { func @f(%x: f32[2]) -> () { %y = relu(%x) : f32[3]}}",
                "1:52: the results of relu are f32[2]"},
        BadText{"module { func @f(%x: f32[2]) -> () { %y = relu(%x#1) } }",
                "1:48: %x has 1 results"},
        BadText{"module { func @f(%x: f32[2]) -> () { %y = relu(%x) {a=1} } }",
                "relu: has no attribute 'a'"},
        BadText{"module { func @f() -> () { %c = const f32[2] {1} } }",
                "1:46: the constant has 2 elements, but 1 are here"},
        BadText{"module { func @f() -> () { %c = const i8[1] {128} } }",
                "'128' is not a value of i8"},
        BadText{"module { func @f() -> () { %c = const f32[2] @\"k\" } }",
                "there is no constant \"k\""},
        BadText{"module { func @f() -> () { %c = const f32[n] {} } }",
                "a constant's shape has no symbols"},
        BadText{"module { func @f() -> () { %c = const f32[9999] "
                "random(1) %d = const f32[9999999999] fill(1) } }",
                "too large"},
        BadText{"module { func @f(%l: sequence<f33>) -> () { } }",
                "1:31: 'f33' is not a type"},
        BadText{"module { func @f(%l: sequence<f32[2]>) -> () { } }",
                "1:34: expected '>'"},
        BadText{"module { func @f(%l: sequence) -> () { } }",
                "1:30: expected '<'"},
        BadText{"module { func @f() -> () { %c = const sequence<f32> {} } }",
                "1:39: no constant is a sequence"},
        BadText{"module { func @f(%l: sequence<f32>) -> () { %y = relu(%l) } }",
                "relu: operand 0 is a sequence<f32>"},
        BadText{
            "module { func @f(%x: f32[]) -> () { %y = sequence_length(%x) } }",
            "sequence_length: operand 0 is f32[]"},
        BadText{"module { func @f(%l: sequence<f32>, %x: f32[]) -> () {"
                " %y = sequence_at(%l, %x) {shape=[]} } }",
                "sequence_at: operand 1 is f32[]"},
        BadText{"module { func @f(%l: sequence<f32>, %x: f64[]) -> () {"
                " %y = sequence_insert(%l, %x) } }",
                "sequence_insert: operand 1 is f64[]"},
        BadText{"module { func @f(%l: sequence<f32>, %x: f32[]) -> () {"
                " %y = sequence_insert(%l, _) } }",
                "sequence_insert: operand 1 is missing"},
        BadText{"module { func @f(%l: sequence<f32>) -> () {"
                " %y = sequence_concat(%l) {axis=1, shape=[2]} } }",
                "axis"},
        BadText{"module { func @f() -> () { %c = \"x } }",
                "1:33: a string does not end on its line"}));

TEST(TextTest, DeepDimensionsAreRefused) {
  std::string text = "module { func @f(%x: f32[";
  text += std::string(100000, '(') + "n" + std::string(100000, ')');
  const auto module = ReadModule(text + "]) -> () {} }");
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("too deep"));
}

TEST(TextTest, LongDimensionsAreRefused) {
  std::string sum = "n0", product = "n0", same = "n";
  std::string minus(20000, '-');
  for (int i = 1; i < 20000; ++i) {
    absl::StrAppend(&sum, " + n", i);
    absl::StrAppend(&product, " * n", i);
    absl::StrAppend(&same, " + n");
  }
  for (const std::string& dim : {sum, product, same, minus + "n"}) {
    for (const std::string& text :
         {absl::StrCat("(%x: f32[", dim, "]) -> (%x) {}"),
          absl::StrCat("(%x: f32[1]) -> (%y) { %y = expand(%x) {shape=[", dim,
                       "]} }")}) {
      const auto module =
          ReadModule(absl::StrCat("module { func @f", text, " }"));
      ASSERT_FALSE(module.ok());
      EXPECT_THAT(std::string(module.status().message()),
                  testing::AnyOf(HasSubstr("more than 1000 terms"),
                                 HasSubstr("too deep")));
    }
  }
}

// Each level would double the work of the simplifier.
TEST(TextTest, NestedRemaindersEnd) {
  std::string dim = "n";
  for (int i = 0; i < 90; ++i) {
    dim = absl::StrCat("(", dim, i % 2 == 0 ? " % 7 + m" : " % 5 + n",
                       i % 3 == 0 ? ") / 3" : ")");
  }
  const auto module = ReadModule(
      absl::StrCat("module { func @f(%x: f32[n], %z: f32[m]) -> (%y) {"
                   " %e = full() {shape=[",
                   dim, "], dtype=f32} %y = reduce_sum(%e) {axes=[0]} } }"));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Verify(**module).ok());
}

// Operators combine the dimensions of many operands into large ones.
TEST(TextTest, LongResultsAreRefused) {
  std::string inputs, operands, same;
  for (int i = 0; i < 20000; ++i) {
    absl::StrAppend(&inputs, i == 0 ? "" : ", ", "%x", i, ": f32[n", i, "]");
    absl::StrAppend(&operands, i == 0 ? "" : ", ", "%x", i);
    absl::StrAppend(&same, i == 0 ? "" : ", ", "%x0");
  }
  const std::string head =
      absl::StrCat("module { func @f(", inputs, ") -> (%y)");
  auto module = ReadModule(
      absl::StrCat(head, " { %y = concat(", operands, ") {axis=0} } }"));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(std::string(module.status().message()),
              HasSubstr("more than 1000 terms"));
  module =
      ReadModule(absl::StrCat(head, " { %y = concat(", same, ") {axis=0} } }"));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ToString((*module)->Find("f")->outputs[0].type()),
            "f32[n0 * 20000]");
}

TEST(TextTest, RanksAreLimited) {
  std::string dims = "1";
  for (int i = 1; i < 20000; ++i) absl::StrAppend(&dims, ", 1");
  for (const std::string& text :
       {absl::StrCat("(%x: f32[", dims, "]) -> (%x) {}"),
        absl::StrCat("(%x: f32[1]) -> (%y) { %y = reshape(%x) {shape=[", dims,
                     "]} }"),
        absl::StrCat("() -> (%x) { %x = const f32[", dims, "] {1} }")}) {
    const auto module =
        ReadModule(absl::StrCat("module { func @f", text, " }"));
    ASSERT_FALSE(module.ok());
    EXPECT_THAT(std::string(module.status().message()),
                HasSubstr("64 are supported"));
  }
}

// No text may do worse than fail: parts of a good one, and one with a character
// changed.
TEST(TextTest, SurvivesDamage) {
  for (const std::string all : {kAll, kSequences}) {
    for (size_t cut = 0; cut < all.size(); cut += 3) {
      ReadModule(all.substr(0, cut), AllConstants()).status().IgnoreError();
    }
    uint32_t state = 1;
    for (int i = 0; i < 2000; ++i) {
      std::string text = all;
      for (int k = 0; k < 3; ++k) {
        state = state * 1664525 + 1013904223;
        text[state % text.size()] = "%@{}[]()#=:,\"-9n./ "[(state >> 16) % 19];
      }
      const auto module = ReadModule(text, AllConstants());
      if (module.ok()) {
        Verify(**module).IgnoreError();
        const std::string printed = Print(**module);
        const auto again = ReadModule(printed, AllConstants());
        ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
        EXPECT_EQ(Print(**again), printed);
      }
    }
  }
}

}  // namespace
}  // namespace ingot::relay

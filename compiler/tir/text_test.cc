// Printer, parser and verifier together.
#include <cmath>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/tir/ir.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"
#include "gtest/gtest.h"

namespace ingot::tir {
namespace {

constexpr char kSample[] =
    R"(func @fused_add(%a: f32[n, 64], %b: f32[64], %k: i8[]) -> (%out: f32[n, 64]) workspace(%w: f32[n * 2, 1024]) attrs("kernel" = "a\"b", "x" = "") {
  parallel i in [0, n) {
    alloc %acc: f32[8] stack
    for k in [2, +6) {
      %acc[k] = 0.1f
    }
    let t: bool = %a[i, 0] < %b[i % 64] && !(i // 2 == 3) || i - (2 - n) > 0
    if t {
      vectorized j in [0, 64) {
        %out[i, j] = max(%a[i, j] + %b[j], 0.0f)
      }
    } else if i == 3 {
      %w[i, 0] = f32(%k[] + i8(-3))
    } else {
      while %w[i, 1] < f32(inf) {
        %w[i, 1] = muladd(%w[i, 1], 1e+20f, select(t, -0.0f, f32(nan)))
      }
    }
    {
      let u: u64 = u64(18446744073709551615) >> u64(%k[])
      eval u / u64(7)
    }
    for j in [i * 8, +8) {
      %out[i, ramp(j * 8, 1, 8)] = f32x8(f16x8(%a[i, ramp(0, 2, 8)])) + broadcast(%b[j], 8)
    }
    prefetch %a[i, 0] bytes [2048, +256)
    unrolled j in [0, 4) {
      eval rem(-(-9223372036854775808 + j), 3) * -(j + 1) / 2
    }
    alloc %tmp: bf16[n]
    %tmp[0] = bf16(0.5)
    eval -inf + f64(%tmp[i]) * 0.30000000000000004
  }
  for j in [0, 3) {
  }
}
)";

TEST(TextTest, RoundTrip) {
  absl::StatusOr<PrimFunc> func = Parse(kSample);
  ASSERT_TRUE(func.ok()) << func.status();
  EXPECT_EQ(Print(*func), kSample);
  EXPECT_EQ(func->num_inputs(), 3);
  EXPECT_EQ(func->num_outputs, 1);
  EXPECT_EQ(func->num_workspaces, 1);
  EXPECT_EQ(func->attrs.at("kernel"), "a\"b");
}

TEST(TextTest, NamesAreMadeUnique) {
  VarPtr i = MakeVar("i"), i2 = MakeVar("i"), odd = MakeVar("a b"),
         word = MakeVar("min");
  EXPECT_EQ(Print(Expr(i) + i2 * odd - word), "i + i_1 * a_b - min_");
  Buffer b = MakeBuffer("b", DataType::Float(32), {MakeInt(4)});
  auto loop = [&b](const VarPtr& v) {
    return MakeFor(v, MakeInt(0), MakeInt(4), ForKind::kSerial,
                   MakeStore(b, {v}, MakeFloat(1)));
  };
  EXPECT_EQ(Print(MakeSeq({loop(i), loop(i2)})),
            "for i in [0, 4) {\n  %b[i] = 1.0f\n}\n"
            "for i in [0, 4) {\n  %b[i] = 1.0f\n}\n");
}

TEST(TextTest, FloatsReadBackExactly) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random();
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof(wide));
    memcpy(&narrow, &bits, sizeof(narrow));
    const Expr values[] = {MakeFloat(wide, DataType::Float(64)),
                           MakeFloat(narrow),
                           MakeFloat(narrow, DataType::Float(16)),
                           MakeFloat(narrow, DataType::BFloat16())};
    for (const Expr& value : values) {
      if (std::isnan(As<FloatImm>(value)->value)) continue;
      const std::string text =
          absl::StrCat("func @f() -> () { eval ", Print(value), " }");
      absl::StatusOr<PrimFunc> func = Parse(text);
      ASSERT_TRUE(func.ok()) << func.status() << text;
      const auto* read = As<FloatImm>(As<Evaluate>(func->body)->value);
      ASSERT_NE(read, nullptr) << text;
      EXPECT_EQ(read->dtype, value->dtype);
      EXPECT_EQ(read->value, As<FloatImm>(value)->value) << text;
    }
  }
}

std::string ParseError(absl::string_view text) {
  absl::StatusOr<PrimFunc> func = Parse(text);
  return func.ok() ? "ok" : std::string(func.status().message());
}

TEST(ParserTest, ErrorsSayWhere) {
  EXPECT_EQ(ParseError("func @f() -> () {\n  %x[0] = 1\n}"),
            "2:3: %x is not defined here");
  EXPECT_EQ(ParseError("func @f() -> (%x: f32[4]) {\n  %x[0] = 1\n}"),
            "2:3: the stored value's type is not the buffer's");
  EXPECT_EQ(ParseError("func @f() -> () { eval 1 + 1.0 }"),
            "1:26: the operands' types differ: i64 + f64");
  EXPECT_EQ(ParseError("func @f() -> () { eval i }"),
            "1:24: 'i' is not defined here");
  EXPECT_EQ(ParseError("func @f() -> () {"),
            "1:18: expected a statement, found the end");
  EXPECT_EQ(ParseError("func @f() -> () { for i in [0, 4) { for i in [0, 1) "
                       "{ } } }"),
            "1:41: 'i' is already defined here");
  EXPECT_EQ(ParseError("func @f() -> () { eval 99999999999999999999 }"),
            "1:24: the integer is too large for i64");
  EXPECT_EQ(ParseError("func @f() -> () { eval ramp(0, 1, 70000) }"),
            "1:35: expected lanes from 2 to 256, found '70000'");
  EXPECT_EQ(ParseError("func @f(%x: f32[4]) -> () { prefetch %x[0] bytes [0, "
                       "+5000) }"),
            "1:29: it asks for none or too many bytes");
  EXPECT_EQ(ParseError("func @f(%x: f32[4]) -> () { prefetch %x[0] bytes [-1, "
                       "+64) }"),
            "1:51: expected a number of bytes, found '-'");
  EXPECT_EQ(ParseError("func @f() -> () { } }"),
            "1:21: expected nothing after the function, found '}'");
}

std::string Repeat(absl::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) absl::StrAppend(&result, text);
  return result;
}

TEST(ParserTest, NestingIsLimited) {
  const int n = 200000;
  const std::string expressions[] = {
      Repeat("(", n),    "1" + Repeat(" + i", n),  Repeat("-", n),
      Repeat("abs(", n), Repeat("i64(", n),        Repeat("select(", n),
      Repeat("%b[", n),  "i" + Repeat(" - (i", n), Repeat("i < 1 || i + ", n)};
  for (const std::string& e : expressions) {
    const std::string error = ParseError(absl::StrCat(
        "func @f() -> (%b: i64[n]) { for i in [0, 4) { eval ", e, " } }"));
    EXPECT_TRUE(absl::StrContains(error, "nested too deeply") ||
                absl::StrContains(error, "types differ"))
        << error;
  }
  const std::string statements[] = {
      Repeat("{", n), Repeat("if true {", n), Repeat("while true {", n),
      Repeat("if true { } else ", n), Repeat("if true { } else {", n)};
  for (const std::string& s : statements) {
    EXPECT_TRUE(absl::StrContains(
        ParseError(absl::StrCat("func @f() -> () { ", s)), "nested too deeply"))
        << s.substr(0, 40);
  }
  std::string lets;
  for (int i = 0; i < 5000; ++i)
    absl::StrAppend(&lets, "let v", i, ": i64 = 1 ");
  EXPECT_TRUE(absl::StrContains(
      ParseError(absl::StrCat("func @f() -> () { ", lets, "}")),
      "nested too deeply"));
}

// Damaged text is an error or another function, never a crash; and what
// parses prints and parses again to the same text.
TEST(ParserTest, SurvivesDamage) {
  std::mt19937 random(11);
  const std::string sample = kSample;
  const std::string pieces[] = {"(",   ")",    "[",   "]",     "{",     "}",
                                "%a",  "f32",  "0.1", "-",     "ramp(", "i",
                                ", 8", "\"",   "\\",  "\xff",  "1e999", "#",
                                "//",  "let ", "%",   "f32x8", "n",     "true"};
  int parsed = 0;
  for (int round = 0; round < 8000; ++round) {
    std::string text = sample;
    const int edits = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < edits; ++i) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.erase(at, random() % 8);
          break;
        case 1:
          text.insert(at, pieces[random() % std::size(pieces)]);
          break;
        case 2:
          text[at] = sample[random() % sample.size()];
          break;
        default:
          text.insert(at,
                      sample.substr(random() % sample.size(), random() % 30));
          break;
      }
    }
    absl::StatusOr<PrimFunc> func = Parse(text);
    if (!func.ok()) continue;
    ++parsed;
    const std::string printed = Print(*func);
    absl::StatusOr<PrimFunc> again = Parse(printed);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
    ASSERT_EQ(Print(*again), printed);
    Verify(*func).IgnoreError();
  }
  EXPECT_GT(parsed, 400);
}

std::string VerifyError(absl::string_view text) {
  absl::StatusOr<PrimFunc> func = Parse(text);
  if (!func.ok()) return std::string(func.status().message());
  absl::Status status = Verify(*func);
  return status.ok() ? "ok" : std::string(status.message());
}

TEST(VerifierTest, AcceptsGoodCode) {
  EXPECT_EQ(VerifyError("func @f(%a: f32[n, m]) -> (%b: f32[n * m]) { "
                        "parallel i in [0, n) { alloc %t: f32[4] stack "
                        "%t[0] = %a[i, 0]  %b[i] = %t[0] } }"),
            "ok");
}

TEST(VerifierTest, NamesFunctionAndStatement) {
  EXPECT_EQ(VerifyError("func @f(%a: f32[4]) -> () { %a[1] = 2.0f }"),
            "func @f: the input %a is written, in: %a[1] = 2.0f");
}

TEST(VerifierTest, Rules) {
  auto expect = [](absl::string_view body, absl::string_view error) {
    const std::string text =
        absl::StrCat("func @f(%a: f32[n]) -> (%b: f32[n]) { ", body, " }");
    EXPECT_TRUE(absl::StrContains(VerifyError(text), error))
        << text << "\n"
        << VerifyError(text);
  };
  expect("vectorized i in [0, n) { }", "positive constant");
  expect("vectorized i in [0, 300) { }", "lanes");
  expect("unrolled i in [0, 0) { }", "positive constant");
  expect("vectorized i in [0, 4) { vectorized j in [0, 4) { } }",
         "inside a vectorized loop");
  expect(
      "parallel i in [0, 4) { for k in [0, 2) { parallel j in [0, 4) { } } }",
      "inside a parallel loop");
  expect("vectorized i in [0, 4) { eval ramp(0, 1, 4) }", "a vector inside");
  expect("alloc %t: f32[n] stack", "must be constant");
  expect("alloc %t: f32[100000] stack", "bytes of stack");
  expect("alloc %t: f32[9223372036854775807, 4] stack", "overflows");
  expect("for i in [0, 4) { alloc %t: f32[i] %b[0] = 1.0f }", "not defined");
  expect("parallel i in [0, 4) { alloc %t: f32[4] %b[0] = 1.0f }",
         "allocated inside a parallel");
  expect("alloc %t: f32[4] stack parallel i in [0, 4) { %t[i] = 1.0f }",
         "from outside");
  EXPECT_TRUE(absl::StrContains(
      VerifyError("func @f(%a: f32[n * 2]) -> () { }"), "stands alone"));
}

TEST(VerifierTest, FindsWhatOnlyCodeCanDo) {
  Buffer out = MakeBuffer("out", DataType::Float(32), {MakeInt(4)});
  PrimFunc func;
  func.name = "f";
  func.params = {out};
  VarPtr i = MakeVar("i");
  func.body = MakeStore(out, {i}, MakeFloat(1));
  EXPECT_TRUE(absl::StrContains(Verify(func).message(), "'i' is not defined"));
  Stmt loop = MakeFor(i, MakeInt(0), MakeInt(4), ForKind::kSerial, func.body);
  func.body = MakeFor(i, MakeInt(0), MakeInt(4), ForKind::kSerial, loop);
  EXPECT_TRUE(absl::StrContains(Verify(func).message(), "already defined"));
  func.body = MakeSeq({loop, loop});
  EXPECT_TRUE(Verify(func).ok());
  func.num_outputs = 3;
  EXPECT_FALSE(Verify(func).ok());
}

}  // namespace
}  // namespace ingot::tir

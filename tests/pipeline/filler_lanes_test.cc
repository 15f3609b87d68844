// Convolutions on channels that do not fill a vector, with every element-wise
// operator between them: lanes that stand for no channel must not spoil those
// that do. Compiled for llvm as users' models are, compared with relay's
// interpreter, which knows no blocked layouts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using relay::OpDef;
using Plane = std::vector<double>;  // [channels, kPixels]

constexpr int kIn = 3, kMiddle = 5, kOut = 4, kPixels = 4;

// Numbers above 0.
std::vector<double> Counting(int count) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(0.01 * (1 + i % 23));
  return numbers;
}

// Operators that are left out, and why.
const std::map<std::string, std::string>& NotCompared() {
  static const auto* const ops = new std::map<std::string, std::string>{
      {"float8_encode", "bytes; to and from them in the float8 tests"},
      {"float8_decode", "takes bytes that only float8_encode makes"},
      {"quantize", "gives integers, which are finite"},
      {"dequantize", "takes integers, and a scale that is finite or plain"},
  };
  return *ops;
}

// One operator between two convolutions, the second of 1x1 or 3x3 windows.
struct Case {
  std::string op, output;
  double offset;             // added to what the first convolution gives
  double shift;              // of the values in the channels
  bool by_channel;           // the second operand is a constant
  std::string type = "f32";  // that the operator works on
  int window = 1;
};

class Model {
 public:
  Model() {
    for (int p = 0; p < kPixels; ++p) {
      x_.push_back(0.43 + 0.131 * p);           // channel 0
      y_.push_back(0.91 - 0.0917 * p * p / 3);  // channel 1
    }
  }

  void Add(const Case& c) {
    const std::string& n = c.output;
    const std::string first = First(c.offset);
    auto line = [&](auto... parts) { absl::StrAppend(&body_, parts..., "\n"); };
    line("%k_", n, " = const f32[] {", c.offset + c.shift, "}");
    line("%a_", n, " = add(", first, ", %k_", n, ")");
    if (c.by_channel) {
      line("%b_", n, " = const f32[", kMiddle, ", 1, 1] {",
           absl::StrJoin(ByChannel(), ", "), "}");
    } else {
      line("%l_", n, " = const f32[] {-2}");
      line("%b_", n, " = add(", Second(), ", %l_", n, ")");
    }
    const OpDef& op = *relay::StandardOps().Find(c.op);
    std::string a = Converted("a_", c), b = Converted("b_", c);
    std::string operands = a;
    if (op.min_inputs == 2) absl::StrAppend(&operands, ", ", b);
    if (op.min_inputs == 3) {
      line("%w_", n, " = less(", a, ", ", b, ")");
      operands = absl::StrCat("%w_", n, ", ", a, ", ", b);
    }
    std::string attrs;
    if (c.op == "cast") attrs = " {dtype=f64}";
    if (c.op == "bit_shift") attrs = " {direction=\"LEFT\"}";
    line("%o_", n, " = ", c.op, "(", operands, ")", attrs);
    line("%f_", n, " = cast(%o_", n, ") {dtype=f32}");
    line("%", n, " = conv2d(%f_", n, ", %w", c.window, ")",
         c.window == 1 ? "" : " {pads=[1, 1, 1, 1]}");
    outputs_.push_back("%" + n);
  }

  std::string Text() const {
    std::string head;
    for (const auto& [name, m] : first_) {
      absl::StrAppend(&head, "%w_", name, " = const f32[", kMiddle, ", ", kIn,
                      ", 1, 1] {", absl::StrJoin(Weights(m, 0.31), ", "),
                      "}\n%", name, " = conv2d(%x, %w_", name, ")\n");
    }
    absl::StrAppend(&head, "%w_second = const f32[", kMiddle, ", ", kIn,
                    ", 1, 1] {", absl::StrJoin(Weights(2, 0.247), ", "),
                    "}\n%second = conv2d(%x, %w_second)\n");
    for (const int window : {1, 3}) {
      absl::StrAppend(&head, "%w", window, " = const f32[", kOut, ", ", kMiddle,
                      ", ", window, ", ", window, "] {",
                      absl::StrJoin(Last(window * window), ", "), "}\n");
    }
    return absl::StrCat("module { func @main(%x: f32[1, ", kIn, ", 2, 2]) -> (",
                        absl::StrJoin(outputs_, ", "), ") {\n", head, body_,
                        "} }");
  }

  Tensor Input() const {
    Tensor x = *Tensor::Empty(DataType::Float(32), {1, kIn, 2, 2});
    for (int p = 0; p < kPixels; ++p) {
      x.mutable_data<float>()[p] = x_[p];
      x.mutable_data<float>()[kPixels + p] = y_[p];
      x.mutable_data<float>()[2 * kPixels + p] = 1;
    }
    return x;
  }

 private:
  // Values from 0.2 to 0.8, plus m by way of the input's last channel.
  static Plane Weights(double m, double least) {
    Plane weights;
    for (int o = 0; o < kMiddle; ++o) {
      weights.insert(weights.end(), {least + 0.053 * o, 0.0931, m});
    }
    return weights;
  }
  static Plane ByChannel() { return {0.3, 0.71, 0.45, 0.62, 0.83}; }
  static Plane Last(int taps) {
    Plane weights;
    for (int i = 0; i < kOut * kMiddle * taps; ++i) {
      weights.push_back(0.25 * ((i * 7) % 5) - 0.375);
    }
    return weights;
  }

  // The convolution whose result is `-offset` above what the operator gets, so
  // that a lane that stands for no channel gets the offset itself.
  std::string First(double offset) {
    const std::string name = offset < 0 ? "low" : "high";
    first_[name] = -offset;
    return "%" + name;
  }
  static std::string Second() { return "%second"; }

  // Operand %<stem><output> in the type that the operator takes.
  std::string Converted(const std::string& stem, const Case& c) {
    const std::string value = absl::StrCat("%", stem, c.output);
    if (c.type == "f32") return value;
    const std::string name = absl::StrCat("%t", stem, c.output);
    if (c.type == "bool") {
      absl::StrAppend(&body_, name, "h = const f32[] {0.5}\n", name,
                      " = greater(", value, ", ", name, "h)\n");
      return name;
    }
    absl::StrAppend(&body_, name, "h = const f32[] {10}\n", name, "m = mul(",
                    value, ", ", name, "h)\n", name, " = cast(", name,
                    "m) {dtype=", c.type, "}\n");
    return name;
  }

  Plane x_, y_;
  std::map<std::string, double> first_;
  std::vector<std::string> outputs_;
  std::string body_;
};

std::string TypeOf(const std::string& op) {
  if (op.substr(0, 8) == "logical_") return "bool";
  if (op == "bit_shift") return "u32";
  return op.substr(0, 8) == "bitwise_" ? "i64" : "f32";
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const OpDef* op : relay::StandardOps().All()) {
    if (op->layout_rule != relay::LayoutRule::kFollows ||
        NotCompared().count(op->name) > 0)
      continue;
    for (double offset : {-2.0, 100.0}) {
      for (bool by_channel : {false, true}) {
        if (by_channel && op->min_inputs == 1) continue;
        Case c;
        c.op = op->name;
        c.output = absl::StrCat("y", cases.size());
        c.offset = offset;
        c.shift = op->name == "acosh" ? 1 : 0;
        c.by_channel = by_channel;
        c.type = TypeOf(op->name);
        c.window = cases.size() % 3 == 0 ? 3 : 1;
        cases.push_back(c);
      }
    }
  }
  return cases;
}

TEST(FillerLanesTest, DoNotReachTheNextConvolution) {
  const std::vector<Case> cases = AllCases();
  ASSERT_GT(cases.size(), 100u);
  Model model;
  for (const Case& c : cases) model.Add(c);
  auto module = relay::ReadModule(model.Text());
  ASSERT_TRUE(module.ok()) << module.status() << model.Text();
  const auto expected =
      relay::EvaluateFunction(**module, *(*module)->main(), {model.Input()});
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_EQ(expected->size(), cases.size());
  const auto executor = testing_support::CompileAndOpen(module->get(), "llvm");
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto results = (*executor)->Run({model.Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), cases.size());
  for (size_t k = 0; k < cases.size(); ++k) {
    const float* want = (*expected)[k].data<float>();
    const float* got = (*results)[k].data<float>();
    const int64_t elements = (*expected)[k].NumElements();
    ASSERT_EQ(elements, kOut * kPixels);
    for (int64_t i = 0; i < elements; ++i) {
      ASSERT_TRUE(std::isfinite(want[i])) << cases[k].op;
      // Results after an offset of 100 have five digits.
      ASSERT_NEAR(got[i], want[i], 1e-3 * (1 + std::abs(want[i])))
          << cases[k].op << ", offset " << cases[k].offset << ", element " << i;
    }
  }
}

// Infinities that an operator between two convolutions makes finite again, or
// that stay.
void CheckInfinities(const std::string& op, double (*meaning)(double)) {
  SCOPED_TRACE(op);
  constexpr int kChannels = 20;
  const auto v = Counting(2 * kChannels), f = Counting(kChannels),
             w = Counting(kChannels * kChannels);
  auto module = relay::ReadModule(absl::Substitute(
      R"(module { func @main(%x: f32[1, 2, 1, 4]) -> (%y) {
        %v = const f32[20, 2, 1, 1] {$0}
        %f = const f32[20, 1, 1] {$1}
        %w = const f32[20, 20, 1, 1] {$2}
        %c = conv2d(%x, %v)
        %m = mul(%c, %f)
        %s = add(%m, %f)
        %r = $3
        %y = conv2d(%r, %w)
      } })",
      absl::StrJoin(v, ", "), absl::StrJoin(f, ", "), absl::StrJoin(w, ", "),
      op));
  ASSERT_TRUE(module.ok()) << module.status();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // Those of one place have one sign, so that no sum of them is NaN.
  const float values[2][4] = {{-kInfinity, 0.5f, -0.25f, -kInfinity},
                              {1.0f, 2.0f, kInfinity, -kInfinity}};
  Tensor x = *Tensor::Empty(DataType::Float(32), {1, 2, 1, 4});
  std::copy(&values[0][0], &values[0][0] + 8, x.mutable_data<float>());
  const auto executor = testing_support::CompileAndOpen(module->get(), "llvm");
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto results = (*executor)->Run({x});
  ASSERT_TRUE(results.ok()) << results.status();
  for (int p = 0; p < 4; ++p) {
    double between[kChannels];
    for (int o = 0; o < kChannels; ++o) {
      const double sum = v[2 * o] * values[0][p] + v[2 * o + 1] * values[1][p];
      between[o] = meaning(sum * f[o] + f[o]);
    }
    for (int o = 0; o < kChannels; ++o) {
      double sum = 0;
      for (int i = 0; i < kChannels; ++i) {
        sum += w[kChannels * o + i] * between[i];
      }
      SCOPED_TRACE(absl::StrCat("channel ", o, ", place ", p));
      const float result = (*results)[0].data<float>()[4 * o + p];
      if (std::isinf(sum)) {
        EXPECT_EQ(result, sum);
      } else {
        EXPECT_NEAR(result, sum, 1e-4);
      }
    }
  }
}

TEST(FillerLanesTest, InfinitiesBecomeFinite) {
  CheckInfinities("clip(%s) {max=6.0, min=-6.0}",
                  [](double x) { return std::clamp(x, -6.0, 6.0); });
  CheckInfinities("sigmoid(%s)",
                  [](double x) { return 1 / (1 + std::exp(-x)); });
  CheckInfinities("tanh(%s)", [](double x) { return std::tanh(x); });
}

TEST(FillerLanesTest, InfinitiesStay) {
  CheckInfinities("leaky_relu(%s) {alpha=0.5}",
                  [](double x) { return std::max(x, 0.5 * x); });
  CheckInfinities("abs(%s)", [](double x) { return std::abs(x); });
}

}  // namespace
}  // namespace ingot

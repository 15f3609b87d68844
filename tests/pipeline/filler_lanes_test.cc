// Convolutions on channels that do not fill a vector, with every element-wise
// operator between them: lanes that stand for no channel must not spoil those
// that do. Compiled for llvm as users' models are, compared with double loops.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using relay::OpDef;
using Plane = std::vector<double>;  // [channels, kPixels]

constexpr int kIn = 3, kMiddle = 5, kOut = 4, kPixels = 4;

// The value of the operator for operands a and b, computed in doubles.
using Reference = std::function<double(double a, double b)>;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Softplus(double x) { return std::log1p(std::exp(x)); }
int64_t Int(double x) { return static_cast<int64_t>(x); }

const std::map<std::string, Reference>& References() {
  static const auto* const table = new std::map<std::string, Reference>{
      {"abs", [](double a, double) { return std::abs(a); }},
      {"acos", [](double a, double) { return std::acos(a); }},
      {"acosh", [](double a, double) { return std::acosh(a); }},
      {"add", [](double a, double b) { return a + b; }},
      {"asin", [](double a, double) { return std::asin(a); }},
      {"asinh", [](double a, double) { return std::asinh(a); }},
      {"atan", [](double a, double) { return std::atan(a); }},
      {"atanh", [](double a, double) { return std::atanh(a); }},
      {"bit_shift", [](double a, double b) { return Int(a) << Int(b); }},
      {"bitwise_and", [](double a, double b) { return Int(a) & Int(b); }},
      {"bitwise_not", [](double a, double) { return ~Int(a); }},
      {"bitwise_or", [](double a, double b) { return Int(a) | Int(b); }},
      {"bitwise_xor", [](double a, double b) { return Int(a) ^ Int(b); }},
      {"cast", [](double a, double) { return a; }},
      {"ceil", [](double a, double) { return std::ceil(a); }},
      {"celu", [](double a, double) { return a > 0 ? a : std::expm1(a); }},
      {"clip", [](double a, double) { return a; }},
      {"cos", [](double a, double) { return std::cos(a); }},
      {"cosh", [](double a, double) { return std::cosh(a); }},
      {"div", [](double a, double b) { return a / b; }},
      {"elu", [](double a, double) { return a > 0 ? a : std::expm1(a); }},
      {"equal", [](double a, double b) { return a == b; }},
      {"erf", [](double a, double) { return std::erf(a); }},
      {"exp", [](double a, double) { return std::exp(a); }},
      {"floor", [](double a, double) { return std::floor(a); }},
      {"gelu",
       [](double a, double) {
         return 0.5 * a * (1 + std::erf(a * std::sqrt(0.5)));
       }},
      {"greater", [](double a, double b) { return a > b; }},
      {"greater_equal", [](double a, double b) { return a >= b; }},
      {"hard_sigmoid",
       [](double a, double) { return std::clamp(0.2 * a + 0.5, 0.0, 1.0); }},
      {"hard_swish",
       [](double a, double) { return a * std::clamp(a / 6 + 0.5, 0.0, 1.0); }},
      {"is_inf", [](double, double) { return 0; }},
      {"is_nan", [](double, double) { return 0; }},
      {"leaky_relu", [](double a, double) { return a < 0 ? 0.01 * a : a; }},
      {"less", [](double a, double b) { return a < b; }},
      {"less_equal", [](double a, double b) { return a <= b; }},
      {"log", [](double a, double) { return std::log(a); }},
      {"logical_and", [](double a, double b) { return a != 0 && b != 0; }},
      {"logical_not", [](double a, double) { return a == 0; }},
      {"logical_or", [](double a, double b) { return a != 0 || b != 0; }},
      {"logical_xor", [](double a, double b) { return (a != 0) != (b != 0); }},
      {"maximum", [](double a, double b) { return std::max(a, b); }},
      {"minimum", [](double a, double b) { return std::min(a, b); }},
      {"mish", [](double a, double) { return a * std::tanh(Softplus(a)); }},
      {"mod", [](double a, double b) { return a - b * std::floor(a / b); }},
      {"mul", [](double a, double b) { return a * b; }},
      {"neg", [](double a, double) { return -a; }},
      {"not_equal", [](double a, double b) { return a != b; }},
      {"pow", [](double a, double b) { return std::pow(a, b); }},
      {"prelu", [](double a, double b) { return a < 0 ? a * b : a; }},
      {"reciprocal", [](double a, double) { return 1 / a; }},
      {"relu", [](double a, double) { return std::max(a, 0.0); }},
      {"round", [](double a, double) { return std::nearbyint(a); }},
      {"rsqrt", [](double a, double) { return 1 / std::sqrt(a); }},
      {"selu",
       [](double a, double) {
         return 1.0507009873554805 *
                (a > 0 ? a : 1.6732632423543772 * std::expm1(a));
       }},
      {"shrink", [](double a, double) { return std::abs(a) > 0.5 ? a : 0; }},
      {"sigmoid", [](double a, double) { return Sigmoid(a); }},
      {"sign", [](double a, double) { return (a > 0) - (a < 0); }},
      {"sin", [](double a, double) { return std::sin(a); }},
      {"sinh", [](double a, double) { return std::sinh(a); }},
      {"softplus", [](double a, double) { return Softplus(a); }},
      {"softsign", [](double a, double) { return a / (1 + std::abs(a)); }},
      {"sqrt", [](double a, double) { return std::sqrt(a); }},
      {"sub", [](double a, double b) { return a - b; }},
      {"swish", [](double a, double) { return a * Sigmoid(a); }},
      {"tan", [](double a, double) { return std::tan(a); }},
      {"tanh", [](double a, double) { return std::tanh(a); }},
      {"thresholded_relu", [](double a, double) { return a > 1 ? a : 0; }},
      {"where", [](double a, double b) { return std::min(a, b); }},
  };
  return *table;
}

// Without a reference here, and why.
const std::map<std::string, std::string>& NotCompared() {
  static const auto* const ops = new std::map<std::string, std::string>{
      {"float8_encode", "bytes; to and from them in the float8 tests"},
      {"float8_decode", "takes bytes that only float8_encode makes"},
      {"quantize", "gives integers, which are finite"},
      {"dequantize", "takes integers, and a scale that is finite or plain"},
  };
  return *ops;
}

// One operator between two convolutions.
struct Case {
  std::string op, output;
  double offset;             // added to what the first convolution gives
  double shift;              // of the values in the channels
  bool by_channel;           // the second operand is a constant
  std::string type = "f32";  // that the operator works on
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
    line("%", n, " = conv2d(%f_", n, ", %w2)");
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
                    "}\n%second = conv2d(%x, %w_second)\n%w2 = const f32[",
                    kOut, ", ", kMiddle, ", 1, 1] {",
                    absl::StrJoin(Last(), ", "), "}\n");
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

  std::vector<double> Expected(const Case& c) const {
    Plane middle(kMiddle * kPixels);
    for (int o = 0; o < kMiddle; ++o) {
      for (int p = 0; p < kPixels; ++p) {
        double a = Sum(Weights(0, 0.31), o, p) + c.shift;
        double b = c.by_channel ? ByChannel()[o] : Sum(Weights(0, 0.247), o, p);
        if (c.type == "bool") {
          a = a > 0.5;
          b = b > 0.5;
        } else if (c.type != "f32") {
          a = std::floor(10 * a);
          b = std::floor(10 * b);
        }
        middle[o * kPixels + p] = References().at(c.op)(a, b);
      }
    }
    std::vector<double> result;
    for (int o = 0; o < kOut; ++o) {
      for (int p = 0; p < kPixels; ++p) {
        double sum = 0;
        for (int i = 0; i < kMiddle; ++i) {
          sum += Last()[o * kMiddle + i] * middle[i * kPixels + p];
        }
        result.push_back(sum);
      }
    }
    return result;
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
  static Plane Last() {
    Plane weights;
    for (int i = 0; i < kOut * kMiddle; ++i) {
      weights.push_back(0.25 * ((i * 7) % 5) - 0.375);
    }
    return weights;
  }
  double Sum(const Plane& weights, int o, int p) const {
    return weights[o * kIn] * x_[p] + weights[o * kIn + 1] * y_[p];
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
    EXPECT_EQ(References().count(op->name), 1u) << op->name;
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
  const auto executor = testing_support::CompileAndOpen(module->get(), "llvm");
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto results = (*executor)->Run({model.Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), cases.size());
  for (size_t k = 0; k < cases.size(); ++k) {
    const std::vector<double> expected = model.Expected(cases[k]);
    const float* got = (*results)[k].data<float>();
    for (size_t i = 0; i < expected.size(); ++i) {
      // Results after an offset of 100 have five digits.
      ASSERT_NEAR(got[i], expected[i], 1e-3 * (1 + std::abs(expected[i])))
          << cases[k].op << ", offset " << cases[k].offset << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace ingot

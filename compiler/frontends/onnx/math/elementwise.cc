// Operators that work element by element.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/relay/import/convert_elements.h"
#include "runtime/float16.h"

namespace ingot::onnx_frontend {
namespace {

// An ONNX attribute of type float that the relay operator has too.
struct FloatAttr {
  const char* name;
  double otherwise;
};

Converter Unary(const char* op, std::vector<FloatAttr> attrs = {}) {
  return [op, attrs](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
    Attrs call;
    for (const FloatAttr& a : attrs) {
      call.Set(a.name, c.Float(a.name, a.otherwise));
    }
    return c.Return(op, {x}, std::move(call));
  };
}

// Before operator set 7, b took part in broadcasting from `axis` on.
absl::StatusOr<Value> OldBroadcast(NodeContext& c, const Value& a, Value b) {
  if (c.opset() >= 7 || c.Int("broadcast", 0) == 0) return b;
  const int rank = RankOf(a), rank_b = RankOf(b);
  const int64_t axis = c.Int("axis", rank - rank_b);
  if (axis < 0 || axis >= rank - rank_b) return b;
  Shape shape = ShapeOf(b);
  shape.resize(rank - axis, tir::MakeInt(1));
  return c.Reshape(b, shape);
}

Converter Binary(const char* op) {
  return [op](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Value a, c.Input(0));
    INGOT_ASSIGN_OR_RETURN(Value b, c.Input(1));
    INGOT_ASSIGN_OR_RETURN(b, OldBroadcast(c, a, b));
    return c.Return(op, {a, b});
  };
}

// A power of integers that is known is products, which are exact beyond 2^53,
// too, and wrap.
absl::Status Pow(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Value a, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value b, c.Input(1));
  INGOT_ASSIGN_OR_RETURN(b, OldBroadcast(c, a, b));
  constexpr double kMost = 64;
  const Known* k = c.known(1);
  double exponent;
  const bool is_known = a.type().dtype.is_integer() && k != nullptr &&
                        k->values.size() == 1 && RankOf(b) <= RankOf(a) &&
                        k->values[0].AsDouble(&exponent) && exponent >= 1 &&
                        exponent <= kMost && exponent == std::floor(exponent);
  if (!is_known) return c.Return("pow", {a, b});
  Value power, square = a;
  for (auto left = static_cast<int64_t>(exponent);;) {
    if (left % 2 != 0) {
      if (power) {
        INGOT_ASSIGN_OR_RETURN(power, c.Emit("mul", {power, square}));
      } else {
        power = square;
      }
    }
    left /= 2;
    if (left == 0) break;
    INGOT_ASSIGN_OR_RETURN(square, c.Emit("mul", {square, square}));
  }
  c.SetOutput(0, power);
  return absl::OkStatus();
}

absl::Status Mod(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
  if (in.size() != 2) return c.Error("takes two inputs");
  Attrs attrs;
  attrs.Set("fmod", c.Int("fmod", 0));
  return c.Return("mod", in, std::move(attrs));
}

absl::Status BitShift(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
  const std::string direction = c.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return c.Error("direction '", direction, "'");
  }
  Attrs attrs;
  attrs.Set("direction", direction);
  return c.Return("bit_shift", in, std::move(attrs));
}

// Sum, Max and Min of any number of operands.
Converter Variadic(const char* op) {
  return [op](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Value total, c.Input(0));
    for (int i = 1; i < c.num_inputs(); ++i) {
      INGOT_ASSIGN_OR_RETURN(Value next, c.Input(i));
      INGOT_ASSIGN_OR_RETURN(
          total,
          c.Emit(op, {total, next}, {}, i + 1 == c.num_inputs() ? "" : "part"));
    }
    c.SetOutput(0, total);
    return absl::OkStatus();
  };
}

// The mean of halves fits where their sum does not.
absl::Status Mean(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value total, c.Input(0));
  const DataType t = total.type().dtype;
  INGOT_ASSIGN_OR_RETURN(total, c.Widen(total));
  for (int i = 1; i < c.num_inputs(); ++i) {
    INGOT_ASSIGN_OR_RETURN(Value next, c.Input(i));
    INGOT_ASSIGN_OR_RETURN(next, c.Widen(next));
    INGOT_ASSIGN_OR_RETURN(total, c.Emit("add", {total, next}, {}, "part"));
  }
  INGOT_ASSIGN_OR_RETURN(const Value n,
                         c.Scalar(total.type().dtype, c.num_inputs()));
  INGOT_ASSIGN_OR_RETURN(total, c.Emit("div", {total, n}));
  INGOT_ASSIGN_OR_RETURN(total, c.Cast(total, t));
  c.SetOutput(0, total);
  return absl::OkStatus();
}

double LargestFinite(DataType t) {
  if (t == DataType::Float(16)) return HalfToFloat(0x7bff);
  if (t == DataType::BFloat16()) return BFloat16ToFloat(0x7f7f);
  return t.bits == 64 ? std::numeric_limits<double>::max()
                      : std::numeric_limits<float>::max();
}

// A limit that is left out is the type's lowest or largest number, so that an
// infinity does not stay one.
absl::Status Clip(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Attrs attrs;
  if (c.opset() < 11) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    attrs.Set("min", c.Float("min", -kLargest));
    attrs.Set("max", c.Float("max", kLargest));
    return c.Return("clip", {x}, std::move(attrs));
  }
  const DataType t = x.type().dtype;
  // Limits that are known become attributes, which are doubles; others are
  // compared with.
  static constexpr const char* kNames[] = {"", "min", "max"};
  static constexpr const char* kOps[] = {"", "maximum", "minimum"};
  std::vector<int> computed;
  for (int i = 1; i <= 2; ++i) {
    if (!c.has_input(i)) {
      const double largest = t.is_float() ? LargestFinite(t) : 0;
      if (t.is_float()) attrs.Set(kNames[i], i == 1 ? -largest : largest);
      continue;
    }
    const Known* k = c.known(i);
    double limit;
    // Upper limits go after lower ones, which may be above them.
    if (computed.empty() && k != nullptr && k->values.size() == 1 &&
        k->values[0].FitsDouble() && k->values[0].AsDouble(&limit)) {
      attrs.Set(kNames[i], limit);
    } else {
      computed.push_back(i);
    }
  }
  if (!attrs.values().empty() || computed.empty()) {
    INGOT_ASSIGN_OR_RETURN(x, c.Emit("clip", {x}, std::move(attrs)));
  }
  for (int i : computed) {
    INGOT_ASSIGN_OR_RETURN(Value limit, c.Input(i));
    INGOT_ASSIGN_OR_RETURN(limit, c.Reshape(limit, {}));
    INGOT_ASSIGN_OR_RETURN(x, c.Emit(kOps[i], {x, limit}));
  }
  c.SetOutput(0, x);
  return absl::OkStatus();
}

// x as elements of type `to`, as output 0.
absl::Status CastTo(NodeContext& c, const ElementType& to) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.StoredInput(0));
  const ElementType from = c.ElementTypeOf(0, x);
  if (from.storage == StorageType::kNone && to.storage == StorageType::kNone) {
    Attrs attrs;
    attrs.Set("dtype", to.dtype);
    return c.Return("cast", {x}, std::move(attrs));
  }
  relay::Conversion how;
  how.saturate = !IsSmallInteger(to.storage) && c.Int("saturate", 1) != 0;
  how.rounding = c.String("round_mode", "up");
  INGOT_ASSIGN_OR_RETURN(Value y, ConvertElements(c, x, from, to, how));
  c.SetStoredOutput(0, y, to.storage);
  return absl::OkStatus();
}

absl::Status Cast(NodeContext& c) {
  // Operator sets before 6 named the type.
  int64_t to = 0;
  if (c.opset() < 6 && c.node().attribute_size() > 0 &&
      !c.node().attribute(0).s().empty()) {
    onnx::TensorProto::DataType parsed;
    if (!onnx::TensorProto::DataType_Parse(c.String("to", ""), &parsed)) {
      return c.Error("there is no type '", c.String("to", ""), "'");
    }
    to = parsed;
  } else {
    to = c.Int("to", 0);
  }
  if (to < 0 || to > std::numeric_limits<int>::max()) {
    return c.Error("to=", to);
  }
  INGOT_ASSIGN_OR_RETURN(ElementType type,
                         ElementTypeFromOnnx(static_cast<int>(to)));
  return CastTo(c, type);
}

absl::Status CastLike(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value like, c.StoredInput(1));
  return CastTo(c, c.ElementTypeOf(1, like));
}

// The bits of x as elements of another type. Those that take less than a byte
// pass by way of an integer without a sign, whose code they are.
absl::Status BitCast(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.StoredInput(0));
  const ElementType from = c.ElementTypeOf(0, x);
  INGOT_ASSIGN_OR_RETURN(const ElementType to,
                         ElementTypeFromOnnx(static_cast<int>(c.Int("to", 0))));
  auto bits = [](const ElementType& type) {
    return type.storage == StorageType::kNone ? type.dtype.bits
                                              : BitsOf(type.storage);
  };
  if (from.storage == StorageType::kText || to.storage == StorageType::kText ||
      bits(from) != bits(to)) {
    return c.Error("the elements of ", relay::ToString(x.type()),
                   " are not as wide as those of type ", c.Int("to", 0));
  }
  const ElementType code = ElementType::Of(
      bits(from) == 4 ? StorageType::kUInt4 : StorageType::kUInt2);
  if (IsSmallInteger(from.storage)) {
    INGOT_ASSIGN_OR_RETURN(x, ConvertElements(c, x, from, code));
  }
  if (IsSmallInteger(to.storage)) {
    INGOT_ASSIGN_OR_RETURN(x, ConvertElements(c, x, code, to));
  }
  Attrs attrs;
  attrs.Set("dtype", to.dtype);
  if (x.type().dtype != to.dtype) {
    INGOT_ASSIGN_OR_RETURN(
        x, c.Emit(to.dtype.is_bool() ? "cast" : "bit_cast", {x}, attrs));
  }
  c.SetStoredOutput(0, x, to.storage);
  return absl::OkStatus();
}

absl::Status SwiGlu(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value gate, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(1));
  Attrs attrs;
  attrs.Set("alpha", c.Float("alpha", 1));
  INGOT_ASSIGN_OR_RETURN(gate,
                         c.Emit("swish", {gate}, std::move(attrs), "gate"));
  return c.Return("mul", {gate, x});
}

absl::Status PRelu(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value slope, c.Input(1));
  // One slope a channel, without the dimensions after it: before operator set
  // 7, and from older exporters where slopes do not broadcast.
  if (RankOf(slope) == 1 && RankOf(x) > 2 && c.opset() < 9 &&
      relay::SameShape({ShapeOf(slope)[0]}, {ShapeOf(x)[1]}) &&
      (c.opset() < 7 ||
       !relay::SameShape({ShapeOf(slope)[0]}, {ShapeOf(x).back()}))) {
    Shape shape(RankOf(x) - 1, tir::MakeInt(1));
    shape[0] = ShapeOf(slope)[0];
    INGOT_ASSIGN_OR_RETURN(slope, c.Reshape(slope, shape));
  }
  return c.Return("prelu", {x, slope});
}

// Operand 0. Small floats become f32, in which as many are infinite or NaN.
absl::StatusOr<Value> FloatsOf(NodeContext& c) {
  if (!IsSmallFloat(c.storage(0))) return c.Input(0);
  INGOT_ASSIGN_OR_RETURN(const Value x, c.StoredInput(0));
  return ConvertElements(c, x, c.ElementTypeOf(0, x), {DataType::Float(32)});
}

absl::Status IsNaN(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, FloatsOf(c));
  return c.Return("is_nan", {x});
}

absl::Status IsInf(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, FloatsOf(c));
  Attrs attrs;
  attrs.Set("detect_negative", c.Int("detect_negative", 1));
  attrs.Set("detect_positive", c.Int("detect_positive", 1));
  return c.Return("is_inf", {x}, std::move(attrs));
}

absl::Status Gelu(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const std::string approximate = c.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return c.Error("approximate='", approximate, "'");
  }
  Attrs attrs;
  attrs.Set("approximate", approximate);
  return c.Return("gelu", {x}, std::move(attrs));
}

absl::Status Where(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
  return c.Return("where", in);
}

absl::Status Identity(NodeContext& c) {
  if (!c.has_input(0)) return c.Error("input 0 is missing");
  if (c.binding(0)->initializer != nullptr) {
    INGOT_RETURN_IF_ERROR(c.StoredInput(0).status());
  }
  c.SetOutput(0, *c.binding(0));
  return absl::OkStatus();
}

}  // namespace

void AddElementwiseConverters(ConverterTable* t) {
  static constexpr RelayName kUnary[] = {{"Relu", 1, "relu"},
                                         {"Sigmoid", 1, "sigmoid"},
                                         {"HardSwish", 14, "hard_swish"},
                                         {"Tanh", 1, "tanh"},
                                         {"Exp", 1, "exp"},
                                         {"Log", 1, "log"},
                                         {"Sqrt", 1, "sqrt"},
                                         {"Erf", 9, "erf"},
                                         {"Abs", 1, "abs"},
                                         {"Neg", 1, "neg"},
                                         {"Floor", 1, "floor"},
                                         {"Ceil", 1, "ceil"},
                                         {"Round", 11, "round"},
                                         {"Sign", 9, "sign"},
                                         {"Reciprocal", 1, "reciprocal"},
                                         {"Softplus", 1, "softplus"},
                                         {"Softsign", 1, "softsign"},
                                         {"Mish", 18, "mish"},
                                         {"Sin", 7, "sin"},
                                         {"Cos", 7, "cos"},
                                         {"Tan", 7, "tan"},
                                         {"Asin", 7, "asin"},
                                         {"Acos", 7, "acos"},
                                         {"Atan", 7, "atan"},
                                         {"Sinh", 9, "sinh"},
                                         {"Cosh", 9, "cosh"},
                                         {"Asinh", 9, "asinh"},
                                         {"Acosh", 9, "acosh"},
                                         {"Atanh", 9, "atanh"},
                                         {"Not", 1, "logical_not"},
                                         {"BitwiseNot", 18, "bitwise_not"}};
  for (const auto& [onnx_op, since, op] : kUnary)
    t->Add(onnx_op, since, Unary(op));
  t->Add("LeakyRelu", 1, Unary("leaky_relu", {{"alpha", 0.01}}));
  t->Add("Elu", 1, Unary("elu", {{"alpha", 1}}));
  t->Add("Celu", 12, Unary("celu", {{"alpha", 1}}));
  t->Add("Selu", 1,
         Unary("selu", {{"alpha", 1.67326319217681884765625},
                        {"gamma", 1.05070102214813232421875}}));
  t->Add("HardSigmoid", 1,
         Unary("hard_sigmoid", {{"alpha", 0.2}, {"beta", 0.5}}));
  t->Add("ThresholdedRelu", 10, Unary("thresholded_relu", {{"alpha", 1}}));
  t->Add("Shrink", 9, Unary("shrink", {{"bias", 0}, {"lambd", 0.5}}));
  t->Add("Swish", 24, Unary("swish", {{"alpha", 1}}));

  static constexpr RelayName kBinary[] = {
      {"Add", 1, "add"},
      {"Sub", 1, "sub"},
      {"Mul", 1, "mul"},
      {"Div", 1, "div"},
      {"Equal", 1, "equal"},
      {"Less", 1, "less"},
      {"LessOrEqual", 12, "less_equal"},
      {"Greater", 1, "greater"},
      {"GreaterOrEqual", 12, "greater_equal"},
      {"And", 1, "logical_and"},
      {"Or", 1, "logical_or"},
      {"Xor", 1, "logical_xor"},
      {"BitwiseAnd", 18, "bitwise_and"},
      {"BitwiseOr", 18, "bitwise_or"},
      {"BitwiseXor", 18, "bitwise_xor"}};
  for (const auto& [onnx_op, since, op] : kBinary)
    t->Add(onnx_op, since, Binary(op));
  t->Add("Sum", 1, Variadic("add"));
  t->Add("Max", 1, Variadic("maximum"));
  t->Add("Min", 1, Variadic("minimum"));
  t->Add("Mean", 1, &Mean);
  t->Add("Pow", 1, &Pow);
  t->Add("Mod", 10, &Mod);
  t->Add("BitShift", 11, &BitShift);
  t->Add("Clip", 1, &Clip);
  t->Add("Cast", 1, &Cast);
  t->Add("CastLike", 15, &CastLike);
  t->Add("BitCast", 26, &BitCast);
  t->Add("SwiGLU", 28, &SwiGlu);
  t->Add("PRelu", 1, &PRelu);
  t->Add("IsInf", 10, &IsInf);
  t->Add("IsNaN", 9, &IsNaN);
  t->Add("Gelu", 20, &Gelu);
  t->Add("Where", 9, &Where);
  t->Add("Identity", 1, &Identity);
}

}  // namespace ingot::onnx_frontend

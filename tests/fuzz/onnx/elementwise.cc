// Operators that compute each element from those at its place.
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

// Operators of whole numbers, too.
void AddArithmetic(Grower* g, const std::string& op) {
  g->Try(Call(op, {g->Some(g->AnyType(), 0, 5)}));
}

// Defined for a part of the numbers: brings its operand there first.
void AddPartial(Grower* g, const std::string& op) {
  const DataType t = g->FloatType();
  auto x =
      g->Try(Call(op == "Acos" || op == "Asin" || op == "Atanh" ? "Sin" : "Abs",
                  {g->Some(t, 0, 4)}));
  if (!x) return;
  if (op == "Acosh" || op == "Reciprocal" || op == "Log" || op == "Atanh") {
    const bool half = op == "Atanh";
    x = g->Try(Call(half ? "Mul" : "Add",
                    {*x, g->ScalarParameter(half ? 0.75 : 1.0, t)}));
    if (!x) return;
  }
  g->Try(Call(op, {*x}));
}

void AddParametric(Grower* g, const std::string& op) {
  Random& r = g->random();
  Call call(op, {g->Some(g->FloatType(), 0, 4)});
  if (r.Chance(70)) {
    if (op == "Shrink") {
      call.Float("lambd", r.Real(0, 0.7)).Float("bias", r.Real(-0.5, 0.5));
    } else {
      call.Float("alpha", r.Real(0.1, 1.5));
    }
    if (op == "HardSigmoid") call.Float("beta", r.Real(0, 1));
    if (op == "Selu") call.Float("gamma", r.Real(0.5, 1.5));
  }
  g->Try(call);
}

void AddGelu(Grower* g, const std::string& op) {
  Call call(op, {g->Some(g->FloatType(), 0, 4)});
  if (g->random().Chance(50)) call.String("approximate", "tanh");
  g->Try(call);
}

void AddClip(Grower* g, const std::string& op) {
  const DataType t = g->AnyType();
  if (t.is_bool()) return;
  Call call(op, {g->Some(t, 0, 4)});
  const double low = t.is_uint() ? 1 : -0.5 * (t.is_float() ? 1 : 4);
  const bool has_low = g->random().Chance(70);
  call.operands.push_back(has_low ? g->ScalarParameter(low, t) : "");
  if (g->random().Chance(70)) {
    call.operands.push_back(g->ScalarParameter(t.is_float() ? 0.75 : 3, t));
  }
  g->Try(call);
}

void AddCast(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->AnyType(), 0, 4);
  const DataType to = g->AnyType();
  // ONNX leaves open how a negative float becomes an unsigned integer, and
  // machines differ.
  if (g->TypeOf(x).is_float() && to.is_uint()) return;
  if (op == "Cast") {
    g->Try(Call(op, {x}).Int("to", OnnxTypeOf(to)));
  } else {
    g->Try(Call(op, {x, g->Some(to, 0, 2)}));
  }
}

// The same bits as another type.
void AddBitCast(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType from = g->AnyType();
  if (from.is_bool()) return;
  const DataType to =
      r.Chance(50) ? DataType::Int(from.bits) : DataType::UInt(from.bits);
  g->Try(Call(op, {g->Some(from, 0, 4)}).Int("to", OnnxTypeOf(to)));
}

// A second operand for `x`: the same value, or one that broadcasts with it.
std::string Partner(Grower* g, const std::string& x, Fill fill = {}) {
  Random& r = g->random();
  if (r.Chance(12)) return x;
  Shape shape = g->ShapeOf(x);
  if (r.Chance(30)) {
    for (int64_t& extent : shape) {
      if (r.Chance(50)) extent = 1;
    }
  }
  if (r.Chance(25) && !shape.empty()) {
    shape.erase(shape.begin(),
                shape.begin() + r.Next(static_cast<int64_t>(shape.size()) + 1));
  }
  if (r.Chance(8) && shape.size() < 4) shape.insert(shape.begin(), 2);
  return g->Like(g->TypeOf(x), shape, fill);
}

void AddBinary(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->AnyType(), 0, 5);
  const std::string y = Partner(g, x);
  if (g->random().Chance(50)) {
    g->Try(Call(op, {x, y}));
  } else {
    g->Try(Call(op, {y, x}));
  }
}

void AddLogical(Grower* g, const std::string& op) {
  const std::string x = g->Some(DataType::Bool(), 0, 4);
  g->Try(Call(op, {x, Partner(g, x)}));
}

void AddBitwise(Grower* g, const std::string& op) {
  const std::string x =
      g->Some(g->random().OneOf({DataType::Int(32), DataType::Int(64),
                                 DataType::UInt(8), DataType::Int(8),
                                 DataType::UInt(32), DataType::UInt(16)}),
              0, 4);
  if (op == "BitwiseNot") {
    g->Try(Call(op, {x}));
    return;
  }
  g->Try(Call(op, {x, Partner(g, x)}));
}

void AddShift(Grower* g, const std::string& op) {
  const std::string x =
      g->Some(g->random().OneOf({DataType::UInt(8), DataType::UInt(32),
                                 DataType::UInt(64), DataType::UInt(16)}),
              0, 4);
  const std::string y = g->New(g->TypeOf(x), g->ShapeOf(x), Fill::Whole(0, 6));
  g->Try(Call(op, {x, y})
             .String("direction", g->random().Chance(50) ? "LEFT" : "RIGHT"));
}

// The divisor is away from zero.
void AddDivision(Grower* g, const std::string& op) {
  const DataType t = g->AnyType();
  if (t.is_bool()) return;
  const std::string x = g->Some(t, 0, 4);
  const std::string y =
      Partner(g, x, t.is_float() ? Fill::Positive() : Fill::Whole(1, 5));
  if (!t.is_float()) {
    const Tensor& divisor = g->At(y);
    for (int64_t i = 0; i < divisor.NumElements(); ++i) {
      if (ElementAt(divisor, i) == 0) return;
    }
  }
  Call call(op, {x, y});
  if (op == "Mod" && (t.is_float() || g->random().Chance(30))) {
    call.Int("fmod", 1);
  }
  g->Try(call);
}

void AddPower(Grower* g, const std::string& op) {
  const DataType t = g->FloatType();
  const std::string x = g->Some(t, 0, 4);
  if (g->random().Chance(60)) {
    const double exponent = g->random().OneOf({2.0, 3.0, 1.0, 0.0, 4.0});
    g->Try(Call(op, {x, g->ScalarParameter(exponent, t)}));
    return;
  }
  const auto base = g->Try(Call("Abs", {x}));
  if (!base) return;
  const auto away = g->Try(Call("Add", {*base, g->ScalarParameter(0.25, t)}));
  if (away) g->Try(Call(op, {*away, Partner(g, *away, Fill::Positive())}));
}

void AddVariadic(Grower* g, const std::string& op) {
  const DataType t = g->AnyType();
  const std::string x = g->Some(t, 0, 4);
  std::vector<std::string> operands = {x};
  for (int64_t k = g->random().Next(4); k > 0; --k) {
    operands.push_back(Partner(g, x));
  }
  g->Try(Call(op, operands));
}

void AddPRelu(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->FloatType(), 1, 5);
  Shape slope = g->ShapeOf(x);
  const int64_t kind = g->random().Next(3);
  if (kind == 0) slope = {1};
  if (kind == 1) {
    for (size_t d = 0; d < slope.size(); ++d) {
      if (d != 1) slope[d] = 1;
    }
    if (slope.size() > 1) slope.erase(slope.begin());
  }
  g->Try(Call(op, {x, g->New(g->TypeOf(x), slope)}));
}

void AddWhere(Grower* g, const std::string& op) {
  const std::string x = g->Some(g->AnyType(), 0, 4);
  Shape condition = g->ShapeOf(x);
  if (g->random().Chance(30) && !condition.empty()) condition[0] = 1;
  g->Try(Call(op, {g->Like(DataType::Bool(), condition), x, Partner(g, x)}));
}

}  // namespace

void AddElementwise(std::vector<OnnxSampler>* samplers) {
  samplers->push_back(
      {{"Abs", "Identity", "Neg", "Relu", "Sign"}, AddArithmetic, 2});
  samplers->push_back(
      {{"Acos", "Acosh", "Asin", "Atanh", "Log", "Reciprocal", "Sqrt"},
       AddPartial,
       2});
  samplers->push_back({{"Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu",
                        "Shrink", "Swish", "ThresholdedRelu"},
                       AddParametric,
                       2});
  samplers->push_back({{"Gelu"}, AddGelu});
  samplers->push_back({{"Clip"}, AddClip, 2});
  samplers->push_back({{"Cast", "CastLike"}, AddCast, 2});
  samplers->push_back({{"Add", "Sub", "Mul", "Equal", "Greater",
                        "GreaterOrEqual", "Less", "LessOrEqual"},
                       AddBinary,
                       6});
  samplers->push_back({{"And", "Or", "Xor"}, AddLogical});
  samplers->push_back({{"Not"}, [](Grower* g, const std::string& op) {
                         g->Try(Call(op, {g->Some(DataType::Bool(), 0, 4)}));
                       }});
  samplers->push_back(
      {{"BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"}, AddBitwise});
  samplers->push_back({{"BitShift"}, AddShift});
  samplers->push_back({{"BitCast"}, AddBitCast});
  samplers->push_back({{"Div", "Mod"}, AddDivision, 2});
  samplers->push_back({{"Pow"}, AddPower});
  samplers->push_back({{"Max", "Min", "Sum", "Mean"}, AddVariadic, 2});
  samplers->push_back({{"PRelu"}, AddPRelu});
  samplers->push_back({{"Where"}, AddWhere});
}

}  // namespace ingot::fuzz

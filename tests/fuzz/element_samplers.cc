// Operators that work on one element of each operand.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/fuzz/op_samplers.h"

namespace ingot::fuzz {
namespace {

using relay::Attrs;
using Ints = std::vector<int64_t>;

const DataType kF32 = DataType::Float(32);
const DataType kI32 = DataType::Int(32);
const DataType kI64 = DataType::Int(64);
const DataType kBool = DataType::Bool();

// One of the types that arithmetic is defined on, floats mostly.
DataType NumberType(ModelBuilder* m) {
  if (m->Chance(80)) return m->FloatType();
  return m->Chance(50) ? kI64 : kI32;
}

// ---------------------------------------------------------------- elementwise

bool AddSmooth(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType());
  if (!x) return false;
  Attrs attrs;
  if (op == "gelu" && m->Chance(50)) attrs.Set("approximate", "tanh");
  double bound = x->bound + 1;
  if (op == "exp" || op == "sinh" || op == "cosh") {
    if (x->bound > 6) return false;
    bound = std::exp(x->bound);
  }
  if (op == "selu") bound = 2 * bound;
  if (op == "celu" || op == "elu") attrs.Set("alpha", 0.7);
  if (op == "tan" && x->bound > 1.2) return false;
  if (op == "tan") bound = 3;
  if (op == "sin" || op == "cos") {
    if (x->bound > 100) return false;
    bound = 1;
  }
  return m->Add(op, {*x}, attrs, false, bound);
}

// Whether the two broadcast, or fail to, whatever the symbol is: a symbol that
// meets another extent is an error of the run.
bool Meet(const Known& x, const Known& y) {
  const relay::Shape &a = x.type().shape, &b = y.type().shape;
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const relay::Dim &p = a[a.size() - i], &q = b[b.size() - i];
    int64_t m, n;
    const bool known = tir::AsConstInt(p, &m) && tir::AsConstInt(q, &n);
    if (!known && !tir::IsConstInt(p, 1) && !tir::IsConstInt(q, 1) &&
        !relay::SameShape({p}, {q})) {
      return false;
    }
  }
  return true;
}

// Operators that grow without limit or are not defined everywhere, applied to
// an operand for which they are safe.
bool AddGuarded(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) { return k.bound < 1000; });
  if (!x || !m->Add("abs", {*x}, {}, x->exact, x->bound)) return false;
  const Known one = m->Integers({1}, kF32, {});
  const Known positive = m->values().back();
  if (!m->Add("add", {positive, one}, {}, x->exact, x->bound + 1)) return false;
  const Known base = m->values().back();
  if (op == "pow") {
    const Known power = m->Integers({m->Next(3)}, kF32, {});
    return m->Add(op, {base, power}, {}, false, std::pow(base.bound, 2));
  }
  if (op == "div") {
    const auto y = m->Pick(kF32);
    if (!y || !Meet(*y, base)) return false;
    return m->Add(op, {*y, base}, {}, false, y->bound) ||
           m->Add(op, {base, base}, {}, false, base.bound);
  }
  return m->Add(op, {base}, {}, false, base.bound);
}

// Operators that are defined between -1 and 1.
bool AddInverse(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType());
  if (!x || !m->Add("tanh", {*x}, {}, false, 1)) return false;
  const Known small = m->values().back();
  const Known most = m->Constant(small.type().dtype, {}, false);
  return m->Add("mul", {small, most}, {}, false, 1) &&
         m->Add(op, {m->values().back()}, {}, false, 20);
}

bool AddExactUnary(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(NumberType(m));
  return x && m->Add(op, {*x}, {}, x->exact, x->bound);
}

// A jump: only of what every backend computes to the last bit.
bool AddStep(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) { return k.exact; });
  if (!x) return false;
  Attrs attrs;
  if (op == "thresholded_relu") attrs.Set("alpha", 1.5);
  if (op == "shrink") {
    attrs.Set("lambd", 1.5);
    attrs.Set("bias", 1.0);
  }
  return m->Add(op, {*x}, attrs, true, x->bound + 1);
}

bool AddRamp(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
  if (!x) return false;
  Attrs attrs;
  if (op == "clip") {
    if (m->Chance(80)) attrs.Set("min", -1.0);
    if (m->Chance(80)) attrs.Set("max", 2.0);
  }
  return m->Add(op, {*x}, attrs, op == "clip" && x->exact, x->bound + 2);
}

bool AddLogical(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kBool), y = m->Pick(kBool);
  if (!x || !y) return false;
  if (op == "logical_not") return m->Add(op, {*x}, {}, true, 1);
  return m->Add(op, {*x, Meet(*x, *y) ? *y : *x}, {}, true, 1);
}

bool AddBits(ModelBuilder* m, const std::string& op) {
  const DataType t = m->Chance(50) ? kI64 : kI32;
  const auto x = m->Pick(t), y = m->Pick(t);
  if (!x || !y) return false;
  const double bound = 2 * (x->bound + y->bound) + 2;
  if (op == "bitwise_not") return m->Add(op, {*x}, {}, true, x->bound + 1);
  if (op == "bit_shift") {
    const auto u = m->Pick(DataType::UInt(8));
    if (!u) return false;
    Attrs attrs;
    attrs.Set("direction", m->Chance(50) ? "LEFT" : "RIGHT");
    return m->Add(op, {*u, *u}, attrs, true, 255);
  }
  return (Meet(*x, *y) && m->Add(op, {*x, *y}, {}, true, bound)) ||
         m->Add(op, {*x, m->Constant(t, {}, true)}, {}, true, bound);
}

// ---------------------------------------------------------------------- pairs

// A second operand for `x`: a value that broadcasts with it, or a constant.
Known Partner(ModelBuilder* m, const Known& x) {
  if (m->Chance(60)) {
    const auto y = m->Pick(x.type().dtype, [&](const Known& k) {
      return relay::SameShape(k.type().shape, x.type().shape) ||
             (k.rank() < x.rank() && Meet(k, x));
    });
    if (y) return *y;
  }
  Ints shape;
  for (int d = 0; d < x.rank(); ++d) {
    shape.push_back(x.dim(d) < 0 || m->Chance(30) ? 1 : x.dim(d));
  }
  const int64_t drop = x.rank() == 0 ? 0 : m->Next(x.rank() + 1);
  shape.erase(shape.begin(), shape.begin() + drop);
  return m->Constant(x.type().dtype, shape, m->Chance(50));
}

bool AddArithmetic(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(NumberType(m));
  if (!x) return false;
  const Known y = Partner(m, *x);
  const double bound = op == "mul" ? x->bound * y.bound : x->bound + y.bound;
  if (x->exact && y.exact && bound > (1 << 20)) return false;
  const bool swap = m->Chance(50);
  return m->Add(op,
                swap ? std::vector<Known>{y, *x} : std::vector<Known>{*x, y},
                {}, x->exact && y.exact, bound);
}

bool AddComparison(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(NumberType(m), [](const Known& k) { return k.exact; });
  if (!x) return false;
  const Known y = Partner(m, *x);
  return y.exact && m->Add(op, {*x, y}, {}, true, 1);
}

bool AddMod(ModelBuilder* m, const std::string& op) {
  const DataType t = m->Chance(50) ? kI64 : kI32;
  const auto x = m->Pick(t);
  if (!x) return false;
  Attrs attrs;
  if (m->Chance(50)) attrs.Set("fmod", int64_t{1});
  const int64_t divisor = (m->Chance(50) ? 1 : -1) * (1 + m->Next(5));
  return m->Add(op, {*x, m->Integers({divisor}, t, {})}, attrs, true, x->bound);
}

bool AddPrelu(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
  if (!x) return false;
  const Known y = Partner(m, *x);
  return m->Add(op, {*x, y}, {}, false, x->bound * (1 + y.bound));
}

bool AddWhere(ModelBuilder* m, const std::string& op) {
  const auto c = m->Pick(kBool);
  const auto x = m->Pick(NumberType(m));
  if (!c || !x || !Meet(*c, *x)) return false;
  const Known y = Partner(m, *x);
  return m->Add(op, {*c, *x, y}, {}, x->exact && y.exact,
                std::max(x->bound, y.bound));
}

bool AddCast(ModelBuilder* m, const std::string& op) {
  const DataType kFrom[] = {kF32, kI64, kI32, kBool, DataType::UInt(8)};
  const DataType kTo[] = {kF32, kI64, kI32, kBool, DataType::Float(64)};
  const auto x =
      m->Pick(kFrom[m->Next(5)], [](const Known& k) { return k.exact; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("dtype", kTo[m->Next(5)]);
  return m->Add(op, {*x}, attrs, true, std::max(1.0, x->bound));
}

}  // namespace

void AddElementSamplers(std::vector<OpSampler>* samplers) {
  const std::vector<OpSampler> added = {
      {{"sigmoid", "tanh", "softplus", "softsign", "swish", "gelu", "elu",
        "selu", "celu", "erf", "exp", "sinh", "cosh", "asinh", "atan", "sin",
        "cos", "tan"},
       AddSmooth},
      {{"asin", "acos", "atanh"}, AddInverse},
      {{"log", "sqrt", "rsqrt", "reciprocal", "acosh", "pow", "div"},
       AddGuarded},
      {{"relu", "abs", "neg"}, AddExactUnary},
      {{"floor", "ceil", "round", "sign", "thresholded_relu", "shrink",
        "is_nan", "is_inf"},
       AddStep},
      {{"leaky_relu", "hard_sigmoid", "hard_swish", "clip"}, AddRamp},
      {{"logical_and", "logical_or", "logical_xor", "logical_not"}, AddLogical},
      {{"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bit_shift"},
       AddBits},
      {{"add", "sub", "mul", "minimum", "maximum"}, AddArithmetic},
      {{"add", "sub", "mul"}, AddArithmetic},
      {{"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"},
       AddComparison},
      {{"mod"}, AddMod},
      {{"prelu"}, AddPrelu},
      {{"where"}, AddWhere},
      {{"cast"}, AddCast},
  };
  samplers->insert(samplers->end(), added.begin(), added.end());
}

}  // namespace ingot::fuzz

#include "tests/fuzz/op_samplers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/relay/op.h"

namespace ingot::fuzz {
namespace {

using relay::Attrs;
using relay::MakeShape;
using relay::Shape;
using Ints = std::vector<int64_t>;

const DataType kF32 = DataType::Float(32);
const DataType kI32 = DataType::Int(32);
const DataType kI64 = DataType::Int(64);
const DataType kBool = DataType::Bool();

// One of the types that arithmetic is defined on, floats mostly.
DataType NumberType(ModelBuilder* m) {
  if (m->Chance(80)) return kF32;
  return m->Chance(50) ? kI64 : kI32;
}

bool IsStatic(const Known& x) {
  return relay::ConstShape(x.type().shape).has_value();
}

Ints Extents(const Known& x) { return *relay::ConstShape(x.type().shape); }

double ElementsOf(const Known& x) {
  double count = 1;
  for (int d = 0; d < x.rank(); ++d) count *= x.dim(d) < 0 ? 3 : x.dim(d);
  return count;
}

// ---------------------------------------------------------------- elementwise

bool AddSmooth(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
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

// What grows without limit or is not defined everywhere, on a safe operand.
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
    if (!y) return false;
    return m->Add(op, {*y, base}, {}, false, y->bound) ||
           m->Add(op, {base, base}, {}, false, base.bound);
  }
  return m->Add(op, {base}, {}, false, base.bound);
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
  return m->Add(op, {*x, *y}, {}, true, 1) || m->Add(op, {*x, *x}, {}, true, 1);
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
  return m->Add(op, {*x, *y}, {}, true, bound) ||
         m->Add(op, {*x, m->Constant(t, {}, true)}, {}, true, bound);
}

// ---------------------------------------------------------------------- pairs

// A second operand for `x`: a value that broadcasts with it, or a constant.
Known Partner(ModelBuilder* m, const Known& x) {
  if (m->Chance(60)) {
    const auto y = m->Pick(x.type().dtype, [&](const Known& k) {
      return relay::SameShape(k.type().shape, x.type().shape) ||
             k.rank() < x.rank();
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
  if (!c || !x) return false;
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

// ----------------------------------------------------------------- rearranging

bool AddTranspose(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->Chance(90) ? kF32 : kI64);
  if (!x || x->rank() < 2) return false;
  Ints axes;
  for (int d = 0; d < x->rank(); ++d) axes.push_back(d);
  for (int d = x->rank() - 1; d > 0; --d) {
    std::swap(axes[d], axes[m->Next(d + 1)]);
  }
  Attrs attrs;
  attrs.Set("axes", axes);
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

bool AddReshape(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->Chance(90) ? kF32 : kI64);
  if (!x || x->rank() == 0) return false;
  Attrs attrs;
  if (op == "flatten") {
    attrs.Set("axis", m->Next(x->rank() + 1));
  } else if (op == "unsqueeze") {
    attrs.Set("axes", Ints{m->Next(x->rank() + 1)});
  } else if (op == "squeeze") {
    Ints axes;
    for (int d = 0; d < x->rank(); ++d) {
      if (x->dim(d) == 1 && m->Chance(70)) axes.push_back(d);
    }
    if (axes.empty()) return false;
    attrs.Set("axes", axes);
  } else if (op == "reshape") {
    // Two neighbours become one.
    if (x->rank() < 2) return false;
    Shape shape = x->type().shape;
    const int64_t at = m->Next(x->rank() - 1);
    shape[at] = shape[at] * shape[at + 1];
    shape.erase(shape.begin() + at + 1);
    attrs.Set("shape", shape);
  }
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

bool AddConcat(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
  if (!x || x->rank() == 0) return false;
  std::vector<Known> parts = {*x};
  const int64_t axis = m->Next(x->rank());
  for (int64_t n = 1 + m->Next(3); n > 0; --n) {
    const auto y = m->Pick(kF32);
    Shape a = x->type().shape;
    if (!y || y->rank() != x->rank()) continue;
    Shape b = y->type().shape;
    a[axis] = b[axis] = tir::MakeInt(1);
    if (relay::SameShape(a, b)) parts.push_back(*y);
  }
  bool exact = true;
  double bound = 0;
  for (const Known& part : parts) {
    exact = exact && part.exact;
    bound = std::max(bound, part.bound);
  }
  Attrs attrs;
  attrs.Set("axis", axis);
  return m->Add(op, parts, attrs, exact, bound);
}

bool AddSlice(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
  if (!x || x->rank() == 0) return false;
  const int64_t axis = m->Next(x->rank());
  const int64_t extent = x->dim(axis);
  if (extent < 1) return false;
  int64_t start = m->Next(extent), end = start + 1 + m->Next(extent - start);
  int64_t step = 1 + m->Next(2);
  if (m->Chance(30)) {
    step = -step;
    std::swap(start, end);
    --start;
    --end;
  }
  Attrs attrs;
  attrs.Set("starts", MakeShape({start}));
  attrs.Set("ends", MakeShape({end}));
  attrs.Set("axes", Ints{axis});
  attrs.Set("steps", Ints{step});
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

bool AddPad(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
  if (!x || x->rank() == 0) return false;
  static const char* const kModes[] = {"constant", "edge", "reflect", "wrap"};
  const std::string mode = kModes[m->Next(4)];
  Ints pads(2 * x->rank(), 0);
  for (int d = 0; d < x->rank(); ++d) {
    // Reflecting and wrapping reach no farther than the operand does.
    const int64_t limit =
        mode == "reflect" || mode == "wrap" ? x->dim(d) - 1 : 2;
    if (limit < 1 || m->Chance(40)) continue;
    pads[d] = m->Next(std::min<int64_t>(limit, 2) + 1);
    pads[d + x->rank()] = m->Next(std::min<int64_t>(limit, 2) + 1);
  }
  Attrs attrs;
  attrs.Set("pads", pads);
  attrs.Set("mode", mode);
  if (mode == "constant") attrs.Set("value", 2.0);
  return m->Add(op, {*x}, attrs, x->exact, std::max(2.0, x->bound));
}

bool AddTile(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
  if (!x || x->rank() == 0) return false;
  Ints repeats(x->rank(), 1);
  repeats[m->Next(x->rank())] = 2;
  Attrs attrs;
  attrs.Set("repeats", repeats);
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

bool AddExpand(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
  if (!x) return false;
  Shape shape = x->type().shape;
  for (auto& dim : shape) {
    if (tir::IsConstInt(dim, 1)) dim = tir::MakeInt(1 + m->Next(3));
  }
  if (m->Chance(50)) shape.insert(shape.begin(), tir::MakeInt(2));
  Attrs attrs;
  attrs.Set("shape", shape);
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

bool AddBlocks(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) { return k.rank() == 4; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("blocksize", int64_t{2});
  if (op == "depth_to_space" && m->Chance(50)) attrs.Set("mode", "CRD");
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

bool AddTrilu(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) { return k.rank() >= 2; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("upper", m->Next(2));
  attrs.Set("k", m->Next(5) - 2);
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

// -------------------------------------------------------------------- indexing

Ints RandomIndices(ModelBuilder* m, int64_t count, int64_t extent) {
  Ints indices;
  for (int64_t i = 0; i < count; ++i) {
    indices.push_back(m->Next(2 * extent) - extent);
  }
  return indices;
}

bool AddGather(ModelBuilder* m, const std::string& op) {
  const auto x =
      m->Pick(kF32, [](const Known& k) { return k.rank() > 0 && IsStatic(k); });
  if (!x) return false;
  const int64_t axis = m->Next(x->rank());
  Attrs attrs;
  if (op == "gather") {
    attrs.Set("axis", axis);
    const Ints shape = m->Chance(50) ? Ints{3} : Ints{2, 2};
    const Known at =
        m->Integers(RandomIndices(m, shape.size() == 1 ? 3 : 4, x->dim(axis)),
                    m->Chance(50) ? kI64 : kI32, shape);
    return m->Add(op, {*x, at}, attrs, x->exact, x->bound);
  }
  if (op == "gather_elements") {
    attrs.Set("axis", axis);
    Ints shape = Extents(*x);
    shape[axis] = 2;
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    const Known at =
        m->Integers(RandomIndices(m, count, x->dim(axis)), kI64, shape);
    return m->Add(op, {*x, at}, attrs, x->exact, x->bound);
  }
  const Known at = m->Integers(RandomIndices(m, 2, x->dim(0)), kI64, {2, 1});
  return m->Add(op, {*x, at}, attrs, x->exact, x->bound);
}

bool AddScatter(ModelBuilder* m, const std::string& op) {
  // Sums of what meets in one place are exact in any order.
  const auto x = m->Pick(kF32, [](const Known& k) {
    return k.rank() > 0 && k.exact && IsStatic(k);
  });
  if (!x) return false;
  static const char* const kReductions[] = {"add", "max", "min"};
  Attrs attrs;
  attrs.Set("reduction", kReductions[m->Next(3)]);
  Ints shape = Extents(*x);
  if (op == "scatter_elements") {
    const int64_t axis = m->Next(x->rank());
    attrs.Set("axis", axis);
    shape[axis] = 2;
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    const Known at =
        m->Integers(RandomIndices(m, count, x->dim(axis)), kI64, shape);
    return m->Add(op, {*x, at, m->Constant(kF32, shape, true)}, attrs, true,
                  x->bound + 16);
  }
  shape[0] = 2;
  const Known at = m->Integers(RandomIndices(m, 2, x->dim(0)), kI64, {2, 1});
  return m->Add(op, {*x, at, m->Constant(kF32, shape, true)}, attrs, true,
                x->bound + 16);
}

bool AddTopK(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) {
    return k.rank() > 0 && k.exact && IsStatic(k);
  });
  if (!x) return false;
  const int64_t axis = m->Next(x->rank());
  Attrs attrs;
  attrs.Set("axis", axis);
  attrs.Set("k", 1 + m->Next(x->dim(axis)));
  attrs.Set("largest", m->Next(2));
  return m->Add(op, {*x}, attrs, true, std::max(x->bound, 64.0));
}

bool AddCumsum(ModelBuilder* m, const std::string& op) {
  const auto x =
      m->Pick(kF32, [](const Known& k) { return k.rank() > 0 && IsStatic(k); });
  if (!x) return false;
  const int64_t axis = m->Next(x->rank());
  Attrs attrs;
  attrs.Set("axis", axis);
  attrs.Set("exclusive", m->Next(2));
  attrs.Set("reverse", m->Next(2));
  return m->Add(op, {*x}, attrs, x->exact, x->bound * x->dim(axis));
}

// ------------------------------------------------------------------ reductions

bool AddReduce(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32);
  if (!x || x->rank() == 0) return false;
  Attrs attrs;
  Ints axes;
  for (int d = 0; d < x->rank(); ++d) {
    if (m->Chance(50)) axes.push_back(m->Chance(50) ? d : d - x->rank());
  }
  if (!axes.empty()) attrs.Set("axes", axes);
  attrs.Set("keepdims", m->Next(2));
  const double count = ElementsOf(*x);
  double bound = x->bound * count;
  bool exact = x->exact && bound < (1 << 20);
  if (op == "reduce_max" || op == "reduce_min" || op == "reduce_mean") {
    bound = x->bound;
    exact = x->exact && op != "reduce_mean";
  } else if (op == "reduce_sum_square") {
    bound = x->bound * x->bound * count;
    exact = exact && bound < (1 << 20);
  } else if (op == "reduce_l2" || op == "reduce_log_sum_exp") {
    exact = false;
  } else if (op == "reduce_prod") {
    if (x->bound > 1 || count > 100) return false;
    bound = 1;
  }
  return m->Add(op, {*x}, attrs, exact, bound);
}

bool AddArg(ModelBuilder* m, const std::string& op) {
  const auto x =
      m->Pick(kF32, [](const Known& k) { return k.exact && k.rank() > 0; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("axis", m->Next(x->rank()));
  attrs.Set("keepdims", m->Next(2));
  attrs.Set("select_last_index", m->Next(2));
  return m->Add(op, {*x}, attrs, true, 64);
}

bool AddSoftmax(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) { return k.rank() > 0; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("axis", m->Next(x->rank()));
  return m->Add(op, {*x}, attrs, false, 2 * x->bound + 8);
}

bool AddNorm(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [&](const Known& k) {
    return k.rank() >= 2 && k.dim(k.rank() - 1) > 1 && k.dim(1) > 0;
  });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("epsilon", 0.1);
  const int64_t last = x->dim(x->rank() - 1), channels = x->dim(1);
  if (op == "layer_norm" || op == "rms_norm") {
    return m->Add(op, {*x, m->Constant(kF32, {last}, false)}, attrs, false, 64);
  }
  const Known scale = m->Constant(kF32, {channels}, false);
  const Known bias = m->Constant(kF32, {channels}, false);
  if (op == "batch_norm") {
    return m->Add(op,
                  {*x, scale, bias, m->Constant(kF32, {channels}, false),
                   m->Integers(Ints(channels, 2), kF32, {channels})},
                  attrs, false, x->bound + 2);
  }
  if (x->rank() < 3) return false;
  if (op == "group_norm") {
    attrs.Set("groups", channels % 2 == 0 ? int64_t{2} : int64_t{1});
  }
  return m->Add(op, {*x, scale, bias}, attrs, false, 64);
}

bool AddLrn(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) { return k.rank() == 4; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("size", 1 + 2 * m->Next(3));
  return m->Add(op, {*x}, attrs, false, x->bound);
}

// --------------------------------------------------------- products and
// windows

bool AddMatmul(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) {
    return k.rank() >= 2 && k.dim(k.rank() - 1) > 0;
  });
  if (!x) return false;
  const int64_t inner = x->dim(x->rank() - 1), columns = 1 + m->Next(20);
  const bool exact = x->exact && m->Chance(50);
  const double bound = x->bound * inner * (exact ? 4 : 1);
  if (op == "dense") {
    return m->Add(op, {*x, m->Constant(kF32, {columns, inner}, exact)}, {},
                  exact, bound);
  }
  Ints shape = {inner, columns};
  if (x->rank() == 3 && x->dim(0) > 0 && m->Chance(40)) {
    shape.insert(shape.begin(), x->dim(0));
  }
  return m->Add(op, {*x, m->Constant(kF32, shape, exact)}, {}, exact, bound);
}

bool AddEinsum(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(
      kF32, [](const Known& k) { return k.rank() == 3 && IsStatic(k); });
  if (!x) return false;
  static const char* const kEquations[] = {"bij,bjk->bik", "bij,kj->bki",
                                           "bij->bji", "bij->bi"};
  const int64_t which = m->Next(4);
  Attrs attrs;
  attrs.Set("equation", std::string(kEquations[which]));
  std::vector<Known> inputs = {*x};
  if (which == 0)
    inputs.push_back(m->Constant(kF32, {x->dim(0), x->dim(2), 4}, false));
  if (which == 1) inputs.push_back(m->Constant(kF32, {5, x->dim(2)}, false));
  return m->Add(op, inputs, attrs, false, x->bound * x->dim(2));
}

bool AddConv(ModelBuilder* m, const std::string& op) {
  const int n = op[4] == '1' || op == "conv_transpose1d" ? 1 : 2;
  const auto x = m->Pick(
      kF32, [n](const Known& k) { return k.rank() == n + 2 && k.dim(1) > 0; });
  if (!x) return false;
  const int64_t channels = x->dim(1);
  int64_t groups = 1;
  if (m->Chance(30)) groups = m->Chance(50) && channels % 2 == 0 ? 2 : channels;
  const bool transposed = op.find("transpose") != std::string::npos;
  const int64_t out = groups * (1 + m->Next(groups == 1 ? 20 : 2));
  Ints shape =
      transposed ? Ints{channels, out / groups} : Ints{out, channels / groups};
  Ints pads(2 * n, 0), strides(n, 1), dilations(n, 1);
  double taps = static_cast<double>(channels) / groups;
  for (int d = 0; d < n; ++d) {
    const int64_t kernel = 1 + m->Next(3);
    shape.push_back(kernel);
    taps *= kernel;
    strides[d] = 1 + m->Next(2);
    if (m->Chance(30)) dilations[d] = 2;
    if (m->Chance(60)) {
      pads[d] = m->Next(kernel);
      pads[d + n] = m->Next(kernel);
    }
  }
  Attrs attrs;
  attrs.Set("groups", groups);
  attrs.Set("pads", pads);
  attrs.Set("strides", strides);
  attrs.Set("dilations", dilations);
  return m->Add(op, {*x, m->Constant(kF32, shape, false)}, attrs, false,
                x->bound * taps);
}

bool AddPool(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) { return k.rank() == 4; });
  if (!x) return false;
  Attrs attrs;
  Ints kernel, strides, pads(4, 0);
  for (int d = 0; d < 2; ++d) {
    kernel.push_back(1 + m->Next(3));
    strides.push_back(1 + m->Next(2));
    if (m->Chance(50)) {
      pads[d] = m->Next(kernel[d]);
      pads[d + 2] = m->Next(kernel[d]);
    }
  }
  attrs.Set("kernel", kernel);
  attrs.Set("strides", strides);
  attrs.Set("pads", pads);
  attrs.Set("ceil_mode", m->Next(2));
  if (op == "avg_pool2d") attrs.Set("count_include_pad", m->Next(2));
  return m->Add(op, {*x}, attrs, op == "max_pool2d" && x->exact,
                op == "lp_pool2d" ? 9 * x->bound : x->bound);
}

bool AddGlobalPool(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) { return k.rank() == 4; });
  return x && m->Add(op, {*x}, {}, op == "global_max_pool2d" && x->exact,
                     op == "global_lp_pool2d" ? 81 * x->bound : x->bound);
}

bool AddResize(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kF32, [](const Known& k) {
    return k.rank() == 4 && k.dim(2) > 0 && k.dim(3) > 0;
  });
  if (!x) return false;
  // Nearest only where every coordinate falls between two of the operand.
  const bool linear = m->Chance(60);
  Shape sizes = x->type().shape;
  sizes[2] = tir::MakeInt(linear ? 1 + m->Next(9) : 2 * x->dim(2));
  sizes[3] = tir::MakeInt(linear ? 1 + m->Next(9) : 2 * x->dim(3));
  Attrs attrs;
  attrs.Set("sizes", sizes);
  attrs.Set("mode", linear ? "linear" : "nearest");
  if (linear && m->Chance(40)) {
    attrs.Set("coordinate_transformation_mode", "align_corners");
  }
  return m->Add(op, {*x}, attrs, false, x->bound);
}

bool AddQuantize(ModelBuilder* m, const std::string& op) {
  // Halves of a quarter never meet the middle between two integers.
  const auto x = m->Pick(kF32, [](const Known& k) { return k.exact; });
  if (!x) return false;
  const DataType t = m->Chance(50) ? DataType::UInt(8) : DataType::Int(8);
  const Known scale = m->Integers({2}, kF32, {});
  if (op == "quantize") {
    Attrs attrs;
    attrs.Set("dtype", t);
    return m->Add(op, {*x, scale}, attrs, true, 255);
  }
  const auto q = m->Pick(t);
  return q && m->Add(op, {*q, scale}, {}, true, 2 * q->bound);
}

}  // namespace

const std::vector<OpSampler>& AllSamplers() {
  static const auto* const kSamplers = new std::vector<OpSampler>{
      {{"sigmoid", "tanh", "softplus", "softsign", "mish", "swish", "gelu",
        "elu", "selu", "celu", "erf", "exp", "sinh", "cosh", "asinh", "atan",
        "sin", "cos", "tan"},
       AddSmooth},
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
      {{"transpose"}, AddTranspose},
      {{"reshape", "flatten", "squeeze", "unsqueeze"}, AddReshape},
      {{"concat"}, AddConcat},
      {{"slice"}, AddSlice},
      {{"pad"}, AddPad},
      {{"tile"}, AddTile},
      {{"expand"}, AddExpand},
      {{"depth_to_space", "space_to_depth"}, AddBlocks},
      {{"trilu"}, AddTrilu},
      {{"gather", "gather_elements", "gather_nd"}, AddGather},
      {{"scatter_elements", "scatter_nd"}, AddScatter},
      {{"top_k"}, AddTopK},
      {{"cumsum"}, AddCumsum},
      {{"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_l1",
        "reduce_l2", "reduce_sum_square", "reduce_log_sum_exp", "reduce_prod"},
       AddReduce},
      {{"argmax", "argmin"}, AddArg},
      {{"softmax", "log_softmax"}, AddSoftmax},
      {{"layer_norm", "rms_norm", "batch_norm", "instance_norm", "group_norm"},
       AddNorm},
      {{"lrn"}, AddLrn},
      {{"matmul", "dense"}, AddMatmul},
      {{"einsum"}, AddEinsum},
      {{"conv2d", "conv2d", "conv1d", "conv_transpose2d"}, AddConv},
      {{"max_pool2d", "avg_pool2d", "lp_pool2d"}, AddPool},
      {{"global_avg_pool2d", "global_max_pool2d", "global_lp_pool2d"},
       AddGlobalPool},
      {{"resize"}, AddResize},
      {{"quantize", "dequantize"}, AddQuantize},
  };
  return *kSamplers;
}

}  // namespace ingot::fuzz

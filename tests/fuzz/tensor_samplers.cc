// Operators that rearrange, sum up or multiply whole tensors.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "tests/fuzz/op_samplers.h"

namespace ingot::fuzz {
namespace {

using relay::Attrs;
using relay::MakeShape;
using relay::Shape;
using Ints = std::vector<int64_t>;

const DataType kF32 = DataType::Float(32);
const DataType kI32 = DataType::Int(32);
const DataType kI64 = DataType::Int(64);

Ints Extents(const Known& x) { return *relay::ConstShape(x.type().shape); }

// ----------------------------------------------------------------- rearranging

bool AddTranspose(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->Chance(90) ? m->FloatType() : kI64);
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
  const auto x = m->Pick(m->Chance(90) ? m->FloatType() : kI64);
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
  const auto x = m->Pick(m->FloatType());
  if (!x || x->rank() == 0) return false;
  std::vector<Known> parts = {*x};
  const int64_t axis = m->Next(x->rank());
  for (int64_t n = 1 + m->Next(3); n > 0; --n) {
    const auto y = m->Pick(x->type().dtype);
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
  const auto x = m->Pick(m->FloatType());
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
  const auto x = m->Pick(m->FloatType());
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
  const auto x = m->Pick(m->FloatType());
  if (!x || x->rank() == 0) return false;
  Ints repeats(x->rank(), 1);
  repeats[m->Next(x->rank())] = 2;
  Attrs attrs;
  attrs.Set("repeats", repeats);
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

bool AddExpand(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType());
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
  const auto x =
      m->Pick(m->FloatType(), [](const Known& k) { return k.rank() == 4; });
  if (!x) return false;
  Attrs attrs;
  if (op == "depth_to_space") {
    attrs.Set("blocks", m->Chance(50) ? Ints{2, 2} : Ints{1, 2});
    if (m->Chance(50)) attrs.Set("mode", "CRD");
  } else {
    attrs.Set("blocksize", int64_t{2});
  }
  return m->Add(op, {*x}, attrs, x->exact, x->bound);
}

bool AddTrilu(ModelBuilder* m, const std::string& op) {
  const auto x =
      m->Pick(m->FloatType(), [](const Known& k) { return k.rank() >= 2; });
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
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() > 0 && k.is_static();
  });
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
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() > 0 && k.exact && k.is_static();
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
    return m->Add(op, {*x, at, m->Constant(x->type().dtype, shape, true)},
                  attrs, true, x->bound + 16);
  }
  shape[0] = 2;
  const Known at = m->Integers(RandomIndices(m, 2, x->dim(0)), kI64, {2, 1});
  return m->Add(op, {*x, at, m->Constant(x->type().dtype, shape, true)}, attrs,
                true, x->bound + 16);
}

bool AddTopK(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() > 0 && k.exact && k.is_static();
  });
  if (!x) return false;
  const int64_t axis = m->Next(x->rank());
  Attrs attrs;
  attrs.Set("axis", axis);
  attrs.Set("k", MakeShape({1 + m->Next(x->dim(axis))}));
  attrs.Set("largest", m->Next(2));
  return m->Add(op, {*x}, attrs, true, std::max(x->bound, 64.0));
}

bool AddCumulative(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() > 0 && k.is_static();
  });
  if (!x) return false;
  const int64_t axis = m->Next(x->rank());
  const auto extent = static_cast<double>(x->dim(axis));
  const double bound = op == "cumsum"
                           ? x->bound * extent
                           : std::pow(std::max(x->bound, 1.0), extent);
  if (op == "cumprod" && bound > 1e6) return false;
  std::vector<Known> inputs = {*x};
  Attrs attrs;
  if (m->Chance(30)) {
    inputs.push_back(m->Integers({axis}, kI64, {}));
  } else {
    attrs.Set("axis", axis);
  }
  attrs.Set("exclusive", m->Next(2));
  attrs.Set("reverse", m->Next(2));
  return m->Add(op, inputs, attrs, x->exact, bound);
}

// ------------------------------------------------------------------ reductions

bool AddReduce(ModelBuilder* m, const std::string& op) {
  auto x = m->Pick(m->FloatType());
  if (!x || x->rank() == 0) return false;
  if (op == "reduce_log_sum") {
    // The operand must be positive.
    if (x->bound > 5 || !m->Add("exp", {*x}, {}, false, std::exp(x->bound))) {
      return false;
    }
    x = m->values().back();
  }
  Attrs attrs;
  Ints axes;
  for (int d = 0; d < x->rank(); ++d) {
    if (m->Chance(50)) axes.push_back(m->Chance(50) ? d : d - x->rank());
  }
  if (!axes.empty()) attrs.Set("axes", axes);
  attrs.Set("keepdims", m->Next(2));
  const double count = x->elements();
  double bound = x->bound * count;
  bool exact = x->exact && bound < (1 << 20);
  if (op == "reduce_max" || op == "reduce_min" || op == "reduce_mean") {
    bound = x->bound;
    exact = x->exact && op != "reduce_mean";
  } else if (op == "reduce_sum_square") {
    bound = x->bound * x->bound * count;
    exact = exact && bound < (1 << 20);
  } else if (op == "reduce_l2" || absl::StartsWith(op, "reduce_log")) {
    exact = false;
  } else if (op == "reduce_prod") {
    if (x->bound > 1 || count > 100) return false;
    bound = 1;
  }
  return m->Add(op, {*x}, attrs, exact, bound);
}

bool AddArg(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(
      m->FloatType(), [](const Known& k) { return k.exact && k.rank() > 0; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("axis", m->Next(x->rank()));
  attrs.Set("keepdims", m->Next(2));
  attrs.Set("select_last_index", m->Next(2));
  return m->Add(op, {*x}, attrs, true, 64);
}

bool AddSoftmax(ModelBuilder* m, const std::string& op) {
  const auto x =
      m->Pick(m->FloatType(), [](const Known& k) { return k.rank() > 0; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("axis", m->Next(x->rank()));
  return m->Add(op, {*x}, attrs, false, 2 * x->bound + 8);
}

bool AddNorm(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [&](const Known& k) {
    return k.rank() >= 2 && k.dim(k.rank() - 1) > 1 && k.dim(1) > 0;
  });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("epsilon", 0.1);
  const int64_t last = x->dim(x->rank() - 1), channels = x->dim(1);
  if (op == "layer_norm" || op == "rms_norm") {
    return m->Add(op, {*x, m->Constant(x->type().dtype, {last}, false)}, attrs,
                  false, 64);
  }
  const Known scale = m->Constant(x->type().dtype, {channels}, false);
  const Known bias = m->Constant(x->type().dtype, {channels}, false);
  if (op == "batch_norm") {
    return m->Add(
        op,
        {*x, scale, bias, m->Constant(x->type().dtype, {channels}, false),
         m->Integers(Ints(channels, 2), x->type().dtype, {channels})},
        attrs, false, x->bound + 2);
  }
  if (x->rank() < 3) return false;
  if (op == "group_norm") {
    attrs.Set("groups", channels % 2 == 0 ? int64_t{2} : int64_t{1});
  }
  return m->Add(op, {*x, scale, bias}, attrs, false, 64);
}

bool AddLrn(ModelBuilder* m, const std::string& op) {
  const auto x =
      m->Pick(m->FloatType(), [](const Known& k) { return k.rank() == 4; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("size", 1 + 2 * m->Next(3));
  return m->Add(op, {*x}, attrs, false, x->bound);
}

// -------------------------------------------------------------------- products

bool AddMatmul(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() >= 2 && k.dim(k.rank() - 1) > 0;
  });
  if (!x) return false;
  const int64_t inner = x->dim(x->rank() - 1), columns = 1 + m->Next(20);
  const bool exact = x->exact && m->Chance(50);
  const double bound = x->bound * inner * (exact ? 4 : 1);
  if (op == "dense") {
    return m->Add(op,
                  {*x, m->Constant(x->type().dtype, {columns, inner}, exact)},
                  {}, exact, bound);
  }
  Ints shape = {inner, columns};
  if (x->rank() == 3 && x->dim(0) > 0 && m->Chance(40)) {
    shape.insert(shape.begin(), x->dim(0));
  }
  return m->Add(op, {*x, m->Constant(x->type().dtype, shape, exact)}, {}, exact,
                bound);
}

bool AddEinsum(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(
      kF32, [](const Known& k) { return k.rank() == 3 && k.is_static(); });
  if (!x) return false;
  static const char* const kEquations[] = {"bij,bjk->bik", "bij,kj->bki",
                                           "bij->bji", "bij->bi"};
  const int64_t which = m->Next(4);
  Attrs attrs;
  attrs.Set("equation", std::string(kEquations[which]));
  std::vector<Known> inputs = {*x};
  if (which == 0)
    inputs.push_back(
        m->Constant(x->type().dtype, {x->dim(0), x->dim(2), 4}, false));
  if (which == 1)
    inputs.push_back(m->Constant(x->type().dtype, {5, x->dim(2)}, false));
  return m->Add(op, inputs, attrs, false, x->bound * x->dim(2));
}

bool AddQuantize(ModelBuilder* m, const std::string& op) {
  // Halves of a quarter never meet the middle between two integers.
  const auto x =
      m->Pick(m->FloatType(), [](const Known& k) { return k.exact; });
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

bool AddLookUp(ModelBuilder* m, const std::string& op) {
  const DataType bytes = m->Chance(50) ? DataType::UInt(8) : DataType::Int(8);
  const auto x = m->Pick(bytes);
  if (!x) return false;
  const Known table = m->Constant(m->Chance(60) ? bytes : kF32, {256}, true);
  return m->Add(op, {*x, table}, {}, true, table.bound);
}

}  // namespace

void AddTensorSamplers(std::vector<OpSampler>* samplers) {
  const std::vector<OpSampler> added = {
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
      {{"cumsum", "cumprod"}, AddCumulative},
      {{"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_l1",
        "reduce_l2", "reduce_sum_square", "reduce_log_sum_exp",
        "reduce_log_sum", "reduce_prod"},
       AddReduce},
      {{"argmax", "argmin"}, AddArg},
      {{"softmax", "log_softmax"}, AddSoftmax},
      {{"layer_norm", "rms_norm", "batch_norm", "instance_norm", "group_norm"},
       AddNorm},
      {{"lrn"}, AddLrn},
      {{"matmul", "dense"}, AddMatmul},
      {{"einsum"}, AddEinsum},
      {{"quantize", "dequantize"}, AddQuantize},
      {{"look_up"}, AddLookUp},
  };
  samplers->insert(samplers->end(), added.begin(), added.end());
}

}  // namespace ingot::fuzz

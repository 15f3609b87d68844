// Shape arithmetic on known numbers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/known.h"
#include "compiler/frontends/onnx/known_number.h"
#include "compiler/frontends/onnx/tensor_proto.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;
using Ints = std::vector<int64_t>;
using MaybeKnown = std::optional<Known>;

constexpr int64_t kMostElements = 4096;

// The operands of one node, with readers that fail softly.
struct Call {
  const onnx::NodeProto& node;
  int opset;
  const std::vector<const Known*>& in;
  const std::vector<const relay::Shape*>& shapes;

  const onnx::AttributeProto* Attr(absl::string_view name) const {
    for (const auto& a : node.attribute()) {
      if (a.name() == name) return &a;
    }
    return nullptr;
  }
  int64_t Int(absl::string_view name, int64_t otherwise) const {
    const auto* a = Attr(name);
    return a != nullptr ? a->i() : otherwise;
  }
  bool Has(size_t i) const { return i < in.size() && in[i] != nullptr; }
  // Constant integers of operand i, or of an attribute in older operator sets.
  std::optional<Ints> ConstInts(size_t i, absl::string_view attr) const {
    Ints result;
    if (const auto* a = Attr(attr)) {
      return Ints(a->ints().begin(), a->ints().end());
    }
    if (!Has(i)) return std::nullopt;
    for (const KnownNumber& v : in[i]->values) {
      int64_t n;
      if (!v.AsInt(&n)) return std::nullopt;
      result.push_back(n);
    }
    return result;
  }
};

int64_t Count(const Ints& shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0 || (d > 0 && n > kMostElements / d)) return kMostElements + 1;
    n *= d;
  }
  return n;
}

Ints IndexOf(int64_t linear, const Ints& shape) {
  Ints index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = linear % shape[d];
    linear /= shape[d];
  }
  return index;
}

int64_t LinearOf(const Ints& index, const Ints& shape) {
  int64_t linear = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    linear = linear * shape[d] + index[d];
  return linear;
}

// A tensor of `shape` whose element at each index `fn` takes from somewhere.
MaybeKnown Build(DataType dtype, Ints shape,
                 const std::function<MaybeNumber(const Ints&)>& fn) {
  const int64_t n = Count(shape);
  if (n > kMostElements) return std::nullopt;
  Known known{dtype, shape, {}};
  for (int64_t i = 0; i < n; ++i) {
    MaybeNumber v = fn(IndexOf(i, shape));
    if (!v) return std::nullopt;
    known.values.push_back(*std::move(v));
  }
  return known;
}

std::optional<Ints> Broadcast(const Ints& a, const Ints& b) {
  Ints out(std::max(a.size(), b.size()), 1);
  for (const Ints* s : {&a, &b}) {
    const size_t missing = out.size() - s->size();
    for (size_t d = 0; d < s->size(); ++d) {
      int64_t& o = out[d + missing];
      if ((*s)[d] == 1) continue;
      if (o != 1 && o != (*s)[d]) return std::nullopt;
      o = (*s)[d];
    }
  }
  return out;
}

const KnownNumber& BroadcastAt(const Known& k, const Ints& index) {
  const size_t missing = index.size() - k.shape.size();
  Ints at(k.shape.size());
  for (size_t d = 0; d < at.size(); ++d) {
    at[d] = k.shape[d] == 1 ? 0 : index[d + missing];
  }
  return k.values[LinearOf(at, k.shape)];
}

// ------------------------------------------------------------------- operators

MaybeKnown EvalShape(const Call& c) {
  if (c.shapes.empty() || c.shapes[0] == nullptr) return std::nullopt;
  const relay::Shape& shape = *c.shapes[0];
  const int64_t rank = static_cast<int64_t>(shape.size());
  auto clamp = [&](int64_t v) {
    return std::min(std::max<int64_t>(v < 0 ? v + rank : v, 0), rank);
  };
  const int64_t start = clamp(c.Int("start", 0));
  const int64_t end = clamp(c.Int("end", rank));
  Known known{DataType::Int(64), {std::max<int64_t>(end - start, 0)}, {}};
  for (int64_t d = start; d < end; ++d) known.values.push_back({shape[d], 0});
  return known;
}

MaybeKnown EvalSize(const Call& c) {
  if (c.shapes.empty() || c.shapes[0] == nullptr) return std::nullopt;
  Expr size = tir::MakeInt(1);
  for (const Expr& d : *c.shapes[0]) size = size * d;
  return Known{DataType::Int(64), {}, {{SimplifyDim(size), 0}}};
}

MaybeKnown EvalBinary(const Call& c, const std::string& op) {
  if (!c.Has(0)) return std::nullopt;
  Known result = *c.in[0];
  const bool logic = op == "And" || op == "Or" || op == "Xor";
  const bool compare = op == "Equal" || op == "Less" || op == "Greater" ||
                       op == "LessOrEqual" || op == "GreaterOrEqual";
  for (size_t k = 1; k < c.in.size(); ++k) {
    if (!c.Has(k)) return std::nullopt;
    const std::optional<Ints> shape = Broadcast(result.shape, c.in[k]->shape);
    if (!shape) return std::nullopt;
    const DataType t = result.dtype;
    MaybeKnown next = Build(logic || compare ? DataType::Bool() : t, *shape,
                            [&](const Ints& i) {
                              const KnownNumber& a = BroadcastAt(result, i);
                              const KnownNumber& b = BroadcastAt(*c.in[k], i);
                              return logic     ? Logic(op, a, b)
                                     : compare ? Compare(op, a, b)
                                               : Arithmetic(op, t, a, b);
                            });
    if (!next) return std::nullopt;
    result = *std::move(next);
  }
  return result;
}

MaybeKnown EvalUnary(const Call& c, const std::string& op) {
  if (!c.Has(0)) return std::nullopt;
  return Build(c.in[0]->dtype, c.in[0]->shape, [&](const Ints& i) {
    return Unary(op, c.in[0]->dtype, BroadcastAt(*c.in[0], i));
  });
}

MaybeKnown EvalWhere(const Call& c) {
  if (!c.Has(0) || !c.Has(1) || !c.Has(2)) return std::nullopt;
  std::optional<Ints> shape = Broadcast(c.in[0]->shape, c.in[1]->shape);
  if (shape) shape = Broadcast(*shape, c.in[2]->shape);
  if (!shape) return std::nullopt;
  return Build(c.in[1]->dtype, *shape, [&](const Ints& i) -> MaybeNumber {
    int64_t condition;
    if (!BroadcastAt(*c.in[0], i).AsInt(&condition)) return std::nullopt;
    return BroadcastAt(*c.in[condition != 0 ? 1 : 2], i);
  });
}

MaybeKnown EvalCast(const Call& c) {
  if (!c.Has(0)) return std::nullopt;
  const absl::StatusOr<DataType> to =
      DataTypeFromOnnx(static_cast<int>(c.Int("to", 0)));
  if (!to.ok() || to->bits < 32) {
    // Narrow types may change the value.
    if (!to.ok() || !to->is_bool()) return std::nullopt;
  }
  return Build(*to, c.in[0]->shape, [&](const Ints& i) -> MaybeNumber {
    const KnownNumber& v = BroadcastAt(*c.in[0], i);
    double x;
    if (to->is_bool()) {
      if (!v.AsDouble(&x)) return std::nullopt;
      return KnownNumber::Of(int64_t{x != 0});
    }
    if (to->is_float() || v.integer != nullptr) return v;
    if (!std::isfinite(v.fraction) || std::fabs(v.fraction) > 1e15) {
      return std::nullopt;
    }
    return KnownNumber::Of(static_cast<int64_t>(v.fraction));
  });
}

MaybeKnown EvalGather(const Call& c) {
  if (!c.Has(0) || !c.Has(1)) return std::nullopt;
  const Known &x = *c.in[0], &indices = *c.in[1];
  const int64_t rank = static_cast<int64_t>(x.shape.size());
  int64_t axis = c.Int("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  Ints shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  return Build(x.dtype, shape, [&](const Ints& i) -> MaybeNumber {
    const auto first = i.begin() + axis;
    const auto last = first + static_cast<int64_t>(indices.shape.size());
    int64_t index;
    if (!indices.values[LinearOf(Ints(first, last), indices.shape)].AsInt(
            &index)) {
      return std::nullopt;
    }
    if (index < 0) index += x.shape[axis];
    if (index < 0 || index >= x.shape[axis]) return std::nullopt;
    Ints at(i.begin(), first);
    at.push_back(index);
    at.insert(at.end(), last, i.end());
    return x.values[LinearOf(at, x.shape)];
  });
}

MaybeKnown EvalConcat(const Call& c) {
  if (!c.Has(0)) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(c.in[0]->shape.size());
  int64_t axis = c.Int("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  Ints shape = c.in[0]->shape;
  shape[axis] = 0;
  for (size_t k = 0; k < c.in.size(); ++k) {
    if (!c.Has(k) || static_cast<int64_t>(c.in[k]->shape.size()) != rank) {
      return std::nullopt;
    }
    for (int64_t d = 0; d < rank; ++d) {
      if (d != axis && c.in[k]->shape[d] != shape[d]) return std::nullopt;
    }
    shape[axis] += c.in[k]->shape[axis];
  }
  return Build(c.in[0]->dtype, shape, [&](Ints i) -> MaybeNumber {
    size_t k = 0;
    while (i[axis] >= c.in[k]->shape[axis]) i[axis] -= c.in[k++]->shape[axis];
    return c.in[k]->values[LinearOf(i, c.in[k]->shape)];
  });
}

MaybeKnown WithShape(const Known& x, Ints shape) {
  if (Count(shape) != static_cast<int64_t>(x.values.size())) {
    return std::nullopt;
  }
  return Known{x.dtype, std::move(shape), x.values};
}

MaybeKnown EvalUnsqueeze(const Call& c) {
  std::optional<Ints> axes = c.ConstInts(1, "axes");
  if (!c.Has(0) || !axes) return std::nullopt;
  const int64_t rank =
      static_cast<int64_t>(c.in[0]->shape.size() + axes->size());
  Ints shape(rank, 0);
  for (int64_t a : *axes) {
    if (a < 0) a += rank;
    if (a < 0 || a >= rank || shape[a] != 0) return std::nullopt;
    shape[a] = 1;
  }
  size_t next = 0;
  for (int64_t& d : shape) {
    if (d == 0) d = c.in[0]->shape[next++];
  }
  return WithShape(*c.in[0], shape);
}

MaybeKnown EvalSqueeze(const Call& c) {
  if (!c.Has(0)) return std::nullopt;
  const Ints& from = c.in[0]->shape;
  std::vector<bool> drop(from.size(), false);
  const bool all = c.Attr("axes") == nullptr && c.in.size() < 2;
  if (all) {
    for (size_t d = 0; d < from.size(); ++d) drop[d] = from[d] == 1;
  } else {
    const std::optional<Ints> axes = c.ConstInts(1, "axes");
    if (!axes) return std::nullopt;
    for (int64_t a : *axes) {
      if (a < 0) a += static_cast<int64_t>(from.size());
      if (a < 0 || a >= static_cast<int64_t>(from.size())) return std::nullopt;
      drop[a] = true;
    }
  }
  Ints shape;
  for (size_t d = 0; d < from.size(); ++d) {
    if (!drop[d]) shape.push_back(from[d]);
  }
  return WithShape(*c.in[0], shape);
}

MaybeKnown EvalReshape(const Call& c) {
  std::optional<Ints> shape = c.ConstInts(1, "shape");
  if (!c.Has(0) || !shape) return std::nullopt;
  int64_t product = 1, open = -1;
  for (size_t d = 0; d < shape->size(); ++d) {
    int64_t& v = (*shape)[d];
    if (v == 0 && c.Int("allowzero", 0) == 0) {
      if (d >= c.in[0]->shape.size()) return std::nullopt;
      v = c.in[0]->shape[d];
    }
    if (v < 0) {
      if (open >= 0) return std::nullopt;
      open = static_cast<int64_t>(d);
    } else {
      if (v > kMostElements || product > kMostElements) return std::nullopt;
      product *= v;
    }
  }
  if (open >= 0) {
    if (product == 0) return std::nullopt;
    (*shape)[open] = static_cast<int64_t>(c.in[0]->values.size()) / product;
  }
  return WithShape(*c.in[0], *shape);
}

// Slices and splits of vectors.
MaybeKnown EvalSlice(const Call& c) {
  if (!c.Has(0) || c.in[0]->shape.size() != 1) return std::nullopt;
  const std::optional<Ints> starts = c.ConstInts(1, "starts");
  const std::optional<Ints> ends = c.ConstInts(2, "ends");
  if (!starts || !ends || starts->size() != 1 || ends->size() != 1) {
    return std::nullopt;
  }
  int64_t step = 1;
  if (c.in.size() > 4) {
    const std::optional<Ints> steps = c.ConstInts(4, "steps");
    if (!steps || steps->size() != 1) return std::nullopt;
    step = (*steps)[0];
  }
  const Known& x = *c.in[0];
  const int64_t n = x.shape[0];
  if (step == 0) return std::nullopt;
  auto wrap = [&](int64_t v) { return v < 0 ? v + n : v; };
  auto clamp = [](int64_t v, int64_t low, int64_t high) {
    return std::max(low, std::min(v, high));
  };
  Known result{x.dtype, {0}, {}};
  if (step > 0) {
    const int64_t end = clamp(wrap((*ends)[0]), 0, n);
    for (int64_t i = clamp(wrap((*starts)[0]), 0, n); i < end; i += step) {
      result.values.push_back(x.values[i]);
      if (step > n) break;
    }
  } else {
    const int64_t end = clamp(wrap((*ends)[0]), -1, n - 1);
    for (int64_t i = clamp(wrap((*starts)[0]), 0, n - 1); i > end && i >= 0;
         i += step) {
      result.values.push_back(x.values[i]);
      if (step < -n) break;
    }
  }
  result.shape[0] = static_cast<int64_t>(result.values.size());
  return result;
}

MaybeKnown EvalConstantOfShape(const Call& c) {
  const std::optional<Ints> shape = c.ConstInts(0, "");
  if (!shape || shape->size() > 1 || Count(*shape) > kMostElements) {
    return std::nullopt;
  }
  Known fill{DataType::Float(32), {}, {KnownNumber::Of(int64_t{0})}};
  if (const auto* a = c.Attr("value")) {
    onnx::TensorProto copy = a->t();
    const absl::StatusOr<Tensor> tensor = TensorFromProto(&copy);
    if (!tensor.ok()) return std::nullopt;
    const MaybeKnown value = KnownFromTensor(*tensor);
    if (!value || value->values.size() != 1) return std::nullopt;
    fill = *value;
  }
  return Build(fill.dtype, *shape,
               [&](const Ints&) { return MaybeNumber(fill.values[0]); });
}

MaybeKnown EvalExpand(const Call& c) {
  const std::optional<Ints> shape = c.ConstInts(1, "");
  if (!c.Has(0) || !shape) return std::nullopt;
  const std::optional<Ints> joined = Broadcast(c.in[0]->shape, *shape);
  if (!joined) return std::nullopt;
  return Build(c.in[0]->dtype, *joined, [&](const Ints& i) {
    return MaybeNumber(BroadcastAt(*c.in[0], i));
  });
}

MaybeKnown EvalRange(const Call& c) {
  int64_t v[3];
  for (size_t k = 0; k < 3; ++k) {
    if (!c.Has(k) || c.in[k]->values.size() != 1 ||
        !c.in[k]->values[0].AsInt(&v[k])) {
      return std::nullopt;
    }
  }
  constexpr int64_t kFar = int64_t{1} << 40;
  for (int64_t n : v) {
    if (n > kFar || n < -kFar) return std::nullopt;
  }
  if (v[2] == 0) return std::nullopt;
  Known result{c.in[0]->dtype, {0}, {}};
  for (int64_t i = v[0]; v[2] > 0 ? i < v[1] : i > v[1]; i += v[2]) {
    if (result.values.size() >= kMostElements) return std::nullopt;
    result.values.push_back(KnownNumber::Of(i));
  }
  result.shape[0] = static_cast<int64_t>(result.values.size());
  return result;
}

// Over all elements of a vector.
MaybeKnown EvalReduce(const Call& c, const std::string& op) {
  if (!c.Has(0) || c.in[0]->shape.size() != 1 || c.in[0]->values.empty()) {
    return std::nullopt;
  }
  KnownNumber total = c.in[0]->values[0];
  for (size_t i = 1; i < c.in[0]->values.size(); ++i) {
    const MaybeNumber next =
        Arithmetic(op == "ReduceProd"  ? "Mul"
                   : op == "ReduceSum" ? "Add"
                   : op == "ReduceMax" ? "Max"
                                       : "Min",
                   c.in[0]->dtype, total, c.in[0]->values[i]);
    if (!next) return std::nullopt;
    total = *next;
  }
  if (c.in.size() > 1 && c.Int("noop_with_empty_axes", 0) != 0) {
    return std::nullopt;
  }
  Ints shape;
  if (c.Int("keepdims", 1) != 0) shape.push_back(1);
  return Known{c.in[0]->dtype, shape, {total}};
}

MaybeKnown EvalNonZero(const Call& c) {
  if (!c.Has(0)) return std::nullopt;
  const Known& x = *c.in[0];
  const int64_t rank =
      std::max<int64_t>(static_cast<int64_t>(x.shape.size()), 1);
  std::vector<Ints> found;
  for (size_t i = 0; i < x.values.size(); ++i) {
    double v;
    if (!x.values[i].AsDouble(&v)) return std::nullopt;
    if (v == 0) continue;
    Ints at = IndexOf(static_cast<int64_t>(i), x.shape);
    at.resize(rank, 0);
    found.push_back(at);
  }
  return Build(DataType::Int(64), {rank, static_cast<int64_t>(found.size())},
               [&](const Ints& i) {
                 return MaybeNumber(KnownNumber::Of(found[i[1]][i[0]]));
               });
}

MaybeKnown EvalTranspose(const Call& c) {
  // Only what leaves the elements in their order.
  if (!c.Has(0) || c.in[0]->shape.size() > 1) return std::nullopt;
  return *c.in[0];
}

using Eval = std::function<MaybeKnown(const Call&)>;

const std::map<std::string, Eval>& Evaluators() {
  static const auto* table = [] {
    auto* t = new std::map<std::string, Eval>;
    for (const char* op :
         {"Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Pow", "And", "Or",
          "Xor", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"}) {
      (*t)[op] = [name = std::string(op)](const Call& c) {
        return EvalBinary(c, name);
      };
    }
    for (const char* op : {"Neg", "Abs", "Floor", "Ceil", "Round", "Not",
                           "Sqrt", "Reciprocal"}) {
      (*t)[op] = [name = std::string(op)](const Call& c) {
        return EvalUnary(c, name);
      };
    }
    for (const char* op :
         {"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}) {
      (*t)[op] = [name = std::string(op)](const Call& c) {
        return EvalReduce(c, name);
      };
    }
    (*t)["Identity"] = [](const Call& c) {
      return c.Has(0) ? MaybeKnown(*c.in[0]) : std::nullopt;
    };
    (*t)["Shape"] = &EvalShape;
    (*t)["Size"] = &EvalSize;
    (*t)["Where"] = &EvalWhere;
    (*t)["Cast"] = &EvalCast;
    (*t)["Gather"] = &EvalGather;
    (*t)["Concat"] = &EvalConcat;
    (*t)["Unsqueeze"] = &EvalUnsqueeze;
    (*t)["Squeeze"] = &EvalSqueeze;
    (*t)["Reshape"] = &EvalReshape;
    (*t)["Slice"] = &EvalSlice;
    (*t)["ConstantOfShape"] = &EvalConstantOfShape;
    (*t)["Expand"] = &EvalExpand;
    (*t)["Range"] = &EvalRange;
    (*t)["NonZero"] = &EvalNonZero;
    (*t)["Transpose"] = &EvalTranspose;
    return t;
  }();
  return *table;
}

}  // namespace

std::optional<std::vector<Known>> EvaluateKnown(
    const onnx::NodeProto& node, int opset,
    const std::vector<const Known*>& operands,
    const std::vector<const relay::Shape*>& shapes) {
  auto it = Evaluators().find(node.op_type());
  if (it == Evaluators().end() || node.output_size() != 1) return std::nullopt;
  const Call call{node, opset, operands, shapes};
  MaybeKnown result = it->second(call);
  if (!result) return std::nullopt;
  return std::vector<Known>{*std::move(result)};
}

bool IsShapeArithmetic(const std::string& op_type) {
  return Evaluators().count(op_type) > 0;
}

}  // namespace ingot::onnx_frontend

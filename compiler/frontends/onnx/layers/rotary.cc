// Rotary embeddings, of ONNX's domain and of com.microsoft.
#include "compiler/frontends/onnx/layers/rotary.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/attention.h"

namespace ingot::onnx_frontend {

Value Rotate(Compose& k, Value x, Value cosine, Value sine, int64_t rotated,
             bool interleaved) {
  if (!k.ok()) return Value{};
  NodeContext& c = k.context();
  int64_t size;
  const Shape in = ShapeOf(x);
  if (!tir::AsConstInt(in[3], &size) || rotated % 2 != 0 || rotated < 0 ||
      rotated > size) {
    k.Check(
        c.Error("cannot rotate ", rotated, " of ", relay::ToString(x.type())));
    return Value{};
  }
  if (rotated == 0) rotated = size;
  const int64_t half = rotated / 2;
  auto by_head = [&](Value angles) {
    if (!k.ok()) return Value{};
    const Shape& s = ShapeOf(angles);
    if (s.size() != 3) {
      k.Check(c.Error("a cache of ", relay::ToString(angles.type())));
      return Value{};
    }
    return k.Reshape(angles, {s[0], I(1), s[1], s[2]});
  };
  cosine = by_head(cosine);
  sine = by_head(sine);
  const Value part = k.Slice(x, 3, I(0), I(rotated));
  Value first, second;
  if (interleaved) {
    const Value pairs = k.Reshape(part, {in[0], in[1], in[2], I(half), I(2)});
    const Shape flat = {in[0], in[1], in[2], I(half)};
    first = k.Reshape(k.Slice(pairs, 4, I(0), I(1)), flat);
    second = k.Reshape(k.Slice(pairs, 4, I(1), I(2)), flat);
  } else {
    first = k.Slice(part, 3, I(0), I(half));
    second = k.Slice(part, 3, I(half), I(rotated));
  }
  Value a = k.Sub(k.Mul(first, cosine), k.Mul(second, sine));
  Value b = k.Add(k.Mul(first, sine), k.Mul(second, cosine));
  Value y;
  if (interleaved) {
    const Shape column = {in[0], in[1], in[2], I(half), I(1)};
    y = k.Concat({k.Reshape(a, column), k.Reshape(b, column)}, 4);
    y = k.Reshape(y, {in[0], in[1], in[2], I(rotated)});
  } else {
    y = k.Concat({a, b}, 3);
  }
  if (rotated == size) return y;
  return k.Concat({y, k.Slice(x, 3, I(rotated), I(size))}, 3);
}

namespace {

// Chooses the rows of a cache [places, half] for the node's positions.
using ChooseAngles =
    std::function<absl::StatusOr<Value>(Compose&, Value cache, Value at)>;

absl::StatusOr<Value> RowsAt(Compose& k, Value cache, Value at) {
  return k.Call("gather", {cache, at});
}

// `cosine`, `sine`, `positions`: the numbers of the operands.
absl::Status ConvertRotary(NodeContext& c, int cosine, int sine, int positions,
                           const ChooseAngles& choose = &RowsAt) {
  Compose k(c);
  Value x = k.Input(0), cos = k.Input(cosine), sin = k.Input(sine);
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(x);
  if (rank != 3 && rank != 4) {
    return c.Error("the operand is ", relay::ToString(x.type()));
  }
  if (RankOf(cos) < 1 || RankOf(sin) < 1) {
    return c.Error("caches ", relay::ToString(cos.type()), " and ",
                   relay::ToString(sin.type()));
  }
  const int64_t rotated = c.Int("rotary_embedding_dim", 0);
  if (rank == 3) {
    int64_t heads = c.Int("num_heads", 0);
    int64_t width, half;
    // Without a number of heads they are as wide as what is rotated.
    if (heads == 0 && tir::AsConstInt(ShapeOf(x)[2], &width) &&
        tir::AsConstInt(ShapeOf(cos).back(), &half) && half > 0) {
      heads = width / (2 * half);
    }
    x = SplitHeads(k, x, heads);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.has_input(positions)) {
    Value at = k.Input(positions);
    INGOT_RETURN_IF_ERROR(k.status());
    if (RankOf(at) == 1) {
      // The place of the first; the others follow.
      const tir::Expr length = ShapeOf(x)[2];
      Attrs range;
      range.Set("count", Shape{length});
      range.Set("dtype", at.type().dtype);
      INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                             c.builder().DimSources({length}));
      at = k.Reshape(k.Add(k.Call("range", sources, std::move(range)), at),
                     {I(1), length});
    }
    INGOT_ASSIGN_OR_RETURN(cos, choose(k, cos, at));
    INGOT_ASSIGN_OR_RETURN(sin, choose(k, sin, at));
  }
  Value y = Rotate(k, x, cos, sin, rotated, c.Int("interleaved", 0) != 0);
  if (rank == 3) y = JoinHeads(k, y);
  c.SetOutput(0, y);
  return k.status();
}

absl::Status RotaryEmbedding(NodeContext& c) {
  return ConvertRotary(c, 1, 2, 3);
}

absl::Status MicrosoftRotaryEmbedding(NodeContext& c) {
  if (c.Float("scale", 1) != 1 || c.Int("is_packed_batching", 0) != 0) {
    return c.NotSupported("scale or is_packed_batching");
  }
  return ConvertRotary(c, 2, 3, 1);
}

// Which of three positions decides on each angle: by runs of them, or taking
// turns as long as the second's and the third's shares last.
absl::StatusOr<std::vector<int64_t>> ReadSections(NodeContext& c,
                                                  int64_t half) {
  constexpr int64_t kMost = 1 << 16;
  if (half < 1 || half > kMost) return c.NotSupported(half, " angles");
  const std::vector<int64_t> sections = c.Ints("mrope_section", {});
  int64_t sum = 0;
  for (int64_t s : sections) {
    if (s < 0 || s > half) return c.Error("mrope_section has ", s);
    sum += s;
  }
  if (sections.size() != 3 || sum != half) {
    return c.Error("mrope_section must be three numbers whose sum is ", half);
  }
  std::vector<int64_t> by(half, 0);
  if (c.Int("mrope_layout", 0) != 0) {
    for (int64_t s : {1, 2}) {
      for (int64_t i = s; i < std::min(half, 3 * sections[s]); i += 3)
        by[i] = s;
    }
  } else {
    for (int64_t i = sections[0]; i < half; ++i) {
      by[i] = i < sections[0] + sections[1] ? 1 : 2;
    }
  }
  return by;
}

// The cache's rows at positions [3, batch, steps]: of each angle one of three.
absl::StatusOr<Value> AnglesOfThree(Compose& k, Value cache, Value at) {
  INGOT_RETURN_IF_ERROR(k.status());
  NodeContext& c = k.context();
  int64_t half;
  if (RankOf(cache) != 2 || !tir::AsConstInt(ShapeOf(cache)[1], &half) ||
      RankOf(at) != 3) {
    return c.Error("a cache of ", relay::ToString(cache.type()),
                   " and positions ", relay::ToString(at.type()));
  }
  INGOT_ASSIGN_OR_RETURN(const std::vector<int64_t> by, ReadSections(c, half));
  const Value rows = k.Call("gather", {cache, at});
  INGOT_RETURN_IF_ERROR(k.status());
  const Shape shape = ShapeOf(rows);
  // Neighbours that the same position decides on are one part.
  std::vector<Value> parts;
  for (int64_t first = 0; first < half;) {
    int64_t end = first + 1;
    while (end < half && by[end] == by[first]) ++end;
    const Value part = k.Slice(rows, 0, I(by[first]), I(by[first] + 1));
    parts.push_back(k.Reshape(k.Slice(part, 3, I(first), I(end)),
                              {shape[1], shape[2], I(end - first)}));
    first = end;
  }
  const Value angles = parts.size() == 1 ? parts[0] : k.Concat(parts, 2);
  INGOT_RETURN_IF_ERROR(k.status());
  return angles;
}

absl::Status MultimodalRotaryEmbedding(NodeContext& c) {
  return ConvertRotary(c, 2, 3, 1, &AnglesOfThree);
}

}  // namespace

void AddRotaryConverters(ConverterTable* t) {
  t->Add("RotaryEmbedding", 23, &RotaryEmbedding);
  t->Add("RotaryEmbedding", 1, &MicrosoftRotaryEmbedding, kMicrosoftDomain);
  t->Add("MRotaryEmbedding", 1, &MultimodalRotaryEmbedding, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend

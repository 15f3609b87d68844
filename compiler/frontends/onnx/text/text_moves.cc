#include "compiler/frontends/onnx/text/text_moves.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "runtime/text_tensor.h"

namespace ingot::onnx_frontend {
namespace {

// Text with so many zeros more after each string.
Value PadText(Compose& k, Value x, const tir::Expr& more) {
  if (!k.ok()) return Value{};
  int64_t zeros;
  Attrs attrs;
  if (tir::AsConstInt(more, &zeros)) {
    std::vector<int64_t> pads(2 * RankOf(x), 0);
    pads.back() = zeros;
    attrs.Set("pads", std::move(pads));
    return zeros == 0 ? x : k.Call("pad", {x}, std::move(attrs));
  }
  attrs.Set("shape", Shape{more});
  attrs.Set("dtype", x.type().dtype);
  absl::StatusOr<std::vector<Value>> sources =
      k.context().builder().DimSources({more});
  if (!k.Check(sources.status())) return Value{};
  return k.Call("concat_text", {x, k.Call("full", *sources, std::move(attrs))});
}

// Makes the strings of both equally wide.
void Align(Compose& k, Value* a, Value* b) {
  if (!k.ok()) return;
  const tir::Expr left = ShapeOf(*a).back(), right = ShapeOf(*b).back();
  if (relay::SameShape({left}, {right})) return;
  int64_t l, r;
  if (tir::AsConstInt(left, &l) && tir::AsConstInt(right, &r)) {
    *a = PadText(k, *a, tir::MakeInt(std::max(l, r) - l));
    *b = PadText(k, *b, tir::MakeInt(std::max(l, r) - r));
    return;
  }
  // Only a run knows which is the wider; both are padded to the greater width.
  *a = PadText(k, *a, right);
  *b = PadText(k, *b, left);
  if (!k.ok()) return;
  Shape shape = ShapeOf(*b);
  shape.back() = ShapeOf(*a).back();
  *b = k.Reshape(*b, shape);
}

// start, start + 1 and so on, in a shape of as many elements.
Value Places(Compose& k, const Shape& shape, int64_t start) {
  tir::Expr count = tir::MakeInt(1);
  for (const tir::Expr& dim : shape) count = count * dim;
  const Shape dims = {SimplifyDim(count)};
  Attrs attrs;
  attrs.Set("count", dims);
  attrs.Set("dtype", DataType::Int(64));
  attrs.Set("start", static_cast<double>(start));
  absl::StatusOr<std::vector<Value>> sources =
      k.context().builder().DimSources(dims);
  if (!k.Check(sources.status())) return Value{};
  return k.Reshape(k.Call("range", *sources, std::move(attrs)), shape);
}

absl::Status MoveText(NodeContext& c, const Converter& moves) {
  if (c.String("reduction", "none") != "none") {
    return c.NotSupported("reduction='", c.String("reduction", ""),
                          "' of strings");
  }
  Compose k(c);
  Value strings;  // of all operands, [count, width]
  int64_t start = 0;
  bool start_known = true;
  std::vector<Binding> places(c.num_inputs());
  std::vector<Binding*> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    inputs.push_back(c.binding(i));
    if (c.storage(i) != StorageType::kText) continue;
    if (!start_known) {
      return c.NotSupported("texts of unknown shapes; give the inputs' shapes");
    }
    const Value x = k.Take(c.StoredInput(i));
    INGOT_RETURN_IF_ERROR(k.status());
    const Shape shape(ShapeOf(x).begin(), ShapeOf(x).end() - 1);
    places[i].value = Places(k, shape, start);
    inputs.back() = &places[i];
    tir::Expr count = tir::MakeInt(1);
    for (const tir::Expr& dim : shape) count = count * dim;
    count = SimplifyDim(count);
    Value rows = k.Reshape(x, {count, ShapeOf(x).back()});
    if (strings) {
      Align(k, &strings, &rows);
      rows = k.Concat({strings, rows}, 0);
    }
    INGOT_RETURN_IF_ERROR(k.status());
    strings = rows;
    int64_t more = 0;
    start_known = tir::AsConstInt(count, &more);
    start += more;
  }
  NodeContext inner(c.importer(), c.node(), c.opset(), c.name(), inputs);
  INGOT_RETURN_IF_ERROR(moves(inner));
  INGOT_RETURN_IF_ERROR(inner.status());
  for (int i = 0; i < static_cast<int>(inner.outputs().size()); ++i) {
    Binding& output = inner.outputs()[i];
    if (!output.value && !output.known) continue;
    INGOT_ASSIGN_OR_RETURN(
        const Value from,
        c.importer()->Materialize(&output, absl::StrCat(c.name(), "_places")));
    const Value y = k.Call("gather", {strings, from});
    INGOT_RETURN_IF_ERROR(k.status());
    c.SetStoredOutput(i, y, StorageType::kText);
  }
  return absl::OkStatus();
}

}  // namespace

Value TextConstant(Compose& k, const std::vector<std::string>& strings) {
  const std::vector<absl::string_view> views(strings.begin(), strings.end());
  return k.Constant(TextTensor(views, {static_cast<int64_t>(views.size())}));
}

Value TextsEqual(Compose& k, Value a, Value b) {
  Align(k, &a, &b);
  const Value same = k.Call("equal", {a, b});
  if (!k.ok()) return Value{};
  const Value all = k.Reduce("reduce_min", k.Cast(same, DataType::UInt(8)),
                             {RankOf(same) - 1}, /*keepdims=*/false);
  return k.Cast(all, DataType::Bool());
}

Converter WithTextSupport(const Converter& moves) {
  return [moves](NodeContext& c) -> absl::Status {
    for (int i = 0; i < c.num_inputs(); ++i) {
      if (c.storage(i) == StorageType::kText) return MoveText(c, moves);
    }
    return moves(c);
  };
}

}  // namespace ingot::onnx_frontend

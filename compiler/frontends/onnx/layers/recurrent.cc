// LSTM, GRU and RNN: the products with the inputs of all steps at once, then
// the steps.
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/activations.h"

namespace ingot::onnx_frontend {
namespace {

struct Kind {
  const char* op;
  int gates;
  int activations;
  bool cell;
  // Whether W and R are bytes, and transposed, with scales and zero points in
  // the operands from 8 on.
  bool quantized = false;
};

// The operands and attributes that all directions share.
struct Layer {
  Kind kind;
  Value x;  // [steps, batch, inputs]
  int64_t hidden = 0;
  int directions = 1;
  bool batch_first = false;
};

// Slice `k` of the first dimension, which goes away.
absl::StatusOr<Value> Part(NodeContext& c, Value v, int k,
                           absl::string_view what) {
  Shape shape = ShapeOf(v);
  shape.erase(shape.begin());
  if (!tir::IsConstInt(ShapeOf(v)[0], 1)) {
    Attrs attrs;
    attrs.Set("starts", relay::MakeShape({k}));
    attrs.Set("ends", relay::MakeShape({k + 1}));
    attrs.Set("axes", std::vector<int64_t>{0});
    INGOT_ASSIGN_OR_RETURN(v, c.Emit("slice", {v}, std::move(attrs), what));
  }
  return c.Reshape(v, shape, what);
}

// Elements [begin, end) of a vector.
absl::StatusOr<Value> Range(NodeContext& c, Value v, int64_t begin, int64_t end,
                            absl::string_view what) {
  Attrs attrs;
  attrs.Set("starts", relay::MakeShape({begin}));
  attrs.Set("ends", relay::MakeShape({end}));
  attrs.Set("axes", std::vector<int64_t>{0});
  return c.Emit("slice", {v}, std::move(attrs), what);
}

absl::StatusOr<Value> InitialState(NodeContext& c, const Layer& layer,
                                   int input, int k) {
  if (!c.has_input(input)) {
    Attrs full;
    const Shape shape = {ShapeOf(layer.x)[1], tir::MakeInt(layer.hidden)};
    full.Set("shape", shape);
    full.Set("dtype", layer.x.type().dtype);
    INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                           c.builder().DimSources(shape));
    return c.Emit("full", sources, std::move(full), "zeros");
  }
  INGOT_ASSIGN_OR_RETURN(Value state, c.Input(input));
  if (RankOf(state) != 3) {
    return c.Error("the initial state ", relay::ToString(state.type()),
                   " must have three dimensions");
  }
  if (layer.batch_first) {
    INGOT_ASSIGN_OR_RETURN(state, c.Transpose(state, {1, 0, 2}, "state"));
  }
  INGOT_ASSIGN_OR_RETURN(
      state, c.FixShape(state,
                        {tir::MakeInt(layer.directions), ShapeOf(layer.x)[1],
                         tir::MakeInt(layer.hidden)},
                        "state"));
  return Part(c, state, k, "initial");
}

// Operand `input`, a weight of direction `k`. `extents` are those after the
// directions as hidden_size tells them, null where it does not.
absl::StatusOr<Value> Weights(NodeContext& c, const Layer& layer, int input,
                              Shape extents, int k, absl::string_view what) {
  INGOT_ASSIGN_OR_RETURN(Value v, c.Input(input));
  extents.insert(extents.begin(), tir::MakeInt(layer.directions));
  if (RankOf(v) != static_cast<int>(extents.size())) {
    return c.Error(what, " ", relay::ToString(v.type()), " must have ",
                   extents.size(), " dimensions");
  }
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == nullptr) extents[d] = ShapeOf(v)[d];
  }
  INGOT_ASSIGN_OR_RETURN(v, c.FixShape(v, extents, what));
  return Part(c, v, k, what);
}

// The same of W or R, one row for each unit of each gate.
absl::StatusOr<Value> Matrix(NodeContext& c, const Layer& layer, int input,
                             Shape extents, int k, absl::string_view what) {
  if (!layer.kind.quantized) return Weights(c, layer, input, extents, k, what);
  std::swap(extents[0], extents[1]);
  INGOT_ASSIGN_OR_RETURN(const Value bytes,
                         Weights(c, layer, input, extents, k, what));
  const int scale = 8 + 2 * (input - 1);
  auto parameter = [&](int i) -> absl::StatusOr<Value> {
    INGOT_ASSIGN_OR_RETURN(const Value v, c.Input(i));
    if (RankOf(v) < 1) return c.Error("operand ", i, " is a scalar");
    return Part(c, v, k, what);
  };
  Compose made(c);
  const DataType dtype = layer.x.type().dtype;
  const Value point = made.Take(parameter(scale + 1));
  const Value step = made.Take(parameter(scale));
  const Value w = made.Mul(
      made.Sub(made.Cast(bytes, dtype), made.Cast(point, dtype)), step);
  const Value y = made.Transpose(w, {1, 0});
  INGOT_RETURN_IF_ERROR(made.status());
  return y;
}

absl::StatusOr<relay::Node*> Direction(NodeContext& c, const Layer& layer,
                                       int k, bool reverse, Attrs attrs) {
  const int gates = layer.kind.gates;
  const int64_t h = layer.hidden;
  const tir::Expr units = tir::MakeInt(h), all = tir::MakeInt(gates * h);
  INGOT_ASSIGN_OR_RETURN(Value w, Matrix(c, layer, 1, {all, nullptr}, k, "w"));
  INGOT_ASSIGN_OR_RETURN(Value r, Matrix(c, layer, 2, {all, units}, k, "r"));
  INGOT_ASSIGN_OR_RETURN(r, c.Transpose(r, {1, 0}, "r_t"));
  INGOT_ASSIGN_OR_RETURN(Value products,
                         c.Emit("dense", {layer.x, w}, {}, "inputs"));
  Value recurrent_bias;
  if (c.has_input(3)) {
    INGOT_ASSIGN_OR_RETURN(
        Value b, Weights(c, layer, 3, {tir::MakeInt(2 * gates * h)}, k, "b"));
    INGOT_ASSIGN_OR_RETURN(Value wb, Range(c, b, 0, gates * h, "wb"));
    INGOT_ASSIGN_OR_RETURN(products,
                           c.Emit("add", {products, wb}, {}, "add_wb"));
    if (gates == 3) {
      // GRU's last recurrent bias belongs inside the reset gate's reach.
      INGOT_ASSIGN_OR_RETURN(Value rb_zr, Range(c, b, 3 * h, 5 * h, "rb_zr"));
      INGOT_ASSIGN_OR_RETURN(recurrent_bias, Range(c, b, 5 * h, 6 * h, "rb_h"));
      Attrs pad;
      pad.Set("pads", std::vector<int64_t>{0, h});
      INGOT_ASSIGN_OR_RETURN(Value padded,
                             c.Emit("pad", {rb_zr}, std::move(pad), "rb_pad"));
      INGOT_ASSIGN_OR_RETURN(products,
                             c.Emit("add", {products, padded}, {}, "add_rb"));
    } else {
      INGOT_ASSIGN_OR_RETURN(Value rb,
                             Range(c, b, gates * h, 2 * gates * h, "rb"));
      INGOT_ASSIGN_OR_RETURN(products,
                             c.Emit("add", {products, rb}, {}, "add_rb"));
    }
  }
  Value lengths;
  if (c.has_input(4)) {
    INGOT_ASSIGN_OR_RETURN(lengths, c.Input(4));
  }
  INGOT_ASSIGN_OR_RETURN(Value h0, InitialState(c, layer, 5, k));
  std::vector<Value> operands = {products, r, h0, lengths};
  if (layer.kind.cell) {
    INGOT_ASSIGN_OR_RETURN(Value c0, InitialState(c, layer, 6, k));
    operands.push_back(c0);
    if (c.has_input(7)) {
      INGOT_ASSIGN_OR_RETURN(
          Value p, Weights(c, layer, 7, {tir::MakeInt(3 * h)}, k, "p"));
      operands.push_back(p);
    }
  }
  if (gates == 3) operands.push_back(recurrent_bias);
  if (reverse) attrs.Set("reverse", int64_t{1});
  return c.EmitNode(layer.kind.op, operands, std::move(attrs),
                    k == 0 ? "" : "backward");
}

// The results of all directions along a new dimension.
absl::StatusOr<Value> Stack(NodeContext& c, std::vector<Value> parts, int at,
                            absl::string_view what) {
  for (Value& v : parts) {
    Shape shape = ShapeOf(v);
    shape.insert(shape.begin() + at, tir::MakeInt(1));
    INGOT_ASSIGN_OR_RETURN(v, c.Reshape(v, shape, what));
  }
  if (parts.size() == 1) return parts[0];
  Attrs attrs;
  attrs.Set("axis", int64_t{at});
  return c.Emit("concat", parts, std::move(attrs), what);
}

// The number of hidden units, from hidden_size or the weights.
absl::StatusOr<int64_t> HiddenUnits(NodeContext& c, const Kind& kind) {
  // So many that products of a few such numbers fit in 64 bits.
  constexpr int64_t kMost = 1 << 20;
  int64_t hidden = 0;
  if (c.has_attr("hidden_size")) {
    hidden = c.Int("hidden_size", 0);
  } else {
    INGOT_ASSIGN_OR_RETURN(const Value w, c.Input(1));
    INGOT_ASSIGN_OR_RETURN(const Value r, c.Input(2));
    if (RankOf(w) != 3 || RankOf(r) != 3) {
      return c.Error("W ", relay::ToString(w.type()), " and R ",
                     relay::ToString(r.type()), " must have three dimensions");
    }
    if (!tir::AsConstInt(ShapeOf(r)[2], &hidden)) {
      int64_t rows;
      if (!tir::AsConstInt(ShapeOf(r)[1], &rows) &&
          !tir::AsConstInt(ShapeOf(w)[1], &rows)) {
        return c.NotSupported(
            "the number of hidden units is not known; give the node a "
            "hidden_size, or the model's inputs their shapes (--input-shape)");
      }
      hidden = rows / kind.gates;
    }
  }
  if (hidden < 1 || hidden > kMost) {
    return c.Error(hidden, " hidden units; there can be 1 to ", kMost);
  }
  return hidden;
}

absl::Status Recurrent(NodeContext& c, const Kind& kind) {
  Layer layer;
  layer.kind = kind;
  INGOT_ASSIGN_OR_RETURN(layer.x, c.Input(0));
  if (RankOf(layer.x) != 3) {
    return c.Error("X ", relay::ToString(layer.x.type()),
                   " must have three dimensions");
  }
  layer.batch_first = c.Int("layout", 0) != 0;
  if (layer.batch_first) {
    INGOT_ASSIGN_OR_RETURN(layer.x, c.Transpose(layer.x, {1, 0, 2}, "x"));
  }
  INGOT_ASSIGN_OR_RETURN(layer.hidden, HiddenUnits(c, kind));
  const std::string direction = c.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional") {
    return c.Error("direction='", direction, "'");
  }
  layer.directions = direction == "bidirectional" ? 2 : 1;
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<Activations> activations,
      ReadActivations(c, kind.activations, layer.directions));
  std::vector<Value> y, h, cell;
  for (int k = 0; k < layer.directions; ++k) {
    Attrs attrs;
    activations[k].SetOn(&attrs);
    if (c.has_attr("clip")) attrs.Set("clip", c.Float("clip", 0));
    if (kind.cell) attrs.Set("input_forget", c.Int("input_forget", 0));
    if (kind.gates == 3) {
      attrs.Set("linear_before_reset", c.Int("linear_before_reset", 0));
    }
    const bool reverse = direction == "reverse" || k == 1;
    INGOT_ASSIGN_OR_RETURN(relay::Node * node,
                           Direction(c, layer, k, reverse, std::move(attrs)));
    y.push_back(Value{node, 0});
    h.push_back(Value{node, 1});
    if (kind.cell) cell.push_back(Value{node, 2});
  }
  // Y [steps, directions, batch, hidden], Y_h [directions, batch, hidden].
  if (c.wants_output(0)) {
    INGOT_ASSIGN_OR_RETURN(Value all, Stack(c, y, 1, "y"));
    if (layer.batch_first) {
      INGOT_ASSIGN_OR_RETURN(all, c.Transpose(all, {2, 0, 1, 3}, "y_t"));
    }
    c.SetOutput(0, all);
  }
  const std::vector<Value>* states[] = {&h, &cell};
  for (int i = 0; i < (kind.cell ? 2 : 1); ++i) {
    if (!c.wants_output(1 + i)) continue;
    INGOT_ASSIGN_OR_RETURN(Value all, Stack(c, *states[i], 0, "last"));
    if (layer.batch_first) {
      INGOT_ASSIGN_OR_RETURN(all, c.Transpose(all, {1, 0, 2}, "last_t"));
    }
    c.SetOutput(1 + i, all);
  }
  return absl::OkStatus();
}

}  // namespace

void AddRecurrentConverters(ConverterTable* t) {
  auto add = [t](const char* name, const Kind& kind) {
    t->Add(name, 1, [kind](NodeContext& c) { return Recurrent(c, kind); });
  };
  add("LSTM", {"lstm", 4, 3, true});
  add("GRU", {"gru", 3, 2, false});
  add("RNN", {"rnn", 1, 1, false});
  // By the definition for floats: weights are what bytes stand for, and nothing
  // else is rounded.
  t->Add(
      "DynamicQuantizeLSTM", 1,
      [](NodeContext& c) {
        return Recurrent(c, {"lstm", 4, 3, true, /*quantized=*/true});
      },
      kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend

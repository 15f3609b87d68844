#include <limits>
#include <utility>

#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

// [c] -> [1, c, 1, …], to stand against x.
absl::StatusOr<Value> ChannelVector(NodeContext& c, Value v, const Value& x) {
  Shape shape(RankOf(x), tir::MakeInt(1));
  if (RankOf(v) != 1 || RankOf(x) < 2) {
    return c.Error("expected a vector, not ", relay::ToString(v.type()));
  }
  shape[1] = ShapeOf(v)[0];
  return c.Reshape(v, shape, "channels");
}

// A batch norm's data and its vectors, each of which tells how many channels
// there are: known of the others too, since rules that take the node apart
// would let a single element stand for all channels.
absl::Status FixChannels(NodeContext& c, std::vector<Value>* in) {
  const Value& x = (*in)[0];
  if (RankOf(x) < 1) {
    return c.Error("the operand is ", relay::ToString(x.type()));
  }
  tir::Expr channels = RankOf(x) < 2 ? tir::MakeInt(1) : ShapeOf(x)[1];
  for (size_t i = 1; i < in->size(); ++i) {
    const Value& v = (*in)[i];
    if (RankOf(v) != 1) {
      return c.Error("expected a vector, not ", relay::ToString(v.type()));
    }
    int64_t known;
    if (tir::AsConstInt(ShapeOf(v)[0], &known) &&
        !tir::AsConstInt(channels, &known)) {
      channels = ShapeOf(v)[0];
    }
  }
  for (size_t i = 0; i < in->size(); ++i) {
    Value& v = (*in)[i];
    Shape shape = ShapeOf(v);
    if (i > 0 || shape.size() > 1) shape[i == 0 ? 1 : 0] = channels;
    INGOT_ASSIGN_OR_RETURN(v, c.FixShape(v, shape, "channels"));
  }
  return absl::OkStatus();
}

// Statistics of the batch itself, and running ones that move towards them.
absl::Status BatchNormTraining(NodeContext& c, std::vector<Value> in) {
  const Value x = in[0];
  std::vector<int64_t> axes;
  for (int d = 0; d < RankOf(x); ++d) {
    if (d != 1) axes.push_back(d);
  }
  Attrs reduce;
  reduce.Set("axes", axes);
  reduce.Set("keepdims", int64_t{0});
  // In the type of the running ones, which may be wider than the data's.
  INGOT_ASSIGN_OR_RETURN(const Value wide, c.Cast(x, in[3].type().dtype));
  INGOT_ASSIGN_OR_RETURN(Value mean,
                         c.Emit("reduce_mean", {wide}, reduce, "mean"));
  INGOT_ASSIGN_OR_RETURN(Value mean_b, ChannelVector(c, mean, x));
  INGOT_ASSIGN_OR_RETURN(Value centred,
                         c.Emit("sub", {wide, mean_b}, {}, "sub"));
  INGOT_ASSIGN_OR_RETURN(Value square,
                         c.Emit("mul", {centred, centred}, {}, "square"));
  INGOT_ASSIGN_OR_RETURN(Value var,
                         c.Emit("reduce_mean", {square}, reduce, "var"));
  Attrs attrs;
  attrs.Set("epsilon", c.Float("epsilon", 1e-5));
  INGOT_ASSIGN_OR_RETURN(
      Value y, c.Emit("batch_norm", {x, in[1], in[2], mean, var}, attrs));
  c.SetOutput(0, y);
  const double momentum = c.Float("momentum", 0.9);
  for (int i = 1; i <= 2; ++i) {
    const Value running = in[2 + i], current = i == 1 ? mean : var;
    const DataType t = running.type().dtype;
    INGOT_ASSIGN_OR_RETURN(Value keep, c.Scalar(t, momentum));
    INGOT_ASSIGN_OR_RETURN(Value move, c.Scalar(t, 1 - momentum));
    INGOT_ASSIGN_OR_RETURN(Value a, c.Emit("mul", {running, keep}, {}, "keep"));
    INGOT_ASSIGN_OR_RETURN(Value b, c.Emit("mul", {current, move}, {}, "move"));
    INGOT_ASSIGN_OR_RETURN(Value sum, c.Emit("add", {a, b}, {}, "running"));
    c.SetOutput(i, sum);
  }
  return absl::OkStatus();
}

absl::Status BatchNorm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(5));
  if (in.size() != 5) return c.Error("takes five inputs");
  if (c.opset() < 9 && c.Int("spatial", 1) == 0) {
    return c.NotSupported("spatial=0");
  }
  INGOT_RETURN_IF_ERROR(FixChannels(c, &in));
  if (c.opset() >= 14 && c.Int("training_mode", 0) != 0) {
    return BatchNormTraining(c, in);
  }
  Attrs attrs;
  attrs.Set("epsilon", c.Float("epsilon", 1e-5));
  return c.Return("batch_norm", in, std::move(attrs));
}

absl::Status InstanceNorm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(3));
  Attrs attrs;
  attrs.Set("epsilon", c.Float("epsilon", 1e-5));
  return c.Return("instance_norm", in, std::move(attrs));
}

absl::Status LayerNorm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(2));
  const int64_t axis = c.Int("axis", -1);
  const double epsilon = c.Float("epsilon", 1e-5);
  Attrs attrs;
  attrs.Set("axis", axis);
  attrs.Set("epsilon", epsilon);
  INGOT_RETURN_IF_ERROR(c.Return("layer_norm", in, attrs));
  if (!c.wants_output(1) && !c.wants_output(2)) return absl::OkStatus();
  // Mean and inverse deviation, for training, in the type that stash_type
  // names: f32, unless the model asks for bf16.
  const DataType stash = c.Int("stash_type", 1) == onnx::TensorProto::BFLOAT16
                             ? DataType::BFloat16()
                             : DataType::Float(32);
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Cast(in[0], stash));
  std::vector<int64_t> axes;
  const int64_t first = axis < 0 ? axis + RankOf(x) : axis;
  for (int64_t d = first; d < RankOf(x); ++d) axes.push_back(d);
  Attrs reduce;
  reduce.Set("axes", axes);
  INGOT_ASSIGN_OR_RETURN(Value mean,
                         c.Emit("reduce_mean", {x}, reduce, "mean"));
  INGOT_ASSIGN_OR_RETURN(Value d, c.Emit("sub", {x, mean}, {}, "sub"));
  INGOT_ASSIGN_OR_RETURN(Value square, c.Emit("mul", {d, d}, {}, "square"));
  INGOT_ASSIGN_OR_RETURN(Value var,
                         c.Emit("reduce_mean", {square}, reduce, "var"));
  INGOT_ASSIGN_OR_RETURN(Value eps, c.Scalar(x.type().dtype, epsilon));
  INGOT_ASSIGN_OR_RETURN(Value sum, c.Emit("add", {var, eps}, {}, "eps"));
  INGOT_ASSIGN_OR_RETURN(Value root, c.Emit("sqrt", {sum}, {}, "sqrt"));
  INGOT_ASSIGN_OR_RETURN(Value inverse,
                         c.Emit("reciprocal", {root}, {}, "inverse"));
  c.SetOutput(1, mean);
  c.SetOutput(2, inverse);
  return absl::OkStatus();
}

absl::Status RmsNorm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(2));
  Attrs attrs;
  attrs.Set("axis", c.Int("axis", -1));
  attrs.Set("epsilon", c.Float("epsilon", 1e-5));
  return c.Return("rms_norm", in, std::move(attrs));
}

absl::Status GroupNorm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(3));
  if (in.size() != 3) return c.Error("takes three inputs");
  const int64_t groups = c.Int("num_groups", 0);
  Shape shape = ShapeOf(in[0]);
  int64_t channels = 1;
  if (shape.size() >= 2 && !tir::AsConstInt(shape[1], &channels)) {
    // As many as there are scales, since these are of channels.
    const Shape& scales = ShapeOf(in[1]);
    if (c.opset() < 21 || scales.size() != 1 ||
        !tir::AsConstInt(scales[0], &channels)) {
      return c.NotSupported("the number of channels of ",
                            relay::ToString(in[0].type()),
                            " is not known; give the input's shape");
    }
    shape[1] = scales[0];
    INGOT_ASSIGN_OR_RETURN(in[0], c.FixShape(in[0], shape, "channels"));
  }
  if (shape.size() < 2 || groups < 1 || channels % groups != 0) {
    return c.Error("num_groups=", groups, " does not divide the channels of ",
                   relay::ToString(in[0].type()));
  }
  if (c.opset() < 21) {
    // One scale and bias a group; since then one a channel.
    for (int i = 1; i < 3; ++i) {
      const Shape column = relay::MakeShape({groups, 1});
      INGOT_ASSIGN_OR_RETURN(in[i], c.Reshape(in[i], column, "column"));
      Attrs expand;
      expand.Set("shape", relay::MakeShape({groups, channels / groups}));
      INGOT_ASSIGN_OR_RETURN(in[i],
                             c.Emit("expand", {in[i]}, expand, "expand"));
      INGOT_ASSIGN_OR_RETURN(in[i],
                             c.Reshape(in[i], relay::MakeShape({channels})));
    }
  }
  Attrs attrs;
  attrs.Set("groups", groups);
  attrs.Set("epsilon", c.Float("epsilon", 1e-5));
  return c.Return("group_norm", in, std::move(attrs));
}

absl::Status Lrn(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Attrs attrs;
  attrs.Set("size", c.Int("size", 0));
  attrs.Set("alpha", c.Float("alpha", 1e-4));
  attrs.Set("beta", c.Float("beta", 0.75));
  attrs.Set("bias", c.Float("bias", 1));
  return c.Return("lrn", {x}, std::move(attrs));
}

// Softmax and the like. Before operator set 13 the dimensions from `axis` on
// were taken as one.
Converter AlongAxis(const char* op) {
  return [op](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
    const int rank = RankOf(x);
    int64_t axis = c.Int("axis", c.opset() < 13 ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank || (axis == rank && c.opset() >= 13)) {
      return c.Error("axis ", c.Int("axis", -1), " is outside of rank ", rank);
    }
    Attrs attrs;
    attrs.Set("axis", axis);
    if (c.opset() >= 13 || axis == rank - 1) {
      return c.Return(op, {x}, std::move(attrs));
    }
    Shape flat = {tir::MakeInt(1), tir::MakeInt(1)};
    for (int d = 0; d < rank; ++d) {
      flat[d < axis ? 0 : 1] = flat[d < axis ? 0 : 1] * ShapeOf(x)[d];
    }
    for (tir::Expr& e : flat) e = SimplifyDim(e);
    INGOT_ASSIGN_OR_RETURN(Value matrix, c.Reshape(x, flat, "flat"));
    attrs.Set("axis", int64_t{1});
    INGOT_ASSIGN_OR_RETURN(Value y, c.Emit(op, {matrix}, std::move(attrs)));
    INGOT_ASSIGN_OR_RETURN(y, c.Reshape(y, ShapeOf(x)));
    c.SetOutput(0, y);
    return absl::OkStatus();
  };
}

absl::Status LpNorm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Attrs attrs;
  attrs.Set("axis", c.Int("axis", -1));
  attrs.Set("p", c.Int("p", 2));
  return c.Return("lp_norm", {x}, std::move(attrs));
}

// One where the largest element is (the first one), zero elsewhere.
absl::Status Hardmax(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const int rank = RankOf(x);
  int64_t axis = c.Int("axis", c.opset() < 13 ? 1 : -1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return c.Error("axis ", axis);
  Shape shape = ShapeOf(x);
  if (tir::IsConstInt(shape[axis], 0)) {  // none is the largest
    c.SetOutput(0, x);
    return absl::OkStatus();
  }
  if (c.opset() < 13) {
    Shape flat = {tir::MakeInt(1), tir::MakeInt(1)};
    for (int d = 0; d < rank; ++d) {
      flat[d < axis ? 0 : 1] = flat[d < axis ? 0 : 1] * ShapeOf(x)[d];
    }
    for (tir::Expr& e : flat) e = SimplifyDim(e);
    INGOT_ASSIGN_OR_RETURN(x, c.Reshape(x, flat, "flat"));
    axis = 1;
  }
  Value compared = x;
  if (!relay::ConstShape({ShapeOf(x)[axis]})) {
    // Nothing is the largest of no elements, so one more is put at the end that
    // is never the first of the largest.
    std::vector<int64_t> pads(2 * RankOf(x), 0);
    pads[RankOf(x) + axis] = 1;
    Attrs pad;
    pad.Set("pads", pads);
    pad.Set("value", -std::numeric_limits<double>::infinity());
    INGOT_ASSIGN_OR_RETURN(compared, c.Emit("pad", {x}, pad, "padded"));
  }
  Attrs arg;
  arg.Set("axis", axis);
  arg.Set("keepdims", int64_t{0});
  INGOT_ASSIGN_OR_RETURN(Value best,
                         c.Emit("argmax", {compared}, arg, "argmax"));
  Known zero_one{x.type().dtype,
                 {2},
                 {KnownNumber::Of(int64_t{0}), KnownNumber::Of(int64_t{1})}};
  INGOT_ASSIGN_OR_RETURN(Tensor values, TensorFromKnown(zero_one));
  INGOT_ASSIGN_OR_RETURN(Value pair, c.Constant(std::move(values), "values"));
  Attrs hot;
  hot.Set("axis", axis);
  hot.Set("depth", Shape{ShapeOf(x)[axis]});
  std::vector<Value> operands = {best, pair};
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources({ShapeOf(x)[axis]}));
  operands.insert(operands.end(), sources.begin(), sources.end());
  INGOT_ASSIGN_OR_RETURN(Value y, c.Emit("one_hot", operands, hot));
  INGOT_ASSIGN_OR_RETURN(y, c.Reshape(y, shape));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// In f32 for halves, in whose range neither squares of deviations nor the small
// number need be.
absl::Status MeanVariance(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const DataType t = x.type().dtype;
  INGOT_ASSIGN_OR_RETURN(x, c.Widen(x));
  Attrs reduce;
  reduce.Set("axes", c.Ints("axes", {0, 2, 3}));
  INGOT_ASSIGN_OR_RETURN(Value mean,
                         c.Emit("reduce_mean", {x}, reduce, "mean"));
  INGOT_ASSIGN_OR_RETURN(Value d, c.Emit("sub", {x, mean}, {}, "sub"));
  INGOT_ASSIGN_OR_RETURN(Value square, c.Emit("mul", {d, d}, {}, "square"));
  INGOT_ASSIGN_OR_RETURN(Value var,
                         c.Emit("reduce_mean", {square}, reduce, "var"));
  INGOT_ASSIGN_OR_RETURN(Value root, c.Emit("sqrt", {var}, {}, "sqrt"));
  INGOT_ASSIGN_OR_RETURN(Value eps, c.Scalar(x.type().dtype, 1e-9));
  INGOT_ASSIGN_OR_RETURN(Value deviation,
                         c.Emit("add", {root, eps}, {}, "eps"));
  INGOT_ASSIGN_OR_RETURN(Value y, c.Emit("div", {d, deviation}));
  INGOT_ASSIGN_OR_RETURN(y, c.Cast(y, t));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

}  // namespace

void AddNormalizationConverters(ConverterTable* t) {
  t->Add("BatchNormalization", 1, &BatchNorm);
  t->Add("InstanceNormalization", 1, &InstanceNorm);
  t->Add("LayerNormalization", 17, &LayerNorm);
  t->Add("RMSNormalization", 23, &RmsNorm);
  t->Add("GroupNormalization", 18, &GroupNorm);
  t->Add("LRN", 1, &Lrn);
  t->Add("Softmax", 1, AlongAxis("softmax"));
  t->Add("LogSoftmax", 1, AlongAxis("log_softmax"));
  t->Add("LpNormalization", 1, &LpNorm);
  t->Add("Hardmax", 1, &Hardmax);
  t->Add("MeanVarianceNormalization", 9, &MeanVariance);
}

}  // namespace ingot::onnx_frontend

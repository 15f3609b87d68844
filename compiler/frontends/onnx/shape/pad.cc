// Pad: with numbers that are known, by one operator; else made of others.
#include "compiler/frontends/onnx/shape/pad.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/shape/run_time_axes.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

const DataType kI64 = DataType::Int(64);

// Amounts before each dimension, then after each.
struct Pads {
  Shape added;    // may be negative where all are constants
  Shape removed;  // empty, or what negative pads take away
};

// The amounts of all dimensions, 0 for those that `axes` does not name.
absl::StatusOr<Shape> SpreadPads(NodeContext& c, const Shape& pads, int rank) {
  std::vector<int64_t> axes;
  if (c.has_input(3)) {
    INGOT_ASSIGN_OR_RETURN(axes, c.ConstantInts(3, "axes"));
  } else {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  if (pads.size() != 2 * axes.size()) {
    return c.Error("has ", pads.size(), " pads for ", axes.size(), " axes");
  }
  Shape all(2 * rank, tir::MakeInt(0));
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t axis = axes[k];
    if (axis < -rank || axis >= rank) {
      return c.Error("axis ", axis, " is outside of rank ", rank);
    }
    if (axis < 0) axis += rank;
    all[axis] = pads[k];
    all[axis + rank] = pads[k + axes.size()];
  }
  return all;
}

// The amounts of all dimensions where a run tells the axes, which are
// operand 3.
absl::StatusOr<Pads> ReadPadsOfRunTimeAxes(NodeContext& c, int rank) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const RunTimeAxes axes,
                         RunTimeAxes::Of(k, k.Input(3), rank));
  const Value amounts = k.Cast(k.Input(1), kI64);
  const Value zero = k.Full(kI64, {tir::MakeInt(rank)}, 0);
  const Expr half = tir::MakeInt(axes.count());
  const Expr whole = tir::MakeInt(2 * axes.count());
  INGOT_RETURN_IF_ERROR(k.status());
  if (!relay::ConstShape(ShapeOf(amounts))) {
    return c.NotSupported("how many pads there are is not known: they are ",
                          relay::ToString(amounts.type()));
  }
  if (RankOf(amounts) != 1 ||
      !relay::SameShape(ShapeOf(amounts), Shape{whole})) {
    return c.Error("has pads ", relay::ToString(amounts.type()), " for ",
                   axes.count(), " axes");
  }
  const Value all = k.Concat(
      {axes.Spread(k, k.Slice(amounts, 0, tir::MakeInt(0), half), zero),
       axes.Spread(k, k.Slice(amounts, 0, half, whole), zero)},
      0);
  const Value none = k.Like(all, 0);
  Pads pads;
  INGOT_ASSIGN_OR_RETURN(pads.added,
                         axes.Bind(k, k.Call("maximum", {all, none}), "pads"));
  INGOT_ASSIGN_OR_RETURN(
      pads.removed,
      axes.Bind(k, k.Call("maximum", {k.Sub(none, all), none}), "crops"));
  return pads;
}

// `mode` says what is put around x. What continues x continues that which is
// left of it, so elements are removed first.
absl::StatusOr<Pads> ReadPads(NodeContext& c, int rank,
                              const std::string& mode) {
  if (c.opset() >= 18 && c.IsRunTimeInput(3)) {
    return ReadPadsOfRunTimeAxes(c, rank);
  }
  Pads pads;
  if (c.opset() < 11) {
    for (int64_t p : c.Ints(c.opset() < 2 ? "paddings" : "pads")) {
      pads.added.push_back(tir::MakeInt(p));
    }
  } else if (!c.IsRunTimeInput(1)) {
    INGOT_ASSIGN_OR_RETURN(pads.added, c.KnownInts(1, "pads"));
  } else {
    // Dimensions cannot be negative, so that pads of a run are two of them.
    Compose k(c);
    const Value amounts = k.Input(1);
    const Value zero = k.Like(amounts, 0);
    const Value added = k.Call("maximum", {amounts, zero});
    const Value removed = k.Call("maximum", {k.Sub(zero, amounts), zero});
    INGOT_RETURN_IF_ERROR(k.status());
    INGOT_ASSIGN_OR_RETURN(
        pads.added,
        c.builder().BindDims(added, absl::StrCat(c.name(), "_pads")));
    INGOT_ASSIGN_OR_RETURN(
        pads.removed,
        c.builder().BindDims(removed, absl::StrCat(c.name(), "_crops")));
    INGOT_ASSIGN_OR_RETURN(pads.removed, SpreadPads(c, pads.removed, rank));
  }
  INGOT_ASSIGN_OR_RETURN(pads.added, SpreadPads(c, pads.added, rank));
  const Expr zero = tir::MakeInt(0);
  // Constants around x are all one operator, which takes elements away, too.
  const bool at_once =
      mode == "constant" && relay::ConstShape(pads.added).has_value();
  for (size_t i = 0; i < pads.added.size() && !at_once; ++i) {
    Expr& amount = pads.added[i];
    if (relay::Decide(Ge(amount, zero)) == true) continue;
    pads.removed.resize(pads.added.size(), zero);
    pads.removed[i] = SimplifyDim(Max(zero - amount, zero));
    amount = SimplifyDim(Max(amount, zero));
  }
  return pads;
}

// x without so many elements at the ends of each dimension.
Value Crop(Compose& k, Value x, const Shape& removed) {
  const int rank = RankOf(x);
  for (int d = 0; d < rank && k.ok() && !removed.empty(); ++d) {
    const Expr &before = removed[d], &after = removed[d + rank];
    if (tir::IsConstInt(before, 0) && tir::IsConstInt(after, 0)) continue;
    x = k.Slice(x, d, before, SimplifyDim(ShapeOf(x)[d] - after));
  }
  return x;
}

// x with constants before and after it along dimension d.
Value Surround(Compose& k, Value x, int d, const Expr& before,
               const Expr& after, double value) {
  std::vector<Value> parts;
  for (const Expr* amount : {&before, &after}) {
    if (amount == &after) parts.push_back(x);
    if (tir::IsConstInt(*amount, 0)) continue;
    Shape shape = ShapeOf(x);
    shape[d] = *amount;
    Attrs attrs;
    attrs.Set("shape", shape);
    attrs.Set("dtype", x.type().dtype);
    attrs.Set("value", value);
    absl::StatusOr<std::vector<Value>> sources =
        k.context().builder().DimSources(shape);
    if (!k.Check(sources.status())) return x;
    parts.push_back(k.Call("full", *sources, std::move(attrs)));
  }
  return parts.size() == 1 ? x : k.Concat(parts, d);
}

// x along dimension d as its mode goes on beyond its ends.
Value Continue(Compose& k, Value x, int d, const Expr& before,
               const Expr& after, const std::string& mode) {
  const Expr extent = ShapeOf(x)[d];
  auto number = [&](const Expr& dim) {
    return k.Take(k.context().builder().DimsTensor(
        {dim}, absl::StrCat(k.context().name(), "_number")));
  };
  Attrs range;
  const Shape count = {SimplifyDim(before + extent + after)};
  range.Set("count", count);
  range.Set("dtype", kI64);
  absl::StatusOr<std::vector<Value>> sources =
      k.context().builder().DimSources(count);
  if (!k.Check(sources.status())) return x;
  Value at = k.Sub(k.Call("range", *sources, std::move(range)), number(before));
  if (mode == "edge") {
    at = k.Call("maximum", {at, number(tir::MakeInt(0))});
    at = k.Call("minimum", {at, number(extent - 1)});
  } else if (mode == "wrap") {
    at = k.Call("mod", {at, number(extent)});
  } else {  // reflect: there and back again
    const Expr period = Max((extent - 1) * 2, tir::MakeInt(1));
    at = k.Call("mod", {at, number(period)});
    at = k.Call("minimum", {at, k.Sub(number(period), at)});
  }
  Attrs gather;
  gather.Set("axis", int64_t{d});
  return k.Call("gather", {x, at}, std::move(gather));
}

}  // namespace

Value PadBySymbols(Compose& k, Value x, const Shape& pads,
                   const std::string& mode, double value) {
  const int rank = RankOf(x);
  for (int d = 0; d < rank && k.ok(); ++d) {
    const Expr &before = pads[d], &after = pads[d + rank];
    if (tir::IsConstInt(before, 0) && tir::IsConstInt(after, 0)) continue;
    x = mode == "constant" ? Surround(k, x, d, before, after, value)
                           : Continue(k, x, d, before, after, mode);
  }
  return x;
}

namespace {

Attrs KnownPads(const std::vector<int64_t>& pads, const std::string& mode,
                double value) {
  Attrs attrs;
  attrs.Set("pads", pads);
  if (mode != "constant") attrs.Set("mode", mode);
  if (value != 0 || std::signbit(value)) attrs.Set("value", value);
  return attrs;
}

// By a constant that a run tells: what is x and what is not tells a mask.
absl::Status PadWithOperand(NodeContext& c, const Value& x, const Shape& pads,
                            const std::string& mode) {
  const auto known = relay::ConstShape(pads);
  Compose k(c);
  auto pad = [&](const Value& v) {
    return known ? k.Call("pad", {v}, KnownPads(*known, mode, 0))
                 : PadBySymbols(k, v, pads, mode, 0);
  };
  Attrs ones;
  ones.Set("shape", ShapeOf(x));
  ones.Set("dtype", DataType::Bool());
  ones.Set("value", 1.0);
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources(ShapeOf(x)));
  const Value all = k.Call("full", sources, std::move(ones));
  const Value value = k.Reshape(k.Input(2), {});
  INGOT_RETURN_IF_ERROR(k.status());
  const Value inside = pad(all);
  const Value result = k.Call("where", {inside, pad(x), value});
  if (k.ok()) c.SetOutput(0, result);
  return k.status();
}

// Whether an operator's attribute, which is a double, can state the input.
bool IsAttribute(NodeContext& c, int input) {
  const relay::Known* const known = c.known(input);
  if (c.IsRunTimeInput(input) || known == nullptr) return false;
  return std::all_of(
      known->values.begin(), known->values.end(),
      [](const relay::KnownNumber& number) { return number.FitsDouble(); });
}

absl::Status Pad(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const std::string mode = c.String("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" &&
      mode != "wrap") {
    return c.Error("there is no mode '", mode, "'");
  }
  INGOT_ASSIGN_OR_RETURN(const Pads amounts, ReadPads(c, RankOf(x), mode));
  const Shape& pads = amounts.added;
  Compose k(c);
  x = Crop(k, x, amounts.removed);
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.opset() >= 11 && mode == "constant" && c.has_input(2) &&
      !IsAttribute(c, 2)) {
    return PadWithOperand(c, x, pads, mode);
  }
  double value = c.opset() < 11 ? c.Float("value", 0) : 0;
  if (c.opset() >= 11 && c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(std::vector<double> v,
                           c.ConstantFloats(2, "constant_value"));
    if (v.size() > 1) return c.Error("constant_value must be one number");
    if (!v.empty()) value = v[0];
  }
  if (const auto known = relay::ConstShape(pads)) {
    return c.Return("pad", {x}, KnownPads(*known, mode, value));
  }
  const Value padded = PadBySymbols(k, x, pads, mode, value);
  if (k.ok()) c.SetOutput(0, padded);
  return k.status();
}

}  // namespace

void AddPadConverters(ConverterTable* t) { t->Add("Pad", 1, &Pad); }

}  // namespace ingot::onnx_frontend

// TensorScatter: new entries of a cache, each batch's at a place of its own.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

// Each place of the cache takes what the update has for it, if anything. After
// the batches come the places, [b, p, ...], while they are looked up.
absl::Status TensorScatter(NodeContext& c) {
  Compose k(c);
  const Value past = k.Input(0), update = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(past);
  int64_t axis = c.Int("axis", -2);
  if (axis < 0) axis += rank;
  if (RankOf(update) != rank || axis < 1 || axis >= rank) {
    return c.Error("axis ", c.Int("axis", -2), " of a cache ",
                   relay::ToString(past.type()), " and an update ",
                   relay::ToString(update.type()));
  }
  const std::string mode = c.String("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    return c.Error("there is no mode '", mode, "'");
  }
  const tir::Expr batch = ShapeOf(past)[0], places = ShapeOf(past)[axis];
  const tir::Expr one = tir::MakeInt(1);
  // The entry of the update that belongs to each place.
  const DataType i64 = DataType::Int(64);
  const Value first =
      c.has_input(2) ? k.Cast(k.Input(2), i64) : k.Full(i64, {batch}, 0);
  Value entry = k.Sub(k.Reshape(k.CountUp(places), {one, places}),
                      k.Reshape(first, {batch, one}));
  // The remainder has the divisor's sign.
  if (mode == "circular") entry = k.Call("mod", {entry, k.Number(places)});
  const Value is_new =
      k.Call("logical_and",
             {k.Call("greater_equal", {entry, k.Like(entry, 0)}),
              k.Call("less", {entry, k.Number(ShapeOf(update)[axis])})});
  // Entries that the update does not have are looked up and not taken.
  const Value known = k.Call("maximum", {entry, k.Like(entry, 0)});
  std::vector<int64_t> forth = {0, axis}, back(rank);
  for (int64_t d = 1; d < rank; ++d) {
    if (d != axis) forth.push_back(d);
  }
  for (int64_t d = 0; d < rank; ++d) back[forth[d]] = d;
  Attrs by_batch;
  by_batch.Set("batch_dims", int64_t{1});
  const Value entries = k.Transpose(
      k.Call(
          "gather_nd",
          {k.Transpose(update, forth), k.Reshape(known, {batch, places, one})},
          std::move(by_batch)),
      back);
  Shape mask(rank, one);
  mask[0] = batch;
  mask[axis] = places;
  c.SetOutput(0, k.Call("where", {k.Reshape(is_new, mask), entries, past}));
  return k.status();
}

}  // namespace

void AddTensorScatterConverters(ConverterTable* t) {
  t->Add("TensorScatter", 24, &TensorScatter);
}

}  // namespace ingot::onnx_frontend

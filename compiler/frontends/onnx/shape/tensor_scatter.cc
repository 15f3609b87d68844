// TensorScatter: new entries of a cache, each batch's at a place of its own.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/states.h"

namespace ingot::onnx_frontend {
namespace {

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
  const Value starts = c.has_input(2)
                           ? k.Cast(k.Input(2), DataType::Int(64))
                           : k.Full(DataType::Int(64), {tir::MakeInt(1)}, 0);
  INGOT_ASSIGN_OR_RETURN(ImportedState * state, StateInput(c, 0));
  const bool circular = mode == "circular";
  INGOT_RETURN_IF_ERROR(k.status());
  if (state != nullptr && state->axis == axis) {
    // The state is all of that which the model calls the cache.
    INGOT_ASSIGN_OR_RETURN(const Value all,
                           UpdateState(c, update, starts, state, circular));
    c.SetOutput(0, all);
    return absl::OkStatus();
  }
  Attrs attrs;
  attrs.Set("axis", axis);
  if (circular) attrs.Set("circular", int64_t{1});
  c.SetOutput(0,
              k.Call("update_slice", {past, update, starts}, std::move(attrs)));
  return k.status();
}

}  // namespace

void AddTensorScatterConverters(ConverterTable* t) {
  t->Add("TensorScatter", 24, &TensorScatter);
}

}  // namespace ingot::onnx_frontend

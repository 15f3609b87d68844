// The attributes that convolutions and pools share in ONNX. Internal to the
// ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_WINDOW_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {

struct WindowAttrs {
  std::vector<int64_t> kernel, strides, pads, dilations;

  // As relay attributes, those with the default value left out.
  Attrs ToAttrs() const;
  // With a dimension of extent 1 before the only one: 1-d operators are
  // imported as 2-d ones.
  void AddHeight();
};

// The padding that auto_pad asks for where it depends on extents that only a
// run knows.
struct RunTimePads {
  Shape pads;  // of x: before each dimension, then after each; empty: none
  Shape out;   // of the result: the extents that these make; null elsewhere

  bool empty() const { return pads.empty(); }
  // x with them; and the result of the window, its extents known as `out`.
  absl::StatusOr<Value> Pad(NodeContext& c, Value x, double value) const;
  absl::StatusOr<Value> Name(NodeContext& c, Value y) const;
};

// Reads strides, pads, dilations and auto_pad of a node that slides a window
// of `kernel` over the dimensions of x from the third on. What only a run knows
// goes to `run_time`; Unimplemented if there is such, and that is null.
absl::StatusOr<WindowAttrs> ReadWindowAttrs(NodeContext& c, const Value& x,
                                            std::vector<int64_t> kernel,
                                            RunTimePads* run_time = nullptr);

// [n, c, w] -> [n, c, 1, w] and back.
absl::StatusOr<Value> AddHeight(NodeContext& c, Value x);
absl::StatusOr<Value> DropHeight(NodeContext& c, Value x);

// The node's pool, of x. `stem`: "max_pool", "avg_pool" or "lp_pool". Also sets
// output 1 of a max pool, if it is wanted.
absl::StatusOr<Value> PoolOf(NodeContext& c, absl::string_view stem, Value x);

// x + bias, the bias running along dimension 1.
absl::StatusOr<Value> AddChannelBias(NodeContext& c, Value x, Value bias);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_WINDOW_H_

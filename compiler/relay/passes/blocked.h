// Values in blocks of channels. Private to this folder; block_layout walks the
// function and asks this for each node.
#ifndef INGOT_COMPILER_RELAY_PASSES_BLOCKED_H_
#define INGOT_COMPILER_RELAY_PASSES_BLOCKED_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/winograd.h"
#include "compiler/target/layout_preferences.h"

namespace ingot::relay {

// Holds NCHW data of `channels` channels as NCHW<block>c: [n, ceil(c / block),
// h, w, block]. Where block does not divide them, the last block is filled up
// with channels that mean nothing, whatever they hold: nothing that makes other
// channels of them may read these.
struct Blocked {
  Value value;
  int64_t block = 0;
  int64_t channels = 0;
  bool has_unit_height = false;  // stands for NCW data, with h of 1

  bool padded() const { return channels % block != 0; }
};

// The layout of data in blocks of so many channels: "NCHW8c".
std::string DataLayout(int64_t block);

// The shape of NCHW or NCW data as that of NCHW: a dimension of 1 is put in
// before the last of NCW.
Shape WithUnitHeight(Shape shape);

// The constant number of channels of NCHW or NCW data; 0 when there is none.
int64_t ChannelsOf(const TensorType& type);

// How many of a block's channels, in whole words of so many, a dense
// convolution of `channels` reads in one step, so that it leaves out those that
// fill up the last block: they may hold infinities, whose products with weights
// of 0 are NaN.
int64_t ReadAtOnce(int64_t channels, int64_t word, int64_t block);

// Whether channels that fill up the last block are so many beside those that
// there are that they take much time, too.
bool FillingUpIsMuch(int64_t channels, int64_t block);

// Makes blocked forms of values of a function, and plain ones again. Each
// target has blocks of its own: what others made it reads in the plain layout.
class BlockedValues {
 public:
  BlockedValues(Function* function, const PassContext& context);

  // The blocked form of the node's result, computed from blocked operands; none
  // when it is plain, for which Plain may then know something cheaper than the
  // node. InvalidArgument and the like are bugs.
  absl::StatusOr<std::optional<Blocked>> Convert(Node* node);

  // Notes that `blocked`, which Convert has just returned, stands for `value`
  // from now on.
  void Define(const Value& value, const Blocked& blocked) {
    blocked_[value] = {blocked, target_};
  }
  // `value` in its plain layout: itself, or made from a blocked form once.
  absl::StatusOr<Value> Plain(const Value& value);

  // Names that nodes made here would like: those of what they stand for.
  const std::vector<std::pair<Node*, std::string>>& preferred_names() const {
    return preferred_names_;
  }

 private:
  using MaybeBlocked = absl::StatusOr<std::optional<Blocked>>;

  struct Made {
    Blocked blocked;
    std::string target;  // TargetOf what made it
  };

  MaybeBlocked Conv(const Node& node);
  // One of dense `data` in blocks by tiles of bytes or of bf16 parts, or by
  // Winograd's algorithm; nothing where none of these suits it.
  MaybeBlocked ConvByTiles(const Node& node, const Value& data,
                           int64_t in_block, int64_t block);
  // Whether vectors of neighbouring columns of plain data take at most half the
  // time that blocks of so many channels do, which few results leave empty.
  bool ColumnsCostLess(const Node& conv, int64_t lanes) const;
  // Whether the taps of a depthwise kernel's rows are packed in words.
  bool TapsAreWords(const Node& conv) const;
  // The places of `data`, which are in blocks, that a convolution of single
  // places takes.
  absl::StatusOr<Value> PlacesOf(const Node& conv, const Value& data);
  // One of single points, all channels in one block, is a product of matrices.
  MaybeBlocked ConvOfPoints(const Node& node, const Value& data);
  // The same of bytes, whose weights become words.
  MaybeBlocked ConvInWords(const Node& node, const Value& data,
                           int64_t in_block, int64_t block, Attrs attrs);
  // The bf16 parts in which the convolution should be computed; 0: in f32.
  int64_t PartsOf(const Node& node, int64_t block) const;
  // Whether channels that fill up the last block would multiply the work, as
  // they do in a first layer.
  bool FillingUpCosts(const Node& conv, int64_t block) const;
  MaybeBlocked ConvOfParts(const Node& node, const Value& data, int64_t parts);
  // A convolution of bytes for tiles.
  MaybeBlocked ConvInTiles(const Node& node, const Value& data);
  // Both share these: a constant for the packed kernels, and the result of the
  // convolution that was made in place of `conv`.
  Value PackedKernels(const Node& conv, Tensor packed);
  Blocked PackedConv(const Node& conv, Node* made);
  // Winograd's algorithm that computes the convolution; null for none.
  const Winograd* WinogradOf(const Node& node) const;
  MaybeBlocked ConvByWinograd(const Node& node, const Value& data,
                              int64_t in_block, int64_t block,
                              const Winograd& winograd);
  // The result of a dilated one: every place of the data that a kernel reaches
  // from another is on one grid with it, so that each grid is an image whose
  // places lie side by side.
  absl::StatusOr<Value> ConvOfGrids(const Node& conv, const Value& data,
                                    const Value& kernels,
                                    const Winograd& winograd);
  // The call itself, with transformed kernels.
  absl::StatusOr<Value> WinogradConv(const Node& conv, const Value& data,
                                     const Value& kernels,
                                     const Winograd& winograd,
                                     const std::vector<int64_t>& pads);
  MaybeBlocked Pointwise(const Node& node);
  MaybeBlocked Pool(const Node& node);
  MaybeBlocked Concat(const Node& node);
  MaybeBlocked Slice(const Node& node);
  MaybeBlocked Pad(const Node& node);
  MaybeBlocked Resize(const Node& node);
  MaybeBlocked Reshape(const Node& node);
  MaybeBlocked MoveChannels(const Node& node);
  MaybeBlocked Turn(Node* node);

  // The blocked form of `value` when the target has one.
  const Blocked* Find(const Value& value) const;
  bool IsBlocked(const Value& value) const { return Find(value) != nullptr; }
  // Whether the result of an element-wise operator had better be computed where
  // it leaves its blocks, as channels that fill up the last one would only take
  // time.
  bool HadBetterLeave(const Node& node, const Blocked& result) const;
  // In blocks of `block`, however it is now; its channels must be constant.
  absl::StatusOr<Blocked> InBlocks(const Value& value, int64_t block);
  // An operand of an element-wise operator whose result has `channels` channels
  // in blocks, and rank `rank` when plain. None if it cannot be.
  absl::StatusOr<std::optional<Value>> Operand(const Value& value,
                                               int64_t channels, int64_t block,
                                               size_t rank);
  // Adds the call that stands for `node`.
  absl::StatusOr<Value> Add(const Node& node, std::vector<Value> inputs,
                            Attrs attrs);
  absl::StatusOr<Value> Reshaped(const Value& value, Shape shape,
                                 absl::string_view name);
  // Computed by `target`.
  absl::StatusOr<Value> Transformed(const Value& value, absl::string_view from,
                                    absl::string_view to,
                                    absl::string_view name,
                                    const std::string& target);

  Function* function_;
  const PassContext& context_;
  // Nodes that something reads in blocks, be it through element-wise operators,
  // or that join data, all of which would have to leave them.
  std::set<const Node*> read_in_blocks_;
  // The target of the node that is converted, and the layouts it wants.
  std::string target_;
  const LayoutPreferences* layouts_ = nullptr;
  std::map<Value, Made> blocked_;
  std::map<Value, Value> plain_;
  std::map<std::tuple<Value, int64_t, std::string>, Blocked> transformed_;
  std::vector<std::pair<Node*, std::string>> preferred_names_;
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_BLOCKED_H_

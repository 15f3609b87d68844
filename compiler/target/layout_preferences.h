// The layouts of tensors that a target's kernels read best, as passes ask for
// them: a host for all of them, a device for the blocks of channels. A value of
// functions, so that passes know no template of any machine.
#ifndef INGOT_COMPILER_TARGET_LAYOUT_PREFERENCES_H_
#define INGOT_COMPILER_TARGET_LAYOUT_PREFERENCES_H_

#include <cstdint>
#include <functional>

#include "compiler/relay/ir.h"

namespace ingot {

// Columns of a panel of a matrix: so many vectors of so many lanes.
struct PanelShape {
  int64_t vectors = 0;
  int64_t lanes = 0;
};

struct LayoutPreferences {
  // The channels b of a block in which this convolution of NCHW data should run
  // (data NCHW<b>c, weights in blocks to match). 0: on plain data. Null: every
  // convolution stays plain.
  std::function<int64_t(const relay::Node& convolution)> channel_block;
  // One block has all channels (NHWC), which are a multiple of channel_block.
  bool one_block = false;
  // The m of the m x m results that Winograd's algorithm computes at a time for
  // this convolution of f32, or of i16 or u8 in words, by 3x3 kernels that take
  // every position, in blocks of channels. 0: it is computed as it is defined.
  // Null: all are.
  std::function<int64_t(const relay::Node& convolution)> winograd_tile;
  // The columns of a panel in which the constant right operand, of so many
  // columns, of this product (dense or matmul) should be stored. 0: as it is.
  // Null: every product stays as it is.
  std::function<int64_t(const relay::Node& product, int64_t columns)>
      panel_width;
  // The panels in which a recurrent layer with so many units of this type
  // should read its constant matrix; they divide the units. No vectors: it is
  // stored as it is. Null: every such matrix is.
  std::function<PanelShape(DataType type, int64_t units)> step_panel;
  // The bf16 parts in which this product of f32 (dense or matmul) by a constant
  // matrix, or this convolution in blocks of 16 channels, should be computed,
  // its weights packed to match (dense_parts, conv2d_parts). 0: it is computed
  // in f32. Null: all are.
  std::function<int64_t(const relay::Node& product)> product_parts;
  // The columns of a panel in which constant matrices of numbers of 2, 4 or 8
  // bits should be stored, as words, where data may be rounded to bytes. 0:
  // they stay as they are, and data too. Null: all do.
  std::function<int64_t(int64_t bits)> few_bits_columns;
  // The rows from which on this product (dense_bits), in such a form, should be
  // computed by tiles of bytes (tile_rows of dense_bits_packed). 0: never.
  // Null: no product.
  std::function<int64_t(const relay::Node& product)> few_bits_tile_rows;
  // Whether products and convolutions of u8 data and i8 weights should read
  // these in words of four (attribute words), and quantised models multiply
  // bytes.
  bool byte_words = false;
  // Whether depthwise convolutions of bytes should read weights in words of
  // four taps of a row. Only where byte_words, too.
  bool tap_words = false;
  // Whether quantised models should multiply numbers of 16 bits instead, which
  // hold bytes less their zero points, by weights in words of two, but for
  // products of few rows. Only where byte_words, too.
  bool wide_words = false;
  // Whether products of quantised matrices that are all known at run time alone
  // should multiply bytes, too, and make the words of the right ones then. Only
  // where byte_words, too.
  bool run_time_words = false;
  // The elements along the dimension summed over that this product (dense,
  // matmul) or convolution of such data takes at once, where byte_words: those
  // of a word, or 64 for tiles. It is filled up to a multiple of them with
  // zeros; convolutions become conv2d_words. Null: those of a word, for all.
  std::function<int64_t(const relay::Node& product)> byte_depth;
  // Whether convolutions of 16-bit floats should be computed as those of f32,
  // since each number would be converted where it is read.
  bool wide_sums = false;
  // Whether the products around a softmax should be one operator.
  bool joins_attention = false;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_TARGET_LAYOUT_PREFERENCES_H_

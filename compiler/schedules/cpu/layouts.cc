#include "compiler/schedules/cpu/layouts.h"

#include <algorithm>

#include "absl/types/span.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/tir/arith/interval.h"
#include "compiler/tir/ir.h"

namespace ingot::te::cpu {
namespace {

constexpr int64_t kWordBytes = 4;
constexpr int64_t kTileRows = 16, kTileColumns = 16, kTileBytes = 64;

}  // namespace

int64_t ChannelBlock(const MachineModel& machine, DataType t) {
  const MachineModel shared = machine.ForSums();
  const bool has_tiles = shared.Has(MachineUnit::kBFloat16Tiles) ||
                         shared.Has(MachineUnit::kInt8Tiles);
  return std::max<int64_t>(shared.lanes(t.bits), has_tiles ? kTileColumns : 4);
}

int64_t PanelWidth(const MachineModel& machine, DataType t,
                   const ProductSizes& sizes) {
  // Floats of 16 bits are multiplied as f32, and each vector of them is
  // converted for each tile: the taller tiles are, the less often.
  constexpr int kSumBits = 32;
  constexpr int64_t kFewVectors = 2;
  const bool converts = t.is_float() && t.bits < kSumBits;
  const int64_t lanes =
      std::max(machine.lanes(converts ? kSumBits : t.bits), 1);
  const RegisterTile tile = ProductTile(machine);
  const int64_t most =
      converts ? std::min(kFewVectors, tile.vectors) : tile.vectors;
  int64_t vectors =
      std::clamp<int64_t>(tir::CeilDivInt(sizes.columns, lanes), 1, most);
  // Tiles of a single vector would load more than they multiply.
  while (sizes.rows > tile.rows && vectors > kFewVectors &&
         !IsPanelNear(machine, vectors * lanes * sizes.column_bytes)) {
    vectors = tir::CeilDivInt(vectors, 2);
  }
  return lanes * vectors;
}

PanelShape StepPanel(const MachineModel& machine, DataType t, int64_t units) {
  // Two units multiply and add, each with a latency of 4 cycles. Where these
  // are two instructions, operands from memory need registers of their own.
  const int64_t most = machine.fma ? 8 : (machine.vector_registers - 1) / 2;
  const int64_t lanes = machine.lanes(t.bits);
  if (lanes < 2 || units % lanes != 0) return {};
  const int64_t vectors = units / lanes;
  for (int64_t count = std::min(vectors, most); count > 1; --count) {
    if (vectors % count == 0) return {count, lanes};
  }
  return {};
}

int64_t WinogradTile(const MachineModel& actual, const WinogradSizes& sizes) {
  // Grids of single places have no tiles, and there may be any number of them.
  if (sizes.dilation_y > sizes.height || sizes.dilation_x > sizes.width) {
    return 0;
  }
  const MachineModel machine = actual.ForSums();
  const double vector = std::max(machine.lanes(32), 1);
  // A multiply-add of a vector takes half a cycle, and kernels reach 80 %.
  constexpr double kPerMultiply = 0.5 / 0.8;
  // Words of the input channels that an instruction multiplies, and vectors of
  // their products. Whole numbers are transformed to ones of 16 bits.
  const auto words = [&](int64_t of_word) -> double {
    return tir::CeilDivInt(sizes.in, of_word);
  };
  const bool whole = sizes.word > 1;
  const double transformed = words(whole ? 2 : 1);
  const double channels = transformed * sizes.out / vector;
  constexpr int64_t kTaps = 9;
  const double bytes_of_point = kWordBytes * transformed * sizes.out;
  const auto memory = [&](double bytes, double times) {
    // Weights that leave the second-level cache are read again each time.
    constexpr double kBytesPerCycle = 6;
    return bytes <= machine.l2_bytes / 2 ? 0 : times * bytes / kBytesPerCycle;
  };
  const auto places = static_cast<double>(sizes.height * sizes.width);
  const int64_t grids = sizes.dilation_y * sizes.dilation_x;
  double least =
      words(sizes.word) * sizes.out / vector * kTaps * places * kPerMultiply +
      memory(kWordBytes * words(sizes.word) * sizes.out * kTaps, 1);
  int64_t best = 0;
  for (const int64_t tile : {4, 2}) {
    const int64_t points = (tile + 2) * (tile + 2);
    const auto tiles = static_cast<double>(
        grids * tir::CeilDivInt(sizes.height, sizes.dilation_y * tile) *
        tir::CeilDivInt(sizes.width, sizes.dilation_x * tile));
    // Loading, multiplying and storing for each point and result.
    const double transforms =
        (4.5 * points * sizes.in + 3.5 * points * sizes.out) / vector;
    // Tiles of which the products fit on the stack.
    const double at_once = 2800.0 / points;
    // Grids are taken apart and put together again.
    constexpr double kMoved = 8;  // bytes a cycle
    const double moves =
        grids == 1 ? 0 : kWordBytes * places * (sizes.in + sizes.out);
    const double cycles =
        tiles * (channels * points * kPerMultiply + transforms) +
        memory(bytes_of_point * points, std::max(1.0, tiles / at_once)) +
        moves / kMoved;
    // Less than that is not worth the digits that it costs; whole numbers lose
    // none.
    const double worthwhile = whole ? 1 : 0.85;
    if (cycles < least * (best == 0 ? worthwhile : 1)) {
      least = cycles;
      best = tile;
    }
  }
  return best;
}

namespace {

// The product of the dimensions, each at most `most`, and that where it is only
// known at run time.
int64_t AtMost(int64_t most, absl::Span<const relay::Dim> dims) {
  int64_t product = 1;
  for (const relay::Dim& dim : dims) {
    int64_t extent = most;
    tir::AsConstInt(dim, &extent);
    product *= std::min(extent, most);
  }
  return product;
}

// Whether a product of u8 by a constant matrix of i8, or a convolution, should
// be computed by tiles of 16 rows, 16 columns and 64 terms.
bool FillsByteTiles(const MachineModel& machine, const relay::Node& node) {
  if (!machine.Has(MachineUnit::kInt8Tiles) ||
      node.inputs[0].type().dtype != DataType::UInt(8)) {
    return false;
  }
  constexpr int64_t kRows = 16, kTerms = 128;
  const auto result = absl::MakeConstSpan(node.outputs[0].shape);
  const auto data = absl::MakeConstSpan(node.inputs[0].type().shape);
  const auto kernel = absl::MakeConstSpan(node.inputs[1].type().shape);
  int64_t terms = 0;
  if (kernel.size() == 2) {
    return AtMost(kRows, result.first(result.size() - 1)) >= kRows &&
           AtMost(kTileColumns, result.last(1)) >= kTileColumns &&
           tir::AsConstInt(data.back(), &terms) && terms >= kTerms;
  }
  // Channels beyond those that there are cost as much as others.
  constexpr int64_t kChannels = 48;
  return kernel.size() == 4 && AtMost(kRows, result.subspan(2)) >= kRows &&
         AtMost(kTileColumns, kernel.first(1)) >= kTileColumns &&
         tir::AsConstInt(kernel[1], &terms) && terms >= kChannels &&
         terms * AtMost(kTerms, kernel.subspan(2)) >= kTerms;
}

// Whether a product by a constant matrix of few bits should be computed by
// tiles of bytes, if there are rows enough: the sums of each group of numbers
// leave the tiles, which takes as long as that of a few numbers by vectors.
bool MultipliesGroupsByTiles(const MachineModel& machine,
                             const relay::Node& product) {
  constexpr int64_t kLeastNumbers = 16;
  const relay::Shape& matrix = product.inputs[1].type().shape;
  int64_t columns = 0, bytes = 0;
  return machine.Has(MachineUnit::kInt8Tiles) && matrix.size() == 3 &&
         tir::AsConstInt(matrix[0], &columns) && columns >= kTileColumns &&
         tir::AsConstInt(matrix[2], &bytes) &&
         bytes * 8 / product.attrs.Get<int64_t>("bits") >= kLeastNumbers;
}

// Whether a product or a convolution is large enough that tiles of 16 rows, 16
// columns and 32 terms pay: for fewer, splitting numbers costs more than it
// gains.
bool FillsTiles(const relay::Node& node) {
  constexpr int64_t kRows = 16, kColumns = 16, kTerms = 64;
  const auto result = absl::MakeConstSpan(node.outputs[0].shape);
  const auto data = absl::MakeConstSpan(node.inputs[0].type().shape);
  const auto kernel = absl::MakeConstSpan(node.inputs[1].type().shape);
  if (kernel.size() == 2) {
    int64_t terms = 0;
    return AtMost(kRows, result.first(result.size() - 1)) >= kRows &&
           tir::AsConstInt(data.back(), &terms) && terms >= kTerms;
  }
  int64_t channels = 0;
  return kernel.size() == 4 && AtMost(kRows, result.subspan(2)) >= kRows &&
         AtMost(kColumns, kernel.first(1)) >= kColumns &&
         tir::AsConstInt(kernel[1], &channels) && channels >= 24 &&
         channels * AtMost(kTerms, kernel.subspan(2)) >= kTerms;
}

// The side of a plane of so many channels, of which a run alone may know more
// than that networks' planes have more channels the smaller they are.
int64_t GuessedSide(const relay::Dim& side, int64_t channels) {
  constexpr int64_t kLeast = 14, kChannelsOfRow = 3840;
  int64_t extent = std::max(kLeast, kChannelsOfRow / channels);
  tir::AsConstInt(side, &extent);
  return extent;
}

// The sizes of a product (dense or matmul) by a matrix of so many columns, or
// by one for each part of a batch.
ProductSizes SizesOf(const relay::Node& product, int64_t columns) {
  ProductSizes sizes;
  sizes.columns = columns;
  const auto& matrices = product.inputs[1].type();
  const size_t rank = matrices.shape.size();
  sizes.column_bytes = static_cast<int64_t>(matrices.dtype.bytes());
  for (size_t i = rank - 2; i < rank; ++i) {
    int64_t extent = 0;
    tir::AsConstInt(matrices.shape[i], &extent);
    sizes.column_bytes *= extent;
  }
  sizes.column_bytes /= columns;
  const auto& result = product.outputs[0].shape;
  sizes.rows = 1;
  for (size_t i = rank == 2 ? 0 : result.size() - 2; i + 1 < result.size();
       ++i) {
    int64_t extent = 0;
    tir::AsConstInt(result[i], &extent);
    sizes.rows *= extent;
  }
  return sizes;
}

}  // namespace

LayoutPreferences CpuLayouts(const MachineModel& machine) {
  LayoutPreferences layouts;
  layouts.channel_block = [machine](const relay::Node& convolution) {
    return ChannelBlock(machine, convolution.outputs[0].dtype);
  };
  layouts.winograd_tile = [machine](const relay::Node& convolution) -> int64_t {
    const relay::Shape& kernel = convolution.inputs[1].type().shape;
    const relay::Shape& result = convolution.outputs[0].shape;
    WinogradSizes sizes;
    const DataType data = convolution.inputs[0].type().dtype;
    if (!data.is_float()) sizes.word = kWordBytes / data.bytes();
    // Data of whole numbers becomes 16 bits wide.
    if (data.bytes() == 1 && !machine.Has(MachineUnit::kInt8Pairs)) return 0;
    if (machine.ForSums().vector_bits == 0 ||
        !tir::AsConstInt(kernel[0], &sizes.out) ||
        !tir::AsConstInt(kernel[1], &sizes.in)) {
      return 0;
    }
    sizes.height = GuessedSide(result[2], sizes.in);
    sizes.width = GuessedSide(result[3], sizes.in);
    const auto dilations = convolution.attrs.GetEach("dilations", 2);
    sizes.dilation_y = dilations[0];
    sizes.dilation_x = dilations[1];
    return WinogradTile(machine, sizes);
  };
  layouts.panel_width = [machine](const relay::Node& product,
                                  int64_t columns) -> int64_t {
    if (FillsByteTiles(machine, product)) return kTileColumns;
    // A single column is as good as a row, which needs no vectors side by side.
    if (columns == 1 && product.outputs[0].dtype.is_float()) return 0;
    return PanelWidth(machine, product.outputs[0].dtype,
                      SizesOf(product, columns));
  };
  layouts.step_panel = [machine](DataType type, int64_t units) {
    return StepPanel(machine, type, units);
  };
  if (machine.product_parts > 0 && machine.Has(MachineUnit::kBFloat16Tiles)) {
    layouts.product_parts = [machine](const relay::Node& product) -> int64_t {
      return FillsTiles(product) ? machine.product_parts : 0;
    };
  }
  layouts.few_bits_columns = [machine](int64_t bits) -> int64_t {
    const bool multiplies = machine.MultipliesBytes() ||
                            (bits < 8 && machine.Has(MachineUnit::kInt7Dot));
    // Which machine rounds data must not show in results that all share.
    if (!multiplies || machine.reproducible) return 0;
    const int64_t lanes = machine.lanes(32);
    if (machine.Has(MachineUnit::kInt8Tiles)) {
      return std::max<int64_t>(lanes, kTileColumns);
    }
    return lanes > 1 ? lanes : 0;
  };
  layouts.few_bits_tile_rows = [machine](const relay::Node& product) {
    return MultipliesGroupsByTiles(machine, product) ? kTileRows : 0;
  };
  layouts.wide_sums = true;
  layouts.joins_attention = machine.ForSums().vector_bits > 0;
  layouts.byte_words = machine.MultipliesBytes();
  layouts.wide_words = layouts.byte_words &&
                       !machine.Has(MachineUnit::kInt8Dot) &&
                       !machine.Has(MachineUnit::kInt8Tiles);
  layouts.tap_words = layouts.byte_words && machine.Has(MachineUnit::kInt8Dot);
  layouts.run_time_words = layouts.byte_words &&
                           machine.Has(MachineUnit::kInt8Dot) &&
                           !machine.Has(MachineUnit::kInt8Tiles);
  layouts.byte_depth = [machine](const relay::Node& product) -> int64_t {
    return FillsByteTiles(machine, product)
               ? kTileBytes
               : kWordBytes / product.inputs[0].type().dtype.bytes();
  };
  return layouts;
}

}  // namespace ingot::te::cpu

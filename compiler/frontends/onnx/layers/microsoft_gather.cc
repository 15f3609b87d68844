// com.microsoft's GatherBlockQuantized: rows of a table of few bits, as floats.
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/packed_numbers.h"

namespace ingot::onnx_frontend {
namespace {

// Takes bytes, scales and zero points of the rows alone, and makes floats of
// these: a table is much larger than what is looked up.
absl::Status GatherBlockQuantized(NodeContext& c) {
  Compose k(c);
  const Value table = k.Input(0), rows = k.Input(1), scales = k.Input(2);
  INGOT_RETURN_IF_ERROR(k.status());
  const int64_t bits = c.Int("bits", 4), block = c.Int("block_size", 128);
  int64_t along = c.Int("quantize_axis", 1);
  if (along < 0) along += RankOf(table);
  const auto packed = relay::ConstShape(ShapeOf(table));
  const auto scaled = relay::ConstShape(ShapeOf(scales));
  if (c.storage(0) != StorageType::kNone ||
      table.type().dtype != DataType::UInt(8)) {
    return c.NotSupported("a table ", relay::ToString(table.type()));
  }
  if (!packed || !scaled || packed->size() != 2 || scaled->size() != 2 ||
      c.Int("gather_axis", 0) != 0 || along != 1 ||
      (bits != 2 && bits != 4 && bits != 8)) {
    return c.NotSupported(bits, " bits in blocks along dimension ", along,
                          " of ", relay::ToString(table.type()));
  }
  const int64_t columns = (*packed)[1] * (8 / bits), blocks = (*scaled)[1];
  if (block < 1 || columns < 1 || blocks != (columns + block - 1) / block ||
      columns % block != 0) {
    return c.NotSupported("blocks of ", block, " of ", columns, " numbers");
  }
  tir::Expr count = I(1);
  for (const tir::Expr& d : ShapeOf(rows)) count = count * d;
  count = SimplifyDim(count);
  const Value flat = k.Reshape(rows, {count});
  auto of_rows = [&](Value v) { return k.Call("gather", {v, flat}); };
  const DataType type = scales.type().dtype;
  auto numbers = [&](Value bytes, int64_t width) {
    return k.Cast(UnpackNumbers(k, of_rows(bytes), bits, count, width), type);
  };
  const Shape by_block = {count, I(blocks), I(block)};
  const Shape one_a_block = {count, I(blocks), I(1)};
  const Value scale = k.Reshape(of_rows(scales), one_a_block);
  Value zero = k.Like(scale, static_cast<double>(1 << (bits - 1)));
  if (c.has_input(3)) {
    zero = k.Reshape(numbers(k.Input(3), blocks), one_a_block);
  }
  const Value w = k.Reshape(numbers(table, columns), by_block);
  Shape shape = ShapeOf(rows);
  shape.push_back(I(columns));
  c.SetOutput(0, k.Reshape(k.Mul(k.Sub(w, zero), scale), shape));
  return k.status();
}

}  // namespace

void AddMicrosoftGatherConverters(ConverterTable* t) {
  t->Add("GatherBlockQuantized", 1, &GatherBlockQuantized, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend

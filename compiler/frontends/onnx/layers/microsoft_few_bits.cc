// com.microsoft's MatMulNBits: products with matrices of 2, 4 or 8 bits.
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/packed_numbers.h"

namespace ingot::onnx_frontend {
namespace {

// The node's attributes.
struct Form {
  int64_t n, depth, bits, block;

  int64_t blocks() const { return (depth + block - 1) / block; }
};

absl::StatusOr<Form> ReadForm(NodeContext& c) {
  const Form form = {c.Int("N", 0), c.Int("K", 0), c.Int("bits", 4),
                     c.Int("block_size", 0)};
  if (form.bits != 2 && form.bits != 4 && form.bits != 8) {
    return c.NotSupported("bits=", form.bits);
  }
  if (form.block < 16 || form.block > (1 << 20) ||
      (form.block & (form.block - 1)) != 0 || form.n < 1 || form.depth < 1 ||
      form.n > (1 << 24) || form.depth > (1 << 24)) {
    return c.Error("N=", form.n, ", K=", form.depth,
                   ", block_size=", form.block);
  }
  return form;
}

absl::Status MatMulNBits(NodeContext& c) {
  if (c.has_input(4)) return c.NotSupported("g_idx");
  INGOT_ASSIGN_OR_RETURN(const Form form, ReadForm(c));
  Compose k(c);
  Value x = k.Input(0), bytes = k.Input(1), scales = k.Input(2);
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(x);
  if (rank < 1) return c.Error("the operand is ", relay::ToString(x.type()));
  Shape rows = ShapeOf(x);
  rows.back() = I(form.depth);
  INGOT_ASSIGN_OR_RETURN(x, c.FixShape(x, rows, "rows"));
  if (bytes.type().dtype != DataType::UInt(8)) {
    return c.Error("the weights are ", relay::ToString(bytes.type()));
  }
  const DataType type = x.type().dtype;
  const Shape by_block = relay::MakeShape({form.n, form.blocks()});
  bytes = k.Reshape(bytes, relay::MakeShape({form.n, form.blocks(),
                                             form.block * form.bits / 8}));
  std::vector<Value> operands = {
      rank > 1 ? x : k.Reshape(x, relay::MakeShape({1, form.depth})), bytes,
      k.Cast(k.Reshape(scales, by_block), type)};
  if (c.has_input(3)) {
    Value points = k.Input(3);
    INGOT_RETURN_IF_ERROR(k.status());
    if (points.type().dtype == DataType::UInt(8)) {
      points = UnpackNumbers(k, points, form.bits, I(form.n), form.blocks());
    }
    operands.push_back(k.Cast(k.Reshape(points, by_block), type));
  }
  Attrs attrs;
  attrs.Set("bits", form.bits);
  // The least accuracy that the node asks for, as the type of its data: 1 is
  // f32, and 4 bytes.
  constexpr int64_t kBytesOfData = 4;
  if (c.Int("accuracy_level", 0) == kBytesOfData) {
    attrs.Set("data_bits", int64_t{8});
  }
  Value y = k.Call("dense_bits", std::move(operands), std::move(attrs));
  if (rank == 1) y = k.Reshape(y, relay::MakeShape({form.n}));
  if (c.has_input(5)) y = k.Add(y, k.Input(5));
  c.SetOutput(0, y);
  return k.status();
}

}  // namespace

void AddMicrosoftFewBitsConverters(ConverterTable* t) {
  t->Add("MatMulNBits", 1, &MatMulNBits, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend

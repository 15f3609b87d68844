#include "compiler/frontends/onnx/layers/packed_numbers.h"

#include <string>
#include <utility>
#include <vector>

namespace ingot::onnx_frontend {

Value UnpackNumbers(Compose& k, Value bytes, int64_t bits,
                    const tir::Expr& rows, int64_t columns) {
  if (!k.ok()) return Value{};
  if (bytes.type().dtype != DataType::UInt(8)) {
    k.Check(k.context().Error("packed numbers are ",
                              relay::ToString(bytes.type())));
    return Value{};
  }
  if (bits == 8) return k.Reshape(bytes, {rows, I(columns)});
  const int64_t numbers = 8 / bits, most = (1 << bits) - 1;
  const int64_t packed = (columns + numbers - 1) / numbers;
  bytes = k.Reshape(bytes, {rows, I(packed), I(1)});
  Attrs right;
  right.Set("direction", std::string("RIGHT"));
  std::vector<Value> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const Value part =
        shift == 0
            ? bytes
            : k.Call("bit_shift",
                     {bytes, k.Like(bytes, static_cast<double>(shift))}, right);
    parts.push_back(
        k.Call("bitwise_and", {part, k.Like(part, static_cast<double>(most))}));
  }
  const Value all =
      k.Reshape(k.Concat(std::move(parts), 2), {rows, I(packed * numbers)});
  return k.Slice(all, 1, tir::MakeInt(0), tir::MakeInt(columns));
}

}  // namespace ingot::onnx_frontend

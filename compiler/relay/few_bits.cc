#include "compiler/relay/few_bits.h"

#include "base/status_macros.h"
#include "runtime/data_type.h"

namespace ingot::relay {

absl::StatusOr<Tensor> PackFewBits(const Tensor& bytes, int64_t bits,
                                   int64_t columns) {
  const int64_t units = bytes.shape()[0], blocks = bytes.shape()[1],
                block_bytes = bytes.shape()[2];
  const int64_t panels = (units + columns - 1) / columns;
  const FewBitsWords form{bits, blocks, block_bytes / FewBitsWords::kBytes,
                          columns};
  INGOT_ASSIGN_OR_RETURN(
      Tensor packed,
      Tensor::Empty(DataType::Int(32), {panels, blocks, form.words, columns}));
  auto* to = packed.mutable_data<int32_t>();
  std::fill(to, to + packed.NumElements(), 0);
  const uint8_t* const from = bytes.data<uint8_t>();
  const auto mask = static_cast<uint32_t>((1 << bits) - 1);
  for (int64_t unit = 0; unit < units; ++unit) {
    const uint8_t* column = from + unit * blocks * block_bytes;
    int32_t* panel =
        to + (unit / columns * blocks * form.words) * columns + unit % columns;
    for (int64_t word = 0; word < blocks * form.words; ++word) {
      // All of the word's numbers, the first in the lowest bits.
      const uint8_t* b = column + word * FewBitsWords::kBytes;
      const uint32_t in_order = b[0] | uint32_t{b[1]} << 8 |
                                uint32_t{b[2]} << 16 | uint32_t{b[3]} << 24;
      uint32_t value = 0;
      for (int64_t i = 0; i < form.numbers(); ++i) {
        const uint32_t number = in_order >> (i * bits) & mask;
        value |= number << (i % FewBitsWords::kBytes * 8 +
                            i / FewBitsWords::kBytes * bits);
      }
      panel[word * columns] = static_cast<int32_t>(value);
    }
  }
  return packed;
}

}  // namespace ingot::relay

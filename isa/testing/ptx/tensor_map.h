// A tensor in global memory as bulk copies see it. GPUs keep their encoding
// of it to themselves: this one is the machine's own.
#ifndef INGOT_ISA_TESTING_PTX_TENSOR_MAP_H_
#define INGOT_ISA_TESTING_PTX_TENSOR_MAP_H_

#include <cstdint>
#include <string>

namespace ingot::isa::ptx {

// Bytes and alignment of a map as CUDA's driver has it.
inline constexpr uint32_t kTensorMapBytes = 128;
inline constexpr uint32_t kTensorMapAlignment = 64;

inline constexpr int kMostDimensions = 5;

// The driver's numbers of swizzles.
inline constexpr uint32_t kSwizzleNone = 0;
inline constexpr uint32_t kSwizzle128 = 3;

// The first bytes of a map. Dimensions are in their order, the innermost first.
struct TensorMap {
  static constexpr uint64_t kMagic = 0x70616d20746f676e;  // "ngot map"

  uint64_t magic = kMagic;
  uint64_t address = 0;
  uint64_t extents[kMostDimensions] = {};
  uint64_t strides[kMostDimensions - 1] = {};  // bytes, of the second on
  uint32_t box[kMostDimensions] = {};          // elements that a copy has
  uint32_t rank = 0;
  uint32_t element_bytes = 0;
  uint32_t swizzle = kSwizzleNone;

  uint64_t BoxBytes() const;
};
static_assert(sizeof(TensorMap) <= kTensorMapBytes, "it is in a map's place");

// Says what the driver or the machine has against a map; empty: nothing.
std::string FaultOf(const TensorMap& map);

// The place that 128-byte swizzling gives a byte of shared memory.
inline uint32_t Swizzled128(uint32_t address) {
  return address ^ ((address >> 7 & 7) << 4);
}

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_TENSOR_MAP_H_

#include "isa/testing/ptx/tensor_map.h"

#include <cstdint>
#include <string>

namespace ingot::isa::ptx {
namespace {

constexpr uint64_t kUnit = 16;  // bytes that a GPU reads and writes at once
constexpr uint64_t kStrideEnd = uint64_t{1} << 40;
constexpr uint64_t kMostExtent = uint64_t{1} << 32;
constexpr uint32_t kMostBox = 256;
constexpr uint32_t kSwizzledRow = 128;

std::string FaultOfDimension(const TensorMap& map, uint32_t k) {
  const std::string number = std::to_string(k);
  if (map.extents[k] == 0 || map.extents[k] > kMostExtent) {
    return "extent " + number + " is " + std::to_string(map.extents[k]);
  }
  if (map.box[k] == 0 || map.box[k] > kMostBox) {
    return "its box has " + std::to_string(map.box[k]) +
           " elements in dimension " + number;
  }
  if (k > 0 &&
      (map.strides[k - 1] % kUnit != 0 || map.strides[k - 1] >= kStrideEnd)) {
    return "the stride of dimension " + number + " has " +
           std::to_string(map.strides[k - 1]) + " bytes";
  }
  return "";
}

}  // namespace

uint64_t TensorMap::BoxBytes() const {
  uint64_t bytes = element_bytes;
  for (uint32_t k = 0; k < rank; ++k) bytes *= box[k];
  return bytes;
}

std::string FaultOf(const TensorMap& map) {
  if (map.magic != TensorMap::kMagic) return "it is no tensor map";
  if (map.rank < 1 || map.rank > kMostDimensions) {
    return "it has " + std::to_string(map.rank) + " dimensions";
  }
  const uint32_t bytes = map.element_bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
    return "its elements have " + std::to_string(bytes) + " bytes";
  }
  if (map.address % kUnit != 0) return "its tensor is not at 16 bytes";
  for (uint32_t k = 0; k < map.rank; ++k) {
    std::string fault = FaultOfDimension(map, k);
    if (!fault.empty()) return fault;
  }
  const uint32_t row = map.box[0] * bytes;
  if (row % kUnit != 0) {
    return "its box has rows of " + std::to_string(row) + " bytes";
  }
  if (map.swizzle != kSwizzleNone && map.swizzle != kSwizzle128) {
    return "the machine does not know swizzle " + std::to_string(map.swizzle);
  }
  if (map.swizzle == kSwizzle128 && row > kSwizzledRow) {
    return "it swizzles rows of " + std::to_string(row) + " bytes";
  }
  return "";
}

}  // namespace ingot::isa::ptx

// Maps of tensors, which kernels get as parameters and bulk copies read. They
// are the encoding that the emulator of PTX has.
#include <cstdint>
#include <cstring>
#include <string>

#include "backends/gpu/testing/fake_state.h"
#include "isa/testing/ptx/tensor_map.h"

using namespace fake_driver;  // NOLINT: the functions are no one else's

namespace {

namespace ptx = ingot::isa::ptx;

// Bytes of the elements of the driver's types, by their numbers.
constexpr uint32_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr int kTypes = sizeof kElementBytes / sizeof *kElementBytes;

int Refuse(const std::string& why) {
  S().log += "no map: " + why + "\n";
  return kInvalidValue;
}

}  // namespace

// The values of the last four parameters are those of the driver's
// enumerations.
EXPORT int cuTensorMapEncodeTiled(void* map, int type, unsigned rank,
                                  void* address, const uint64_t* extents,
                                  const uint64_t* strides, const uint32_t* box,
                                  const uint32_t* element_strides,
                                  int interleave, int swizzle, int l2_promotion,
                                  int out_of_bounds_fill) {
  BEGIN(cuTensorMapEncodeTiled, , false);
  if (reinterpret_cast<uintptr_t>(map) % ptx::kTensorMapAlignment != 0) {
    return Refuse("it is not at 64 bytes");
  }
  if (type < 0 || type >= kTypes) return Refuse("no such type");
  if (rank < 1 || rank > ptx::kMostDimensions) return Refuse("no such rank");
  if (interleave != 0) return Refuse("it interleaves");
  if (l2_promotion < 0 || l2_promotion > 3) return Refuse("no such promotion");
  if (out_of_bounds_fill != 0) return Refuse("it fills with no zeros");
  ptx::TensorMap made;
  made.address = reinterpret_cast<uintptr_t>(address);
  made.rank = rank;
  made.element_bytes = kElementBytes[type];
  made.swizzle = static_cast<uint32_t>(swizzle);
  for (unsigned k = 0; k < rank; ++k) {
    made.extents[k] = extents[k];
    made.box[k] = box[k];
    if (k > 0) made.strides[k - 1] = strides[k - 1];
    if (element_strides[k] != 1) return Refuse("it leaves elements out");
  }
  const std::string fault = ptx::FaultOf(made);
  if (!fault.empty()) return Refuse(fault);
  std::memset(map, 0, ptx::kTensorMapBytes);
  std::memcpy(map, &made, sizeof made);
  S().log += "map of " + std::to_string(rank) + " dimensions\n";
  return kOk;
}

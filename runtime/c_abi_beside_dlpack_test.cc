// Stands for the real dlpack.h, as far as c_abi.h needs it: with that header
// included first, c_abi.h must not define its structures again.
#include <cstdint>

#define DLPACK_DLPACK_H_
extern "C" {
typedef enum : int32_t { kDLCPU = 1 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
}

#include "gtest/gtest.h"
#include "runtime/c_abi.h"

TEST(CAbi, StandsBesideDlpack) {
  EXPECT_EQ(sizeof(TVMFFIAny), 16u);
  EXPECT_EQ(sizeof(DLTensor), 48u);
}

#include "runtime/c_abi.h"

#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"

extern "C" int IngotCallableFromC(void* handle, const TVMFFIAny* args,
                                  int32_t num_args, TVMFFIAny* result);

// The layout that other programs rely on.
static_assert(sizeof(TVMFFIAny) == 16, "");
static_assert(offsetof(TVMFFIAny, type_index) == 0, "");
static_assert(offsetof(TVMFFIAny, zero_padding) == 4, "");
static_assert(offsetof(TVMFFIAny, small_str_len) == 4, "");
static_assert(offsetof(TVMFFIAny, v_int64) == 8, "");
static_assert(offsetof(TVMFFIAny, v_obj) == 8, "");
static_assert(offsetof(TVMFFIAny, v_bytes) == 8, "");
static_assert(sizeof(TVMFFIObject) == 24, "");
static_assert(offsetof(TVMFFIObject, combined_ref_count) == 0, "");
static_assert(offsetof(TVMFFIObject, type_index) == 8, "");
static_assert(offsetof(TVMFFIObject, deleter) == 16, "");
static_assert(sizeof(DLDataType) == 4, "");
static_assert(sizeof(DLDevice) == 8, "");
static_assert(sizeof(DLTensor) == 48, "");
static_assert(offsetof(DLTensor, data) == 0, "");
static_assert(offsetof(DLTensor, device) == 8, "");
static_assert(offsetof(DLTensor, ndim) == 16, "");
static_assert(offsetof(DLTensor, dtype) == 20, "");
static_assert(offsetof(DLTensor, shape) == 24, "");
static_assert(offsetof(DLTensor, strides) == 32, "");
static_assert(offsetof(DLTensor, byte_offset) == 40, "");
static_assert(sizeof(DLManagedTensor) == 64, "");
static_assert(sizeof(IngotHostApi) == 24, "");
static_assert(offsetof(IngotHostApi, parallel_for) == 8, "");
static_assert(offsetof(IngotHostApi, set_error) == 16, "");

static_assert(kTVMFFIDLTensorPtr == 7 && kTVMFFIRawStr == 8, "");
static_assert(kTVMFFITensor == 70 && kTVMFFIDynObjectBegin == 128, "");

namespace {

TEST(CAbi, FunctionInCIsCallable) {
  TVMFFISafeCallType call = &IngotCallableFromC;
  TVMFFIAny args[2] = {};
  args[0].type_index = kTVMFFIInt;
  args[0].v_int64 = 40;
  args[1].type_index = kTVMFFIInt;
  args[1].v_int64 = 2;
  TVMFFIAny result = {};
  EXPECT_EQ(call(nullptr, args, 2, &result), 0);
  EXPECT_EQ(result.type_index, kTVMFFIInt);
  EXPECT_EQ(result.v_int64, 42);
  EXPECT_EQ(call(nullptr, args, 1, &result), -1);
}

}  // namespace

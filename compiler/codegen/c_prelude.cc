#include "compiler/codegen/c_prelude.h"

namespace ingot::codegen {

const char kCPrelude[] = R"(#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A tensor as DLPack lays it out, and a tagged value as tvm-ffi does. */
typedef struct {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t type_code, type_bits;
  uint16_t type_lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} Tensor;

typedef struct {
  int32_t type_index;
  uint32_t padding;
  union {
    int64_t as_int;
    void* as_ptr;
  } value;
} Any;

/* What the program that loads this code offers; it may leave this null. */
typedef struct {
  int32_t version;
  int (*parallel_for)(int (*body)(void*, int64_t, int64_t), void*, int64_t);
  void (*set_error)(const char* kind, const char* message);
} HostApi;

#if defined(__GNUC__)
#define INGOT_WEAK __attribute__((weak, visibility("default")))
#define INGOT_EXPORT __attribute__((visibility("default")))
#else
#define INGOT_WEAK
#define INGOT_EXPORT
#endif

INGOT_WEAK const HostApi* __ingot_host_api = NULL;

static int fail(const char* kind, const char* message) {
#if defined(__GNUC__) && defined(__ELF__)
  /* Of a host that is not Ingot, if it has it. */
  extern void TVMFFIErrorSetRaisedFromCStr(const char*, const char*)
      __attribute__((weak));
  if (__ingot_host_api == NULL && TVMFFIErrorSetRaisedFromCStr != NULL) {
    TVMFFIErrorSetRaisedFromCStr(kind, message);
  }
#endif
  if (__ingot_host_api != NULL) __ingot_host_api->set_error(kind, message);
  return -1;
}

/* The tensor of a DLTensor pointer (7) or a tensor object (70: its header has
 * 24 bytes) in memory of the CPU (1); otherwise NULL. */
static const Tensor* tensor(const Any* any) {
  const Tensor* t = NULL;
  if (any->type_index == 7) t = (const Tensor*)any->value.as_ptr;
  if (any->type_index == 70) {
    t = (const Tensor*)((const char*)any->value.as_ptr + 24);
  }
  return t != NULL && t->device_type == 1 ? t : NULL;
}

static int has_type(const Tensor* t, int code, int bits, int ndim) {
  return t != NULL && t->type_code == code && t->type_bits == bits &&
         t->type_lanes == 1 && t->ndim == ndim;
}

static void* data_of(const Tensor* t) {
  return (char*)t->data + t->byte_offset;
}
)";

const char kCParallel[] = R"(
/* Runs body(context, begin, end) over parts of [0, n), on the host's threads if
 * it has any. */
static int parallel(int (*body)(void*, int64_t, int64_t), void* context,
                    int64_t n) {
  if (n <= 0) return 0;
  if (__ingot_host_api == NULL || n == 1) return body(context, 0, n);
  return __ingot_host_api->parallel_for(body, context, n);
}
)";

}  // namespace ingot::codegen

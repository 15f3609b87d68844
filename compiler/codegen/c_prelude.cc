#include "compiler/codegen/c_prelude.h"

#include <cstddef>
#include <cstdint>

#include "compiler/codegen/c_abi_fields.h"

namespace ingot::codegen {
namespace prelude {

#include "compiler/codegen/c_prelude_types.inc"
// This one uses the types of the other.
#include "compiler/codegen/c_model_info_types.inc"

}  // namespace prelude

namespace {

// Generated C shares these structures with the host, so every field lies where
// the ABI has it.
#define INGOT_SAME_PLACE(structure, name, type, member, own)                  \
  static_assert(offsetof(prelude::structure, own) ==                          \
                        k##structure##Fields[k##structure##name].offset &&    \
                    sizeof(static_cast<prelude::structure*>(nullptr)->own) == \
                        k##structure##Fields[k##structure##name].size,        \
                #structure "::" #own);
INGOT_ABI_ALL(INGOT_SAME_PLACE)
#undef INGOT_SAME_PLACE
static_assert(sizeof(prelude::Tensor) == sizeof(DLTensor), "");
static_assert(sizeof(prelude::Any) == sizeof(TVMFFIAny), "");
static_assert(sizeof(prelude::HostApi) == sizeof(IngotHostApi), "");
static_assert(sizeof(prelude::TensorInfo) == sizeof(IngotTensorInfo), "");
static_assert(sizeof(prelude::ModelInfo) == sizeof(IngotModelInfo), "");

// The numbers in the text of tensor() below.
static_assert(kTVMFFIDLTensorPtr == 7 && kTVMFFITensor == 70 && kDLCPU == 1,
              "");
static_assert(sizeof(TVMFFIObject) == 24, "");

}  // namespace

const char kCPrelude[] = R"(#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

)"
#include "compiler/codegen/c_prelude_types.literal"
                         R"(
#if defined(__GNUC__)
#define INGOT_WEAK __attribute__((weak, visibility("default")))
#define INGOT_EXPORT __attribute__((visibility("default")))
#else
#define INGOT_WEAK
#define INGOT_EXPORT
#endif

#if defined(__clang__)
#define INGOT_NOINLINE __attribute__((noinline))
#elif defined(__GNUC__)
#define INGOT_NOINLINE __attribute__((noinline, noclone))
#else
#define INGOT_NOINLINE
#endif

/* Calls of it are not expected: compilers spend no time on what leads there.
 * A file may have none. */
#if defined(__GNUC__)
#define INGOT_COLD __attribute__((cold, unused))
#else
#define INGOT_COLD
#endif

#if defined(__GNUC__) && !defined(INGOT_FREESTANDING)
#define INGOT_MAY_BE_MISSING __attribute__((weak))
#else
#define INGOT_MAY_BE_MISSING
#endif

/* The text of the last error, of whichever thread. */
static const char* volatile last_error = NULL;

#ifdef INGOT_FREESTANDING
/* A program without a host: plain C functions are all that there is. */
INGOT_COLD static int fail(const char* kind, const char* message) {
  (void)kind;
  last_error = message;
  return -1;
}
#else
INGOT_WEAK const HostApi* __ingot_host_api = NULL;

INGOT_COLD static int fail(const char* kind, const char* message) {
  last_error = message;
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
 * 24 bytes) in memory of the CPU (1), or of the device that the file is for;
 * otherwise NULL. */
#ifndef INGOT_DEVICE_TYPE
#define INGOT_DEVICE_TYPE 1
#endif
static const Tensor* tensor(const Any* any) {
  const Tensor* t = NULL;
  if (any->type_index == 7) t = (const Tensor*)any->value.as_ptr;
  if (any->type_index == 70) {
    t = (const Tensor*)((const char*)any->value.as_ptr + 24);
  }
  return t != NULL && t->device_type == INGOT_DEVICE_TYPE ? t : NULL;
}

static int has_type(const Tensor* t, int code, int bits, int ndim) {
  return t != NULL && t->type_code == code && t->type_bits == bits &&
         t->type_lanes == 1 && t->ndim == ndim;
}

static void* data_of(const Tensor* t) {
  return (char*)t->data + t->byte_offset;
}
#endif
)";

const char kCModelInfoTypes[] =
#include "compiler/codegen/c_model_info_types.literal"
    ;

const char kCParallel[] = R"(
/* Runs body(context, begin, end) over parts of [0, n), on the host's threads if
 * it has any. */
static int parallel(int (*body)(void*, int64_t, int64_t), void* context,
                    int64_t n) {
  if (n <= 0) return 0;
#ifndef INGOT_FREESTANDING
  if (__ingot_host_api != NULL && n > 1) {
    return __ingot_host_api->parallel_for(body, context, n);
  }
#endif
  return body(context, 0, n);
}
)";

}  // namespace ingot::codegen

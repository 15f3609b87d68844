/* The C ABI between a host program and a compiled library.
 *
 * A function that Ingot exports is `int f(void* self, const TVMFFIAny* args,
 * int32_t num_args, TVMFFIAny* result)`, named `__tvm_ffi_<name>`: the layout
 * and the names that tvm-ffi documents as stable, so that programs that know
 * nothing of Ingot can call it. This header needs nothing but the C library; it
 * is plain C11 and C++.
 *
 * dlpack.h or tvm/ffi/c_api.h may be included before this header (not after);
 * their definitions then stand in for the ones here.
 *
 * Rules of a call:
 *   - `args` is borrowed for the length of the call. A DLTensor that an
 * argument points to is dense, row-major, and its data is aligned to at least
 * its element size; nothing more may be assumed.
 *   - Outputs are tensors that the caller allocated and passes as the last
 *     arguments. The callee neither keeps nor frees any tensor.
 *   - The caller sets `*result` to None first, and owns what it holds after.
 *   - 0 is success. -1 is an error that was first described through set_error
 *     (IngotHostApi) or, in a host that is not Ingot, through
 *     TVMFFIErrorSetRaisedFromCStr. No C++ exception may leave the callee.
 */
#ifndef INGOT_RUNTIME_C_ABI_H_
#define INGOT_RUNTIME_C_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- DLPack: what a tensor is ------------------------------------------- */

#ifndef DLPACK_DLPACK_H_

#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
} DLDataTypeCode;

typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits; /* of one lane */
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data; /* the allocation; elements start at data + byte_offset */
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL means dense and row-major */
  uint64_t byte_offset;
} DLTensor;

/* A tensor with an owner: whoever takes it calls deleter(self) once, if the
 * deleter is not NULL. */
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

#endif /* DLPACK_DLPACK_H_ */

/* ---- tvm-ffi: tagged values and functions -------------------------------- */

#ifndef TVM_FFI_C_API_H_

/* The type index says what a TVMFFIAny holds: below 64 the value itself; from
 * 64 on, a pointer to an object with a reference count. */
#ifdef __cplusplus
enum TVMFFITypeIndex : int32_t {
#else
typedef enum {
#endif
  kTVMFFIAny = -1, /* only in type declarations, never in a value */
  kTVMFFINone = 0,
  kTVMFFIInt = 1,
  kTVMFFIBool = 2,
  kTVMFFIFloat = 3,
  kTVMFFIOpaquePtr = 4,
  kTVMFFIDataType = 5,
  kTVMFFIDevice = 6,
  kTVMFFIDLTensorPtr = 7,  /* borrowed DLTensor*; arguments only */
  kTVMFFIRawStr = 8,       /* borrowed, ends with NUL; arguments only */
  kTVMFFIByteArrayPtr = 9, /* borrowed; arguments only */
  kTVMFFIObjectRValueRef = 10,
  kTVMFFISmallStr = 11, /* up to 7 bytes inside the value */
  kTVMFFISmallBytes = 12,
  kTVMFFIStaticObjectBegin = 64,
  kTVMFFIObject = 64,
  kTVMFFIStr = 65,
  kTVMFFIBytes = 66,
  kTVMFFIError = 67,
  kTVMFFIFunction = 68,
  kTVMFFIShape = 69,
  kTVMFFITensor = 70, /* the object header, then a DLTensor */
  kTVMFFIArray = 71,
  kTVMFFIMap = 72,
  kTVMFFIModule = 73,
  kTVMFFIOpaquePyObject = 74,
  kTVMFFIList = 75,
  kTVMFFIDict = 76,
  kTVMFFIDynObjectBegin = 128,
#ifdef __cplusplus
};
#else
} TVMFFITypeIndex;
#endif

/* Every object starts with these 24 bytes. */
typedef struct {
  uint64_t combined_ref_count; /* strong: low 32 bits; weak: high 32 bits */
  int32_t type_index;
  uint32_t __padding;
  union {
    /* flags: 1 the last strong reference went, 2 the last weak one; or both */
    void (*deleter)(void* self, int flags);
    int64_t __ensure_align;
  };
} TVMFFIObject;

/* One value of any kind: 16 bytes. */
typedef struct {
  int32_t type_index; /* a TVMFFITypeIndex */
  union {
    uint32_t zero_padding;  /* 0 for every kind but the small ones */
    uint32_t small_str_len; /* kTVMFFISmallStr, kTVMFFISmallBytes */
  };
  union {
    int64_t v_int64; /* kTVMFFIInt and kTVMFFIBool */
    double v_float64;
    void* v_ptr; /* kTVMFFIOpaquePtr and kTVMFFIDLTensorPtr */
    const char* v_c_str;
    TVMFFIObject* v_obj;
    DLDataType v_dtype;
    DLDevice v_device;
    char v_bytes[8];
    uint64_t v_uint64;
  };
} TVMFFIAny;

typedef int (*TVMFFISafeCallType)(void* handle, const TVMFFIAny* args,
                                  int32_t num_args, TVMFFIAny* result);

#endif /* TVM_FFI_C_API_H_ */

/* The exported symbol of function `name` is this prefix and the name. */
#define INGOT_FFI_SYMBOL_PREFIX "__tvm_ffi_"

/* ---- Ingot: what a host offers to generated code ------------------------- */

/* Every call of the host's services is optional for the library: one whose
 * pointer to this table is NULL runs serially and reports errors as -1 alone.
 *
 * Fields are only ever appended, and `version` is then raised by one: a library
 * that needs a field first compares versions. All functions may be called from
 * any thread. */
typedef struct IngotHostApi {
  int32_t version; /* INGOT_HOST_API_VERSION of the host */

  /* Calls body(ctx, begin, end) over disjoint, non-empty ranges that cover
   * [0, n), possibly at once on several threads, and returns when all are done.
   * The partition depends on n and the number of threads alone. Returns 0, or
   * the first non-zero answer in the order of the ranges; what that call
   * reported through set_error is then this thread's error. n <= 0: returns 0.
   * Inside a body it runs serially. */
  int (*parallel_for)(int (*body)(void* ctx, int64_t begin, int64_t end),
                      void* ctx, int64_t n);

  /* Describes the error for which the caller is about to return -1. `kind` is
   * the name of a Python exception, for example "ValueError". Both strings are
   * copied. */
  void (*set_error)(const char* kind, const char* message);
} IngotHostApi;

#define INGOT_HOST_API_VERSION 1

/* A generated library that wants the services defines this weak variable with
 * default visibility and NULL as its value; who loads the library fills it
 * before the first call:
 *
 *   __attribute__((weak, visibility("default")))
 *   const IngotHostApi* __ingot_host_api = 0;
 */
#define INGOT_HOST_API_SYMBOL "__ingot_host_api"

/* ---- Ingot: what a library says about its model -------------------------- */

/* An input or an output. The structure never changes. */
typedef struct IngotTensorInfo {
  const char* name;
  const int64_t* shape; /* -1: a run's inputs decide */
  int32_t ndim;
  DLDataType dtype;
} IngotTensorInfo;

/* A library whose model is one function exports this structure, so that a
 * program can run any model without a runtime. Everything in it is constant and
 * lives as long as the library; fields are only ever appended, and `version` is
 * then raised by one. */
typedef struct IngotModelInfo {
  int32_t version; /* INGOT_MODEL_INFO_VERSION of the compiler */
  int32_t num_inputs;
  int32_t num_outputs;
  const IngotTensorInfo* tensors; /* the inputs, then the outputs */
  /* __tvm_ffi_main: inputs, then outputs that the caller allocated. */
  TVMFFISafeCallType run;
  /* Inputs, of which only shapes are read, then an i64 tensor of one dimension
   * that gets the outputs' dimensions, one output after the other. NULL where
   * all of them are constant. */
  TVMFFISafeCallType output_shapes;
  const char* (*last_error)(void); /* NULL before the first error */
} IngotModelInfo;

#define INGOT_MODEL_INFO_VERSION 1
#define INGOT_MODEL_INFO_SYMBOL "__ingot_model_info"

#ifdef __cplusplus
}
#endif

#endif /* INGOT_RUNTIME_C_ABI_H_ */

/* A program in C, without any part of Ingot in it, runs a linked model: by its
 * plain C function and by the packed C ABI, which must give the same bits, and
 * sees to it that errors are told.
 *
 * Usage: plain_c_test MODEL.so. The model is @onnx_testdata's test_Conv2d. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/c_abi.h"
#include "tests/ahead_of_time/conv2d.h"

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

typedef int (*Run)(const float*, float*, void*);
typedef const char* (*LastError)(void);
typedef int64_t (*ArenaBytes)(void);

/* A function of the library; ISO C knows no cast from an object's address. */
static void Find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  if (symbol == NULL) fprintf(stderr, "no %s\n", name);
  CHECK(symbol != NULL);
  memcpy(function, &symbol, sizeof(symbol));
}

static float x[CONV2D_IN_0_ELEMENTS];
static float y[CONV2D_OUT_3_ELEMENTS], packed_y[CONV2D_OUT_3_ELEMENTS];

static DLTensor MakeTensor(float* data, int64_t* shape, int ndim) {
  DLTensor tensor = {0};
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = ndim;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

static TVMFFIAny Argument(DLTensor* tensor) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = tensor;
  return any;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
  Run run;
  LastError last_error;
  ArenaBytes arena_bytes;
  TVMFFISafeCallType packed;
  Find(library, "conv2d_run", &run);
  Find(library, "conv2d_last_error", &last_error);
  Find(library, "conv2d_arena_bytes", &arena_bytes);
  Find(library, "__tvm_ffi_main", &packed);
  CHECK(arena_bytes() == CONV2D_ARENA_BYTES);
  CHECK(last_error() == NULL);
  /* The function that they call is hidden, and so are kernels. */
  CHECK(dlsym(library, "conv2d_main") == NULL);

  for (int i = 0; i < CONV2D_IN_0_ELEMENTS; ++i) x[i] = sinf((float)i);
  memset(y, 0xff, sizeof(y));
  /* One byte more, so that it is never empty, and none of it zero. */
  void* arena =
      aligned_alloc(CONV2D_ARENA_ALIGNMENT,
                    (CONV2D_ARENA_BYTES / CONV2D_ARENA_ALIGNMENT + 1) *
                        CONV2D_ARENA_ALIGNMENT);
  CHECK(arena != NULL);
  memset(arena, 0xff, CONV2D_ARENA_BYTES);
  CHECK(run(x, y, arena) == 0);
  float sum = 0;
  for (int i = 0; i < CONV2D_OUT_3_ELEMENTS; ++i) sum += fabsf(y[i]);
  CHECK(sum > 0 && isfinite(sum));

  int64_t in_shape[] = CONV2D_IN_0_SHAPE, out_shape[] = CONV2D_OUT_3_SHAPE;
  DLTensor in = MakeTensor(x, in_shape, CONV2D_IN_0_RANK);
  DLTensor out = MakeTensor(packed_y, out_shape, CONV2D_OUT_3_RANK);
  TVMFFIAny args[2] = {Argument(&in), Argument(&out)};
  TVMFFIAny result;
  memset(&result, 0, sizeof(result));
  CHECK(packed(NULL, args, 2, &result) == 0);
  CHECK(memcmp(y, packed_y, sizeof(y)) == 0);

  /* What is not as declared is an error with a text. */
  CHECK(packed(NULL, args, 1, &result) == -1);
  CHECK(strstr(last_error(), "expected 2 arguments") != NULL);
  ++out_shape[0];
  CHECK(packed(NULL, args, 2, &result) == -1);
  CHECK(strstr(last_error(), "argument 1") != NULL);
  in.dtype.bits = 64;
  CHECK(packed(NULL, args, 2, &result) == -1);
  CHECK(strstr(last_error(), "argument 0") != NULL);
  free(arena);
  dlclose(library);
  return 0;
}

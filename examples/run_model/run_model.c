/* Runs a compiled model once. It needs the C library and nothing else: the
 * model's library describes itself (IngotModelInfo in runtime/c_abi.h).
 *
 *   run_model [-o PREFIX] MODEL.so [INPUT.npy ...]
 *
 * writes the outputs to PREFIX0.npy and so on if it is told to.
 * Inputs that are not given are filled with 0.5 (or 0, unless they are f32), and
 * dimensions that they may choose are 1. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/run_model/npy.h"
#include "runtime/c_abi.h"

static int64_t Elements(const DLTensor* tensor) {
  int64_t elements = 1;
  for (int d = 0; d < tensor->ndim; ++d) elements *= tensor->shape[d];
  return elements;
}

static void Fail(const char* what, const char* why) {
  fprintf(stderr, "run_model: %s: %s\n", what, why == NULL ? "failed" : why);
  exit(1);
}

static void* Allocate(size_t bytes) {
  void* memory = calloc(1, bytes + 1); /* never nothing */
  if (memory == NULL) Fail("memory", "there is not enough");
  return memory;
}

/* A tensor as `info` describes it, without elements. */
static DLTensor Describe(const IngotTensorInfo* info) {
  DLTensor tensor = {0};
  tensor.device.device_type = kDLCPU;
  tensor.ndim = info->ndim;
  tensor.dtype = info->dtype;
  tensor.shape = Allocate(info->ndim * sizeof(int64_t));
  for (int d = 0; d < info->ndim; ++d) {
    tensor.shape[d] = info->shape[d] < 0 ? 1 : info->shape[d];
  }
  return tensor;
}

static void AllocateElements(DLTensor* tensor) {
  tensor->data = Allocate(Elements(tensor) * (tensor->dtype.bits / 8));
}

static int IsFloat(const DLTensor* tensor) {
  return tensor->dtype.code == kDLFloat && tensor->dtype.bits == 32;
}

static DLTensor MakeInput(const IngotTensorInfo* info, const char* path) {
  DLTensor tensor = Describe(info);
  if (path != NULL) {
    tensor.data = ReadNpy(path, info->dtype, info->ndim, tensor.shape);
    if (tensor.data == NULL) exit(1);
    return tensor;
  }
  AllocateElements(&tensor);
  for (int64_t i = 0; IsFloat(&tensor) && i < Elements(&tensor); ++i) {
    ((float*)tensor.data)[i] = 0.5f;
  }
  return tensor;
}

static TVMFFIAny Argument(DLTensor* tensor) {
  TVMFFIAny any = {0};
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = tensor;
  return any;
}

static void Call(const IngotModelInfo* model, TVMFFISafeCallType function,
                 const TVMFFIAny* args, int count) {
  TVMFFIAny result = {0};
  if (function(NULL, args, count, &result) != 0) {
    Fail("the model", model->last_error());
  }
}

/* Sets the outputs' shapes that depend on the inputs'. args[num_inputs] is
 * free. */
static void ComputeShapes(const IngotModelInfo* model, TVMFFIAny* args,
                          DLTensor* outputs) {
  if (model->output_shapes == NULL) return;
  int64_t count = 0;
  for (int i = 0; i < model->num_outputs; ++i) count += outputs[i].ndim;
  int64_t* dims = Allocate(count * sizeof(int64_t));
  DLTensor all = {0};
  all.data = dims;
  all.device.device_type = kDLCPU;
  all.ndim = 1;
  all.dtype.code = kDLInt;
  all.dtype.bits = 64;
  all.dtype.lanes = 1;
  all.shape = &count;
  args[model->num_inputs] = Argument(&all);
  Call(model, model->output_shapes, args, model->num_inputs + 1);
  const int64_t* next = dims;
  for (int i = 0; i < model->num_outputs; ++i) {
    for (int d = 0; d < outputs[i].ndim; ++d) {
      outputs[i].shape[d] = *next++;
      if (next[-1] < 0) Fail("the inputs", "they are too small for the model");
    }
  }
  free(dims);
}

static void Print(const char* name, const DLTensor* tensor) {
  printf("%s:", name);
  for (int d = 0; d < tensor->ndim; ++d) {
    printf("%s%lld", d == 0 ? " " : "x", (long long)tensor->shape[d]);
  }
  printf(":");
  for (int64_t i = 0; IsFloat(tensor) && i < Elements(tensor) && i < 4; ++i) {
    printf(" %g", ((const float*)tensor->data)[i]);
  }
  printf("\n");
}

static void Write(const char* prefix, int index, const DLTensor* tensor) {
  char path[4096];
  const int length = snprintf(path, sizeof(path), "%s%d.npy", prefix, index);
  if (length < 0 || (size_t)length >= sizeof(path)) Fail(prefix, "is too long");
  if (!WriteNpy(path, tensor)) exit(1);
}

int main(int argc, char** argv) {
  const char* prefix = NULL;
  if (argc > 2 && strcmp(argv[1], "-o") == 0) {
    prefix = argv[2];
    argc -= 2;
    argv += 2;
  }
  if (argc < 2) {
    fprintf(stderr, "usage: run_model [-o PREFIX] MODEL.so [INPUT.npy ...]\n");
    return 2;
  }
  /* 1. Open the library. That is as running it: open only what you trust. */
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) Fail("the library", dlerror());
  const IngotModelInfo* model = dlsym(library, INGOT_MODEL_INFO_SYMBOL);
  if (model == NULL || model->version < INGOT_MODEL_INFO_VERSION) {
    Fail(argv[1],
         "it is not one function (`ingot inspect` says why) and needs Ingot's "
         "runtime: see examples/embed_runtime");
  }

  /* 2. Make the inputs, then room for the outputs. */
  const int inputs = model->num_inputs, outputs = model->num_outputs;
  if (argc - 2 > inputs) Fail("arguments", "more than the model has inputs");
  DLTensor* tensors = Allocate((inputs + outputs) * sizeof(DLTensor));
  TVMFFIAny* args = Allocate((inputs + outputs + 1) * sizeof(TVMFFIAny));
  for (int i = 0; i < inputs + outputs; ++i) {
    const char* path = i + 2 < argc ? argv[i + 2] : NULL;
    tensors[i] = i < inputs ? MakeInput(&model->tensors[i], path)
                            : Describe(&model->tensors[i]);
    args[i] = Argument(&tensors[i]);
  }
  ComputeShapes(model, args, tensors + inputs);
  for (int i = inputs; i < inputs + outputs; ++i) {
    AllocateElements(&tensors[i]);
    args[i] = Argument(&tensors[i]);
  }

  /* 3. Run. */
  Call(model, model->run, args, inputs + outputs);

  /* 4. Use the outputs. */
  for (int i = 0; i < inputs + outputs; ++i) {
    if (i >= inputs) Print(model->tensors[i].name, &tensors[i]);
    if (i >= inputs && prefix != NULL) Write(prefix, i - inputs, &tensors[i]);
    free(tensors[i].data);
    free(tensors[i].shape);
  }
  free(args);
  free(tensors);
  dlclose(library);
  return 0;
}

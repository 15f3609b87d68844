/* Runs a compiled model by Ingot's C API (loaders/c_api/ingot.h): any model that
 * `ingot link` made a library of, on several threads.
 *
 *   run MODEL.so [THREADS]
 *
 * Inputs are 0.5, or 0 unless they are f32; dimensions that they may choose are
 * 1. */
#include <stdio.h>
#include <stdlib.h>

#include "loaders/c_api/ingot.h"

static void Check(IngotStatus status) {
  if (status == INGOT_OK) return;
  fprintf(stderr, "run: %s\n", ingot_last_error());
  exit(1);
}

static int64_t Elements(const DLTensor* tensor) {
  int64_t elements = 1;
  for (int d = 0; d < tensor->ndim; ++d) elements *= tensor->shape[d];
  return elements;
}

/* An input; its shape and elements are to be freed. */
static DLTensor MakeInput(const IngotTensorInfo* info) {
  DLTensor tensor = {0};
  tensor.device.device_type = kDLCPU;
  tensor.ndim = info->ndim;
  tensor.dtype = info->dtype;
  tensor.shape = calloc(info->ndim + 1, sizeof(int64_t));
  for (int d = 0; d < info->ndim; ++d) {
    tensor.shape[d] = info->shape[d] < 0 ? 1 : info->shape[d];
  }
  const int64_t elements = Elements(&tensor);
  tensor.data = calloc(elements + 1, tensor.dtype.bits / 8);
  const int is_f32 = tensor.dtype.code == kDLFloat && tensor.dtype.bits == 32;
  for (int64_t i = 0; is_f32 && i < elements; ++i) {
    ((float*)tensor.data)[i] = 0.5f;
  }
  return tensor;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: run MODEL.so [THREADS]\n");
    return 2;
  }
  IngotLoadOptions options = {0};
  options.size = sizeof(options);
  options.threads = argc > 2 ? atoi(argv[2]) : 1;
  IngotModel* model;
  IngotExecutor* executor;
  Check(ingot_load(argv[1], &options, &model));
  Check(ingot_create_executor(model, &executor));

  int32_t count;
  const IngotTensorInfo* infos = ingot_inputs(model, &count);
  const int32_t num_inputs = count;
  DLTensor* inputs = calloc(num_inputs + 1, sizeof(DLTensor));
  for (int32_t i = 0; i < count; ++i) {
    printf("%s: %s\n", infos[i].name, ingot_input_type(model, i));
    if (infos[i].ndim < 0) {
      fprintf(stderr, "run: a sequence cannot be set\n");
      return 1;
    }
    inputs[i] = MakeInput(&infos[i]);
    Check(ingot_set_input(executor, i, &inputs[i]));
  }
  Check(ingot_run(executor));

  infos = ingot_outputs(model, &count);
  for (int32_t i = 0; i < count; ++i) {
    DLTensor output;
    Check(ingot_get_output(executor, i, &output));
    printf("%s: %s, %lld elements\n", infos[i].name,
           ingot_output_type(model, i), (long long)Elements(&output));
  }
  ingot_free_executor(executor);
  ingot_free_model(model);
  for (int32_t i = 0; i < num_inputs; ++i) {
    free(inputs[i].data);
    free(inputs[i].shape);
  }
  free(inputs);
  return 0;
}

/* Loads and runs any model by Ingot's C API: in_c_api affine.so */
#include <stdio.h>

#include "loaders/c_api/ingot.h"

static int Fail(void) {
  fprintf(stderr, "%s\n", ingot_last_error());
  return 1;
}

int main(int argc, char** argv) {
  IngotModel* model;
  IngotExecutor* executor;
  if (argc != 2) return 2;
  if (ingot_load(argv[1], NULL, &model) != INGOT_OK) return Fail();
  if (ingot_create_executor(model, &executor) != INGOT_OK) return Fail();

  float data[] = {0, 1, 2, 3, 4, 5};
  int64_t shape[] = {2, 3};
  DLTensor x = {0}, y;
  x.data = data;
  x.device.device_type = kDLCPU;
  x.ndim = 2;
  x.dtype.code = kDLFloat;
  x.dtype.bits = 32;
  x.dtype.lanes = 1;
  x.shape = shape;
  /* Nothing is copied, neither in nor out. */
  if (ingot_set_input(executor, 0, &x) != INGOT_OK) return Fail();
  if (ingot_run(executor) != INGOT_OK) return Fail();
  if (ingot_get_output(executor, 0, &y) != INGOT_OK) return Fail();
  for (int i = 0; i < 6; ++i) printf("%g ", ((const float*)y.data)[i]);
  printf("\n");
  ingot_free_executor(executor);
  ingot_free_model(model);
  return 0;
}

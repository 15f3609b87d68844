/* Says how many nanoseconds a call of the model takes from C: call_cost
 * affine.so. It is that of the best of many batches, so that what else the
 * machine does counts as little as may be. */
#include <stdio.h>
#include <time.h>

#include "loaders/c_api/ingot.h"

enum { kBatches = 300, kCalls = 1000 };

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int Failed(void) {
  fprintf(stderr, "%s\n", ingot_last_error());
  return 1;
}

int main(int argc, char** argv) {
  float data[2 * 3] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {2, 3};
  DLTensor x = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  DLTensor y;
  IngotModel* model;
  IngotExecutor* executor;
  if (argc != 2) return 2;
  if (ingot_load(argv[1], NULL, &model) != INGOT_OK) return Failed();
  if (ingot_create_executor(model, &executor) != INGOT_OK) return Failed();
  double best = 1e30;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double begin = Now();
    for (int i = 0; i < kCalls; ++i) {
      if (ingot_set_input(executor, 0, &x) != INGOT_OK ||
          ingot_run(executor) != INGOT_OK ||
          ingot_get_output(executor, 0, &y) != INGOT_OK) {
        return Failed();
      }
    }
    const double mean = (Now() - begin) / kCalls;
    if (mean < best) best = mean;
  }
  printf("%.1f\n", best);
  ingot_free_executor(executor);
  ingot_free_model(model);
  return 0;
}

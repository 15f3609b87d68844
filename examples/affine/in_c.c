/* Runs a model that is one function, by the header that `ingot link --header`
 * writes. Nothing of Ingot is needed: cc in_c.c affine.so */
#include <stdio.h>
#include <stdlib.h>

#include "affine.h"

int main(void) {
  const float x[2 * 3] = {0, 1, 2, 3, 4, 5};
  const int64_t rows = 2;
  float y[2 * 3];
  int64_t count;
  /* The caller's memory for all that is between inputs and outputs. */
  const size_t bytes = (size_t)affine_arena_bytes(rows);
  void* arena = aligned_alloc(
      AFFINE_ARENA_ALIGNMENT,
      (bytes / AFFINE_ARENA_ALIGNMENT + 1) * AFFINE_ARENA_ALIGNMENT);
  if (affine_run(x, y, &count, rows, arena) != 0) {
    fprintf(stderr, "%s\n", affine_last_error());
    return 1;
  }
  for (int i = 0; i < 6; ++i) printf("%g ", y[i]);
  printf("\n");
  free(arena);
  return 0;
}

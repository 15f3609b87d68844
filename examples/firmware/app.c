/* Runs a model on an input that it makes itself, and prints its outputs, bit
 * for bit: the same program on a board and on the machine that compiles.
 * MODEL_GLUE is the header that says which model it is. */
#include "examples/firmware/app.h"

#include <stddef.h>
#include <stdint.h>

#include MODEL_GLUE
#include "examples/firmware/board.h"

/* Numbers that look random, the same everywhere. */
static void fill_input(uint32_t seed) {
  for (size_t i = 0; i < sizeof(input) / sizeof(input[0]); ++i) {
    seed = seed * 1664525u + 1013904223u;
    input[i] = INPUT_VALUE((int)(seed >> 24) - 128);
  }
}

/* Bytes as text, 32 in a line. */
static void put_bytes(const unsigned char* bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  char line[66];
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    line[used++] = digits[bytes[i] >> 4];
    line[used++] = digits[bytes[i] & 15];
    if (used < 64 && i + 1 < count) continue;
    line[used] = '\n';
    line[used + 1] = '\0';
    put_text(line);
    used = 0;
  }
}

int main(void) {
  /* Twice: nothing of a run may stay in the way of the next. */
  for (uint32_t run = 1; run <= 2; ++run) {
    fill_input(run);
    if (run_model() != 0) {
      put_text("failed: ");
      put_text(last_error());
      put_text("\n");
      return 1;
    }
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); ++i) {
      put_bytes(outputs[i].bytes, outputs[i].count);
    }
  }
  return 0;
}

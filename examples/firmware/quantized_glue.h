/* A small classifier whose layers compute with bytes (int8), made by
 * make_quantized_model. */
#include "examples/firmware/app.h"
#include "quantized.h"
#include "quantized_arena.h"

static float input[QUANTIZED_IN_IMAGE_ELEMENTS];
static float scores[QUANTIZED_OUT_SCORES_ELEMENTS];

static const struct Output outputs[] = {OUTPUT(scores)};

static int run_model(void) {
  return quantized_run(input, scores, quantized_arena);
}

static const char* last_error(void) { return quantized_last_error(); }

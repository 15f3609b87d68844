/* A small classifier with one of each layer of bytes. */
#include "examples/firmware/app.h"
#include "layers_int8.h"
#include "layers_int8_arena.h"

static int8_t input[LAYERS_INT8_IN_IMAGE_ELEMENTS];
static int8_t scores[LAYERS_INT8_OUT_SCORES_ELEMENTS];

#define INPUT_VALUE(byte) ((int8_t)(byte))

static const struct Output outputs[] = {OUTPUT(scores)};

static int run_model(void) {
  return layers_int8_run(input, scores, layers_int8_arena);
}

static const char* last_error(void) { return layers_int8_last_error(); }

/* The same keyword spotter with layers of bytes. */
#include "examples/firmware/app.h"
#include "keyword_int8.h"
#include "keyword_int8_arena.h"

static int8_t input[KEYWORD_INT8_IN_SOUND_ELEMENTS];
static int8_t scores[KEYWORD_INT8_OUT_SCORES_ELEMENTS];

#define INPUT_VALUE(byte) ((int8_t)(byte))

static const struct Output outputs[] = {OUTPUT(scores)};

static int run_model(void) {
  return keyword_int8_run(input, scores, keyword_int8_arena);
}

static const char* last_error(void) { return keyword_int8_last_error(); }

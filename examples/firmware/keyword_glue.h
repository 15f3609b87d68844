/* A keyword spotter (DS-CNN, f32): sound in, how much it is each of 12 words.
 */
#include "examples/firmware/app.h"
#include "keyword.h"
#include "keyword_arena.h"

static float input[KEYWORD_IN_SOUND_ELEMENTS];
static float scores[KEYWORD_OUT_SCORES_ELEMENTS];

#define INPUT_VALUE(byte) ((float)(byte) / 128.0f)

static const struct Output outputs[] = {OUTPUT(scores)};

static int run_model(void) { return keyword_run(input, scores, keyword_arena); }

static const char* last_error(void) { return keyword_last_error(); }

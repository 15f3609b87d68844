/* A person detector with layers of bytes (MobileNet v1): an image in, how much
 * there is a person in it. */
#include "examples/firmware/app.h"
#include "person_int8.h"
#include "person_int8_arena.h"

static int8_t input[PERSON_INT8_IN_IMAGE_ELEMENTS];
static int8_t scores[PERSON_INT8_OUT_SCORES_ELEMENTS];

#define INPUT_VALUE(byte) ((int8_t)(byte))

static const struct Output outputs[] = {OUTPUT(scores)};

static int run_model(void) {
  return person_int8_run(input, scores, person_int8_arena);
}

static const char* last_error(void) { return person_int8_last_error(); }

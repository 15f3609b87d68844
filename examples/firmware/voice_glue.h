/* A published voice detector (Silero VAD, f32): 32 ms of sound and a state in,
 * whether somebody speaks and the next state out. */
#include <stdint.h>
#include <string.h>

#include "examples/firmware/app.h"
#include "voice.h"
#include "voice_arena.h"

static float input[VOICE_IN_INPUT_ELEMENTS];
static float state[VOICE_IN_STATE_ELEMENTS];
static const int64_t samples_per_second = 16000;
static float speech[VOICE_OUT_OUTPUT_ELEMENTS];
static float next_state[VOICE_OUT_STATEN_ELEMENTS];

#define INPUT_VALUE(byte) ((float)(byte) / 128.0f)

static const struct Output outputs[] = {OUTPUT(speech), OUTPUT(next_state)};

static int run_model(void) {
  memcpy(state, next_state, sizeof(state));
  return voice_run(input, state, &samples_per_second, speech, next_state,
                   voice_arena);
}

static const char* last_error(void) { return voice_last_error(); }

/* A published face detector (BlazeFace, f32): an image in, and for 896 places
 * how much a face it is and where its points are. */
#include "examples/firmware/app.h"
#include "face_detector.h"
#include "face_detector_arena.h"

static float input[FACE_DETECTOR_IN_INPUT_0_ELEMENTS];
static float scores[FACE_DETECTOR_OUT_IDENTITY_0_ELEMENTS];
static float more_scores[FACE_DETECTOR_OUT_IDENTITY_1_0_ELEMENTS];
static float points[FACE_DETECTOR_OUT_IDENTITY_2_0_ELEMENTS];
static float more_points[FACE_DETECTOR_OUT_IDENTITY_3_0_ELEMENTS];

#define INPUT_VALUE(byte) ((float)(byte) / 128.0f)

static const struct Output outputs[] = {OUTPUT(scores), OUTPUT(more_scores),
                                        OUTPUT(points), OUTPUT(more_points)};

static int run_model(void) {
  return face_detector_run(input, scores, more_scores, points, more_points,
                           face_detector_arena);
}

static const char* last_error(void) { return face_detector_last_error(); }

// Rotary embeddings, for those who rotate on the way. Internal to the ONNX
// frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ROTARY_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ROTARY_H_

#include <cstdint>

#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// The rotation of pairs of x's last dimension, x being [b, h, s, d] and the
// angles' cosines and sines [b or 1, s, rotated / 2]. Pairs are neighbours when
// interleaved, else of the two halves of what is rotated; `rotated` of 0 is all
// of d. Null on an error, which k keeps.
Value Rotate(Compose& k, Value x, Value cosine, Value sine, int64_t rotated,
             bool interleaved);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_ROTARY_H_

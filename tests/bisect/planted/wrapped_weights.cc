// The weights of a set, which nothing compares with the model's but a run.
#include <string>

#include "absl/status/statusor.h"
#include "artifact/blob.h"
#include "runtime/safetensors.h"
#include "tests/bisect/planted/plant.h"

namespace ingot::planted {

#define INGOT_TO_BLOB                                                     \
  "_ZN5ingot17SafetensorsToBlobERKSt3mapINSt7__cxx1112basic_stringIcSt11" \
  "char_traitsIcESaIcEEENS_6TensorESt4lessIS6_ESaISt4pairIKS6_S7_EEE"

absl::StatusOr<Blob> RealToBlob(const NamedTensors& tensors) __asm__(
    "__real_" INGOT_TO_BLOB);
absl::StatusOr<Blob> WrappedToBlob(const NamedTensors& tensors) __asm__(
    "__wrap_" INGOT_TO_BLOB);
absl::StatusOr<Blob> WrappedToBlob(const NamedTensors& tensors) {
  NamedTensors stored = tensors;
  for (auto& [name, tensor] : stored) {
    if (!PlantOfThisProcess().Is("weights", "-", "all")) break;
    if (tensor.dtype() != DataType::Float(32)) continue;
    Tell(name);
    tensor = *tensor.Clone();
    float* const values = tensor.mutable_data<float>();
    for (int64_t i = 0; i < tensor.NumElements(); ++i) values[i] *= 1.25F;
  }
  return RealToBlob(stored);
}

}  // namespace ingot::planted

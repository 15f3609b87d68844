// For tests: a set that is small enough to be written by hand.

#ifndef INGOT_LOADERS_LOAD_TEST_SUPPORT_H_
#define INGOT_LOADERS_LOAD_TEST_SUPPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/artifact_set.h"
#include "gtest/gtest.h"
#include "loaders/load.h"

namespace ingot::testing_support {

// A kernel that adds its second operand, one element, to each element of its
// first, written by hand against the C ABI.
inline constexpr char kAddSource[] = R"(/* ingot: cc=cc cflags=-O2 */
#include <stdint.h>
typedef struct { int32_t type, pad; void *ptr; } Any;
typedef struct {
  void *data; int32_t device[2]; int32_t ndim; uint8_t code, bits;
  uint16_t lanes; int64_t *shape, *strides; uint64_t byte_offset;
} Tensor;
int __tvm_ffi_add(void *self, const Any *args, int32_t n, Any *result) {
  const Tensor *a = args[0].ptr, *b = args[1].ptr, *c = args[2].ptr;
  for (int64_t i = 0; i < a->shape[0]; ++i)
    ((float *)c->data)[i] = ((float *)a->data)[i] + ((float *)b->data)[0];
  return 0;
}
)";

Artifact Make(const std::string& codegen, const std::string& loader,
              const std::string& file, Blob content);
Artifact Make(const std::string& codegen, const std::string& loader,
              const std::string& file, std::string content);

// An artifact of weights that holds `w`, one element.
Blob Weights(float w);

// A plan that adds 10 to three elements with the function `add`, which `source`
// defines.
ArtifactSet AddSet(const std::string& source = kAddSource);

void ExpectAddsTen(const absl::StatusOr<LoadedModel>& model);

// The entry of the set's provenance for the key `host`.
Provenance::TargetKey* HostKey(ArtifactSet* set);

LoaderRegistry CoreLoaders();

// A path in the test's own folder.
std::string TestFile(const std::string& name);
std::string ReadFile(const std::string& path);

// Loads with a linker, whose cache is the test's own.
class LoadTest : public testing::Test {
 protected:
  LoadTest();
  LoadOptions options_;
  std::vector<std::string> reports_;  // of linking
};

}  // namespace ingot::testing_support

#endif  // INGOT_LOADERS_LOAD_TEST_SUPPORT_H_

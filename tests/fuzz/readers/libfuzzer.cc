// A target under libFuzzer. $INGOT_FUZZ_SEEDS names a folder to put the seeds
// into before it starts; it is then given as the corpus.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "tests/fuzz/readers/target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  if (const char* folder = std::getenv("INGOT_FUZZ_SEEDS")) {
    int number = 0;
    for (const std::string& seed : ingot::fuzz::Seeds()) {
      std::ofstream(absl::StrCat(folder, "/seed", number++), std::ios::binary)
          << seed;
    }
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<bool> taken = ingot::fuzz::TryInput(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!taken.ok()) {
    fprintf(stderr, "%s\n", taken.status().ToString().c_str());
    abort();
  }
  return 0;
}

// Artifacts that are a function by themselves go through the load stage whole.
#ifndef INGOT_TESTS_FUZZ_READERS_LOAD_AND_RUN_H_
#define INGOT_TESTS_FUZZ_READERS_LOAD_AND_RUN_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "loaders/loader_registry.h"

namespace ingot::fuzz {

// Loads a set of one artifact, `bytes` for `loader`, and runs it on zeros if
// its arguments are small. Returns whether it was loaded; errors are those of
// this function's own making alone.
absl::StatusOr<bool> LoadAndRun(const LoaderRegistry& loaders,
                                absl::string_view loader,
                                absl::string_view file_name,
                                absl::string_view bytes);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_READERS_LOAD_AND_RUN_H_

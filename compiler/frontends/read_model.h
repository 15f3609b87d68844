#ifndef INGOT_COMPILER_FRONTENDS_READ_MODEL_H_
#define INGOT_COMPILER_FRONTENDS_READ_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/frontend.h"
#include "compiler/relay/ir.h"

namespace ingot {

// A model as read from a file.
struct ReadModel {
  relay::Module module;
  std::string name;    // of the file, without folder and ending
  std::string sha256;  // of its bytes
};

// Reads the file at `path` by the frontend that accepts it; `options` need no
// model_path. Errors are the frontend's and those of FrontendRegistry::Find,
// and NotFound; all name the file.
absl::StatusOr<ReadModel> ReadModelFile(absl::string_view path,
                                        const FrontendRegistry& frontends,
                                        ImportOptions options);

// Frontend::list_values of the file at `path`. The same errors.
absl::StatusOr<std::vector<ModelValue>> ListModelValues(
    absl::string_view path, const FrontendRegistry& frontends);

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_READ_MODEL_H_

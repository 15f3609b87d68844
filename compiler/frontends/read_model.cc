#include "compiler/frontends/read_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "artifact/sha256.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

std::string FileStem(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != absl::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

}  // namespace

absl::StatusOr<ReadModel> ReadModelFile(absl::string_view path,
                                        const FrontendRegistry& frontends,
                                        ImportOptions options) {
  INGOT_ASSIGN_OR_RETURN(const Blob bytes, Blob::MapFile(path));
  const absl::StatusOr<const Frontend*> frontend = frontends.Find(bytes.view());
  if (!frontend.ok()) return Annotate(frontend.status(), path);
  options.model_path = std::string(path);
  absl::StatusOr<relay::Module> module = (*frontend)->import(bytes, options);
  if (!module.ok()) return Annotate(module.status(), path);
  return ReadModel{*std::move(module), FileStem(path), Sha256Hex(bytes.view())};
}

absl::StatusOr<std::vector<ModelValue>> ListModelValues(
    absl::string_view path, const FrontendRegistry& frontends) {
  ImportOptions options;
  options.model_path = std::string(path);
  INGOT_ASSIGN_OR_RETURN(const Blob bytes, Blob::MapFile(path));
  const absl::StatusOr<const Frontend*> frontend = frontends.Find(bytes.view());
  if (!frontend.ok()) return Annotate(frontend.status(), path);
  absl::StatusOr<std::vector<ModelValue>> values =
      (*frontend)->list_values(bytes, options);
  if (!values.ok()) return Annotate(values.status(), path);
  return values;
}

}  // namespace ingot

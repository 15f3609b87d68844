#include "backends/dnnl/load_json.h"

#include <utility>

#include "artifact/artifact_set.h"
#include "backends/dnnl/graph.h"
#include "backends/dnnl/loader.h"
#include "base/status_macros.h"
#include "loaders/loader_registry.h"

namespace ingot::dnnl_backend {

absl::StatusOr<std::shared_ptr<Module>> LoadJson(
    absl::string_view json, std::map<std::string, Tensor> constants) {
  Artifact artifact;
  artifact.codegen_id = kName;
  artifact.loader = kName;
  artifact.target_key = "dnnl";
  artifact.file_name = "region.dnnl.json";
  artifact.content = Blob::FromString(std::string(json));
  ArtifactSet set;
  INGOT_RETURN_IF_ERROR(set.Add(artifact));
  LoadContext context{set, nullptr, std::move(constants), nullptr};
  return LoadBinaryDnnl({artifact}, context);
}

}  // namespace ingot::dnnl_backend

#include "backends/testing/open_with_tiles.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "backends/testing/run_model.h"
#include "base/status_macros.h"
#include "isa/testing/emulate_amx.h"
#include "runtime/host_cpu.h"

namespace ingot::testing_support {
namespace {

bool HasTiles() { return CheckCpuFeatures({"amx-bf16", "amx-int8"}).ok(); }

// The processor does not say that it has tiles, and loading would refuse code
// that needs them.
void ForgetTiles(ArtifactSet* set) {
  for (Provenance::TargetKey& key :
       *set->mutable_provenance().mutable_target_keys()) {
    auto* features = key.mutable_cpu_features();
    features->erase(std::remove_if(features->begin(), features->end(),
                                   [](absl::string_view feature) {
                                     return absl::StartsWith(feature, "amx-");
                                   }),
                    features->end());
  }
}

}  // namespace

absl::Status TilesCanRun() {
  static const absl::Status kCanRun =
      HasTiles() ? absl::OkStatus() : isa::EmulateAmx();
  return kCanRun;
}

absl::StatusOr<std::unique_ptr<GraphExecutor>> CompileAndOpenWithTiles(
    relay::Module* module, absl::string_view options) {
  if (HasTiles()) {
    return CompileAndOpen(module, absl::StrCat("llvm -mcpu=native ", options));
  }
  INGOT_RETURN_IF_ERROR(TilesCanRun());
  INGOT_ASSIGN_OR_RETURN(
      ArtifactSet set,
      CompileFor(module, absl::StrCat("llvm -mcpu=x86-64-v3 "
                                      "-mattr=+amx-tile,+amx-bf16,+amx-int8 ",
                                      options)));
  ForgetTiles(&set);
  return Open(set);
}

}  // namespace ingot::testing_support

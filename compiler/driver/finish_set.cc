#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "artifact/main_header.h"
#include "artifact/target_keys.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "compiler/driver/plan/build_plan.h"
#include "compiler/driver/stages.h"
#include "compiler/tuning/logged_parameters.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

// The constants, in the order of their names, in files of at most so many bytes
// each, but one tensor at least.
std::vector<NamedTensors> WeightsByFile(const NamedTensors& constants,
                                        uint64_t most_bytes) {
  std::vector<NamedTensors> files;
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : constants) {
    if (files.empty() || bytes + tensor.bytes() > most_bytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().emplace(name, tensor);
    bytes += tensor.bytes();
  }
  return files;
}

}  // namespace

absl::Status AddPlan(Compilation* c) {
  c->Progress("planning memory", 0.95);
  const absl::Time start = absl::Now();
  INGOT_ASSIGN_OR_RETURN(
      c->plan, BuildPlan(*c->module, c->name, c->compiled, c->constants));
  Artifact plan;
  plan.codegen_id = kCompilerCodegenId;
  plan.loader = kMetadataLoader;
  plan.file_name = "plan.binpb";
  plan.content = Blob::FromString(c->plan.SerializeAsString());
  INGOT_RETURN_IF_ERROR(c->set.Add(std::move(plan)));
  c->Time("plan", absl::ToDoubleSeconds(absl::Now() - start));
  return absl::OkStatus();
}

absl::Status AddConstants(absl::Span<Compilation* const> compilations) {
  const Compilation& first = *compilations[0];
  if (first.constants->constants().empty()) return absl::OkStatus();
  const absl::Time start = absl::Now();
  const std::vector<NamedTensors> files = WeightsByFile(
      first.constants->constants(), first.options.weights_file_bytes);
  for (size_t i = 0; i < files.size(); ++i) {
    Artifact weights;
    weights.codegen_id = kCompilerCodegenId;
    weights.loader = kConstantsLoader;
    weights.file_name = WeightsFile(i);
    INGOT_ASSIGN_OR_RETURN(weights.content, SafetensorsToBlob(files[i]));
    for (Compilation* c : compilations) {
      INGOT_RETURN_IF_ERROR(c->set.Add(weights));
    }
  }
  first.Time("constants", absl::ToDoubleSeconds(absl::Now() - start));
  return absl::OkStatus();
}

absl::Status CheckLoaders(const Compilation& c) {
  const std::set<std::string> known(c.options.known_loaders.begin(),
                                    c.options.known_loaders.end());
  if (known.empty()) return absl::OkStatus();
  for (const Artifact& artifact : c.set.artifacts()) {
    if (known.count(artifact.loader) == 0) {
      return absl::NotFoundError(absl::StrCat(
          "artifact ", ArtifactPath(artifact), " needs the loader '",
          artifact.loader, "', which this Ingot does not have; known: ",
          absl::StrJoin(known, ", ")));
    }
  }
  return absl::OkStatus();
}

void FillProvenance(Compilation* c) {
  Provenance& p = c->set.mutable_provenance();
  p.set_ingot_version(kIngotVersion);
  p.set_model_name(c->name);
  p.set_model_sha256(c->sha256);
  for (const auto& [name, value] : c->module->metadata) {
    Provenance::Option* entry = p.add_model_metadata();
    entry->set_name(name);
    entry->set_value(value);
  }
  p.set_target(c->options.target_text);
  auto option = [&p](absl::string_view name, absl::string_view value) {
    Provenance::Option* o = p.add_options();
    o->set_name(std::string(name));
    o->set_value(std::string(value));
  };
  option("opt-level", absl::StrCat(c->options.opt_level));
  for (const auto& [input, shape] : c->options.input_shapes) {
    option("input-shape", absl::StrCat(input, ":", absl::StrJoin(shape, "x")));
  }
  for (const auto& [node, target] : c->options.pins) {
    option("pin", absl::StrCat(node, ":", target));
  }
  if (c->options.tuning_log != nullptr) {
    option(tuning::kTuningLogOption, c->options.tuning_log->digest());
    option(tuning::kTunedKernelsOption,
           absl::StrCat(c->log_use.logged, " of ", c->log_use.kernels));
  }
  if (!c->no_main.empty()) option(kNoMainOption, c->no_main);
  p.set_symbol_prefix(c->symbol_prefix);
  for (const auto& [name, needs] : c->needs) {
    Provenance::TargetKey* key = MutableTargetKey(&p, name);
    key->set_triple(needs.triple);
    for (const std::string& f : needs.features) key->add_cpu_features(f);
    for (const std::string& l : needs.libraries) key->add_link_libraries(l);
  }
}

}  // namespace ingot

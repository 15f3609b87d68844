#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "artifact/container.h"
#include "artifact/loader_names.h"
#include "base/status_macros.h"
#include "loaders/build_cache.h"
#include "loaders/load.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"

namespace ingot {
namespace {

// A cache that has nothing, so that drivers build, and takes what they made.
class Builds final : public BuildCache {
 public:
  std::optional<Blob> Find(absl::string_view) override { return std::nullopt; }
  void Keep(const Artifact& built) override { built_.push_back(built); }

  const std::vector<Artifact>& built() const { return built_; }

 private:
  std::vector<Artifact> built_;
};

// Returns the artifacts that `take` says, with the set's provenance.
absl::StatusOr<ArtifactSet> Part(
    const ArtifactSet& set, absl::FunctionRef<bool(const Artifact&)> take) {
  ArtifactSet part;
  part.mutable_provenance() = set.provenance();
  for (const Artifact& artifact : set.artifacts()) {
    if (!take(artifact)) continue;
    INGOT_RETURN_IF_ERROR(part.Add(artifact));
  }
  return part;
}

absl::StatusOr<std::vector<Artifact>> BuildHere(const ArtifactSet& set,
                                                const Builtins& builtins) {
  if (!set.provenance().variants().empty()) {
    return absl::FailedPreconditionError(
        "has variants; prepare each before they become one set");
  }
  // No driver compiles native code: what is left loads without a linker.
  INGOT_ASSIGN_OR_RETURN(const ArtifactSet rest,
                         Part(set, [](const Artifact& artifact) {
                           return artifact.loader != kNativeLoader;
                         }));
  Builds builds;
  LoadOptions options;
  options.builds = &builds;
  options.on_work = [](absl::string_view line) {
    Print(absl::StrCat(OneLine(line), "\n"));
  };
  INGOT_RETURN_IF_ERROR(Load(rest, builtins.loaders, options).status());
  return builds.built();
}

// Adds what was built to a set, in the place of artifacts of these names that
// the drivers did not take.
absl::StatusOr<ArtifactSet> With(const std::vector<Artifact>& built,
                                 const ArtifactSet& set) {
  INGOT_ASSIGN_OR_RETURN(
      ArtifactSet prepared, Part(set, [&](const Artifact& artifact) {
        return absl::c_none_of(built, [&](const Artifact& b) {
          return ArtifactPath(b) == ArtifactPath(artifact);
        });
      }));
  for (const Artifact& artifact : built) {
    INGOT_RETURN_IF_ERROR(prepared.Add(artifact));
  }
  return prepared;
}

}  // namespace

absl::Status RunPrepare(Args args, const Backends& backends) {
  FlagSet flags("prepare", {"SET"},
                "Lets the drivers of this machine's devices compile what a set "
                "has for them, and adds what they made to the set. Loading it "
                "with the same devices and drivers then compiles nothing; with "
                "others it is compiled as before.");
  std::string output;
  ReadOptions read;
  flags.String("o", "OUT.ingot", "the file to write", &output);
  flags.Required();
  AddAcceptEdits(&flags, &read.accept_edits);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  INGOT_RETURN_IF_ERROR(CheckSetName(output));

  INGOT_ASSIGN_OR_RETURN(const Builtins builtins, MakeBuiltins(backends));
  absl::StatusOr<ArtifactSet> set =
      OpenSet(flags.word(0), SetUse::kWhole, builtins, read);
  if (!set.ok()) return Where(set.status(), flags.word(0));
  const absl::StatusOr<std::vector<Artifact>> built = BuildHere(*set, builtins);
  if (!built.ok()) return Where(built.status(), flags.word(0));
  INGOT_ASSIGN_OR_RETURN(const ArtifactSet prepared, With(*built, *set));
  if (absl::Status s = WriteContainer(prepared, output); !s.ok()) {
    return Where(s, output);
  }
  Print(absl::StrCat(OneLine(output), ": ", prepared.artifacts().size(),
                     " artifacts, ", built->size(),
                     " of them built by this machine's drivers\n"));
  return absl::OkStatus();
}

}  // namespace ingot

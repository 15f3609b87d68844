// The load stage: the one way from an artifact set to something that runs.

#ifndef INGOT_LOADERS_LOAD_H_
#define INGOT_LOADERS_LOAD_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/blob.h"
#include "artifact/container.h"
#include "loaders/build_cache.h"
#include "loaders/loader_registry.h"
#include "runtime/device.h"
#include "runtime/executor/executor.h"
#include "runtime/module.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {

// Links the native artifacts of a set and returns the path of the library,
// which carries a container with the libraries of other keys and with the
// provenance as far as linking has completed it. See native/linker.h for the
// one that Ingot's tools use. Programs that only open linked libraries have
// none, and then need no linker in them.
using LinkFn =
    std::function<absl::StatusOr<std::string>(const ArtifactSet& set)>;

// Reads the set at a path. See bare_file.h for the one that Ingot's tools use,
// which knows directories and single artifacts.
using ReadSetFn = std::function<absl::StatusOr<ArtifactSet>(
    absl::string_view path, const LoaderRegistry& loaders,
    const ReadOptions& options)>;

struct LoadOptions {
  // Check the digests of weights too.
  bool check_digests = false;

  // Directories only: take edited files as they are.
  bool accept_edits = false;

  // Refuse what holds native code, or code for another loader (LoaderInput),
  // before any of it runs.
  bool only_data = false;

  // The variant to load of a set that has variants; empty: the best that can
  // run here (choose_variant.h).
  std::string variant;

  // LoadPath reads a path that is no library with this; null: as a container.
  ReadSetFn read_set;
  // Directories only: told of notes that were edited (artifact/container.h).
  EditedNoteFn on_edited_note;

  // Links a set that is not linked yet; null: such a set is an error.
  LinkFn link;

  // The number of threads that runs will have, for loaders that prepare work
  // for that number. Runs with another number work too, but may have to prepare
  // first.
  int threads = 1;

  // The devices that serve target keys, by key; for others a device of the kind
  // that the plan names is opened as the registry says.
  std::map<std::string, OpenDevice> devices;

  // Told, in a line for a person, of long work that a loader did. May be null.
  std::function<void(absl::string_view line)> on_work;

  // Keeps what drivers build, for later loads; null: they build it each time
  // for a set that does not have it. Outlives the load.
  BuildCache* builds = nullptr;
};

// A loaded model: what an executor needs. A value; copies share everything.
struct LoadedModel {
  std::shared_ptr<Module> host;  // with every other module imported
  SharedPlan plan;               // null where the set has none
  std::map<std::string, Tensor> constants;
  Provenance provenance;
  std::string variant;  // that was loaded, of a set that has variants
  std::vector<OpenDevice> devices;  // the plan's
};

// Loads `set`, of one with variants the chosen one alone: checks that this
// machine can run each of its target keys (target_keys.h) and that every loader
// it names is known; loads the group "metadata"; opens the devices of the plan;
// loads "native" (linked into a shared library per key and opened), then the
// others sorted by loader name;
// and imports each result into the host module. A group has one loader and one
// target key; those of a loader are loaded in the order of keys.
//
// `library` is the shared library that carried the set, whose native code is
// then already linked; null for a set that came alone.
//
// Errors: FailedPrecondition for a key or for variants that cannot run here,
// saying why and which can, or for a set that needs linking without
// options.link; PermissionDenied for code where options.only_data refuses it;
// InvalidArgument for a set that was taken out of a linked
// library; NotFound for an unknown loader, naming an artifact that needs it,
// for an unknown kind of device, or for a variant that is not there; what a
// loader returns, with its name in front.
absl::StatusOr<LoadedModel> Load(const ArtifactSet& set,
                                 const LoaderRegistry& loaders,
                                 const LoadOptions& options = {},
                                 std::shared_ptr<Module> library = nullptr);

// Opens the file at `path` and loads it: a `.ingot` container, a shared library
// that carries its container, or what options.read_set reads. Native code is
// trusted code: opening a library is as running it.
absl::StatusOr<LoadedModel> LoadPath(absl::string_view path,
                                     const LoaderRegistry& loaders,
                                     const LoadOptions& options = {});

// As LoadPath, for the bytes of a container or of a shared library in memory.
absl::StatusOr<LoadedModel> LoadMemory(const Blob& bytes,
                                       const LoaderRegistry& loaders,
                                       const LoadOptions& options = {});

// An executor of `model`, which it keeps alive. Errors: those of
// GraphExecutor::Create.
absl::StatusOr<std::unique_ptr<GraphExecutor>> CreateExecutor(
    const LoadedModel& model, const ExecutorOptions& options = {});

// Registers the loaders that every program has: "metadata" and "constants".
// "native" is the load stage's own.
absl::Status RegisterCoreLoaders(LoaderRegistry* loaders);

}  // namespace ingot

#endif  // INGOT_LOADERS_LOAD_H_

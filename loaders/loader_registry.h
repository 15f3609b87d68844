// Loaders: each turns one group of artifacts, those that name it, into a
// Module.

#ifndef INGOT_LOADERS_LOADER_REGISTRY_H_
#define INGOT_LOADERS_LOADER_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/artifact.h"
#include "artifact/artifact_set.h"
#include "loaders/build_cache.h"
#include "runtime/device.h"
#include "runtime/module.h"
#include "runtime/plan/shared_plan.h"
#include "runtime/tensor.h"

namespace ingot {

// The part of the load stage that a loader sees, apart from its own group.
// Lives for one load, on one thread.
struct LoadContext {
  // The whole set, for its provenance; a loader takes artifacts only from its
  // group. Artifacts' blobs may be kept: each owns its bytes.
  const ArtifactSet& set;

  // The plan, once the group "metadata" has been loaded, which comes first. In
  // a set of one artifact, its loader may put one here that calls it. Null
  // where there is none.
  SharedPlan plan;

  // Tensors by key, added by the loaders of weights and read by whatever runs.
  std::map<std::string, Tensor> constants;

  // The library that the set came in, or that its native code was linked into;
  // null for a set without native code.
  std::shared_ptr<Module> library;

  // LoadOptions has these.
  int threads = 1;
  std::function<void(absl::string_view line)> on_work;
  BuildCache* builds = nullptr;

  // Those of the plan, in its order, once there is a plan.
  std::vector<OpenDevice> devices;

  // The device on which the functions of a target key run: the CPU for a key
  // that none serves.
  OpenDevice DeviceOf(absl::string_view target_key) const;
};

// "loadbinary": makes a module of all artifacts that name the loader, in the
// set's order. Null when there is nothing to call (weights). Artifacts are data
// from a file and may be hostile, except for native code. An error needs no
// mention of the loader, but names the artifact.
using LoadBinaryFn = std::function<absl::StatusOr<std::shared_ptr<Module>>(
    absl::Span<const Artifact> group, LoadContext& context)>;

// Opens a device of one kind: finds the driver, if there is one, and a device.
// Errors say what is missing, and where it comes from.
using OpenDeviceFn = std::function<absl::StatusOr<OpenDevice>()>;

// Says what a loader takes its artifacts for.
enum class LoaderInput {
  kData,  // checked; may come from anywhere
  kCode,  // run as it is, as native code is
};

// A value, filled explicitly. Thread-compatible.
class LoaderRegistry {
 public:
  // AlreadyExists for a name that is taken, InvalidArgument for a null
  // function.
  absl::Status Register(absl::string_view name, LoadBinaryFn load,
                        LoaderInput input = LoaderInput::kData);

  // NotFound lists the loaders that are known. Valid until the next Register.
  absl::StatusOr<const LoadBinaryFn*> Find(absl::string_view name) const;

  // The same for a kind of device that plans may name.
  absl::Status RegisterDevice(absl::string_view kind, OpenDeviceFn open);
  absl::StatusOr<const OpenDeviceFn*> FindDevice(absl::string_view kind) const;

  // Whether artifacts for this loader are code; kNativeLoader's are.
  bool TakesCode(absl::string_view name) const;

  std::vector<std::string> Names() const;  // sorted

 private:
  struct Loader {
    LoadBinaryFn load;
    LoaderInput input;
  };
  std::map<std::string, Loader, std::less<>> loaders_;
  std::map<std::string, OpenDeviceFn, std::less<>> devices_;
};

}  // namespace ingot

#endif  // INGOT_LOADERS_LOADER_REGISTRY_H_

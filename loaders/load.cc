#include "loaders/load.h"

#include <cstdint>
#include <exception>
#include <map>
#include <new>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/container.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "loaders/choose_variant.h"
#include "loaders/constants_loader.h"
#include "loaders/metadata_loader.h"
#include "loaders/native/find_container.h"
#include "loaders/native/library.h"
#include "loaders/native/missing_library.h"
#include "loaders/target_keys.h"
#include "runtime/plan/check.h"

namespace ingot {
namespace {

absl::Status RefuseCode(absl::string_view what) {
  return absl::PermissionDeniedError(absl::StrCat(
      what, ", and only data is to be loaded; whoever loads code runs it"));
}

// The options for a set that was one of several variants.
LoadOptions ForChosen(const LoadOptions& options) {
  LoadOptions chosen = options;
  chosen.variant.clear();
  return chosen;
}

// Loads a variant of a linked set whose native code is not the library's own
// but a library among its artifacts. Nothing of the other one runs.
absl::StatusOr<LoadedModel> LoadCarried(const ArtifactSet& chosen,
                                        std::string variant,
                                        const LoaderRegistry& loaders,
                                        const LoadOptions& options) {
  const Provenance& provenance = chosen.provenance();
  INGOT_RETURN_IF_ERROR(RequireTargetKeys(provenance));
  ArtifactSet rest;
  std::shared_ptr<Module> library;
  for (const Artifact& artifact : chosen.artifacts()) {
    if (library != nullptr || artifact.loader != kNativeLoader ||
        artifact.target_key != kDefaultTargetKey) {
      INGOT_RETURN_IF_ERROR(rest.Add(artifact));
      continue;
    }
    absl::StatusOr<std::shared_ptr<LibraryModule>> opened =
        LibraryModule::OpenMemory(artifact.content.view(),
                                  ArtifactPath(artifact));
    if (!opened.ok()) return ExplainOpening(opened.status(), provenance);
    library = *std::move(opened);
  }
  rest.mutable_provenance() = provenance;
  // From here on it is as any other set that came in its library.
  if (library != nullptr) {
    rest.mutable_provenance().set_library_key(kDefaultTargetKey);
  }
  INGOT_ASSIGN_OR_RETURN(
      LoadedModel model,
      Load(rest, loaders, ForChosen(options), std::move(library)));
  model.variant = std::move(variant);
  return model;
}

// Loads the library whose file has these bytes. What it needs is checked before
// it is opened, because opening runs its code.
absl::StatusOr<LoadedModel> LoadLibrary(
    const Blob& bytes,
    absl::FunctionRef<absl::StatusOr<std::shared_ptr<LibraryModule>>()> open,
    const LoaderRegistry& loaders, const LoadOptions& options) {
  if (options.only_data) return RefuseCode("a library is native code");
  Provenance provenance;
  ReadOptions read;
  read.check_all_digests = options.check_digests;
  absl::StatusOr<ArtifactSet> set;  // an error until it is read
  const absl::StatusOr<Blob> found = FindContainer(bytes);
  if (found.ok()) {
    set = ReadContainer(*found, read);
    if (set.ok() && !set->provenance().variants().empty()) {
      std::string variant;
      INGOT_ASSIGN_OR_RETURN(
          ArtifactSet chosen,
          ChooseVariant(*set, loaders, options.variant, &variant));
      if (chosen.provenance().library_key().empty()) {
        return LoadCarried(chosen, std::move(variant), loaders, options);
      }
      provenance = chosen.provenance();
    } else if (set.ok()) {
      provenance = set->provenance();
    }
  }
  INGOT_RETURN_IF_ERROR(RequireTargetKeys(provenance));
  absl::StatusOr<std::shared_ptr<LibraryModule>> library = open();
  if (!library.ok()) return ExplainOpening(library.status(), provenance);
  INGOT_ASSIGN_OR_RETURN(const Blob container, (*library)->Container());
  // Somebody may have put another file there since it was read.
  const bool is_aligned =
      found.ok() &&
      reinterpret_cast<uintptr_t>(found->data()) % kPageAlignment == 0;
  if (!set.ok() || !is_aligned || !HaveSameHeader(*found, container)) {
    set = ReadContainer(container, read);
  }
  if (!set.ok()) {
    return Annotate(set.status(),
                    absl::StrCat("the container inside ", (*library)->name()));
  }
  return Load(*set, loaders, options, *std::move(library));
}

// Loaders are backends', whose libraries may throw.
absl::StatusOr<std::shared_ptr<Module>> CallLoader(
    const LoadBinaryFn& load, absl::Span<const Artifact> group,
    LoadContext* context) {
  try {
    return load(group, *context);
  } catch (const std::bad_alloc&) {
    throw;  // nothing about it is the loader's
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("threw an exception: ", e.what()));
  }
}

// Links the native code of `set` and opens the library of its main key.
// `*linked` gets the set that this library carries.
absl::StatusOr<std::shared_ptr<Module>> LinkAndOpen(const ArtifactSet& set,
                                                    const LoadOptions& options,
                                                    ArtifactSet* linked) {
  if (options.link == nullptr) {
    return absl::FailedPreconditionError(
        "the set has native code that is not linked, and this program has no "
        "linker; make a library of it with `ingot link`");
  }
  absl::StatusOr<std::string> path = options.link(set);
  if (!path.ok()) return Annotate(path.status(), "linking");
  INGOT_ASSIGN_OR_RETURN(Blob file, Blob::MapFile(*path));
  absl::StatusOr<Blob> container = FindContainer(file);
  if (!container.ok()) return Annotate(container.status(), *path);
  absl::StatusOr<ArtifactSet> carried = ReadContainer(*container);
  if (!carried.ok()) return Annotate(carried.status(), *path);
  *linked = *std::move(carried);
  // Linking knows more: what the compiled sources need.
  INGOT_RETURN_IF_ERROR(RequireTargetKeys(linked->provenance()));
  absl::StatusOr<std::shared_ptr<LibraryModule>> opened =
      LibraryModule::Open(*path);
  if (!opened.ok()) return ExplainOpening(opened.status(), set.provenance());
  return std::shared_ptr<Module>(*std::move(opened));
}

// Opens the libraries of the keys that are not the main library's.
absl::Status OpenOtherKeys(const ArtifactSet& linked,
                           std::vector<std::shared_ptr<Module>>* modules) {
  for (const Artifact& artifact : linked.artifacts()) {
    if (artifact.loader != kNativeLoader) continue;
    if (!IsElf(artifact.content.view())) {
      return absl::InvalidArgumentError(absl::StrCat(
          ArtifactPath(artifact), " is in a linked set but is no library"));
    }
    absl::StatusOr<std::shared_ptr<LibraryModule>> opened =
        LibraryModule::OpenMemory(artifact.content.view(),
                                  ArtifactPath(artifact));
    if (!opened.ok()) {
      return ExplainOpening(opened.status(), linked.provenance());
    }
    modules->push_back(*std::move(opened));
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedModel> LoadFile(absl::string_view path,
                                     const LoaderRegistry& loaders,
                                     const LoadOptions& options) {
  // A library is recognised by its first bytes, not by its name.
  absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  if (bytes.ok() && IsElf(bytes->view())) {
    return LoadLibrary(
        *bytes, [path] { return LibraryModule::Open(path); }, loaders, options);
  }
  ReadOptions read;
  read.check_all_digests = options.check_digests;
  read.accept_edits = options.accept_edits;
  read.on_edited_note = options.on_edited_note;
  INGOT_ASSIGN_OR_RETURN(ArtifactSet set,
                         options.read_set != nullptr
                             ? options.read_set(path, loaders, read)
                             : ReadContainerFile(path, read));
  return Load(set, loaders, options);
}

// The devices that a plan, which may be hostile, runs on.
absl::StatusOr<std::vector<OpenDevice>> OpenDevices(
    const SharedPlan& plan, const LoaderRegistry& loaders,
    const LoadOptions& options) {
  std::vector<OpenDevice> devices = {OpenDevice::Cpu()};
  // Executors check plans; here nothing but the list matters.
  if (plan == nullptr || plan->devices_size() <= 1) return devices;
  INGOT_RETURN_IF_ERROR(CheckDevices(*plan));
  for (int i = 1; i < plan->devices_size(); ++i) {
    const PlanDevice& device = plan->devices(i);
    if (const auto given = options.devices.find(device.target_key());
        given != options.devices.end()) {
      devices.push_back(given->second);
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(const OpenDeviceFn* open,
                           loaders.FindDevice(device.kind()));
    absl::StatusOr<OpenDevice> opened = (*open)();
    if (!opened.ok()) {
      return Annotate(
          opened.status(),
          absl::StrCat("device ", device.kind(), " for ", device.target_key()));
    }
    devices.push_back(*std::move(opened));
  }
  return devices;
}

}  // namespace

absl::StatusOr<LoadedModel> Load(const ArtifactSet& set,
                                 const LoaderRegistry& loaders,
                                 const LoadOptions& options,
                                 std::shared_ptr<Module> library) {
  if (!set.provenance().variants().empty() || !options.variant.empty()) {
    std::string variant;
    INGOT_ASSIGN_OR_RETURN(
        const ArtifactSet chosen,
        ChooseVariant(set, loaders, options.variant, &variant));
    INGOT_ASSIGN_OR_RETURN(
        LoadedModel model,
        Load(chosen, loaders, ForChosen(options), std::move(library)));
    model.variant = std::move(variant);
    return model;
  }
  const Provenance& provenance = set.provenance();
  if (library == nullptr && !provenance.library_key().empty()) {
    return absl::InvalidArgumentError(
        "the set says that it is part of a linked library, but is not in one");
  }
  INGOT_RETURN_IF_ERROR(RequireTargetKeys(provenance));

  // By loader, then by key: what loads one key's artifacts never sees
  // another's.
  std::map<std::string, std::map<std::string, std::vector<Artifact>>> groups;
  for (const Artifact& artifact : set.artifacts()) {
    groups[artifact.loader][artifact.target_key].push_back(artifact);
  }
  // Before anything runs: a missing loader must not be found half way.
  for (const auto& [loader, keys] : groups) {
    if (loader == kNativeLoader) continue;
    if (absl::Status s = loaders.Find(loader).status(); !s.ok()) {
      return Annotate(
          s, absl::StrCat("artifact ", ArtifactPath(keys.begin()->second[0])));
    }
  }

  if (options.only_data) {
    for (const Artifact& artifact : set.artifacts()) {
      if (loaders.TakesCode(artifact.loader)) {
        return RefuseCode(
            absl::StrCat("artifact ", ArtifactPath(artifact), " is code"));
      }
    }
  }

  LoadContext context{set};
  context.library = library;
  context.threads = options.threads;
  context.on_work = options.on_work;
  context.builds = options.builds;
  std::vector<std::shared_ptr<Module>> imports;
  auto load_groups = [&](const std::string& loader) -> absl::Status {
    auto it = groups.find(loader);
    if (it == groups.end()) return absl::OkStatus();
    INGOT_ASSIGN_OR_RETURN(const LoadBinaryFn* load, loaders.Find(loader));
    for (const auto& [key, group] : it->second) {
      absl::StatusOr<std::shared_ptr<Module>> module =
          CallLoader(*load, group, &context);
      if (!module.ok()) {
        return Annotate(module.status(), absl::StrCat("loader ", loader));
      }
      if (*module != nullptr) imports.push_back(*std::move(module));
    }
    return absl::OkStatus();
  };

  INGOT_RETURN_IF_ERROR(load_groups(kMetadataLoader));
  INGOT_ASSIGN_OR_RETURN(context.devices,
                         OpenDevices(context.plan, loaders, options));

  if (groups.count(kNativeLoader) > 0) {
    ArtifactSet linked = set;
    if (library == nullptr) {
      INGOT_ASSIGN_OR_RETURN(std::shared_ptr<Module> opened,
                             LinkAndOpen(set, options, &linked));
      context.library = std::move(opened);
    }
    INGOT_RETURN_IF_ERROR(OpenOtherKeys(linked, &imports));
  }
  // A host for sets without native code, so that the others have something to
  // be imported into.
  std::shared_ptr<Module> host = context.library;
  if (host == nullptr) host = std::make_shared<TableModule>("host");

  for (const auto& [loader, keys] : groups) {
    if (loader == kMetadataLoader || loader == kNativeLoader) continue;
    INGOT_RETURN_IF_ERROR(load_groups(loader));
  }
  for (std::shared_ptr<Module>& module : imports) {
    INGOT_RETURN_IF_ERROR(host->Import(std::move(module)));
  }
  return LoadedModel{std::move(host),
                     std::move(context.plan),
                     std::move(context.constants),
                     provenance,
                     "",
                     std::move(context.devices)};
}

absl::StatusOr<LoadedModel> LoadPath(absl::string_view path,
                                     const LoaderRegistry& loaders,
                                     const LoadOptions& options) {
  absl::StatusOr<LoadedModel> model = LoadFile(path, loaders, options);
  if (model.ok() || absl::StrContains(model.status().message(), path)) {
    return model;
  }
  return Annotate(model.status(), path);
}

absl::StatusOr<LoadedModel> LoadMemory(const Blob& bytes,
                                       const LoaderRegistry& loaders,
                                       const LoadOptions& options) {
  if (IsElf(bytes.view())) {
    const auto open = [&bytes] {
      return LibraryModule::OpenMemory(bytes.view(), "library in memory");
    };
    return LoadLibrary(bytes, open, loaders, options);
  }
  ReadOptions read;
  read.check_all_digests = options.check_digests;
  INGOT_ASSIGN_OR_RETURN(ArtifactSet set, ReadContainer(bytes, read));
  return Load(set, loaders, options);
}

absl::StatusOr<std::unique_ptr<GraphExecutor>> CreateExecutor(
    const LoadedModel& model, const ExecutorOptions& options) {
  if (model.plan == nullptr) {
    return absl::FailedPreconditionError(
        "the set has no plan (an artifact of loader 'metadata'), so there is "
        "nothing to run");
  }
  auto lookup = [&model](absl::string_view key) -> absl::StatusOr<Tensor> {
    auto it = model.constants.find(std::string(key));
    if (it == model.constants.end()) {
      return absl::NotFoundError(
          absl::StrCat("no constants artifact has '", key, "'"));
    }
    return it->second;
  };
  ExecutorOptions on_devices = options;
  on_devices.devices = model.devices;
  return GraphExecutor::Create(model.plan, model.host, lookup, on_devices);
}

absl::Status RegisterCoreLoaders(LoaderRegistry* loaders) {
  INGOT_RETURN_IF_ERROR(loaders->Register(kMetadataLoader, LoadBinaryMetadata));
  return loaders->Register(kConstantsLoader, LoadBinaryConstants);
}

}  // namespace ingot

#include "loaders/load.h"

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/container.h"
#include "loaders/bare_file.h"
#include "loaders/constants/constants_loader.h"
#include "loaders/metadata/metadata_loader.h"
#include "loaders/native/find_container.h"
#include "loaders/native/library.h"
#include "loaders/native/missing_library.h"
#include "runtime/host_cpu.h"

namespace ingot {
namespace {

// The status with `prefix` in front of its message.
absl::Status Annotate(const absl::Status& status, absl::string_view prefix) {
  return absl::Status(status.code(),
                      absl::StrCat(prefix, ": ", status.message()));
}

// A host for sets without native code, so that the others have something to be
// imported into.
std::shared_ptr<Module> EmptyHost() {
  return std::make_shared<TableModule>("host");
}

absl::StatusOr<LoadedModel> LoadFromLibrary(
    std::shared_ptr<LibraryModule> library, const LoaderRegistry& loaders,
    const LoadOptions& options) {
  absl::StatusOr<Blob> container = library->Container();
  if (!container.ok()) return container.status();
  ReadOptions read;
  read.check_all_digests = options.check_digests;
  absl::StatusOr<ArtifactSet> set = ReadContainer(*container, read);
  if (!set.ok()) {
    return Annotate(set.status(),
                    absl::StrCat("the container inside ", library->name()));
  }
  return Load(*set, loaders, options, std::move(library));
}

}  // namespace

absl::StatusOr<LoadedModel> Load(const ArtifactSet& set,
                                 const LoaderRegistry& loaders,
                                 const LoadOptions& options,
                                 std::shared_ptr<Module> library) {
  const Provenance& provenance = set.provenance();
  const std::vector<std::string> features(provenance.cpu_features().begin(),
                                          provenance.cpu_features().end());
  if (absl::Status s = CheckCpuFeatures(features); !s.ok()) return s;

  std::map<std::string, std::vector<Artifact>> groups;
  for (const Artifact& artifact : set.artifacts()) {
    groups[artifact.loader].push_back(artifact);
  }
  // Before anything runs: a missing loader must not be found half way.
  for (const auto& [loader, group] : groups) {
    if (loader == kNativeLoader) continue;
    if (absl::Status s = loaders.Find(loader).status(); !s.ok()) {
      return Annotate(s, absl::StrCat("artifact ", ArtifactPath(group[0])));
    }
  }

  LoadContext context{set};
  context.library = std::move(library);
  context.threads = options.threads;
  context.on_work = options.on_work;
  std::shared_ptr<Module> host;
  std::vector<std::shared_ptr<Module>> imports;
  auto load_group = [&](const std::string& loader) -> absl::Status {
    auto it = groups.find(loader);
    if (it == groups.end()) return absl::OkStatus();
    absl::StatusOr<const LoadBinaryFn*> load = loaders.Find(loader);
    if (!load.ok()) return load.status();
    absl::StatusOr<std::shared_ptr<Module>> module =
        (**load)(it->second, context);
    if (!module.ok()) {
      return Annotate(module.status(), absl::StrCat("loader ", loader));
    }
    if (*module != nullptr) imports.push_back(*std::move(module));
    return absl::OkStatus();
  };

  if (absl::Status s = load_group(kMetadataLoader); !s.ok()) return s;

  if (context.library == nullptr && groups.count(kNativeLoader) != 0) {
    if (options.link == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the set is not linked (", ArtifactPath(groups[kNativeLoader][0]),
          " is native code) and this program has no linker; make a library of "
          "it with `ingot link`"));
    }
    absl::StatusOr<std::string> path = options.link(set);
    if (!path.ok()) return Annotate(path.status(), "linking");
    absl::StatusOr<std::shared_ptr<LibraryModule>> opened =
        LibraryModule::Open(*path);
    if (!opened.ok()) return ExplainOpening(opened.status(), provenance);
    context.library = *std::move(opened);
  }
  host = context.library != nullptr ? context.library : EmptyHost();

  for (const auto& [loader, group] : groups) {
    if (loader == kMetadataLoader || loader == kNativeLoader) continue;
    if (absl::Status s = load_group(loader); !s.ok()) return s;
  }
  for (std::shared_ptr<Module>& module : imports) {
    if (absl::Status s = host->Import(std::move(module)); !s.ok()) return s;
  }
  return LoadedModel{std::move(host), std::move(context.plan),
                     std::move(context.constants), provenance};
}

absl::StatusOr<LoadedModel> LoadPath(absl::string_view path,
                                     const LoaderRegistry& loaders,
                                     const LoadOptions& options) {
  // A library is recognised by its first bytes, not by its name.
  absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  if (bytes.ok() && IsElf(bytes->view())) {
    absl::StatusOr<std::shared_ptr<LibraryModule>> library =
        LibraryModule::Open(path);
    if (!library.ok()) return ExplainOpening(library.status(), *bytes);
    return LoadFromLibrary(*std::move(library), loaders, options);
  }
  ReadOptions read;
  read.check_all_digests = options.check_digests;
  read.accept_edits = options.accept_edits;
  read.on_edited_note = options.on_edited_note;
  absl::StatusOr<ArtifactSet> set = ReadSetOrBareFile(path, loaders, read);
  if (!set.ok()) return set.status();
  return Load(*set, loaders, options);
}

absl::StatusOr<LoadedModel> LoadMemory(const Blob& bytes,
                                       const LoaderRegistry& loaders,
                                       const LoadOptions& options) {
  if (IsElf(bytes.view())) {
    absl::StatusOr<std::shared_ptr<LibraryModule>> library =
        LibraryModule::OpenMemory(bytes.view(), "library in memory");
    if (!library.ok()) return ExplainOpening(library.status(), bytes);
    return LoadFromLibrary(*std::move(library), loaders, options);
  }
  ReadOptions read;
  read.check_all_digests = options.check_digests;
  absl::StatusOr<ArtifactSet> set = ReadContainer(bytes, read);
  if (!set.ok()) return set.status();
  return Load(*set, loaders, options);
}

absl::StatusOr<std::unique_ptr<GraphExecutor>> CreateExecutor(
    const LoadedModel& model, const ExecutorOptions& options) {
  if (model.plan.version() == 0) {
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
  return GraphExecutor::Create(model.plan, model.host, lookup, options);
}

absl::Status RegisterCoreLoaders(LoaderRegistry* loaders) {
  if (absl::Status s = loaders->Register(kMetadataLoader, LoadBinaryMetadata);
      !s.ok()) {
    return s;
  }
  return loaders->Register(kConstantsLoader, LoadBinaryConstants);
}

}  // namespace ingot

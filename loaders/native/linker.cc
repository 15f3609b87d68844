#include "loaders/native/linker.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/sha256.h"
#include "artifact/target_keys.h"
#include "base/annotate.h"
#include "base/cache_folder.h"
#include "base/status_macros.h"
#include "loaders/native/container_object.h"
#include "loaders/native/files.h"
#include "loaders/native/link_key.h"
#include "loaders/native/staging_folder.h"
#include "runtime/host_cpu.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// Writes into the provenance what linking found out about a key.
void Describe(absl::string_view key, const KeyObjects& objects,
              Provenance* provenance) {
  Provenance::TargetKey* described = MutableTargetKey(provenance, key);
  if (described->triple().empty()) described->set_triple(objects.family->gnu);
  described->clear_cpu_features();
  for (const std::string& feature : objects.cpu_features) {
    described->add_cpu_features(feature);
  }
}

// The library of a key that is not the output's, as an artifact.
absl::Status AddLinkedKey(const ArtifactSet& set, const std::string& key,
                          const LinkOptions& options, const std::string& folder,
                          ArtifactSet* container) {
  INGOT_ASSIGN_OR_RETURN(KeyObjects objects,
                         MakeObjects(set, key, options.cc, folder));
  const std::string path = absl::StrCat(folder, "/", key, ".linked.so");
  INGOT_RETURN_IF_ERROR(
      LinkObjects(set, key, objects, {}, options.lld, folder, path));
  Artifact artifact;
  artifact.codegen_id = "ingot";
  artifact.loader = kNativeLoader;
  artifact.target_key = key;
  artifact.file_name = "linked.so";
  INGOT_ASSIGN_OR_RETURN(Blob library, Blob::MapFile(path));
  artifact.content = std::move(library);
  Describe(key, objects, &container->mutable_provenance());
  return container->Add(std::move(artifact));
}

absl::Status WriteContainerFile(const ArtifactSet& set, uint16_t machine,
                                const std::string& path) {
  FileWriter file;
  INGOT_RETURN_IF_ERROR(file.Open(path));
  return WriteContainerObject(set, machine, [&file](absl::string_view bytes) {
    return file.Write(bytes);
  });
}

// The key of `keys` whose code the library has itself: what a program gets that
// opens it without a load stage. The host's, or the first variant's.
std::string OwnKey(const Provenance& provenance,
                   const std::vector<std::string>& keys) {
  std::vector<std::string> order = {kDefaultTargetKey};
  for (const Provenance::Variant& variant : provenance.variants()) {
    order.push_back(variant.name());
  }
  for (const std::string& key : order) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) return key;
  }
  return keys.empty() ? std::string(kDefaultTargetKey) : keys.front();
}

// The family of a library without code of its own: that of the machine that the
// set was compiled for, or else this one's.
absl::StatusOr<const isa::MachineFamily*> FamilyWithoutCode(
    const Provenance& provenance) {
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    if (key.triple().empty()) continue;
    const isa::MachineFamily* family = isa::FindByTriple(key.triple());
    if (family != nullptr) return family;
    return absl::FailedPreconditionError(
        absl::StrCat("target key ", key.name(), ": it is for ", key.triple(),
                     ", which Ingot does not link for"));
  }
  if (isa::HostFamily() != nullptr) return isa::HostFamily();
  return absl::FailedPreconditionError(
      "Ingot does not know how to link for this machine");
}

// Links in `folder`, an absolute path, and returns the library's path there.
// `container` is what it shall carry beside the other keys' libraries.
absl::StatusOr<std::string> LinkIn(const std::string& folder,
                                   const ArtifactSet& set,
                                   ArtifactSet container,
                                   const LinkOptions& options) {
  const std::vector<std::string> keys = NativeKeys(set);
  const std::string own = OwnKey(set.provenance(), keys);
  for (const std::string& key : keys) {
    if (key == own) continue;
    if (absl::Status s = AddLinkedKey(set, key, options, folder, &container);
        !s.ok()) {
      return Annotate(s, absl::StrCat("target key ", key));
    }
  }
  KeyObjects objects;
  if (keys.empty()) {
    INGOT_ASSIGN_OR_RETURN(objects.family, FamilyWithoutCode(set.provenance()));
  } else {
    INGOT_ASSIGN_OR_RETURN(KeyObjects made,
                           MakeObjects(set, own, options.cc, folder));
    objects = std::move(made);
    Describe(own, objects, &container.mutable_provenance());
  }
  container.mutable_provenance().set_library_key(own);
  // Names that no key has.
  const std::string output = folder + "/.so";
  const std::string container_object = folder + "/.container.o";
  INGOT_RETURN_IF_ERROR(WriteContainerFile(
      container, objects.family->elf_machine, container_object));
  INGOT_RETURN_IF_ERROR(LinkObjects(set, own, objects, {container_object},
                                    options.lld, folder, output));
  return output;
}

absl::Status LinkAtomically(const ArtifactSet& set, ArtifactSet container,
                            const LinkOptions& options,
                            absl::string_view output_name) {
  std::error_code error;
  // Absolute, so that no program takes it for an option.
  fs::path output = fs::absolute(std::string(output_name), error);
  if (error || fs::is_directory(output, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat(output_name, " is a folder, not a file to write"));
  }
  // A link stays: the file that it names is replaced.
  const fs::path named = fs::canonical(output, error);
  if (!error) output = named;
  LinkOptions absolute = options;
  for (std::string* program : {&absolute.cc, &absolute.lld}) {
    if (absl::StrContains(*program, '/')) {
      *program = fs::absolute(*program, error).string();
    }
  }
  // On the output's disk: it can be as large as the weights.
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<StagingFolder> staging,
                         StagingFolder::Make(output.parent_path().string()));
  INGOT_ASSIGN_OR_RETURN(
      const std::string linked,
      LinkIn(staging->path(), set, std::move(container), absolute));
  return MoveInto(linked, output.string());
}

// Everything that the linked bytes depend on.
std::string LinkKey(const ArtifactSet& set, const LinkOptions& options) {
  std::string text =
      absl::StrCat("ingot link 4\n", options.cc, "\n", options.lld, "\n");
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader != kNativeLoader) continue;
    absl::StrAppend(&text, ArtifactPath(artifact), "\n",
                    Sha256Hex(artifact.content.view()), "\n");
    // Sources may ask for what the processor has, and a cache may be shared.
    if (absl::EndsWith(artifact.file_name, ".c")) {
      absl::StrAppend(&text, absl::StrJoin(HostCpuFeatures(), " "), "\n");
    }
  }
  for (const auto& key : set.provenance().target_keys()) {
    absl::StrAppend(&text, Sha256Hex(key.SerializeAsString()), "\n");
  }
  return Sha256Hex(text);
}

}  // namespace

absl::Status LinkLibrary(const ArtifactSet& set, absl::string_view output,
                         const LinkOptions& options) {
  INGOT_RETURN_IF_ERROR(set.CheckExportable());
  if (!set.provenance().library_key().empty()) {
    return absl::FailedPreconditionError(
        "the set is what a linked library carries beside its native code, "
        "which is no artifact any more; use the set that it was linked from");
  }
  ArtifactSet rest;
  rest.mutable_provenance() = set.provenance();
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader == kNativeLoader) continue;
    INGOT_RETURN_IF_ERROR(rest.Add(artifact));
  }
  return LinkAtomically(set, std::move(rest), options, output);
}

absl::StatusOr<std::string> LinkCached(
    const ArtifactSet& set,
    const std::function<void(absl::string_view)>& report,
    const LinkOptions& options) {
  std::string folder = CacheFolder("linked");
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (folder.empty() || error || access(folder.c_str(), W_OK) != 0) {
    // Kept until the process ends, because a loaded library may be there.
    static std::string* own = [] {
      absl::StatusOr<std::unique_ptr<ScratchFolder>> made =
          ScratchFolder::Make();
      if (!made.ok()) return new std::string;
      static std::unique_ptr<ScratchFolder> keep = *std::move(made);
      return new std::string(keep->path());
    }();
    if (own->empty()) {
      return absl::FailedPreconditionError(
          "there is no folder to link into: set XDG_CACHE_HOME or TMPDIR to "
          "one that can be written");
    }
    folder = *own;
  }
  const std::string path =
      absl::StrCat(folder, "/", LinkKey(set, options), ".so");
  if (fs::exists(path, error)) return path;
  if (report != nullptr) {
    report(absl::StrCat("the set is not linked: linking it into ", path));
  }
  ArtifactSet provenance;
  provenance.mutable_provenance() = set.provenance();
  INGOT_RETURN_IF_ERROR(
      LinkAtomically(set, std::move(provenance), options, path));
  return path;
}

}  // namespace ingot

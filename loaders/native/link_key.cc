#include "loaders/native/link_key.h"

#include <elf.h>

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/compile_request.h"
#include "artifact/target_keys.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "isa/features.h"
#include "isa/needed_features.h"
#include "loaders/native/files.h"
#include "loaders/native/find_library.h"
#include "loaders/native/lld.h"
#include "loaders/native/toolchain.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kWasmMagic("\0asm", 4);

// The symbols that a linked library shows to the outside; everything else is
// local. Those with the set's prefix are the C functions of the whole model;
// its kernels are hidden.
std::string VersionScript(const Provenance& provenance) {
  const std::string& prefix = provenance.symbol_prefix();
  return absl::StrCat("{ global: __tvm_ffi_*; __ingot_*; ",
                      prefix.empty() ? "" : absl::StrCat(prefix, "_*; "),
                      "local: *; };\n");
}

// The family of an object file. FailedPrecondition if it is none that can be
// linked.
absl::StatusOr<const isa::MachineFamily*> FamilyOf(absl::string_view object) {
  Elf64_Ehdr header;
  if (absl::StartsWith(object, kWasmMagic)) {
    return absl::FailedPreconditionError(
        "is WebAssembly, which is not linked into libraries; `ingot export "
        "--format=wasm` makes a module of it");
  }
  if (object.size() < sizeof(header) || !absl::StartsWith(object, ELFMAG)) {
    return absl::FailedPreconditionError("is not an ELF object file");
  }
  memcpy(&header, object.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL) {
    return absl::FailedPreconditionError(
        "is not a 64-bit little-endian object file");
  }
  const isa::MachineFamily* family = isa::FindByElf(header.e_machine);
  if (family == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("is for ", isa::NameOfElfMachine(header.e_machine),
                     ", which Ingot does not link for"));
  }
  return family;
}

// The C compiler of a source that names none.
std::string UsualCompiler(const isa::MachineFamily* family) {
  if (family == nullptr || family == isa::HostFamily()) return "cc";
  return absl::StrCat(family->gnu, "-gcc");
}

// Adds the features that the instructions of a compiled source need. A compiler
// that was told nothing of the processor makes code for all of its family.
absl::Status AddFeatures(absl::string_view object,
                         const std::vector<std::string>& flags,
                         KeyObjects* objects) {
  bool for_processor = false;
  for (const std::string& flag : flags) {
    for_processor |= absl::StartsWith(flag, "-m");
  }
  if (!for_processor) return absl::OkStatus();
  std::vector<std::string> possible;
  for (const isa::Feature& f : isa::FeaturesOf(objects->family->name)) {
    possible.push_back(f.name);
  }
  INGOT_ASSIGN_OR_RETURN(
      std::vector<std::string> needed,
      isa::NeededFeatures(object, objects->family->gnu, possible));
  objects->cpu_features.insert(needed.begin(), needed.end());
  return absl::OkStatus();
}

}  // namespace

bool IsNativeCode(const Artifact& artifact) {
  return artifact.loader == kNativeLoader &&
         (absl::EndsWith(artifact.file_name, ".c") ||
          absl::EndsWith(artifact.file_name, ".o"));
}

std::vector<std::string> NativeKeys(const ArtifactSet& set) {
  std::set<std::string> keys;
  for (const Artifact& artifact : set.artifacts()) {
    if (IsNativeCode(artifact)) keys.insert(artifact.target_key);
  }
  return {keys.begin(), keys.end()};
}

absl::StatusOr<KeyObjects> MakeObjects(const ArtifactSet& set,
                                       absl::string_view key,
                                       const std::string& cc,
                                       const std::string& folder) {
  const Provenance::TargetKey& known = FindTargetKey(set.provenance(), key);
  KeyObjects objects;
  objects.family = nullptr;
  objects.cpu_features = {known.cpu_features().begin(),
                          known.cpu_features().end()};
  const isa::MachineFamily* const wanted = isa::FindByTriple(known.triple());
  std::string first;  // the artifact that decided on the family
  // Files that sources include must be there before the first is compiled.
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader != kNativeLoader || artifact.target_key != key) {
      continue;
    }
    const fs::path path = fs::path(folder) / ArtifactPath(artifact);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return FileError("creating", path.string(), error.value());
    INGOT_RETURN_IF_ERROR(
        WriteScratchFile(path.string(), artifact.content.view()));
  }
  for (const Artifact& artifact : set.artifacts()) {
    if (!IsNativeCode(artifact) || artifact.target_key != key) continue;
    const std::string name = ArtifactPath(artifact);
    std::string path = absl::StrCat(folder, "/", name);
    Blob object = artifact.content;
    std::string compiler;
    std::vector<std::string> flags;
    if (absl::EndsWith(name, ".c")) {
      absl::StatusOr<CompileRequest> request =
          ParseCompileRequest(artifact.content.view());
      if (!request.ok()) return Annotate(request.status(), name);
      compiler = !cc.empty()            ? cc
                 : !request->cc.empty() ? request->cc
                                        : UsualCompiler(wanted);
      flags = std::move(request->flags);
      INGOT_RETURN_IF_ERROR(
          CompileC(compiler, flags, folder, name, name + ".o"));
      path += ".o";
      INGOT_ASSIGN_OR_RETURN(Blob compiled, Blob::MapFile(path));
      object = std::move(compiled);
    }
    absl::StatusOr<const isa::MachineFamily*> family = FamilyOf(object.view());
    if (!family.ok()) return Annotate(family.status(), name);
    const isa::MachineFamily* const expected = objects.family != nullptr
                                                   ? objects.family
                                               : wanted != nullptr ? wanted
                                                                   : *family;
    if (*family != expected) {
      return absl::FailedPreconditionError(absl::StrCat(
          name,
          compiler.empty() ? "" : absl::StrCat(", compiled by ", compiler),
          ", is for ", (*family)->name, ", but ",
          first.empty() ? absl::StrCat("the target key ", key) : first,
          " is for ", expected->name));
    }
    objects.family = *family;
    if (first.empty()) first = name;
    if (!compiler.empty()) {
      if (absl::Status s = AddFeatures(object.view(), flags, &objects);
          !s.ok()) {
        return Annotate(s, name);
      }
    }
    objects.paths.push_back(std::move(path));
  }
  return objects;
}

absl::Status LinkObjects(const ArtifactSet& set, absl::string_view key,
                         const KeyObjects& objects,
                         const std::vector<std::string>& more,
                         const std::string& lld, const std::string& folder,
                         const std::string& output) {
  const std::string script = folder + "/exports.map";
  INGOT_RETURN_IF_ERROR(
      WriteScratchFile(script, VersionScript(set.provenance())));
  std::vector<std::string> inputs = objects.paths;
  inputs.insert(inputs.end(), more.begin(), more.end());
  const Provenance::TargetKey& known = FindTargetKey(set.provenance(), key);
  std::vector<std::string> libraries(known.link_libraries().begin(),
                                     known.link_libraries().end());
  libraries.push_back("m");
  libraries.push_back("c");
  for (const std::string& library : libraries) {
    INGOT_ASSIGN_OR_RETURN(std::string file,
                           FindLibrary(library, *objects.family));
    inputs.push_back(std::move(file));
  }
  return LinkSharedLibrary(lld, inputs, script, folder, output);
}

}  // namespace ingot

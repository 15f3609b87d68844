#include "tools/ingot/replace.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "artifact/edits.h"
#include "artifact/loader_names.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "loaders/native/weak_symbol.h"
#include "tools/ingot/output.h"
#include "tools/ingot/start_compiler.h"

namespace ingot {
namespace {

constexpr char kCodegenId[] = "replaced";

std::string EndingOf(absl::string_view file) {
  return std::filesystem::path(std::string(file)).extension().string();
}

// The beginning of a kernel's definition in C that only its own file sees.
std::string StaticHead(absl::string_view symbol) {
  return absl::StrCat("static int ", symbol, "(");
}

// Whether `artifact` has code with this kernel, as a function that other code
// can take the place of.
bool HasKernel(const Artifact& artifact, absl::string_view symbol) {
  if (artifact.loader != kNativeLoader) return false;
  const absl::string_view bytes = artifact.content.view();
  if (EndingOf(artifact.file_name) == ".c") {
    return absl::StrContains(bytes, StaticHead(symbol));
  }
  return EndingOf(artifact.file_name) == ".o" &&
         CheckDefines(bytes, symbol).ok();
}

// The artifact's code, in which the kernel gives way to another one.
absl::StatusOr<Blob> WithWeakKernel(const Artifact& artifact,
                                    absl::string_view symbol) {
  const absl::string_view bytes = artifact.content.view();
  if (EndingOf(artifact.file_name) == ".o") {
    INGOT_ASSIGN_OR_RETURN(std::string weak, WithWeakSymbol(bytes, symbol));
    return Blob::FromString(std::move(weak));
  }
  const std::string head = StaticHead(symbol);
  const std::string weak =
      absl::StrCat("INGOT_WEAK int ", head.substr(sizeof("static int ") - 1));
  // A weak function is never inlined.
  return Blob::FromString(absl::StrReplaceAll(
      bytes, {{absl::StrCat("INGOT_NOINLINE ", head), weak}, {head, weak}}));
}

// One set whose artifacts are replaced one by one.
class Replacing {
 public:
  Replacing(ArtifactSet set, const AssembleFn& assemble)
      : set_(std::move(set)), assemble_(assemble) {}

  absl::Status Put(absl::string_view name, absl::string_view path) {
    INGOT_ASSIGN_OR_RETURN(Blob bytes, Blob::MapFile(path));
    INGOT_ASSIGN_OR_RETURN(const Artifact* artifact, FindArtifact(name));
    if (artifact == nullptr) return PutKernel(name, path, std::move(bytes));
    if (EndingOf(artifact->file_name) == ".o" && EndingOf(path) == ".ll") {
      INGOT_ASSIGN_OR_RETURN(bytes, Assembled(path, *artifact, bytes));
    } else if (EndingOf(artifact->file_name) != EndingOf(path)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " cannot be ", ArtifactPath(*artifact),
                       ", whose name ends otherwise"));
    }
    Artifact other = *artifact;
    other.content = std::move(bytes);
    return Set(std::move(other));
  }

  ArtifactSet Take() {
    MarkEdited(edited_, &set_.mutable_provenance());
    return std::move(set_);
  }

 private:
  // Null when no artifact has the name.
  absl::StatusOr<const Artifact*> FindArtifact(absl::string_view name) const {
    std::vector<const Artifact*> found;
    for (const Artifact& artifact : set_.artifacts()) {
      if (ArtifactPath(artifact) == name) return &artifact;
      if (artifact.file_name == name) found.push_back(&artifact);
    }
    return OnlyOne(name, found);
  }

  static absl::StatusOr<const Artifact*> OnlyOne(
      absl::string_view name, const std::vector<const Artifact*>& found) {
    if (found.size() <= 1) return found.empty() ? nullptr : found[0];
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name, "' is in several artifacts: ",
        absl::StrJoin(found, ", ", [](std::string* out, const Artifact* each) {
          absl::StrAppend(out, ArtifactPath(*each));
        })));
  }

  absl::Status PutKernel(absl::string_view symbol, absl::string_view path,
                         Blob bytes) {
    std::vector<const Artifact*> found;
    for (const Artifact& artifact : set_.artifacts()) {
      // A kernel that was replaced before is not the set's own any more.
      if (artifact.codegen_id != kCodegenId && HasKernel(artifact, symbol)) {
        found.push_back(&artifact);
      }
    }
    INGOT_ASSIGN_OR_RETURN(const Artifact* owner, OnlyOne(symbol, found));
    if (owner == nullptr) {
      return absl::NotFoundError(absl::StrCat(
          "the set has neither an artifact nor, in C or an object, a kernel '",
          symbol,
          "'; ingot list shows the artifacts, and ingot inspect, of a set's C "
          "or object, its kernels"));
    }
    Artifact kernel;
    kernel.target_key = owner->target_key;
    kernel.codegen_id = kCodegenId;
    kernel.loader = kNativeLoader;
    INGOT_ASSIGN_OR_RETURN(const bool is_source,
                           IsSourceOf(symbol, path, *owner, &bytes));
    kernel.file_name = absl::StrCat(symbol, is_source ? ".c" : ".o");
    kernel.content = std::move(bytes);
    Artifact weak = *owner;
    INGOT_ASSIGN_OR_RETURN(weak.content, WithWeakKernel(*owner, symbol));
    INGOT_RETURN_IF_ERROR(Set(std::move(weak)));
    return Set(std::move(kernel));
  }

  // Checks a kernel's file. LLVM IR becomes an object.
  absl::StatusOr<bool> IsSourceOf(absl::string_view symbol,
                                  absl::string_view path, const Artifact& owner,
                                  Blob* bytes) const {
    const std::string ending = EndingOf(path);
    if (ending == ".c") {
      if (!absl::StrContains(bytes->view(), absl::StrCat(symbol, "("))) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": does not define ", symbol));
      }
      return true;
    }
    if (ending == ".ll") {
      INGOT_ASSIGN_OR_RETURN(*bytes, Assembled(path, owner, *bytes));
    } else if (ending != ".o") {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": a kernel is a file .c, .ll or .o"));
    }
    const absl::Status defines = CheckDefines(bytes->view(), symbol);
    if (!defines.ok()) return Annotate(defines, path);
    return false;
  }

  absl::StatusOr<Blob> Assembled(absl::string_view path, const Artifact& owner,
                                 const Blob& text) const {
    if (assemble_ == nullptr) {
      return NeedsCompiler(absl::StrCat(path, ": is LLVM IR to compile"));
    }
    std::string triple;
    for (const Provenance::TargetKey& key : set_.provenance().target_keys()) {
      if (key.name() == owner.target_key) triple = key.triple();
    }
    absl::StatusOr<std::string> object = assemble_(text.view(), triple);
    if (!object.ok()) return Annotate(object.status(), path);
    return Blob::FromString(*std::move(object));
  }

  // Puts `artifact` in the place of the one of its names, or beside the others.
  absl::Status Set(Artifact artifact) {
    const std::string path = ArtifactPath(artifact);
    ArtifactSet others;
    for (const Artifact& each : set_.artifacts()) {
      if (ArtifactPath(each) == path) continue;
      INGOT_RETURN_IF_ERROR(others.Add(each));
    }
    INGOT_RETURN_IF_ERROR(others.Add(std::move(artifact)));
    others.mutable_provenance() = set_.provenance();
    set_ = std::move(others);
    edited_.push_back(path);
    return absl::OkStatus();
  }

  ArtifactSet set_;
  const AssembleFn& assemble_;
  std::vector<std::string> edited_;
};

}  // namespace

AssembleFn AssembleWith(Compiler* compiler) {
  if (compiler == nullptr) return nullptr;
  return [compiler](absl::string_view text, const std::string& triple) {
    return compiler->AssembleLlvm(text, triple);
  };
}

void AddReplace(FlagSet* flags, std::vector<std::string>* replacements) {
  flags->Strings("replace", "NAME=FILE",
                 "an artifact, by its path or file name, or a kernel, by its "
                 "symbol, with your own: bytes, or for a kernel C, LLVM IR "
                 "(.ll) or an object",
                 replacements);
}

absl::StatusOr<ArtifactSet> Replace(ArtifactSet set,
                                    absl::Span<const std::string> replacements,
                                    const AssembleFn& assemble) {
  if (replacements.empty()) return set;
  Replacing replacing(std::move(set), assemble);
  for (const std::string& text : replacements) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 ||
        equals + 1 == text.size()) {
      return UsageError(
          absl::StrCat("--replace: expected NAME=FILE, got '", text, "'"));
    }
    const absl::Status put =
        replacing.Put(absl::string_view(text).substr(0, equals),
                      absl::string_view(text).substr(equals + 1));
    if (!put.ok()) return Annotate(put, "--replace");
  }
  return replacing.Take();
}

}  // namespace ingot

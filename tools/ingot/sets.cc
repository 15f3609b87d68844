#include "tools/ingot/sets.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "artifact/artifact.h"
#include "artifact/blob.h"
#include "base/annotate.h"
#include "base/cache_folder.h"
#include "base/status_macros.h"
#include "loaders/bare_file.h"
#include "loaders/build_cache.h"
#include "loaders/inspectors/constants_inspector.h"
#include "loaders/inspectors/plan_inspector.h"
#include "loaders/native/find_container.h"
#include "tools/ingot/files.h"
#include "tools/ingot/replace.h"
#include "tools/ingot/start_compiler.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A file that vanishes when the program ends, however it ends: it has no name
// as soon as it is open.
absl::StatusOr<Blob> WriteTemporary(const ArtifactSet& set) {
  const char* folder = getenv("TMPDIR");
  std::string path = absl::StrCat(
      folder != nullptr && *folder != '\0' ? folder : "/tmp", "/ingot-XXXXXX");
  const int fd = mkostemp(&path[0], O_CLOEXEC);
  if (fd < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": ", strerror(errno)));
  }
  unlink(path.c_str());
  const absl::Status written =
      WriteContainerTo(set, [&](absl::string_view bytes) -> absl::Status {
        while (!bytes.empty()) {
          const ssize_t n = write(fd, bytes.data(), bytes.size());
          if (n < 0 && errno == EINTR) continue;
          if (n < 0) {
            return absl::ResourceExhaustedError(
                absl::StrCat(path, ": ", strerror(errno)));
          }
          bytes.remove_prefix(static_cast<size_t>(n));
        }
        return absl::OkStatus();
      });
  absl::StatusOr<Blob> mapped =
      written.ok() ? Blob::MapFd(fd, path) : absl::StatusOr<Blob>(written);
  close(fd);
  return mapped;
}

// Compiles the model at `path`. In a function of its own, so that only the
// mapped file outlives it.
absl::StatusOr<Blob> CompileToContainer(absl::string_view path,
                                        const OpenFlags& flags,
                                        const Builtins& builtins,
                                        Progress* progress,
                                        OpenedModel* opened) {
  if (builtins.compiler == nullptr) {
    return NeedsCompiler(absl::StrCat(path, ": is a model to compile"));
  }
  const Clock::time_point start = Clock::now();
  INGOT_ASSIGN_OR_RETURN(
      CompiledModel compiled,
      builtins.compiler->Compile(path, flags.compile, progress));
  INGOT_ASSIGN_OR_RETURN(compiled.set,
                         Replace(std::move(compiled.set), flags.replacements,
                                 AssembleWith(builtins.compiler)));
  INGOT_ASSIGN_OR_RETURN(Blob container, WriteTemporary(compiled.set));
  opened->check_calls = std::move(compiled.check_calls);
  opened->compile_seconds = SecondsSince(start);
  Print(absl::StrFormat("compiled %s for %s in %s\n", OneLine(path),
                        OneLine(flags.compile.target),
                        HumanTime(opened->compile_seconds)));
  return container;
}

// A linked library has nothing to put a person's own code in the place of.
absl::Status CheckReplaceable(absl::string_view path, const OpenFlags& flags) {
  if (flags.replacements.empty()) return absl::OkStatus();
  const absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  if (!bytes.ok() || !IsElf(bytes->view())) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": is linked; --replace is for sets and models"));
}

// NeedsCompiler if the set at `path`, which could not be loaded, is one that a
// program with a compiler and more loaders may load.
absl::Status WhyCompiler(absl::string_view path, const OpenFlags& flags,
                         const Builtins& builtins) {
  ReadOptions read;
  read.accept_edits = flags.accept_edits;
  read.on_edited_note = [](absl::string_view, absl::string_view) {};
  absl::StatusOr<ArtifactSet> set =
      OpenSet(path, SetUse::kShow, builtins, std::move(read));
  if (!set.ok()) return absl::OkStatus();
  const bool is_linked = !set->provenance().library_key().empty();
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.loader == kNativeLoader) {
      if (is_linked) continue;
      return NeedsCompiler(absl::StrCat(path, ": is not linked"));
    }
    if (builtins.loaders.Find(artifact.loader).ok()) continue;
    return NeedsCompiler(absl::StrCat(path, ": ", ArtifactPath(artifact),
                                      " needs the loader '", artifact.loader,
                                      "', which this program has not"));
  }
  return absl::OkStatus();
}

// The bytes of what is to be run, which must be signed.
absl::StatusOr<Blob> ReadSigned(absl::string_view path, const OpenFlags& flags,
                                const Builtins& builtins) {
  if (!flags.replacements.empty()) {
    return UsageError("--replace changes what --require-signature is to keep");
  }
  if (IsModel(path, builtins)) {
    if (builtins.compiler == nullptr) {
      return NeedsCompiler(absl::StrCat(path, ": is no set"));
    }
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is a model; only sets and libraries are signed"));
  }
  absl::StatusOr<Blob> bytes = flags.signature.Read(path);
  if (!bytes.ok()) return Where(bytes.status(), path);
  return bytes;
}

}  // namespace

absl::StatusOr<Builtins> MakeBuiltins(const Backends& backends) {
  Builtins builtins;
  builtins.compiler = backends.compiler;
  for (const absl::Status& s :
       {RegisterCoreLoaders(&builtins.loaders),
        backends.register_loaders(&builtins.loaders),
        backends.register_inspectors(&builtins.inspectors),
        RegisterPlanInspector(&builtins.inspectors),
        RegisterConstantsInspector(&builtins.inspectors)}) {
    if (!s.ok()) return s;
  }
  return builtins;
}

absl::Status CheckSetName(absl::string_view output) {
  if (!absl::EndsWith(output, ".so")) return absl::OkStatus();
  return UsageError(absl::StrCat(
      "-o ", output,
      ": this writes a set, OUT.ingot; `ingot link` makes a library of it"));
}

bool IsModel(absl::string_view path, const Builtins& builtins) {
  if (IsFolder(path)) return false;
  if (builtins.compiler != nullptr) return builtins.compiler->IsModel(path);
  const absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  return bytes.ok() && !IsElf(bytes->view()) && !IsContainer(bytes->view()) &&
         !IsBareFile(path, builtins.loaders);
}

void WarnOfEditedNote(absl::string_view note, absl::string_view artifact) {
  Warn(absl::StrCat(note, " was edited, but it only describes ", artifact,
                    " and is not read back; to change the set, edit ", artifact,
                    " itself"));
}

EditedNoteFn EditedNotes::Keep() {
  return [this](absl::string_view note, absl::string_view artifact) {
    notes_.emplace_back(note, artifact);
  };
}

void EditedNotes::Warn() const {
  for (const auto& [note, artifact] : notes_) WarnOfEditedNote(note, artifact);
}

absl::StatusOr<ArtifactSet> OpenSet(absl::string_view path, SetUse use,
                                    const Builtins& builtins,
                                    ReadOptions options,
                                    const SignatureFlags& signature) {
  INGOT_RETURN_IF_ERROR(signature.Check());
  if (options.on_edited_note == nullptr) {
    options.on_edited_note = WarnOfEditedNote;
  }
  if (IsModel(path, builtins)) {
    if (builtins.compiler == nullptr) {
      return NeedsCompiler(absl::StrCat(path, ": is no set"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": is a model and not a set; make one with ingot "
                     "compile"));
  }
  absl::StatusOr<Blob> bytes =
      signature.required() ? signature.Read(path) : Blob::MapFile(path);
  if (signature.required() && !bytes.ok()) return bytes.status();
  if (!bytes.ok() || !IsElf(bytes->view())) {
    return signature.required()
               ? ReadContainer(*bytes, options)
               : ReadSetOrBareFile(path, builtins.loaders, options,
                                   &builtins.inspectors);
  }
  if (use == SetUse::kWhole) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        ": is a linked library, whose native code is no artifact any "
        "more; use the set that it was linked from"));
  }
  absl::StatusOr<Blob> container = FindContainer(*bytes);
  if (!container.ok()) return Annotate(container.status(), path);
  absl::StatusOr<ArtifactSet> set = ReadContainer(*container, options);
  if (!set.ok()) return Annotate(set.status(), path);
  return set;
}

void AddAcceptEdits(FlagSet* flags, bool* accept_edits) {
  flags->Bool("accept-edits",
              "take a directory's files as they are, edited or not",
              accept_edits);
}

void OpenFlags::AddTo(FlagSet* flags) {
  compile.AddTo(flags);
  flags->Bool("check-digests", "also check the digests of weights",
              &check_digests);
  AddAcceptEdits(flags, &accept_edits);
  AddReplace(flags, &replacements);
  flags->Bool("no-native",
              "refuse what holds code: libraries, objects, C and bitcode",
              &no_native);
  flags->String("variant", "NAME",
                "of several in one set, the one to load; the best that can run "
                "here otherwise",
                &variant);
  signature.AddTo(flags);
}

absl::StatusOr<OpenedModel> OpenModel(absl::string_view path,
                                      const OpenFlags& flags,
                                      const Builtins& builtins,
                                      Progress* progress) {
  OpenedModel opened;
  const auto say = [progress](absl::string_view line) {
    progress->Clear();
    Print(absl::StrCat(OneLine(line), "\n"));
  };
  LoadOptions options;
  options.check_digests = flags.check_digests;
  options.accept_edits = flags.accept_edits;
  options.only_data = flags.no_native;
  options.variant = flags.variant;
  options.read_set =
      [&](absl::string_view from, const LoaderRegistry& loaders,
          const ReadOptions& read) -> absl::StatusOr<ArtifactSet> {
    INGOT_ASSIGN_OR_RETURN(
        ArtifactSet set,
        ReadSetOrBareFile(from, loaders, read, &builtins.inspectors));
    return Replace(std::move(set), flags.replacements,
                   AssembleWith(builtins.compiler));
  };
  EditedNotes edited;
  options.on_edited_note = edited.Keep();
  options.threads = static_cast<int>(flags.threads);
  options.on_work = say;
  const std::unique_ptr<BuildCache> builds =
      FolderBuildCache(CacheFolder("built"));
  options.builds = builds.get();
  if (builtins.compiler != nullptr) {
    options.link = [&](const ArtifactSet& set) {
      progress->Update("linking", 0);
      const Clock::time_point start = Clock::now();
      absl::StatusOr<std::string> library = builtins.compiler->Link(set, say);
      opened.link_seconds = SecondsSince(start);
      progress->Clear();
      return library;
    };
  }

  INGOT_RETURN_IF_ERROR(flags.signature.Check());
  INGOT_RETURN_IF_ERROR(CheckReplaceable(path, flags));
  absl::StatusOr<LoadedModel> model;
  Clock::time_point start = Clock::now();
  if (flags.signature.required()) {
    INGOT_ASSIGN_OR_RETURN(const Blob bytes, ReadSigned(path, flags, builtins));
    model = LoadMemory(bytes, builtins.loaders, options);
  } else if (IsModel(path, builtins)) {
    INGOT_ASSIGN_OR_RETURN(
        Blob container,
        CompileToContainer(path, flags, builtins, progress, &opened));
    start = Clock::now();
    model = LoadMemory(container, builtins.loaders, options);
  } else {
    model = LoadPath(path, builtins.loaders, options);
  }
  if (!model.ok() && builtins.compiler == nullptr &&
      !absl::IsPermissionDenied(model.status())) {
    INGOT_RETURN_IF_ERROR(WhyCompiler(path, flags, builtins));
  }
  edited.Warn();
  if (!model.ok()) return Where(model.status(), path);
  opened.load_seconds = SecondsSince(start) - opened.link_seconds;
  opened.model = *std::move(model);
  if (!opened.model.variant.empty() && flags.variant.empty()) {
    Print(absl::StrCat("loaded the variant ", opened.model.variant, "\n"));
  }
  return opened;
}

}  // namespace ingot

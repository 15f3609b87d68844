#include "tools/ingot/sets.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "artifact/blob.h"
#include "loaders/bare_file.h"
#include "loaders/constants/constants_inspector.h"
#include "loaders/metadata/plan_inspector.h"
#include "loaders/native/find_container.h"
#include "loaders/native/linker.h"
#include "tools/ingot/files.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/placement_report.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A file that vanishes when the program ends, however it ends: it is removed
// as soon as it is mapped.
absl::StatusOr<Blob> WriteTemporary(const ArtifactSet& set) {
  const char* folder = getenv("TMPDIR");
  std::string path = absl::StrCat(
      folder != nullptr && *folder != '\0' ? folder : "/tmp", "/ingot-XXXXXX");
  const int fd = mkostemp(&path[0], O_CLOEXEC);
  if (fd < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": ", strerror(errno)));
  }
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
  unlink(path.c_str());
  return mapped;
}

}  // namespace

absl::StatusOr<Builtins> MakeBuiltins(const Backends& backends) {
  Builtins builtins;
  for (const absl::Status& s :
       {backends.register_frontends(&builtins.frontends),
        RegisterCoreLoaders(&builtins.loaders),
        backends.register_targets(&builtins.targets),
        backends.register_loaders(&builtins.loaders),
        backends.register_inspectors(&builtins.inspectors),
        RegisterPlanInspector(&builtins.inspectors),
        RegisterConstantsInspector(&builtins.inspectors)}) {
    if (!s.ok()) return s;
  }
  return builtins;
}

void CompileFlags::AddTo(FlagSet* flags) {
  flags->String("target", "TARGET",
                "what to compile for, such as 'llvm -mcpu=native' or "
                "'dnnl,llvm'; see ingot targets",
                &target);
  flags->Strings("input-shape", "NAME:1x3x224x224",
                 "fixes the shape of an input", &input_shapes);
  flags->Strings("pin", "NODE:TARGET",
                 "gives a node of the model to a target, by key or kind",
                 &pins);
  flags->String("strict", "TARGET", "fail if this target does not take it all",
                &strict);
  flags->Int("opt-level", "N",
             "0: only what is needed, 1: fold and fuse, 2: also lay out", 0, 2,
             &opt_level);
}

absl::StatusOr<std::vector<Target>> ParseTargetFlag(absl::string_view text,
                                                    const Builtins& builtins) {
  absl::StatusOr<std::vector<Target>> targets = ParseTargets(text);
  if (!targets.ok()) {
    return UsageError(absl::StrCat("--target: ", targets.status().message()));
  }
  if (absl::Status s = builtins.targets.CheckList(*targets); !s.ok()) {
    return UsageError(absl::StrCat("--target: ", s.message()));
  }
  return targets;
}

absl::StatusOr<CompileOptions> MakeCompileOptions(const CompileFlags& flags,
                                                  const Builtins& builtins) {
  CompileOptions options;
  absl::StatusOr<std::vector<Target>> targets =
      ParseTargetFlag(flags.target, builtins);
  if (!targets.ok()) return targets.status();
  absl::StatusOr<InputShapes> shapes = ParseInputShapes(flags.input_shapes);
  if (!shapes.ok()) return shapes.status();
  for (const std::string& pin : flags.pins) {
    // Names of nodes may hold colons, those of targets do not.
    const size_t colon = pin.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == pin.size()) {
      return UsageError(
          absl::StrCat("--pin: expected NODE:TARGET, got '", pin, "'"));
    }
    options.pins[pin.substr(0, colon)] = pin.substr(colon + 1);
  }
  options.targets = *std::move(targets);
  options.target_text = flags.target;
  options.strict = flags.strict;
  options.extra_outputs = flags.extra_outputs;
  options.input_shapes = *std::move(shapes);
  options.opt_level = static_cast<int>(flags.opt_level);
  options.symbol_prefix = flags.symbol_prefix;
  options.known_loaders = builtins.loaders.Names();
  options.known_loaders.push_back(kNativeLoader);
  options.dump_ir_dir = flags.dump_ir;
  return options;
}

absl::StatusOr<ArtifactSet> Compile(absl::string_view path,
                                    const CompileFlags& flags,
                                    const Builtins& builtins,
                                    Progress* progress, CompiledFrom* from) {
  absl::StatusOr<CompileOptions> options = MakeCompileOptions(flags, builtins);
  if (!options.ok()) return options.status();
  options->on_progress = [progress](absl::string_view what, double fraction) {
    progress->Update(what, fraction);
  };
  Table times({"STAGE", ">TIME"});
  if (flags.time_passes) {
    options->on_time = [&times](absl::string_view stage, double seconds) {
      times.Add({std::string(stage), HumanTime(seconds)});
    };
  }
  if (flags.show_placement) {
    options->on_placement = [progress](const Placement& placement) {
      progress->Clear();
      Print(PlacementSummary(placement));
    };
  }
  if (from != nullptr) {
    options->on_function = [from](absl::string_view symbol,
                                  absl::string_view function) {
      from->functions.emplace(symbol, function);
    };
  }
  absl::StatusOr<ReadModel> model =
      ReadModelToCompile(path, builtins.frontends, *options);
  if (!model.ok()) return model.status();
  absl::StatusOr<ArtifactSet> set = CompileModule(
      &model->module, model->name, model->sha256, builtins.targets, *options);
  progress->Clear();
  if (from != nullptr) from->module = std::move(model->module);
  if (flags.time_passes) Print(times.ToString());
  return set;
}

bool IsModel(absl::string_view path, const FrontendRegistry& frontends) {
  if (IsFolder(path)) return false;
  if (frontends.HasSuffix(path)) return true;
  const absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  return bytes.ok() && frontends.Find(bytes->view()).ok();
}

void WarnOfEditedNote(absl::string_view note, absl::string_view artifact) {
  Warn(absl::StrCat(note, " was edited, but it only describes ", artifact,
                    " and is not read back; to change the set, edit ", artifact,
                    " itself"));
}

absl::StatusOr<ArtifactSet> OpenSet(absl::string_view path, SetUse use,
                                    const Builtins& builtins,
                                    ReadOptions options) {
  options.on_edited_note = WarnOfEditedNote;
  if (IsModel(path, builtins.frontends)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": is a model and not a set; make one with ingot "
                     "compile"));
  }
  absl::StatusOr<Blob> bytes = Blob::MapFile(path);
  if (!bytes.ok() || !IsElf(bytes->view())) {
    return ReadSetOrBareFile(path, builtins.loaders, options);
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

std::string UsersCompiler() {
  const char* cc = std::getenv("INGOT_CC");
  return cc == nullptr ? "" : cc;
}

void OpenFlags::AddTo(FlagSet* flags) {
  compile.AddTo(flags);
  flags->Bool("check-digests", "also check the digests of weights",
              &check_digests);
  flags->Bool("accept-edits",
              "take a directory's files as they are, edited or not",
              &accept_edits);
}

absl::StatusOr<OpenedModel> OpenModel(absl::string_view path,
                                      const OpenFlags& flags,
                                      const Builtins& builtins,
                                      Progress* progress, CompiledFrom* from) {
  OpenedModel opened;
  LoadOptions options;
  options.check_digests = flags.check_digests;
  options.accept_edits = flags.accept_edits;
  options.read_set = ReadSetOrBareFile;
  options.on_edited_note = WarnOfEditedNote;
  options.threads = static_cast<int>(flags.threads);
  options.on_work = [progress](absl::string_view line) {
    progress->Clear();
    Print(absl::StrCat(OneLine(line), "\n"));
  };
  options.link = [&](const ArtifactSet& set) -> absl::StatusOr<std::string> {
    progress->Update("linking", 0);
    const Clock::time_point start = Clock::now();
    absl::StatusOr<std::string> library = LinkCached(
        set,
        [&](absl::string_view line) {
          progress->Clear();
          Print(absl::StrCat(OneLine(line), "\n"));
        },
        LinkOptions{UsersCompiler()});
    opened.link_seconds = SecondsSince(start);
    progress->Clear();
    return library;
  };

  absl::StatusOr<LoadedModel> model;
  Clock::time_point start = Clock::now();
  if (IsModel(path, builtins.frontends)) {
    // In a block of its own, so that only the mapped file outlives it.
    absl::StatusOr<Blob> container = [&]() -> absl::StatusOr<Blob> {
      absl::StatusOr<ArtifactSet> set =
          Compile(path, flags.compile, builtins, progress, from);
      if (!set.ok()) return set.status();
      return WriteTemporary(*set);
    }();
    if (!container.ok()) return container.status();
    opened.compile_seconds = SecondsSince(start);
    Print(absl::StrFormat("compiled %s for %s in %s\n", OneLine(path),
                          OneLine(flags.compile.target),
                          HumanTime(opened.compile_seconds)));
    start = Clock::now();
    model = LoadMemory(*container, builtins.loaders, options);
  } else {
    model = LoadPath(path, builtins.loaders, options);
  }
  if (!model.ok()) return Where(model.status(), path);
  opened.load_seconds = SecondsSince(start) - opened.link_seconds;
  opened.model = *std::move(model);
  return opened;
}

}  // namespace ingot

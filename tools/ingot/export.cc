#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "compiler/frontends/read_model.h"
#include "compiler/relay/printer.h"
#include "tools/export_c/export_c.h"
#include "tools/export_mlf/export_mlf.h"
#include "tools/export_wasm/export_wasm.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/output.h"
#include "tools/ingot/sets.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct ExportFlags {
  std::string output, format = "c", weights = "inside", model;
  int64_t ram = kMost, rom = kMost;
  bool quiet = false;
};

// The files to write, and a line about them.
struct Exported {
  std::map<std::string, std::string> files;
  std::string summary;
};

// Makes the folder, and those that it lies in, and adds to `made` those that
// were not there.
absl::Status MakeFolders(const fs::path& folder, std::vector<fs::path>* made) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) {
    return absl::OkStatus();
  }
  INGOT_RETURN_IF_ERROR(MakeFolders(folder.parent_path(), made));
  if (fs::create_directory(folder, error)) made->push_back(folder);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("cannot make the folder: ", error.message()));
}

// Writes all of the files or none.
absl::Status WriteFolder(const std::map<std::string, std::string>& files,
                         const std::string& dir) {
  std::vector<fs::path> made;
  const auto write = [&]() -> absl::Status {
    FileBatch batch;
    for (const auto& [name, text] : files) {
      const fs::path path = fs::path(dir) / name;
      INGOT_RETURN_IF_ERROR(MakeFolders(path.parent_path(), &made));
      INGOT_RETURN_IF_ERROR(batch.Add(path.string(), text));
    }
    return batch.Commit();
  };
  absl::Status status = write();
  std::error_code ignored;
  for (auto folder = made.rbegin(); !status.ok() && folder != made.rend();
       ++folder) {
    fs::remove(*folder, ignored);
  }
  return status;
}

std::string MemoryTable(const MemoryUse& memory) {
  Table table({"PART", ">RAM", ">ROM"});
  const auto row = [&table](const std::string& name, uint64_t ram,
                            uint64_t rom) {
    table.Add({OneLine(name), absl::StrCat(ram), absl::StrCat(rom)});
  };
  for (const auto& part : memory.parts) row(part.name, part.ram, part.rom);
  row("all", memory.ram(), memory.rom());
  table.Add({""});
  for (const auto& part : memory.tensors) row(part.name, part.ram, part.rom);
  return table.ToString();
}

absl::Status CheckBudget(absl::string_view flag, uint64_t needed,
                         int64_t budget) {
  if (needed <= static_cast<uint64_t>(budget)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("the model needs ", needed,
                                                   " bytes, more than --", flag,
                                                   "=", budget, " allows"));
}

absl::StatusOr<Exported> AsC(const ArtifactSet& set, const ExportFlags& flags) {
  INGOT_ASSIGN_OR_RETURN(ExportedFolder folder, ExportC(set));
  absl::Status fits = CheckBudget("ram", folder.memory.ram(), flags.ram);
  fits.Update(CheckBudget("rom", folder.memory.rom(), flags.rom));
  if (!fits.ok()) {
    Print(MemoryTable(folder.memory));
    return fits;
  }
  return Exported{std::move(folder.files),
                  absl::StrCat(folder.memory.ram(), " bytes of RAM, ",
                               folder.memory.rom(), " bytes of ROM")};
}

absl::StatusOr<Exported> AsWasm(const ArtifactSet& set,
                                const ExportFlags& flags) {
  WasmOptions options;
  options.weights_beside = flags.weights == "beside";
  INGOT_ASSIGN_OR_RETURN(WasmFolder folder, ExportWasm(set, options));
  return Exported{std::move(folder.files),
                  absl::StrCat(folder.code_bytes, " bytes of code, ",
                               folder.weight_bytes, " bytes of weights")};
}

// The time to write into files: what $SOURCE_DATE_EPOCH says, as builds that
// shall give the same bytes again set it, or now.
absl::StatusOr<absl::Time> ExportTime() {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  if (epoch == nullptr) return absl::Now();
  int64_t seconds = 0;
  if (absl::SimpleAtoi(epoch, &seconds)) return absl::FromUnixSeconds(seconds);
  return UsageError(absl::StrCat("$SOURCE_DATE_EPOCH must be a number, not '",
                                 OneLine(epoch), "'"));
}

// The relay text of the model that the set was compiled from.
absl::StatusOr<std::string> RelayText(const ArtifactSet& set,
                                      const std::string& path,
                                      const CompilerBackends& backends) {
  if (path.empty()) return "";
  INGOT_ASSIGN_OR_RETURN(const CompilerBuiltins builtins,
                         MakeCompilerBuiltins(backends, {}));
  INGOT_ASSIGN_OR_RETURN(const ReadModel model,
                         ReadModelFile(path, builtins.frontends, {}));
  if (model.sha256 != set.provenance().model_sha256()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the set was not compiled from ", path));
  }
  return relay::Print(model.module);
}

absl::StatusOr<Exported> AsMlf(const ArtifactSet& set, const ExportFlags& flags,
                               const CompilerBackends& backends) {
  INGOT_ASSIGN_OR_RETURN(const std::string relay,
                         RelayText(set, flags.model, backends));
  INGOT_ASSIGN_OR_RETURN(const absl::Time time, ExportTime());
  Exported exported;
  INGOT_ASSIGN_OR_RETURN(exported.files, ExportMlf(set, relay, time));
  exported.summary = "in the Model Library Format";
  return exported;
}

absl::Status CheckFlags(const ExportFlags& flags) {
  if (flags.format != "c" && flags.format != "wasm" && flags.format != "mlf") {
    return UsageError(
        absl::StrCat("--format=", flags.format, ": must be c, wasm or mlf"));
  }
  if (flags.weights != "inside" && flags.weights != "beside") {
    return UsageError(absl::StrCat("--weights=", flags.weights,
                                   ": must be inside or beside"));
  }
  if (flags.format != "c" && (flags.ram != kMost || flags.rom != kMost)) {
    return UsageError("--ram and --rom are for --format=c");
  }
  if (flags.format != "wasm" && flags.weights != "inside") {
    return UsageError("--weights is for --format=wasm");
  }
  if (flags.format != "mlf" && !flags.model.empty()) {
    return UsageError("--model is for --format=mlf");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunExport(Args args, const CompilerBackends& backends) {
  FlagSet words(
      "export", {"SET"},
      "Writes a model as a folder that needs nothing of Ingot. "
      "--format=c, of a set that was compiled for --target=c: C99 for "
      "firmware, with no heap, no threads and no C++, and a README with what "
      "memory it takes. --format=wasm, of one for "
      "--target='llvm -mtriple=wasm32 -mattr=+simd128': a WebAssembly module "
      "without a runtime, and the JavaScript module that loads it. "
      "--format=mlf, of any: the folders of TVM's Model Library Format.");
  ExportFlags flags;
  words.String("o", "DIR", "the folder to write", &flags.output);
  words.Required();
  words.String("format", "FORMAT", "c, wasm or mlf", &flags.format);
  words.Int("ram", "BYTES",
            "c: fail if inputs, outputs and arena take more than that", 0,
            kMost, &flags.ram);
  words.Int("rom", "BYTES", "c: fail if the weights take more than that", 0,
            kMost, &flags.rom);
  words.String(
      "weights", "WHERE",
      "wasm: inside of the .wasm, or beside it, in a file of their own",
      &flags.weights);
  words.String("model", "MODEL",
               "mlf: also write the relay text of this model, which the set "
               "was compiled from",
               &flags.model);
  ReadOptions read;
  AddAcceptEdits(&words, &read.accept_edits);
  words.Bool("quiet", "say nothing when all goes well", &flags.quiet);
  absl::StatusOr<bool> go_on = words.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  INGOT_RETURN_IF_ERROR(CheckFlags(flags));
  absl::StatusOr<Builtins> builtins =
      MakeBuiltins({backends.register_loaders, backends.register_inspectors,
                    backends.compiler});
  if (!builtins.ok()) return builtins.status();
  read.check_all_digests = true;
  absl::StatusOr<ArtifactSet> set =
      OpenSet(words.word(0), SetUse::kWhole, *builtins, read);
  if (!set.ok()) return Where(set.status(), words.word(0));
  absl::StatusOr<Exported> exported = flags.format == "c" ? AsC(*set, flags)
                                      : flags.format == "wasm"
                                          ? AsWasm(*set, flags)
                                          : AsMlf(*set, flags, backends);
  if (!exported.ok()) return Where(exported.status(), words.word(0));
  if (absl::Status s = WriteFolder(exported->files, flags.output); !s.ok()) {
    return Where(s, flags.output);
  }
  if (!flags.quiet) {
    Print(absl::StrCat(OneLine(flags.output), ": ", exported->files.size(),
                       " files, ", exported->summary, "\n"));
  }
  return absl::OkStatus();
}

}  // namespace ingot

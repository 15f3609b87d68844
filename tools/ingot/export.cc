#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/replace_file.h"
#include "base/status_macros.h"
#include "tools/export_c/export_c.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/report.h"
#include "tools/ingot/sets.h"

namespace ingot {
namespace {

absl::Status WriteFolder(const ExportedFolder& folder, const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot make the folder: ", error.message()));
  }
  for (const auto& [name, text] : folder.files) {
    INGOT_ASSIGN_OR_RETURN(ReplaceFile file,
                           ReplaceFile::Open(absl::StrCat(dir, "/", name)));
    INGOT_RETURN_IF_ERROR(file.Append(text));
    INGOT_RETURN_IF_ERROR(file.Commit());
  }
  return absl::OkStatus();
}

std::string MemoryTable(const MemoryUse& memory) {
  Table table({"PART", ">RAM", ">ROM"});
  const auto row = [&table](const std::string& name, uint64_t ram,
                            uint64_t rom) {
    table.Add({OneLine(name), absl::StrCat(ram), absl::StrCat(rom)});
  };
  for (const auto& part : memory.parts) row(part.name, part.ram, part.rom);
  row("all", memory.ram(), memory.rom());
  row("", 0, 0);
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

}  // namespace

absl::Status RunExport(Args args, const CompilerBackends& backends) {
  FlagSet flags("export", {"SET"},
                "Writes a set that was compiled for --target=c as a folder of "
                "C99 for firmware: the kernels and the\nfunction that calls "
                "them, the weights as a constant array, a static arena, a "
                "Makefile and a\nCMakeLists.txt, and a README with what memory "
                "it takes. No heap, no threads, no C++.");
  std::string output, format = "c";
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t ram = kMost, rom = kMost;
  flags.String("o", "DIR", "the folder to write", &output);
  flags.Required();
  flags.String("format", "c", "c is the only one there is", &format);
  flags.Int("ram", "BYTES",
            "fail if inputs, outputs and arena take more than that", 0, kMost,
            &ram);
  flags.Int("rom", "BYTES", "fail if the weights take more than that", 0, kMost,
            &rom);
  bool quiet = false;
  flags.Bool("quiet", "say nothing when all goes well", &quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();
  if (format != "c") {
    return UsageError(absl::StrCat("--format=", format, ": must be c"));
  }
  INGOT_ASSIGN_OR_RETURN(
      Builtins builtins,
      MakeBuiltins({backends.register_loaders, backends.register_inspectors}));
  ReadOptions read;
  read.check_all_digests = true;
  absl::StatusOr<ArtifactSet> set =
      OpenSet(flags.word(0), SetUse::kWhole, builtins, read);
  if (!set.ok()) return Where(set.status(), flags.word(0));
  absl::StatusOr<ExportedFolder> folder = ExportC(*set);
  if (!folder.ok()) return Where(folder.status(), flags.word(0));
  absl::Status fits = CheckBudget("ram", folder->memory.ram(), ram);
  fits.Update(CheckBudget("rom", folder->memory.rom(), rom));
  if (!fits.ok()) {
    Print(MemoryTable(folder->memory));
    return Where(fits, flags.word(0));
  }
  if (absl::Status s = WriteFolder(*folder, output); !s.ok()) {
    return Where(s, output);
  }
  if (!quiet) {
    Print(absl::StrCat(OneLine(output), ": ", folder->files.size(), " files, ",
                       folder->memory.ram(), " bytes of RAM, ",
                       folder->memory.rom(), " bytes of ROM\n"));
  }
  return absl::OkStatus();
}

}  // namespace ingot

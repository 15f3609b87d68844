#include "tools/export_c/export_c.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "artifact/constants_symbol.h"
#include "base/status_macros.h"
#include "runtime/safetensors.h"
#include "tools/export_c/build_files.h"
#include "tools/export_c/weights_source.h"
#include "tools/whole_model/whole_model.h"

namespace ingot {
namespace {

// The code, in C for firmware as for a host.
struct Sources {
  const Artifact* kernels = nullptr;
  // C that the kernels call, with its headers.
  std::vector<const Artifact*> called;
};

bool IsCalledC(const Artifact& artifact) {
  return artifact.loader == kNativeLoader &&
         (absl::EndsWith(artifact.file_name, ".c") ||
          absl::EndsWith(artifact.file_name, ".h"));
}

absl::StatusOr<Sources> FindSources(const WholeModel& model) {
  Sources sources;
  for (const Artifact* artifact : model.rest) {
    if (artifact->loader == kNativeLoader && artifact->codegen_id == "c") {
      sources.kernels = artifact;
    } else if (IsCalledC(*artifact)) {
      sources.called.push_back(artifact);
    } else {
      return absl::FailedPreconditionError(absl::StrCat(
          ArtifactPath(*artifact),
          " is not C; compile the model for --target=c, or for targets before "
          "it whose code is C that its kernels call"));
    }
  }
  if (sources.kernels != nullptr) return sources;
  return absl::FailedPreconditionError(
      "the set has no C of the target c; compile the model for --target=c");
}

// The arena's size, as the header says it.
absl::StatusOr<uint64_t> ArenaBytes(absl::string_view header,
                                    absl::string_view prefix) {
  const std::string start =
      absl::StrCat("#define ", absl::AsciiStrToUpper(prefix), "_ARENA_BYTES ");
  for (absl::string_view line : absl::StrSplit(header, '\n')) {
    uint64_t bytes = 0;
    if (absl::ConsumePrefix(&line, start) && absl::SimpleAtoi(line, &bytes)) {
      return bytes;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the header has no line '", start, "…'"));
}

// The generated C without what only a host needs: after the first line, which
// is the request to a host's compiler.
std::string Freestanding(absl::string_view source) {
  const size_t line = source.find('\n');
  return absl::StrCat("#define INGOT_FREESTANDING 1\n",
                      line == absl::string_view::npos
                          ? absl::string_view()
                          : source.substr(line + 1));
}

std::string ArenaHeader(const std::string& prefix) {
  const std::string macro = absl::AsciiStrToUpper(prefix);
  return absl::StrCat(
      "/* Static memory for one run at a time of the model. */\n#ifndef ",
      macro, "_ARENA_H_\n#define ", macro, "_ARENA_H_\n\n#include \"", prefix,
      ".h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
      "extern unsigned char ", prefix, "_arena[", macro, "_ARENA_BYTES + 1];\n",
      "\n#ifdef __cplusplus\n}\n#endif\n\n#endif  /* ", macro,
      "_ARENA_H_ */\n");
}

std::string ArenaSource(const std::string& prefix) {
  const std::string macro = absl::AsciiStrToUpper(prefix);
  return absl::StrCat(
      "#include \"", prefix, "_arena.h\"\n\n",
      "#if defined(__GNUC__)\n__attribute__((aligned(", macro,
      "_ARENA_ALIGNMENT)))\n#endif\n/* One byte more, so that it is never "
      "empty. */\nunsigned char ",
      prefix, "_arena[", macro, "_ARENA_BYTES + 1];\n");
}

}  // namespace

absl::StatusOr<ExportedFolder> ExportC(const ArtifactSet& set) {
  const std::string& prefix = set.provenance().symbol_prefix();
  INGOT_ASSIGN_OR_RETURN(const WholeModel model, FindWholeModel(set));
  INGOT_ASSIGN_OR_RETURN(const Sources sources, FindSources(model));
  const Plan& plan = *model.plan;
  if (plan.symbols_size() > 0) {
    return absl::FailedPreconditionError(
        "the model's inputs have symbolic dimensions, on which its memory "
        "depends; fix them when compiling, with --input-shape");
  }
  INGOT_ASSIGN_OR_RETURN(const uint64_t arena_bytes,
                         ArenaBytes(model.header->content.view(), prefix));
  ExportedFolder folder;
  const auto file = [&](absl::string_view suffix) -> std::string& {
    return folder.files[absl::StrCat(prefix, suffix)];
  };
  file(".h") = std::string(model.header->content.view());
  file("_kernels.c") = Freestanding(sources.kernels->content.view());
  file("_arena.h") = ArenaHeader(prefix);
  file("_arena.c") = ArenaSource(prefix);
  NamedTensors weights;
  if (model.weights != nullptr) {
    const Blob& content = model.weights->content;
    INGOT_ASSIGN_OR_RETURN(weights, ReadSafetensors(content));
    INGOT_ASSIGN_OR_RETURN(const ConstantsSymbol symbol,
                           FindConstantsSymbol(prefix, content.view()));
    // The code reads weights by their offsets.
    if (!absl::StrContains(sources.kernels->content.view(), symbol.name)) {
      return absl::FailedPreconditionError(
          absl::StrCat(ArtifactPath(*model.weights),
                       " is not laid out as the code was compiled for"));
    }
    INGOT_ASSIGN_OR_RETURN(
        file("_weights.c"),
        WeightsSource(content, symbol.offset, symbol.name, weights));
  }
  for (const Artifact* called : sources.called) {
    const absl::string_view text = called->content.view();
    if (!folder.files
             .emplace(called->file_name, absl::EndsWith(called->file_name, ".c")
                                             ? Freestanding(text)
                                             : std::string(text))
             .second) {
      return absl::FailedPreconditionError(
          absl::StrCat(ArtifactPath(*called),
                       " has the name of another file of the folder"));
    }
  }
  INGOT_ASSIGN_OR_RETURN(folder.memory,
                         FindMemoryUse(plan, arena_bytes, weights));
  std::vector<std::string> c_files;
  for (const auto& [name, text] : folder.files) {
    if (absl::EndsWith(name, ".c")) c_files.push_back(name);
  }
  folder.files["Makefile"] = Makefile(prefix, c_files);
  folder.files["CMakeLists.txt"] = CMakeLists(prefix, c_files);
  folder.files["README.md"] = Readme(plan.entry(), prefix, folder.memory);
  return folder;
}

}  // namespace ingot

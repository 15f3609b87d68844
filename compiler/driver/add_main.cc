#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "artifact/constants_symbol.h"
#include "base/status_macros.h"
#include "compiler/driver/main/build_main.h"
#include "compiler/driver/main/header.h"
#include "compiler/driver/stages.h"
#include "runtime/safetensors.h"

namespace ingot {
namespace {

// `text`, which may have names from the model in it, as a provenance allows it.
std::string Printable(absl::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return out;
}

// Tells main where it finds the constants, which are in the set already.
absl::Status PlaceConstants(const Compilation& c, MainParts* parts) {
  const Artifact* weights =
      c.set.Find(kDefaultTargetKey, kCompilerCodegenId, WeightsFile(0));
  if (weights == nullptr) return absl::OkStatus();
  if (c.set.Find(kDefaultTargetKey, kCompilerCodegenId, WeightsFile(1)) !=
      nullptr) {
    return absl::UnimplementedError("its weights are in several files");
  }
  INGOT_ASSIGN_OR_RETURN(
      const ConstantsSymbol symbol,
      FindConstantsSymbol(c.symbol_prefix, weights->content.view()));
  INGOT_ASSIGN_OR_RETURN(const NamedTensors tensors,
                         ReadSafetensors(weights->content));
  const char* const first = weights->content.view().data() + symbol.offset;
  for (const auto& [key, tensor] : tensors) {
    // One without elements is nowhere in the file.
    parts->constant_offsets[key] =
        tensor.bytes() == 0
            ? 0
            : static_cast<uint64_t>(
                  static_cast<const char*>(tensor.raw_data()) - first);
  }
  parts->constants_bytes = weights->content.size() - symbol.offset;
  parts->constants_symbol = symbol.name;
  return absl::OkStatus();
}

// The names of C functions that kernels must leave free.
absl::Status CheckNames(const Compilation& c, const MainParts& parts) {
  const std::string& prefix = c.symbol_prefix;
  for (const std::string& name :
       {absl::StrCat(prefix, "_main"), MainRunSymbol(prefix),
        MainArenaBytesSymbol(prefix), MainLastErrorSymbol(prefix)}) {
    if (parts.kernels.count(name) == 0) continue;
    return absl::UnimplementedError(absl::StrCat("a kernel is called ", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<BuiltMain> Build(const Compilation& c, MainParts* parts) {
  INGOT_RETURN_IF_ERROR(CheckNames(c, *parts));
  INGOT_RETURN_IF_ERROR(PlaceConstants(c, parts));
  return BuildMain(*parts);
}

}  // namespace

absl::Status AddMain(Compilation* c) {
  TargetWork* const host = c->host;
  if (host == nullptr || !host->kind->generates_main) return absl::OkStatus();
  const absl::Time start = absl::Now();
  MainParts parts;
  parts.plan = &c->plan;
  parts.symbol_prefix = c->symbol_prefix;
  for (const tir::PrimFunc& kernel : host->functions) {
    parts.kernels.emplace(kernel.name, &kernel);
  }
  absl::StatusOr<BuiltMain> built = Build(*c, &parts);
  if (absl::IsUnimplemented(built.status())) {
    c->no_main = Printable(built.status().message());
    return absl::OkStatus();
  }
  if (!built.ok()) return built.status();
  INGOT_RETURN_IF_ERROR(c->dump.Write("main", built->function));

  Artifact header;
  header.codegen_id = kCompilerCodegenId;
  header.loader = kNativeLoader;
  header.target_key = host->target.key;
  header.file_name = absl::StrCat(c->symbol_prefix, ".h");
  header.content = Blob::FromString(
      MainHeader(*built, c->plan, c->symbol_prefix, parts.constants_bytes));
  INGOT_RETURN_IF_ERROR(c->set.Add(std::move(header)));
  c->main = std::move(built->main);
  if (built->output_shapes.has_value()) {
    host->functions.push_back(*std::move(built->output_shapes));
  }
  host->functions.push_back(std::move(built->function));
  c->Time("main", absl::ToDoubleSeconds(absl::Now() - start));
  return absl::OkStatus();
}

}  // namespace ingot

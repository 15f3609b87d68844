#include "tools/report/code.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "artifact/loader_names.h"
#include "loaders/native/elf_symbols.h"

namespace ingot::report {
namespace {

constexpr size_t kMostText = 64 << 20;

bool IsSource(absl::string_view file_name) {
  for (const absl::string_view ending : {".c", ".cl", ".cc", ".cpp", ".ll"}) {
    if (absl::EndsWith(file_name, ending)) return true;
  }
  return false;
}

// The bytes of each function's code in one artifact.
std::map<std::string, uint64_t> BytesIn(const Artifact& artifact,
                                        const FunctionNames& functions) {
  std::map<std::string, uint64_t> bytes;
  const absl::string_view content = artifact.content.view();
  const std::string stem =
      artifact.file_name.substr(0, artifact.file_name.find('.'));
  if (functions.count(stem) > 0) {
    bytes[stem] = content.size();
    return bytes;
  }
  if (IsSource(artifact.file_name)) {
    for (const auto& [name, text] :
         FindKernelTexts(content, functions, kMostText)) {
      bytes[name] = text.size();
    }
    return bytes;
  }
  const absl::StatusOr<std::vector<ElfSymbol>> symbols =
      ReadElfSymbols(content);
  if (!symbols.ok()) return bytes;
  for (const ElfSymbol& symbol : *symbols) {
    if (!symbol.is_defined || symbol.size == 0) continue;
    const std::string owner = OwnerOf(symbol.name, functions);
    if (!owner.empty()) bytes[owner] += symbol.size;
  }
  return bytes;
}

}  // namespace

std::map<std::string, Code> FindCode(const ArtifactSet& set,
                                     const FunctionNames& functions) {
  std::map<std::string, Code> found;
  for (size_t i = 0; i < set.artifacts().size(); ++i) {
    const Artifact& artifact = set.artifacts()[i];
    if (artifact.loader == kConstantsLoader ||
        artifact.loader == kMetadataLoader) {
      continue;
    }
    for (const auto& [name, bytes] : BytesIn(artifact, functions)) {
      found.emplace(name, Code{i, bytes});
    }
  }
  return found;
}

}  // namespace ingot::report

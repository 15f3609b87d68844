#include "backends/llvmjit/narrow_features.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/Module.h"

namespace ingot {

void NarrowFeatures(llvm::Module* module,
                    const std::set<std::string>& available) {
  constexpr char kAttribute[] = "target-features";
  for (llvm::Function& function : *module) {
    if (!function.hasFnAttribute(kAttribute)) continue;
    const llvm::StringRef all =
        function.getFnAttribute(kAttribute).getValueAsString();
    std::vector<std::string> kept;
    for (absl::string_view feature :
         absl::StrSplit(absl::string_view(all.data(), all.size()), ',')) {
      if (!absl::StartsWith(feature, "+") ||
          available.count(std::string(feature.substr(1))) != 0) {
        kept.emplace_back(feature);
      }
    }
    function.addFnAttr(kAttribute, absl::StrJoin(kept, ","));
  }
}

}  // namespace ingot

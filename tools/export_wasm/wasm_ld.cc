#include "tools/export_wasm/wasm_ld.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "loaders/native/files.h"
#include "loaders/native/lld.h"

namespace ingot {
namespace {

constexpr char kLld[] = "wasm-ld-19";

// These may be imported: C_LIBRARY of model.mjs.
constexpr const char* kCLibrary[] = {
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh",
    "exp",  "fmod",  "log",  "pow",   "sin",  "sinh",  "tan", "tanh",
};

}  // namespace

absl::Status RunWasmLd(const std::string& lld,
                       const std::vector<std::string>& objects,
                       const std::vector<std::string>& exports,
                       const std::string& folder, const std::string& output) {
  const std::string imports = folder + "/imports.txt";
  std::string names;
  for (const char* name : kCLibrary) {
    absl::StrAppend(&names, name, "\n", name, "f\n");
  }
  INGOT_RETURN_IF_ERROR(WriteScratchFile(imports, names));
  std::vector<std::string> words = {
      lld.empty() ? kLld : lld, "--no-entry", "--strip-all", "--threads=1",
      // Below everything else, so that a stack that is too small is a trap.
      // Kernels keep up to 256 KiB there (kMaxStackBytes), and call none.
      "--stack-first", "-z", "stack-size=1048576",
      absl::StrCat("--allow-undefined-file=", imports), "-o", output};
  for (const std::string& name : exports) {
    words.push_back(absl::StrCat("--export=", name));
  }
  words.insert(words.end(), objects.begin(), objects.end());
  return RunLld(std::move(words), folder);
}

}  // namespace ingot

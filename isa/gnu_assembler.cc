#include "isa/gnu_assembler.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ingot::isa {
namespace {

// LLVM's names and the GNU assembler's.
const std::map<std::string, std::string>& Names() {
  static const auto* names = new std::map<std::string, std::string>{
      {"sse3", "sse3"},
      {"ssse3", "ssse3"},
      {"sse4.1", "sse4.1"},
      {"sse4.2", "sse4.2"},
      {"popcnt", "popcnt"},
      {"lzcnt", "lzcnt"},
      {"movbe", "movbe"},
      {"bmi", "bmi"},
      {"bmi2", "bmi2"},
      {"avx", "avx"},
      {"avx2", "avx2"},
      {"fma", "fma"},
      {"f16c", "f16c"},
      {"gfni", "gfni"},
      {"avx512f", "avx512f"},
      {"avx512cd", "avx512cd"},
      {"avx512bw", "avx512bw"},
      {"avx512dq", "avx512dq"},
      {"avx512vl", "avx512vl"},
      {"avx512ifma", "avx512ifma"},
      {"avx512vbmi", "avx512vbmi"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"avx512bf16", "avx512_bf16"},
      {"avx512fp16", "avx512_fp16"},
      {"avxvnni", "avx_vnni"},
      {"avxifma", "avx_ifma"},
      {"avxvnniint8", "avx_vnni_int8"},
      {"avxneconvert", "avx_ne_convert"},
      {"amx-tile", "amx_tile"},
      {"amx-int8", "amx_int8"},
      {"amx-bf16", "amx_bf16"},
      {"amx-fp16", "amx_fp16"},
  };
  return *names;
}

}  // namespace

std::vector<std::string> AssemblerFeatures() {
  std::vector<std::string> features;
  for (const auto& [llvm, gnu] : Names()) features.push_back(llvm);
  return features;
}

std::set<int> RefusedLines(absl::string_view source,
                           absl::Span<const std::string> features,
                           std::string* object) {
  const char* dir = std::getenv("TEST_TMPDIR");
  const std::string stem =
      absl::StrCat(dir != nullptr ? dir : "/tmp", "/assembled_", getpid());
  std::string arch = ".arch generic64";
  for (const std::string& feature : features) {
    absl::StrAppend(&arch, "; .arch .", Names().at(feature));
  }
  std::ofstream(stem + ".s") << arch << "\n" << source << "\n";
  // "FILE:12: Error: what is wrong", for each line; the first one is ours.
  FILE* as = popen(
      absl::StrCat("LC_ALL=C as --64 -o '", stem, ".o' '", stem, ".s' 2>&1")
          .c_str(),
      "r");
  std::set<int> refused;
  char line[4096];
  while (as != nullptr && fgets(line, sizeof(line), as) != nullptr) {
    int number = 0;
    const absl::string_view text = line;
    const size_t error = text.find(": Error: ");
    const size_t colon = text.rfind(':', error - 1);
    if (error != absl::string_view::npos && error > 0 &&
        absl::SimpleAtoi(text.substr(colon + 1, error - colon - 1), &number)) {
      refused.insert(number - 2);
    }
  }
  const bool taken = as != nullptr && pclose(as) == 0;
  if (!taken && refused.empty()) refused.insert(-1);  // there is no `as`
  if (taken && object != nullptr) {
    std::ifstream file(stem + ".o", std::ios::binary);
    object->assign(std::istreambuf_iterator<char>(file), {});
  }
  unlink((stem + ".o").c_str());
  unlink((stem + ".s").c_str());
  return refused;
}

}  // namespace ingot::isa

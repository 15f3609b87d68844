#include "artifact/compile_request.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

constexpr absl::string_view kCompilers[] = {"cc", "gcc", "clang"};

// The processors of cross compilers, and what may follow them.
constexpr absl::string_view kProcessors[] = {
    "x86_64", "aarch64", "riscv64", "powerpc64le", "arm", "i686"};
constexpr absl::string_view kSystems[] = {
    "-linux-gnu-",         "-linux-gnueabihf-",    "-linux-musl-",
    "-unknown-linux-gnu-", "-unknown-linux-musl-", "-none-linux-gnu-"};

// Flags that are allowed as they are.
constexpr absl::string_view kFlags[] = {
    "-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og", "-Ofast", "-g", "-Wall",
    "-Wextra", "-mno-red-zone",
    // Language standards.
    "-std=c89", "-std=c90", "-std=c99", "-std=c11", "-std=c17", "-std=c18",
    "-std=c23", "-std=gnu89", "-std=gnu90", "-std=gnu99", "-std=gnu11",
    "-std=gnu17", "-std=gnu18", "-std=gnu23",
    // Floating point.
    "-ffp-contract=off", "-ffp-contract=on", "-ffp-contract=fast",
    "-fexcess-precision=standard", "-fexcess-precision=fast"};

// Flags that start with -f, and with -fno- for the opposite.
constexpr absl::string_view kSwitches[] = {"wrapv",
                                           "strict-aliasing",
                                           "strict-overflow",
                                           "math-errno",
                                           "trapping-math",
                                           "fast-math",
                                           "finite-math-only",
                                           "associative-math",
                                           "reciprocal-math",
                                           "signed-zeros",
                                           "rounding-math",
                                           "unsafe-math-optimizations",
                                           "unroll-loops",
                                           "tree-vectorize",
                                           "vectorize",
                                           "slp-vectorize",
                                           "tree-slp-vectorize",
                                           "omit-frame-pointer",
                                           "inline",
                                           "inline-functions",
                                           "builtin",
                                           "freestanding",
                                           "signed-char",
                                           "unsigned-char",
                                           "common",
                                           "function-sections",
                                           "data-sections",
                                           "plt",
                                           "stack-protector",
                                           "stack-protector-strong",
                                           "PIC",
                                           "pic",
                                           "openmp-simd",
                                           "asynchronous-unwind-tables",
                                           "unwind-tables"};

// Flags that start with -m, and with -mno- for the opposite.
constexpr absl::string_view kMachineSwitches[] = {"sse3",
                                                  "ssse3",
                                                  "sse4",
                                                  "sse4.1",
                                                  "sse4.2",
                                                  "popcnt",
                                                  "avx",
                                                  "avx2",
                                                  "fma",
                                                  "f16c",
                                                  "bmi",
                                                  "bmi2",
                                                  "lzcnt",
                                                  "movbe",
                                                  "gfni",
                                                  "avx512f",
                                                  "avx512cd",
                                                  "avx512bw",
                                                  "avx512dq",
                                                  "avx512vl",
                                                  "avx512vnni",
                                                  "avx512bf16",
                                                  "avx512fp16",
                                                  "avx512ifma",
                                                  "avx512vbmi",
                                                  "avx512vbmi2",
                                                  "avx512bitalg",
                                                  "avx512vpopcntdq",
                                                  "avxvnni",
                                                  "avxifma",
                                                  "avxvnniint8",
                                                  "avxneconvert",
                                                  "amx-tile",
                                                  "amx-int8",
                                                  "amx-bf16",
                                                  "amx-fp16",
                                                  "outline-atomics",
                                                  "strict-align",
                                                  "vzeroupper"};

// Flags that end with a name: letters, digits and + - . _ =.
constexpr absl::string_view kNamed[] = {
    "-march=",   "-mcpu=",    "-mtune=",
    "-mabi=",    "-mfpu=",    "-mfloat-abi=",
    "-mfpmath=", "-mcmodel=", "-mprefer-vector-width="};

template <size_t n>
bool Contains(const absl::string_view (&list)[n], absl::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool IsName(absl::string_view text, absl::string_view others) {
  return std::all_of(text.begin(), text.end(), [others](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::StrContains(others, c);
  });
}

// -DNAME or -DNAME=VALUE.
bool IsDefinition(absl::string_view flag) {
  if (!absl::ConsumePrefix(&flag, "-D")) return false;
  const size_t equals = flag.find('=');
  const absl::string_view name = flag.substr(0, equals);
  if (name.empty() || absl::ascii_isdigit(name[0]) || !IsName(name, "_")) {
    return false;
  }
  return equals == absl::string_view::npos ||
         IsName(flag.substr(equals + 1), "+-._");
}

std::string Quoted(absl::string_view word) {
  return absl::StrCat("'", absl::CHexEscape(word.substr(0, 80)), "'");
}

}  // namespace

absl::Status CheckCompilerName(absl::string_view cc) {
  absl::string_view name = cc;
  for (absl::string_view processor : kProcessors) {
    absl::string_view rest = cc;
    if (!absl::ConsumePrefix(&rest, processor)) continue;
    for (absl::string_view system : kSystems) {
      if (absl::ConsumePrefix(&rest, system)) name = rest;
    }
  }
  const size_t dash = name.find('-');
  const absl::string_view version =
      dash == absl::string_view::npos ? "1" : name.substr(dash + 1);
  const bool is_version =
      !version.empty() && version.size() <= 8 &&
      std::all_of(version.begin(), version.end(), [](char c) {
        return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.';
      });
  if (is_version && Contains(kCompilers, name.substr(0, dash))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      Quoted(cc),
      " is not among the compilers that a set may name: cc, gcc, clang, each "
      "with a version (gcc-12) or the triple of a cross compiler "
      "(aarch64-linux-gnu-gcc)"));
}

absl::Status CheckCompilerFlag(absl::string_view flag) {
  if (Contains(kFlags, flag) || IsDefinition(flag)) return absl::OkStatus();
  for (absl::string_view start : kNamed) {
    absl::string_view name = flag;
    if (absl::ConsumePrefix(&name, start) && !name.empty() &&
        IsName(name, "+-._=")) {
      return absl::OkStatus();
    }
  }
  for (absl::string_view start : {"-fno-", "-f"}) {
    absl::string_view name = flag;
    if (absl::ConsumePrefix(&name, start) && Contains(kSwitches, name)) {
      return absl::OkStatus();
    }
  }
  for (absl::string_view start : {"-mno-", "-m"}) {
    absl::string_view name = flag;
    if (absl::ConsumePrefix(&name, start) && Contains(kMachineSwitches, name)) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(flag),
                   " is not among the compiler flags that a set may have: "
                   "-O, -std=, -D, -march=, -mcpu=, -mtune=, processor "
                   "features, and switches such as -fwrapv"));
}

absl::StatusOr<CompileRequest> ParseCompileRequest(absl::string_view source) {
  CompileRequest request;
  absl::string_view line = source.substr(0, source.find('\n'));
  if (!absl::ConsumePrefix(&line, "/* ingot:")) return request;
  if (!absl::ConsumeSuffix(&line, "*/")) {
    return absl::InvalidArgumentError(
        "the first line starts as a compile request but has no closing */");
  }
  bool in_flags = false;
  for (absl::string_view word :
       absl::StrSplit(line, ' ', absl::SkipWhitespace())) {
    if (!in_flags && absl::ConsumePrefix(&word, "cc=")) {
      INGOT_RETURN_IF_ERROR(CheckCompilerName(word));
      request.cc = std::string(word);
      continue;
    }
    if (!in_flags && absl::ConsumePrefix(&word, "cflags=")) in_flags = true;
    if (in_flags && word.empty()) continue;
    if (!in_flags) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quoted(word),
                       " is neither cc= nor cflags=, which a compile request "
                       "consists of"));
    }
    INGOT_RETURN_IF_ERROR(CheckCompilerFlag(word));
    request.flags.push_back(std::string(word));
  }
  return request;
}

}  // namespace ingot

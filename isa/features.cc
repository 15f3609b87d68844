#include "isa/features.h"

namespace ingot::isa {
namespace {

constexpr Feature kX86Features[] = {
    {"sse3"},        {"ssse3"},        {"sse4.1"},
    {"sse4.2"},      {"popcnt"},       {"avx"},
    {"avx2"},        {"fma"},          {"f16c"},
    {"bmi"},         {"bmi2"},         {"lzcnt"},
    {"movbe"},       {"gfni"},         {"avxvnni"},
    {"avxifma"},     {"avxvnniint8"},  {"avxneconvert"},
    {"avx512f"},     {"avx512cd"},     {"avx512bw"},
    {"avx512dq"},    {"avx512vl"},     {"avx512vnni"},
    {"avx512bf16"},  {"avx512ifma"},   {"avx512vbmi"},
    {"avx512vbmi2"}, {"avx512bitalg"}, {"avx512vpopcntdq"},
    {"avx512fp16"},  {"amx-tile"},     {"amx-int8"},
    {"amx-bf16"},    {"amx-fp16"},     {"evex512", false},
};

constexpr Feature kAArch64Features[] = {
    {"neon", false}, {"fp-armv8", false},
    {"fullfp16"},    {"dotprod"},
    {"i8mm"},        {"bf16"},
    {"rdm"},         {"lse"},
    {"crc"},         {"fp16fml"},
};

// Linux distributions are built for RV64GC.
constexpr Feature kRiscvFeatures[] = {
    {"m", false}, {"a", false}, {"f", false}, {"d", false},
    {"c", false}, {"zba"},      {"zbb"},      {"zbs"},
    {"zfh"},      {"v"},        {"zvfh"},
};

constexpr Feature kPpcFeatures[] = {
    {"altivec", false}, {"vsx", false},     {"power8-vector", false},
    {"power9-vector"},  {"power10-vector"},
};

// All engines have had the required ones since 2022; fixed vectors are younger.
constexpr Feature kWasmFeatures[] = {
    {"mutable-globals", false},     {"sign-ext", false}, {"bulk-memory", false},
    {"nontrapping-fptoint", false}, {"simd128"},
};

bool StartsWith(absl::string_view text, absl::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

absl::Span<const Feature> FeaturesOf(absl::string_view triple) {
  if (StartsWith(triple, "x86_64")) return kX86Features;
  if (StartsWith(triple, "aarch64")) return kAArch64Features;
  if (StartsWith(triple, "riscv64")) return kRiscvFeatures;
  if (StartsWith(triple, "powerpc64le")) return kPpcFeatures;
  if (StartsWith(triple, "wasm32")) return kWasmFeatures;
  return {};
}

std::string BaselineCpu(absl::string_view triple) {
  if (StartsWith(triple, "x86_64")) return "x86-64";
  if (StartsWith(triple, "riscv64")) return "generic-rv64";
  if (StartsWith(triple, "powerpc64le")) return "ppc64le";
  return "generic";
}

}  // namespace ingot::isa

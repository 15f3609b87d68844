#include "compiler/codegen/c_vector_helpers.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"

namespace ingot::codegen {
namespace {

// "f32x8".
struct VectorName {
  explicit VectorName(absl::string_view text) : name(text) {
    const std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
    element = std::string(parts[0]);
    int bits = 0;
    const bool ok = absl::SimpleAtoi(parts[1], &lanes) &&
                    absl::SimpleAtoi(parts[0].substr(1), &bits);
    bytes = ok ? bits / 8 * lanes : 0;
    mask = absl::StrCat("i", bits, "x", lanes);
    const bool is_float = element[0] == 'f';
    c = is_float
            ? (bits == 64 ? "double" : "float")
            : absl::StrCat(element[0] == 'u' ? "u" : "", "int", bits, "_t");
  }
  // A value with `lane` in each lane.
  std::string All(absl::string_view lane) const {
    return absl::StrCat(
        "(", name, "){",
        absl::StrJoin(std::vector<absl::string_view>(lanes, lane), ", "), "}");
  }

  std::string name, element, mask;
  std::string c;  // the element's type
  int lanes = 0, bytes = 0;
};

// $0 is the type, $1 that of its masks.
constexpr char kExp[] = R"(
/* 2^n exp(r) with r at most half of ln(2): as LLVM's code has it (math.cc). */
static inline $0 ingot_exp_$0($0 x) {
  const float round = 12582912.0f; /* 1.5 * 2^23 */
  x = ingot_select_$0(x > 89.0f, ($0){0} + 89.0f, x);
  x = ingot_select_$0(x < -105.0f, ($0){0} - 105.0f, x);
  const $0 shifted = x * 1.44269504088896341f + round;
  const $0 n = shifted - round;
  $0 r = n * -0.693359375f + x;
  r = n * 2.12194440e-4f + r;
  $0 p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const $1 e = ($1)shifted - 0x4b400000, half = e >> 1;
  return p * ($0)((half + 127) << 23) * ($0)((e - half + 127) << 23);
}
)";

constexpr char kTanh[] = R"(
static inline $0 ingot_tanh_$0($0 x) {
  const float limit = 7.90531110763549805f; /* beyond it the result is 1 */
  $0 c = ingot_select_$0(x > limit, ($0){0} + limit, x);
  c = ingot_select_$0(c < -limit, ($0){0} - limit, c);
  const $0 z = c * c;
  $0 p = z * -2.76076847742355e-16f + 2.00018790482477e-13f;
  p = p * z + -8.60467152213735e-11f;
  p = p * z + 5.12229709037114e-08f;
  p = p * z + 1.48572235717979e-05f;
  p = p * z + 6.37261928875436e-04f;
  p = p * z + 4.89352455891786e-03f;
  $0 q = z * 1.19825839466702e-06f + 1.18534705686654e-04f;
  q = q * z + 2.26843463243900e-03f;
  q = q * z + 4.89352518554385e-03f;
  return ingot_select_$0((x < 0.0004f) & (x > -0.0004f), x, c * p / q);
}
)";

constexpr char kErf[] = R"(
static inline $0 ingot_erf_$0($0 x) {
  const float limit = 3.925724783138660f;
  $0 c = ingot_select_$0(x > limit, ($0){0} + limit, x);
  c = ingot_select_$0(c < -limit, ($0){0} - limit, c);
  const $0 z = c * c;
  $0 p = z * 2.123732201653183437883853912353515625e-06f +
         2.86197959212586283683776855468750e-04f;
  p = p * z + 3.658048342913389205932617187500e-03f;
  p = p * z + 5.243302136659622192382812500000e-02f;
  p = p * z + 1.874160766601562500000000000000e-01f;
  p = p * z + 1.128379106521606445312500000000e+00f;
  $0 q = z * 3.89185734093189239501953125000e-05f +
         1.14329601638019084930419921875e-03f;
  q = q * z + 1.47520881146192550659179687500e-02f;
  q = q * z + 1.12945675849914550781250000000e-01f;
  q = q * z + 4.99425798654556274414062500000e-01f;
  q = q * z + 1.0f;
  c = c * (p / q); /* 1 + erf(x) is not negative */
  c = ingot_select_$0(c > 1.0f, ($0){0} + 1.0f, c);
  return ingot_select_$0(c < -1.0f, ($0){0} - 1.0f, c);
}
)";

// x86's instruction for a vector of floats, where the compiler may use it, else
// `otherwise`. $ stands for "ps" or "pd"; `wide` is for 512 bits.
std::string WithInstruction(const VectorName& t, absl::string_view narrow,
                            absl::string_view wide, const char* sse,
                            absl::string_view args,
                            const std::string& otherwise) {
  const bool is_double = t.element == "f64";
  const char* const letter = is_double ? "d" : "";
  std::string macro, type, prefix;
  if (t.bytes == 16) {
    macro = sse;
    type = absl::StrCat("__m128", letter);
    prefix = "_mm_";
  } else if (t.bytes == 32) {
    macro = "__AVX__";
    type = absl::StrCat("__m256", letter);
    prefix = "_mm256_";
  } else if (t.bytes == 64) {
    macro = "__AVX512F__";
    type = absl::StrCat("__m512", letter);
    prefix = "_mm512_";
  }
  if (macro.empty() || t.element[0] != 'f') return otherwise;
  return absl::Substitute(
      "#ifdef $0\n  return ($1)$2$3_p$4($5);\n#else\n$6#endif\n", macro, t.name,
      prefix, t.bytes == 64 ? wide : narrow, is_double ? "d" : "s",
      absl::Substitute(args, type), otherwise);
}

// A function of x by lanes.
std::string ByLanes(const VectorName& t, absl::string_view function,
                    bool has_two) {
  return absl::Substitute(
      "  for (int i = 0; i < $0; ++i) x[i] = $1(x[i]$2);\n  return x;\n",
      t.lanes, function, has_two ? ", y[i]" : "");
}

std::string Extreme(const VectorName& t, bool is_min) {
  const char* const name = is_min ? "min" : "max";
  return absl::Substitute(
      "\nstatic inline $0 ingot_$1_$0($0 x, $0 y) {\n$2}\n", t.name, name,
      WithInstruction(
          t, name, name, "__SSE2__", "($0)x, ($0)y",
          absl::Substitute("  return ingot_select_$0(x $1 y, x, y);\n", t.name,
                           is_min ? "<" : ">")));
}

std::string Rounded(const VectorName& t, absl::string_view op,
                    absl::string_view function, int mode) {
  return absl::Substitute(
      "\nstatic inline $0 ingot_$1_$0($0 x) {\n$2}\n", t.name, op,
      WithInstruction(t, "round", "roundscale", "__SSE4_1__",
                      absl::StrCat("($0)x, ", mode),
                      ByLanes(t, function, false)));
}

std::string Source(absl::string_view op, const VectorName& t) {
  const bool is_f32 = t.element == "f32";
  const std::string suffix = is_f32 ? "f" : "";
  if (op == "load") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_load_$0(const $1* p) {\n  $0 x;\n  "
        "memcpy(&x, "
        "p, sizeof(x));\n  return x;\n}\n",
        t.name, t.c);
  }
  if (op == "store") {
    return absl::Substitute(
        "\nstatic inline void ingot_store_$0($1* p, $0 x) {\n  memcpy(p, &x, "
        "sizeof(x));\n}\n",
        t.name, t.c);
  }
  if (op == "splat") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_splat_$0($1 x) {\n  return $2;\n}\n", t.name,
        t.c, t.All("x"));
  }
  if (op == "select") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_select_$0($1 condition, $0 x, $0 y) {\n"
        "  return ($0)((condition & ($1)x) | (~condition & ($1)y));\n}\n",
        t.name, t.mask);
  }
  if (op == "min" || op == "max") return Extreme(t, op == "min");
  if (op == "abs") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_abs_$0($0 x) {\n"
        "  return ($0)(($1)x & INT$2_MAX);\n}\n",
        t.name, t.mask, is_f32 ? 32 : 64);
  }
  if (op == "rsqrt") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_rsqrt_$0($0 x) {\n"
        "  return $1 / ingot_sqrt_$0(x);\n}\n",
        t.name, t.All("1"));
  }
  if (op == "sqrt") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_sqrt_$0($0 x) {\n$1}\n", t.name,
        WithInstruction(t, "sqrt", "sqrt", "__SSE2__", "($0)x",
                        ByLanes(t, "sqrt" + suffix, false)));
  }
  if (op == "round") return Rounded(t, op, "rint" + suffix, 8);
  if (op == "floor") return Rounded(t, op, "floor" + suffix, 9);
  if (op == "ceil") return Rounded(t, op, "ceil" + suffix, 10);
  if (op == "trunc") return Rounded(t, op, "trunc" + suffix, 11);
  if (is_f32 && op == "exp") return absl::Substitute(kExp, t.name, t.mask);
  if (is_f32 && op == "tanh") return absl::Substitute(kTanh, t.name);
  if (is_f32 && op == "erf") return absl::Substitute(kErf, t.name);
  const bool has_two = op == "pow" || op == "fmod";
  return absl::Substitute("\nstatic inline $0 ingot_$1_$0($0 x$2) {\n$3}\n",
                          t.name, op,
                          has_two ? absl::StrCat(", ", t.name, " y") : "",
                          ByLanes(t, absl::StrCat(op, suffix), has_two));
}

}  // namespace

bool IsVectorHelper(absl::string_view name) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(name.substr(name.rfind('_') + 1), 'x');
  int bits = 0, lanes = 0;
  return parts.size() == 2 && parts[0].size() > 1 &&
         absl::SimpleAtoi(parts[0].substr(1), &bits) &&
         absl::SimpleAtoi(parts[1], &lanes);
}

std::string VectorHelperSource(const std::set<std::string>& helpers) {
  // Definitions by their order: what others use comes first.
  static const auto* const kFirst =
      new std::map<std::string, int>{{"type", 0},  {"load", 1},   {"store", 1},
                                     {"splat", 1}, {"select", 1}, {"sqrt", 1}};
  std::map<std::string, VectorName> types;
  std::set<std::pair<int, std::string>> functions;
  const auto need = [&](const std::string& op, const VectorName& t) {
    const auto first = kFirst->find(op);
    functions.emplace(first == kFirst->end() ? 2 : first->second,
                      absl::StrCat(op, "_", t.name));
  };
  for (const std::string& name : helpers) {
    if (!IsVectorHelper(name)) continue;
    const std::vector<std::string> words = absl::StrSplit(name, '_');
    const VectorName t(words[2]);
    types.emplace(t.name, t);
    types.emplace(t.mask, VectorName(t.mask));
    if (words[1] == "type") continue;
    need(words[1], t);
    if (words[1] == "rsqrt") need("sqrt", t);
    need("select", t);
  }
  if (types.empty()) return "";
  std::string out = R"(
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Vectors, as compilers like GCC and Clang have them. */
)";
  for (const auto& [name, t] : types) {
    absl::StrAppend(&out, "typedef ", t.c, " ", name,
                    " __attribute__((vector_size(", t.bytes, ")));\n");
  }
  for (const auto& [order, name] : functions) {
    const std::vector<std::string> words = absl::StrSplit(name, '_');
    absl::StrAppend(&out, Source(words[0], types.at(words[1])));
  }
  return out;
}

}  // namespace ingot::codegen

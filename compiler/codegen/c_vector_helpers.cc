#include "compiler/codegen/c_vector_helpers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c_math.h"

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

// Instructions of x86 for a function of the vectors x, y and z, each where the
// compiler has what it needs.
class Instructions {
 public:
  explicit Instructions(const VectorName& t) : t_(t) {}

  // `call` with "$0" for the instruction's prefix and "$1" to "$3" for the
  // vectors, where the condition `when` of the preprocessor holds.
  void Add(const char* when, absl::string_view call) {
    const std::string bits = absl::StrCat(8 * t_.bytes);
    const std::string type = absl::StrCat("(__m", bits, "i)");
    const std::string mm = t_.bytes == 16 ? "_mm" : absl::StrCat("_mm", bits);
    absl::StrAppend(
        &text_, text_.empty() ? "#if " : "#elif ", when, "\n  return (",
        t_.name, ")",
        absl::Substitute(call, mm, absl::StrCat(type, "x"),
                         absl::StrCat(type, "y"), absl::StrCat(type, "z")),
        ";\n");
  }
  // The function, which has `otherwise` where there is no instruction.
  std::string Function(absl::string_view op, absl::string_view otherwise) {
    return absl::Substitute(
        "\nstatic inline $0 ingot_$3_$0($0 x, $0 y, $0 z) {\n$1$4$2}\n",
        t_.name, text_.empty() ? "" : text_ + "#else\n",
        text_.empty() ? "" : "#endif\n", op, otherwise);
  }

 private:
  const VectorName& t_;
  std::string text_;
};

// Products of bytes by x86: of any, and of those that are less than 128 in x.
// Without an instruction that multiplies bytes, those of even and of odd places
// are made 16 bits wide: by shifts, as gcc would mask a number before it fills
// a vector with it, and then twice.
std::string Dot4(const VectorName& t, bool small) {
  Instructions instructions(t);
  constexpr char kOne[] = "$0_dpbusd_epi32($3, $1, $2)";
  constexpr char kPairs[] =
      "$0_add_epi32($3, $0_madd_epi16($0_maddubs_epi16($1, $2), "
      "$0_set1_epi16(1)))";
  constexpr char kHalves[] =
      "$0_add_epi32(\n"
      "      $0_add_epi32($3, $0_madd_epi16(\n"
      "          $0_srli_epi16($0_slli_epi16($1, 8), 8),\n"
      "          $0_srai_epi16($0_slli_epi16($2, 8), 8))),\n"
      "      $0_madd_epi16($0_srli_epi16($1, 8), $0_srai_epi16($2, 8)))";
  if (t.bytes == 64) {
    instructions.Add("defined(__AVX512VNNI__)", kOne);
    instructions.Add("defined(__AVX512BW__)", small ? kPairs : kHalves);
  } else if (t.bytes == 32 || t.bytes == 16) {
    instructions.Add("defined(__AVX512VNNI__) && defined(__AVX512VL__)", kOne);
    instructions.Add("defined(__AVXVNNI__)", "$0_dpbusd_avx_epi32($3, $1, $2)");
    instructions.Add(t.bytes == 32 ? "defined(__AVX2__)" : "defined(__SSSE3__)",
                     small ? kPairs : kHalves);
  }
  return instructions.Function(
      small ? "dot4small" : "dot4",
      "  for (int i = 0; i < 32; i += 8) {\n"
      "    z += ((x >> i) & 255) * ((y << (24 - i)) >> 24);\n  }\n"
      "  return z;\n");
}

std::string Dot2(const VectorName& t) {
  Instructions instructions(t);
  const char* const when = t.bytes == 64   ? "defined(__AVX512BW__)"
                           : t.bytes == 32 ? "defined(__AVX2__)"
                           : t.bytes == 16 ? "defined(__SSE2__)"
                                           : nullptr;
  if (when != nullptr) {
    instructions.Add(when, "$0_add_epi32($3, $0_madd_epi16($1, $2))");
  }
  return instructions.Function(
      "dot2",
      "  return z + ((x << 16) >> 16) * ((y << 16) >> 16) +\n"
      "         (x >> 16) * (y >> 16);\n");
}

bool IsDot(absl::string_view op) { return absl::StartsWith(op, "dot"); }

// Floats to integers of at most 16 bits, the limits for what is beyond them and
// 0 for NaN. `to` is "u8".
std::string Saturating(const VectorName& t, absl::string_view to) {
  const bool is_byte = to.substr(1) == "8";
  const bool is_signed = to[0] == 'i';
  const int most =
      is_signed ? (is_byte ? 127 : 32767) : (is_byte ? 255 : 65535);
  const int least = is_signed ? -most - 1 : 0;
  const auto all = [&t](int value) {
    return absl::StrCat("((", t.name, "){0} + ", value,
                        t.element == "f32" ? ".0f" : ".0", ")");
  };
  return absl::Substitute(
      "\nstatic inline $1x$2 ingot_to$1_$0($0 x) {\n"
      "  x = ingot_select_$0(x == x, x, $3);\n"
      "  x = ingot_select_$0(x > $4, x, $4);\n"
      "  x = ingot_select_$0(x < $5, x, $5);\n"
      "  return __builtin_convertvector(__builtin_convertvector(x, i32x$2), "
      "$1x$2);\n}\n",
      t.name, to, t.lanes, all(0), all(least), all(most));
}

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

// "tou8" and the like.
bool IsSaturating(absl::string_view op) {
  return op == "tou8" || op == "toi8" || op == "tou16" || op == "toi16";
}

// How many of the processor's vectors hold one. Compilers take wider ones
// apart, but not well where a function looks at them.
int PartsOf(const VectorName& t, const HelperOptions& options) {
  return std::max(1, t.bytes * 8 / options.vector_bits);
}

VectorName PartOf(const VectorName& t, const HelperOptions& options) {
  return VectorName(
      absl::StrCat(t.element, "x", t.lanes / PartsOf(t, options)));
}

// Whether the function is one of its parts, which are vectors of that width.
bool IsByParts(absl::string_view op, const VectorName& t,
               const HelperOptions& options) {
  return PartsOf(t, options) > 1 && op != "load" && op != "strided" &&
         op != "store" && op != "splat" && op != "select" && op != "bits" &&
         op != "from" && op != "widen" && op != "narrow";
}

std::string ByParts(absl::string_view op, const VectorName& t,
                    const HelperOptions& options) {
  const VectorName part = PartOf(t, options);
  const int count = PartsOf(t, options);
  const std::string to =
      IsSaturating(op) ? std::string(op.substr(2)) : t.element;
  std::vector<std::string> params = {"x"};
  const bool has_three = IsDot(op) || op == "muladd";
  if (op == "min" || op == "max" || op == "pow" || op == "fmod" || has_three) {
    params.push_back("y");
  }
  if (has_three) params.push_back("z");
  std::string body;
  std::vector<std::string> declared, parts;
  for (const std::string& p : params) {
    declared.push_back(absl::StrCat(t.name, " ", p));
    parts.push_back(absl::StrCat(p, "s[i]"));
    absl::StrAppend(&body, "  ", part.name, " ", p, "s[", count,
                    "];\n  memcpy(", p, "s, &", p, ", sizeof(", p, "s));\n");
  }
  return absl::Substitute(
             "\nstatic inline $0x$1 ingot_$2_$3($4) {\n  $0x$1 result;\n  "
             "$0x$5 "
             "parts[$6];\n$7  for (int i = 0; i < $6; ++i) parts[i] = "
             "ingot_$2_$8($9",
             to, t.lanes, op, t.name, absl::StrJoin(declared, ", "), part.lanes,
             count, body, part.name, absl::StrJoin(parts, ", ")) +
         ");\n  memcpy(&result, parts, sizeof(result));\n  return result;\n}\n";
}

std::string Source(absl::string_view op, const VectorName& t,
                   const HelperOptions& options) {
  if (IsByParts(op, t, options)) return ByParts(op, t, options);
  const bool is_f32 = t.element == "f32";
  const std::string suffix = is_f32 ? "f" : "";
  if (op == "load") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_load_$0(const $1* p) {\n  $0 x;\n  "
        "memcpy(&x, "
        "p, sizeof(x));\n  return x;\n}\n",
        t.name, t.c);
  }
  if (op == "strided") {
    std::vector<std::string> lanes;
    for (int i = 0; i < t.lanes; ++i) {
      lanes.push_back(absl::StrCat("p[", i, " * stride]"));
    }
    return absl::Substitute(
        "\nstatic inline $0 ingot_strided_$0(const $1* p, int64_t stride) {\n"
        "  return ($0){$2};\n}\n",
        t.name, t.c, absl::StrJoin(lanes, ", "));
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
  if (IsOwnMath(op, true) && (is_f32 || op == "bits" || op == "from")) {
    return MathSource(op, t.name, options.fused);
  }
  if (op == "dot2") return Dot2(t);
  if (IsDot(op)) return Dot4(t, op != "dot4");
  if (IsSaturating(op)) return Saturating(t, op.substr(2));
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

std::string VectorHelperSource(const std::set<std::string>& helpers,
                               const HelperOptions& options) {
  // Definitions by their order: what others use comes first.
  const auto rank = [](const std::string& op) {
    const bool is_simple =
        op == "load" || op == "store" || op == "splat" || op == "sqrt";
    return is_simple ? 1 : MathRank(op);
  };
  std::map<std::string, VectorName> types;
  // Narrow ones come before the wide ones that are made of them.
  std::set<std::tuple<int, int, std::string>> functions;
  const auto use = [&types](const VectorName& t) { types.emplace(t.name, t); };
  const std::function<void(const std::string&, const VectorName&)> need =
      [&](const std::string& op, const VectorName& t) {
        use(t);
        use(VectorName(t.mask));
        const auto other = [&t](absl::string_view element) {
          return VectorName(absl::StrCat(element, "x", t.lanes));
        };
        if (IsSaturating(op)) use(other(op.substr(2)));
        if (IsByParts(op, t, options)) {
          need(op, PartOf(t, options));
        } else if (op == "widen" || op == "narrow") {
          use(other("f64"));
          use(other("i64"));
        } else if (IsSaturating(op)) {
          use(other("i32"));
        } else if (op == "rsqrt") {
          need("sqrt", t);
        }
        if (IsOwnMath(op, true) && !IsByParts(op, t, options)) {
          std::set<std::string> used = {
              absl::StrCat("ingot_", op, "_", t.name)};
          AddMathNeeds(&used);
          for (const std::string& name : used) {
            const std::vector<std::string> words = absl::StrSplit(name, '_');
            if (IsVectorHelper(name) && words[1] != op) {
              need(words[1], VectorName(words[2]));
            }
          }
        }
        if (op != "select") need("select", t);
        functions.emplace(t.lanes, rank(op), absl::StrCat(op, "_", t.name));
      };
  for (const std::string& name : helpers) {
    if (!IsVectorHelper(name)) continue;
    const std::vector<std::string> words = absl::StrSplit(name, '_');
    const VectorName t(words[2]);
    if (words[1] == "type") {
      use(t);
      use(VectorName(t.mask));
    } else {
      need(words[1], t);
    }
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
  for (const auto& [lanes, order, name] : functions) {
    const std::vector<std::string> words = absl::StrSplit(name, '_');
    absl::StrAppend(&out, Source(words[0], types.at(words[1]), options));
  }
  return out;
}

}  // namespace ingot::codegen

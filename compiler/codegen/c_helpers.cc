// The small functions that generated C calls where it has no operator.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c_math.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/c_vector_helpers.h"

namespace ingot::codegen {
namespace {

constexpr char kF16[] = R"(
static inline float ingot_f16_to_f32(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
  const uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
  uint32_t bits = magnitude;
  float f;
  memcpy(&f, &bits, sizeof(f));
  f *= 0x1p112f; /* corrects the bias of the exponent */
  memcpy(&bits, &f, sizeof(f));
  if (magnitude >= 0x0f800000) bits = magnitude | 0x7f800000;
  bits |= sign;
  memcpy(&f, &bits, sizeof(f));
  return f;
}

static inline uint16_t ingot_f32_to_f16(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof(f));
  const uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits >= 0x47800000) { /* too large, infinity or NaN */
    return (uint16_t)(sign | (bits > 0x7f800000 ? 0x7e00 : 0x7c00));
  }
  if (bits < 0x38800000) { /* subnormal: adding 0.5 rounds at the last place */
    memcpy(&f, &bits, sizeof(f));
    f += 0.5f;
    memcpy(&bits, &f, sizeof(f));
    return (uint16_t)(sign | (bits - 0x3f000000));
  }
  return (uint16_t)(sign | (bits + 0xc8000fff + (bits >> 13 & 1)) >> 13);
}

static inline float ingot_round_f16(float f) {
  return ingot_f16_to_f32(ingot_f32_to_f16(f));
}
)";

constexpr char kBf16[] = R"(
static inline float ingot_bf16_to_f32(uint16_t h) {
  const uint32_t bits = (uint32_t)h << 16;
  float f;
  memcpy(&f, &bits, sizeof(f));
  return f;
}

static inline uint16_t ingot_f32_to_bf16(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof(f));
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float ingot_round_bf16(float f) {
  return ingot_bf16_to_f32(ingot_f32_to_bf16(f));
}
)";

// To a float that, rounded again, gives what rounding once would: an inexact
// one ends in an odd bit.
constexpr char kDoubleToOdd[] = R"(
static inline float ingot_f64_to_odd(double d) {
  float f = (float)d;
  uint32_t bits;
  if (!((double)f < d || (double)f > d)) return f;
  memcpy(&bits, &f, sizeof(f));
  if (fabs((double)f) > fabs(d)) --bits;
  bits |= 1;
  memcpy(&f, &bits, sizeof(f));
  return f;
}
)";

constexpr char kRoundDouble[] = R"(
static inline float ingot_round_$0_d(double d) {
  return ingot_round_$0(ingot_f64_to_odd(d));
}
)";

std::string CType(absl::string_view t) {
  if (t == "f32") return "float";
  if (t == "f64") return "double";
  return absl::StrCat(t[0] == 'u' ? "u" : "", "int", t.substr(1), "_t");
}

// One past the largest value of an integer type, as a C double.
std::string Limit(absl::string_view t) {
  int bits = 0;
  for (char c : t.substr(1)) bits = bits * 10 + (c - '0');
  return absl::StrCat("0x1p", t[0] == 'u' ? bits : bits - 1);
}

std::string Saturating(absl::string_view from, absl::string_view to) {
  const bool is_signed = to[0] == 'i';
  const bool is_byte = to.substr(1) == "8";
  if (is_byte || to.substr(1) == "16") {
    // Branches on the numbers of quantised layers are hard to predict.
    const int most =
        is_signed ? (is_byte ? 127 : 32767) : (is_byte ? 255 : 65535);
    const int least = is_signed ? -most - 1 : 0;
    const std::string end = from == "f32" ? ".0f" : ".0";
    return absl::Substitute(
        R"(
static inline $0 ingot_$1_to_$2($3 x) {
$4  x = x > $5 ? x : $5;
  return ($0)(int32_t)(x < $6 ? x : $6);
}
)",
        CType(to), from, to, CType(from),
        is_signed
            ? absl::StrCat("  x = x == x ? x : 0", end, "; /* NaN gives 0 */\n")
            : "",
        absl::StrCat(least, end), absl::StrCat(most, end));
  }
  const std::string limits =
      absl::StrCat(to[0] == 'u' ? "UINT" : "INT", to.substr(1), "_M");
  const std::string suffix = from == "f32" ? "f" : "";
  return absl::Substitute(R"(
static inline $0 ingot_$1_to_$2($3 x) {
  if (x >= $4) return $5AX;
  if (x <= $6) return $7;
  return x == x ? ($0)x : 0; /* NaN gives 0 */
}
)",
                          CType(to), from, to, CType(from),
                          absl::StrCat(Limit(to), suffix), limits,
                          to[0] == 'u' ? absl::StrCat("0.0", suffix)
                                       : absl::StrCat("-", Limit(to), suffix),
                          to[0] == 'u' ? "0" : absl::StrCat(limits, "IN"));
}

// Division that never traps: by zero, and where the result would overflow, it
// is division by one.
std::string Division(absl::string_view op, absl::string_view t) {
  const bool is_signed = t[0] == 'i';
  std::string body = absl::Substitute(
      is_signed ? "  if (b == 0 || (b == -1 && a == $0_MIN)) b = 1;\n"
                : "  if (b == 0) b = 1;\n",
      absl::StrCat("INT", t.substr(1)));
  if (op == "div" || !is_signed) {
    const bool is_div = op == "div" || op == "floordiv";
    absl::StrAppend(&body, "  return (", CType(t), ")(a ", is_div ? "/" : "%",
                    " b);\n");
  } else if (op == "mod") {
    absl::StrAppend(&body, "  return (", CType(t), ")(a % b);\n");
  } else if (op == "floordiv") {
    absl::StrAppend(&body, "  return (", CType(t),
                    ")(a / b - (a % b != 0 && (a < 0) != (b < 0)));\n");
  } else {
    absl::StrAppend(&body, "  return (", CType(t),
                    ")(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));\n");
  }
  return absl::Substitute("\nstatic inline $0 ingot_$1_$2($0 a, $0 b) {\n$3}\n",
                          CType(t), op, t, body);
}

// The text of one helper without what it needs, by the words of its name.
std::string Source(const std::string& name) {
  const std::vector<std::string> words = absl::StrSplit(name, '_');
  const std::string& op = words[1];
  const std::string& t = words[2];
  if (op == "min" || op == "max") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_$1_$2($0 a, $0 b) { return a $3 b ? a : b; "
        "}\n",
        CType(t), op, t, op == "min" ? "<" : ">");
  }
  if (op == "abs") {
    return absl::Substitute(
        "\nstatic inline $0 ingot_abs_$1($0 a) { return ($0)(a < 0 ? -a : a); "
        "}\n",
        CType(t), t);
  }
  if (op == "word") {
    const bool is_byte = t == "u8";
    return absl::Substitute(
        R"(
/* $1 as a word, the first the lowest. */
static inline int32_t ingot_word_$0(const $2* p) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  int32_t word;
  memcpy(&word, p, sizeof(word));
  return word;
#else
  return (int32_t)($3);
#endif
}
)",
        t, is_byte ? "Four bytes" : "Two numbers", CType(t),
        is_byte ? "p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |\n"
                  "                   (uint32_t)p[3] << 24"
                : "(uint16_t)p[0] | (uint32_t)(uint16_t)p[1] << 16");
  }
  if (op == "dot4") {
    // The first operand's bytes have no sign, the second's have one.
    return R"(
static inline int32_t ingot_dot4_i32(int32_t a, int32_t b, int32_t c) {
  uint32_t x = (uint32_t)a, y = (uint32_t)b, sum = (uint32_t)c;
#if defined(__clang__) && defined(__x86_64__)
/* Clang 19 makes vectors of several of these, which give other numbers. */
#pragma clang loop unroll(disable)
#endif
  for (int i = 0; i < 4; ++i, x >>= 8, y >>= 8) {
    sum += (uint32_t)((int32_t)(x & 255) * (int8_t)(y & 255));
  }
  return (int32_t)sum;
}
)";
  }
  if (op == "dot2") {
    return R"(
static inline int32_t ingot_dot2_i32(int32_t a, int32_t b, int32_t c) {
  uint32_t x = (uint32_t)a, y = (uint32_t)b, sum = (uint32_t)c;
  for (int i = 0; i < 2; ++i, x >>= 16, y >>= 16) {
    sum += (uint32_t)((int32_t)(int16_t)(x & 65535) * (int16_t)(y & 65535));
  }
  return (int32_t)sum;
}
)";
  }
  if (op == "opaque") {
    return R"(
/* x: GCC would follow each address that is made of it along the loops in a
   register of its own, and so run out of registers. */
static inline int64_t ingot_opaque_i64(int64_t x) {
  __asm__("" : "+r"(x));
  return x;
}
)";
  }
  if (op == "prefetch") {
    return R"(
/* Asks for memory that will be read soon; any address will do. */
static inline void ingot_prefetch_bytes(const void* element, int ahead) {
#if defined(__GNUC__)
  __builtin_prefetch((const void*)((uintptr_t)element + ahead));
#else
  (void)element, (void)ahead;
#endif
}
)";
  }
  if (words.size() == 4 && t == "to") return Saturating(op, words[3]);
  return Division(op, t);
}

}  // namespace

std::string HelperSource(const std::set<std::string>& helpers,
                         const HelperOptions& options) {
  std::set<std::string> all = helpers;
  AddMathNeeds(&all, options.fused);
  bool f16 = false, bf16 = false, f16_d = false, bf16_d = false;
  std::string rest;
  std::map<int, std::string> math;
  for (const std::string& name : all) {
    if (IsVectorHelper(name)) continue;
    const std::vector<std::string> words = absl::StrSplit(name, '_');
    const bool is_f16 = words[1] == "f16" || words.back() == "f16";
    const bool is_bf16 = words[1] == "bf16" || words.back() == "bf16";
    if (name == "ingot_round_f16_d") {
      f16 = f16_d = true;
    } else if (name == "ingot_round_bf16_d") {
      bf16 = bf16_d = true;
    } else if (is_f16) {
      f16 = true;
    } else if (is_bf16) {
      bf16 = true;
    } else if (IsOwnMath(words[1], false)) {
      math[MathRank(words[1])] += MathSource(words[1], words[2], options.fused);
    } else {
      rest += Source(name);
    }
  }
  std::string out;
  if (f16) out += kF16;
  if (bf16) out += kBf16;
  if (f16_d || bf16_d) out += kDoubleToOdd;
  if (f16_d) out += absl::Substitute(kRoundDouble, "f16");
  if (bf16_d) out += absl::Substitute(kRoundDouble, "bf16");
  for (const auto& [rank, text] : math) out += text;
  return absl::StrCat(out, rest, VectorHelperSource(helpers, options));
}

}  // namespace ingot::codegen

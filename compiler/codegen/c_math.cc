#include "compiler/codegen/c_math.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"

namespace ingot::codegen {
namespace {

// In the texts: $0 is "f32" or "f32x8", $1 its type, $2 that of its bits and
// conditions; $3, $4 and $5 are the same of doubles; $6 is the number of lanes.

// Horner's scheme in z, from the highest power down, as the variable `name`.
std::string Poly(absl::string_view name, absl::string_view z,
                 std::initializer_list<absl::string_view> coefficients) {
  std::string text;
  for (absl::string_view c : coefficients) {
    if (text.empty()) {
      text = absl::StrCat("  $1 ", name, " = ($1){0} + ", c, ";\n");
    } else {
      absl::StrAppend(&text, "  ", name, " = ingot_step_$0(", name, ", ", z,
                      ", ", c, ");\n");
    }
  }
  return text;
}

std::string Exp() {
  return absl::StrCat(
      R"(
/* 2^n exp(r) with r at most half of ln(2). */
static inline $1 ingot_exp_$0($1 x) {
  const float round = 12583166.0f; /* 1.5 * 2^23 + 2 * 127 */
  x = ingot_select_$0(x > 89.0f, ($1){0} + 89.0f, x);
  x = ingot_select_$0(x < -105.0f, ($1){0} - 105.0f, x);
  const $1 shifted = ingot_step_$0(x, ($1){0} + 1.44269504088896341f, round);
  const $1 n = shifted - round;
  $1 r = ingot_muladd_$0(n, ($1){0} - 0.693359375f, x);
  r = ingot_muladd_$0(n, ($1){0} + 2.12194440e-4f, r);
)",
      Poly("p", "r",
           {"1.3814541e-3f", "8.3687454e-3f", "4.1668389e-2f", "1.6666521e-1f",
            "4.9999994e-1f", "1.0f", "1.0f"}),
      R"(  const $2 e = ingot_bits_$0(shifted), half = e >> 1;
  return p * ingot_from_$0((half & 0x1ff) << 23) *
         ingot_from_$0(((e - half) & 0x1ff) << 23);
}
)");
}

std::string Tanh() {
  return absl::StrCat(
      R"(
static inline $1 ingot_tanh_$0($1 x) {
  const float limit = 9.0f; /* where the result is 1 */
  $1 c = ingot_select_$0(x > limit, ($1){0} + limit, x);
  c = ingot_select_$0(c < -limit, ($1){0} - limit, c);
  const $1 z = c * c;
)",
      Poly("p", "z",
           {"-2.76076847742355e-16f", "2.00018790482477e-13f",
            "-8.60467152213735e-11f", "5.12229709037114e-08f",
            "1.48572235717979e-05f", "6.37261928875436e-04f",
            "4.89352455891786e-03f"}),
      Poly("q", "z",
           {"1.19825839466702e-06f", "1.18534705686654e-04f",
            "2.26843463243900e-03f", "4.89352518554385e-03f"}),
      R"(  c = c * (p / q); /* 1 + tanh(x) is not negative */
  c = ingot_select_$0(c > 1.0f, ($1){0} + 1.0f, c);
  return ingot_select_$0(c < -1.0f, ($1){0} - 1.0f, c);
}
)");
}

std::string Erf() {
  return absl::StrCat(
      R"(
static inline $1 ingot_erf_$0($1 x) {
  const float limit = 3.925724783138660f;
  $1 c = ingot_select_$0(x > limit, ($1){0} + limit, x);
  c = ingot_select_$0(c < -limit, ($1){0} - limit, c);
  const $1 z = c * c;
)",
      Poly("p", "z",
           {"2.123732201653183437883853912353515625e-06f",
            "2.86197959212586283683776855468750e-04f",
            "3.658048342913389205932617187500e-03f",
            "5.243302136659622192382812500000e-02f",
            "1.874160766601562500000000000000e-01f",
            "1.128379106521606445312500000000e+00f"}),
      Poly("q", "z",
           {"3.89185734093189239501953125000e-05f",
            "1.14329601638019084930419921875e-03f",
            "1.47520881146192550659179687500e-02f",
            "1.12945675849914550781250000000e-01f",
            "4.99425798654556274414062500000e-01f", "1.0f"}),
      R"(  c = c * (p / q); /* 1 + erf(x) is not negative */
  c = ingot_select_$0(c > 1.0f, ($1){0} + 1.0f, c);
  return ingot_select_$0(c < -1.0f, ($1){0} - 1.0f, c);
}
)");
}

std::string Log() {
  return absl::StrCat(
      R"(
static inline $1 ingot_log_$0($1 x) {
  const $1 scaled = ingot_select_$0(x < 0x1p-126f, x * 0x1p23f, x);
  /* x = 2^e * (1 + r), with 1 + r between sqrt(1/2) and sqrt(2). */
  const $2 bits = ingot_bits_$0(scaled) + (0x3f800000 - 0x3f3504f3);
  /* e as a float: its bits at the end of those of 1.5 * 2^23. */
  $1 e = ingot_from_$0((bits >> 23) + (0x4b400000 - 127)) - 12582912.0f;
  e = ingot_select_$0(x < 0x1p-126f, e - 23.0f, e);
  const $1 r = ingot_from_$0((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
  const $1 z = r * r;
)",
      Poly("y", "r",
           {"7.0376836292e-2f", "-1.1514610310e-1f", "1.1676998740e-1f",
            "-1.2420140846e-1f", "1.4249322787e-1f", "-1.6668057665e-1f",
            "2.0000714765e-1f", "-2.4999993993e-1f", "3.3333331174e-1f"}),
      R"(  y = r * z * y;
  y = ingot_muladd_$0(e, ($1){0} - 2.12194440e-4f, y);
  y = ingot_muladd_$0(z, ($1){0} - 0.5f, y);
  y = ingot_muladd_$0(e, ($1){0} + 0.693359375f, r + y);
  y = ingot_select_$0((x < INFINITY) | (x != x), y, x);
  y = ingot_select_$0((x < 0.0f) | (x != x), ($1){0} + NAN, y);
  return ingot_select_$0(x == 0.0f, ($1){0} - INFINITY, y);
}
)");
}

// In doubles, and by multiplications and additions that are rounded each.
constexpr char kPow[] = R"(
/* 2^(y log2 |x|), with the sign and the special cases that C gives it. */
static inline $1 ingot_pow_$0($1 x, $1 y) {
  const double round = 0x1.8p52;
  $4 base = ingot_widen_$0(x);
  base = ingot_select_$3(base < 0.0, -base, base);
  const $5 bits = ingot_bits_$3(base) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
  /* The exponent as a double: its bits at the end of those of `round`. */
  const $4 e = ingot_from_$3((bits >> 52) + (0x4338000000000000 - 1023)) - round;
  const $4 r =
      ingot_from_$3((bits & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1.0;
  const $4 s = r / (r + 2.0), z = s * s;
  $4 p = z * (2.0 / 13) + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  p = p * z + 2.0;
  $4 log2 = p * s * 1.4426950408889634074 + e;
  log2 = ingot_select_$3(base == 0.0, ($4){0} - INFINITY, log2);
  log2 = ingot_select_$3(base == INFINITY, ($4){0} + INFINITY, log2);
  $4 t = ingot_widen_$0(y) * log2;
  t = ingot_select_$3(t > 300.0, ($4){0} + 300.0, t);
  t = ingot_select_$3(t < -300.0, ($4){0} - 300.0, t);
  const $4 shifted = t + round;
  const $4 f = (t - (shifted - round)) * 0.69314718055994530942;
  p = f * (1.0 / 40320) + 1.0 / 5040;
  p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  $1 result = ingot_narrow_$0(
      p * ingot_from_$3((ingot_bits_$3(shifted) + 1023) << 52));
  const $1 half = y * 0.5f;
  const $2 is_integer = ingot_trunc_$0(y) == y;
  const $2 is_even = ingot_trunc_$0(half) == half;
  const $2 is_negative = ingot_bits_$0(x) < 0;
  result = ingot_select_$0(is_negative & is_integer & (is_even == 0), -result,
                           result);
  result = ingot_select_$0((x < 0.0f) & (x > -INFINITY) & (is_integer == 0),
                           ($1){0} + NAN, result);
  result = ingot_select_$0((x != x) | (y != y), ($1){0} + NAN, result);
  const $2 is_infinite = (y == INFINITY) | (y == -INFINITY);
  return ingot_select_$0((x == 1.0f) | ((x == -1.0f) & is_infinite) | (y == 0.0f),
                         ($1){0} + 1.0f, result);
}
)";

constexpr char kAngle[] = R"(
/* Tells how far x, of at least 2^19, is from the nearest multiple of pi / 2, and the
   last bits of which one that is: by those digits of 2 / pi that count. */
static inline float ingot_angle_f32(float x, int32_t* quadrant) {
  static const uint32_t digits[] = {
      0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
      0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  const uint32_t exponent = bits >> 23 & 0xff;
  if (exponent == 0xff) return NAN;
  const uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
  const uint32_t* d = digits + (exponent - 120) / 32;
  const int shift = (exponent - 120) % 32;
  uint32_t w[3]; /* 96 bits of them */
  for (int i = 0; i < 3; ++i) {
    w[i] = (uint32_t)((((uint64_t)d[i] << 32 | d[i + 1]) << shift) >> 32);
  }
  const uint64_t middle = mantissa * w[1] + (mantissa * w[2] >> 32);
  const uint64_t high = mantissa * w[0] + (middle >> 32);
  const uint64_t turns = high << 32 | (middle & 0xffffffff); /* / 2^62 */
  const int32_t q = (int32_t)((turns + (1ull << 61)) >> 62);
  const float r = (float)((double)(int64_t)(turns << 2) * 0x1.921fb54442d18p-64);
  *quadrant = x < 0 ? -q : q;
  return x < 0 ? -r : r;
}
)";

std::string SinCos(bool is_cosine) {
  return absl::StrCat(
      "\nstatic inline $1 ingot_", is_cosine ? "cos" : "sin",
      R"(_$0($1 x) {
  const double round = 0x1.8p52;
  const $4 wide = ingot_widen_$0(x);
  const $4 n = (wide * 0.63661977236758134308 + round) - round;
  $4 rest = n * -1.57079632673412561417e+00 + wide;
  rest = n * -6.07710050650619224932e-11 + rest;
  $1 r = ingot_narrow_$0(rest);
  $2 quadrant = ingot_bits_$0(ingot_narrow_$0(n) + 12582912.0f);
  float xs[$6], rs[$6];
  int32_t quadrants[$6];
  memcpy(xs, &x, sizeof(xs));
  int large = 0;
  for (int i = 0; i < $6; ++i) large |= fabsf(xs[i]) > 1e6f;
  if (large) {
    memcpy(rs, &r, sizeof(rs));
    memcpy(quadrants, &quadrant, sizeof(quadrants));
    for (int i = 0; i < $6; ++i) {
      if (fabsf(xs[i]) > 1e6f) rs[i] = ingot_angle_f32(xs[i], &quadrants[i]);
    }
    memcpy(&r, rs, sizeof(rs));
    memcpy(&quadrant, quadrants, sizeof(quadrants));
  }
)",
      is_cosine ? "  quadrant += 1;\n" : "", "  const $1 z = r * r;\n",
      Poly("sine", "z",
           {"-1.9515295891e-4f", "8.3321608736e-3f", "-1.6666654611e-1f"}),
      "  sine = ingot_muladd_$0(sine * z, r, r);\n",
      Poly("cosine", "z",
           {"2.443315711809948e-5f", "-1.388731625493765e-3f",
            "4.166664568298827e-2f"}),
      R"(  cosine = ingot_muladd_$0(
      cosine * z, z, ingot_step_$0(z, ($1){0} - 0.5f, 1.0f));
  const $1 result = ingot_select_$0((quadrant & 1) != 0, cosine, sine);
  return ingot_from_$0(ingot_bits_$0(result) ^ ((quadrant & 2) << 30));
}
)");
}

// Rounded once where the machine has an instruction for it, and otherwise by
// doubles: the product is exact, and so is the sum but for its last bit, which
// is made odd where something is lost.
constexpr char kFusedMulAdd[] = R"(
#if defined(__FMA__) || defined(__AVX512F__) || defined(__aarch64__) || \
    defined(__ARM_FEATURE_FMA) || defined(__riscv_flen)
static inline float ingot_muladd_f32(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
#else
static inline float ingot_muladd_f32(float x, float y, float z) {
  const double product = (double)x * y, sum = product + z;
  const double of_z = sum - product;
  const double lost = (product - (sum - of_z)) + (z - of_z);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof(bits));
  if ((lost < 0 || lost > 0) && bits % 2 == 0) {
    bits += (lost > 0) == (sum > 0) ? 1 : -1;
  }
  double odd;
  memcpy(&odd, &bits, sizeof(odd));
  return (float)odd;
}
#endif
)";

// The same of vectors.
std::string FusedMulAdd(int lanes) {
  if (lanes == 1) return kFusedMulAdd;
  std::string instruction;
  const auto add = [&](absl::string_view when, absl::string_view result) {
    absl::StrAppend(&instruction, instruction.empty() ? "#if " : "#elif ", when,
                    "\n  (void)ingot_muladd_f32; /* for others */\n",
                    "  return ($1)", result, ";\n");
  };
  if (lanes == 4) {
    add("defined(__FMA__)", "_mm_fmadd_ps((__m128)x, (__m128)y, (__m128)z)");
    add("defined(__aarch64__)",
        "vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y)");
  } else if (lanes == 8) {
    add("defined(__FMA__)", "_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z)");
  } else if (lanes == 16) {
    add("defined(__AVX512F__)",
        "_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z)");
  }
  return absl::StrCat(
      "\nstatic inline $1 ingot_muladd_$0($1 x, $1 y, $1 z) {\n", instruction,
      instruction.empty() ? "" : "#else\n",
      "  for (int i = 0; i < $6; ++i) x[i] = ingot_muladd_f32(x[i], y[i], "
      "z[i]);\n  return x;\n",
      instruction.empty() ? "" : "#endif\n", "}\n");
}

// The functions that look at a value, of a float or of a vector.
std::string Basic(absl::string_view op, bool is_vector) {
  if (op == "select") {
    return "\nstatic inline $1 ingot_select_$0(int32_t c, $1 x, $1 y) {\n"
           "  return c ? x : y;\n}\n";
  }
  if (op == "bits" || op == "from") {
    const bool is_bits = op == "bits";
    const std::string types =
        is_bits ? "$2 ingot_bits_$0($1 x)" : "$1 ingot_from_$0($2 x)";
    if (is_vector) {
      return absl::StrCat("\nstatic inline ", types, " { return (",
                          is_bits ? "$2" : "$1", ")x; }\n");
    }
    return absl::StrCat("\nstatic inline ", types, " {\n  ",
                        is_bits ? "$2" : "$1",
                        " y;\n  memcpy(&y, &x, sizeof(y));\n  return y;\n}\n");
  }
  if (op == "widen") {
    return is_vector
               ? "\nstatic inline $4 ingot_widen_$0($1 x) {\n"
                 "  return __builtin_convertvector(x, $4);\n}\n"
               : "\nstatic inline $4 ingot_widen_$0($1 x) { return x; }\n";
  }
  if (op == "narrow") {
    return is_vector ? "\nstatic inline $1 ingot_narrow_$0($4 x) {\n"
                       "  return __builtin_convertvector(x, $1);\n}\n"
                     : "\nstatic inline $1 ingot_narrow_$0($4 x) {\n"
                       "  return (float)x;\n}\n";
  }
  if (op == "trunc") {
    return "\nstatic inline $1 ingot_trunc_$0($1 x) { return truncf(x); }\n";
  }
  // Horner's.
  return "\nstatic inline $1 ingot_step_$0($1 p, $1 x, float c) {\n"
         "  return ingot_muladd_$0(p, x, ($1){0} + c);\n}\n";
}

std::string Text(absl::string_view op, bool is_vector) {
  if (op == "exp") return Exp();
  if (op == "tanh") return Tanh();
  if (op == "erf") return Erf();
  if (op == "log") return Log();
  if (op == "pow") return kPow;
  if (op == "angle") return kAngle;
  if (op == "sin" || op == "cos") return SinCos(op == "cos");
  return Basic(op, is_vector);
}

// Lists what each function calls: of its own type, except for those of doubles.
const std::map<std::string, std::vector<std::string>>& Needs() {
  static const auto* const needs =
      new std::map<std::string, std::vector<std::string>>{
          {"select", {}},
          {"bits", {}},
          {"from", {}},
          {"widen", {}},
          {"narrow", {}},
          {"trunc", {}},
          {"angle", {}},
          {"muladd", {}},
          {"step", {"muladd"}},
          {"exp", {"select", "step", "muladd", "bits", "from"}},
          {"tanh", {"select", "step"}},
          {"erf", {"select", "step"}},
          {"log", {"select", "step", "muladd", "bits", "from"}},
          {"pow", {"select", "widen", "narrow", "trunc", "bits"}},
          {"sin",
           {"select", "step", "muladd", "widen", "narrow", "bits", "from"}},
          {"cos",
           {"select", "step", "muladd", "widen", "narrow", "bits", "from"}},
      };
  return *needs;
}

// "f32x8" as 8, "f32" as 1.
int LanesOf(absl::string_view type) {
  int lanes = 1;
  const size_t x = type.find('x');
  if (x != absl::string_view::npos) {
    (void)absl::SimpleAtoi(type.substr(x + 1), &lanes);
  }
  return lanes;
}

// The type of as many elements of another kind.
std::string Like(absl::string_view type, absl::string_view element) {
  const size_t x = type.find('x');
  return absl::StrCat(element,
                      x == absl::string_view::npos ? "" : type.substr(x));
}

}  // namespace

bool IsOwnMath(absl::string_view op, bool is_vector) {
  if (is_vector && (op == "select" || op == "trunc")) return false;
  return Needs().count(std::string(op)) != 0;
}

bool IsInDoubles(absl::string_view op) {
  const auto found = Needs().find(std::string(op));
  return found != Needs().end() &&
         std::count(found->second.begin(), found->second.end(), "widen") > 0;
}

void AddMathNeeds(std::set<std::string>* helpers, bool fused) {
  std::vector<std::string> open(helpers->begin(), helpers->end());
  while (!open.empty()) {
    const std::vector<std::string> words = absl::StrSplit(open.back(), '_');
    open.pop_back();
    // Functions of doubles are the C library's, which need nothing.
    if (words.size() != 3 || words[2].substr(0, 3) != "f32") continue;
    const auto found = Needs().find(words[1]);
    if (found == Needs().end()) continue;
    const auto add = [&](absl::string_view op, absl::string_view type) {
      std::string name = absl::StrCat("ingot_", op, "_", type);
      if (helpers->insert(name).second) open.push_back(std::move(name));
    };
    const std::string& type = words[2];
    for (const std::string& op : found->second) add(op, type);
    if (words[1] == "pow") {
      for (const char* op : {"select", "bits", "from"}) {
        add(op, Like(type, "f64"));
      }
    }
    if (words[1] == "sin" || words[1] == "cos") add("angle", "f32");
    if (words[1] == "muladd" && fused) add("muladd", "f32");
  }
}

int MathRank(absl::string_view op) {
  if (op == "muladd") return 2;
  if (op == "step") return 3;
  const auto found = Needs().find(std::string(op));
  return found != Needs().end() && found->second.empty() ? 1 : 4;
}

std::string MathSource(absl::string_view op, absl::string_view type,
                       bool fused) {
  const int lanes = LanesOf(type);
  const bool is_vector = lanes > 1, is_double = type.substr(0, 3) == "f64";
  std::string text;
  if (op == "muladd") {
    text = fused ? FusedMulAdd(lanes)
                 : "\nstatic inline $1 ingot_muladd_$0($1 x, $1 y, $1 z) {\n"
                   "  return x * y + z;\n}\n";
  } else {
    text = Text(op, is_vector);
  }
  const std::string wide = Like(type, "f64");
  const std::string wide_bits = is_vector ? Like(type, "i64") : "int64_t";
  const std::string wide_type = is_vector ? wide : "double";
  std::string own = is_vector ? std::string(type) : "float";
  std::string bits = is_vector ? Like(type, "i32") : "int32_t";
  if (is_double) own = wide_type;
  if (is_double) bits = wide_bits;
  if (!is_vector) {
    // A float needs no cast from itself.
    text = absl::StrReplaceAll(text, {{"($1){0} + ", ""}, {"($1){0} - ", "-"}});
  }
  return absl::Substitute(text, type, own, bits, wide, wide_type, wide_bits,
                          lanes);
}

}  // namespace ingot::codegen

#include "compiler/codegen/c_vector_integers.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"

namespace ingot::codegen {
namespace {

// The names of x86's functions for vectors of so many bytes begin so.
std::string Prefix(int bytes) {
  return bytes == 16 ? "_mm" : absl::StrCat("_mm", 8 * bytes);
}

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
    absl::StrAppend(
        &text_, text_.empty() ? "#if " : "#elif ", when, "\n  return (",
        t_.name, ")",
        absl::Substitute(call, Prefix(t_.bytes), absl::StrCat(type, "x"),
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

// The instructions that multiply parts of each lane and add all products to it,
// `dp` and the types' letters.
void AddProductsInOne(const VectorName& t, const char* dp,
                      Instructions* instructions) {
  const auto call = [dp](const char* form) {
    return absl::StrCat("$0_", dp, form, "_epi32($3, $1, $2)");
  };
  if (t.bytes == 64) {
    instructions->Add("defined(__AVX512VNNI__)", call(""));
  } else if (t.bytes == 32 || t.bytes == 16) {
    instructions->Add("defined(__AVX512VNNI__) && defined(__AVX512VL__)",
                      call(""));
    instructions->Add("defined(__AVXVNNI__)", call("_avx"));
  }
}

// A vector of at most 16 bytes as x86's type for one of 16; empty where there
// is no way that compilers take.
std::string InRegister(const VectorName& t) {
  if (t.bytes == 16) return "(__m128i)x";
  if (t.bytes == 8) return "_mm_cvtsi64_si128((long long)x)";
  if (t.bytes == 4) return "_mm_cvtsi32_si128((int)x)";
  return "";
}

}  // namespace

// Products of bytes by x86: of any, and of those that are less than 128 in x.
// Without an instruction that multiplies bytes, those of even and of odd places
// are made 16 bits wide: by shifts, as gcc would mask a number before it fills
// a vector with it, and then twice.
std::string Dot4(const VectorName& t, bool small) {
  Instructions instructions(t);
  constexpr char kPairs[] =
      "$0_add_epi32($3, $0_madd_epi16($0_maddubs_epi16($1, $2), "
      "$0_set1_epi16(1)))";
  constexpr char kHalves[] =
      "$0_add_epi32(\n"
      "      $0_add_epi32($3, $0_madd_epi16(\n"
      "          $0_srli_epi16($0_slli_epi16($1, 8), 8),\n"
      "          $0_srai_epi16($0_slli_epi16($2, 8), 8))),\n"
      "      $0_madd_epi16($0_srli_epi16($1, 8), $0_srai_epi16($2, 8)))";
  AddProductsInOne(t, "dpbusd", &instructions);
  if (t.bytes == 64) {
    instructions.Add("defined(__AVX512BW__)", small ? kPairs : kHalves);
  } else if (t.bytes == 32 || t.bytes == 16) {
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
  AddProductsInOne(t, "dpwssd", &instructions);
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

// x86 takes the second one where the first is no number, and so does C's `?:`.
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
      "\nstatic inline $1x$2 ingot_to$1_$0($0 x) {\n$3"
      "  x = ingot_min_$0(ingot_max_$0(x, $4), $5);\n"
      "  return __builtin_convertvector(__builtin_convertvector(x, i32x$2), "
      "$1x$2);\n}\n",
      t.name, to, t.lanes,
      is_signed ? absl::Substitute("  x = ingot_select_$0(x == x, x, $1);\n",
                                   t.name, all(0))
                : "",
      all(least), all(most));
}

std::string Widening(const VectorName& t, const VectorName& to) {
  // GCC 12 converts halves, and element by element where the width grows more
  // than twofold. A signed type of twice the width holds every number.
  std::string steps = "x";
  const int growth = to.bytes / t.bytes;
  const int bits = 8 * t.bytes / t.lanes;
  for (int times = 2; times < growth; times *= 2) {
    steps = absl::StrCat("__builtin_convertvector(", steps, ", i", bits * times,
                         "x", t.lanes, ")");
  }
  const std::string otherwise = absl::StrCat(
      "  return __builtin_convertvector(", steps, ", ", to.name, ");\n");
  const bool is_short = to.bytes / t.lanes == 2;
  const char* const when = to.bytes == 64
                               ? is_short ? "__AVX512BW__" : "__AVX512F__"
                           : to.bytes == 32 ? "__AVX2__"
                           : to.bytes == 16 ? "__SSE4_1__"
                                            : nullptr;
  const std::string x =
      t.bytes == 32 ? std::string("(__m256i)x") : InRegister(t);
  std::string body = otherwise;
  if (when != nullptr && !x.empty()) {
    body = absl::Substitute(
        "#ifdef $0\n  return ($1)$2_cvtep$3$4_epi$5($6);\n#else\n$7#endif\n",
        when, to.name, Prefix(to.bytes), t.element[0] == 'u' ? "u" : "i", bits,
        8 * to.bytes / to.lanes, x, otherwise);
  }
  return absl::Substitute("\nstatic inline $0 ingot_to$1_$2($2 x) {\n$3}\n",
                          to.name, to.element, t.name, body);
}

std::string ExtremeByMask(const VectorName& t, bool is_min) {
  return absl::Substitute(
      "  const $1 of_x = x $2 y;\n"
      "  return ($0)((of_x & ($1)x) | (~of_x & ($1)y));\n",
      t.name, t.mask, is_min ? "<" : ">");
}

std::string IntegerExtreme(const VectorName& t, bool is_min) {
  const char* const name = is_min ? "min" : "max";
  const int bits = 8 * t.bytes / t.lanes;
  const bool is_old = t.element == "u8" || t.element == "i16";
  const char* when = nullptr;
  if (t.bytes == 64) {
    when = bits < 32 ? "__AVX512BW__" : "__AVX512F__";
  } else if (bits < 64) {
    when = t.bytes == 32   ? "__AVX2__"
           : t.bytes == 16 ? (is_old ? "__SSE2__" : "__SSE4_1__")
                           : nullptr;
  }
  std::string body = ExtremeByMask(t, is_min);
  if (when != nullptr) {
    body = absl::Substitute(
        "#ifdef $0\n  return ($1)$2_$3_ep$4$5((__m$6i)x, (__m$6i)y);\n#else\n"
        "$7#endif\n",
        when, t.name, Prefix(t.bytes), name, t.element[0] == 'u' ? "u" : "i",
        bits, 8 * t.bytes, body);
  }
  return absl::Substitute("\nstatic inline $0 ingot_$1_$0($0 x, $0 y) {\n$2}\n",
                          t.name, name, body);
}

std::string LookUp(const VectorName& t) {
  std::vector<std::string> lanes;
  for (int i = 0; i < t.lanes; ++i)
    lanes.push_back(absl::StrCat("p[x[", i, "]]"));
  const std::string index = absl::StrCat("u8x", t.lanes);
  const std::string head = absl::Substitute(
      "\nstatic inline $0 ingot_lookup_$0(const $1* p, $2 x) {\n", t.name, t.c,
      index);
  const std::string otherwise = absl::Substitute("  return ($0){$1};\n", t.name,
                                                 absl::StrJoin(lanes, ", "));
  std::string x, result;
  if (t.bytes == 64) {
    x = "(__m512i)x";
    result = "y";
  } else if (t.bytes == 32) {
    x = "_mm512_castsi256_si512((__m256i)x)";
    result = "_mm512_castsi512_si256(y)";
  } else if (t.bytes <= 16 && t.bytes >= 4) {
    x = absl::StrCat("_mm512_castsi128_si512(", InRegister(t), ")");
    result = "_mm512_castsi512_si128(y)";
    if (t.bytes == 8) result = absl::StrCat("_mm_cvtsi128_si64(", result, ")");
    if (t.bytes == 4) result = absl::StrCat("_mm_cvtsi128_si32(", result, ")");
  } else {
    return absl::StrCat(head, otherwise, "}\n");
  }
  return absl::Substitute(
      R"($0#ifdef __AVX512VBMI__
  /* Each chooses among 128 by the low 7 bits. */
  const __m512i i = $1;
  const __m512i low = _mm512_permutex2var_epi8(
      _mm512_loadu_si512(p), i, _mm512_loadu_si512(p + 64));
  const __m512i high = _mm512_permutex2var_epi8(
      _mm512_loadu_si512(p + 128), i, _mm512_loadu_si512(p + 192));
  const __m512i y =
      _mm512_mask_blend_epi8(_mm512_movepi8_mask(i), low, high);
  return ($2)$3;
#else
$4#endif
}
)",
      head, x, t.name, result, otherwise);
}

}  // namespace ingot::codegen

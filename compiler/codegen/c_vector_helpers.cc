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
#include "compiler/codegen/c_vector_blocks.h"
#include "compiler/codegen/c_vector_integers.h"
#include "compiler/codegen/c_vector_name.h"
#include "compiler/codegen/c_vector_quantize.h"

namespace ingot::codegen {
namespace {

bool IsDot(absl::string_view op) { return absl::StartsWith(op, "dot"); }

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
  if (t.element[0] != 'f') return IntegerExtreme(t, is_min);
  const char* const name = is_min ? "min" : "max";
  return absl::Substitute(
      "\nstatic inline $0 ingot_$1_$0($0 x, $0 y) {\n$2}\n", t.name, name,
      WithInstruction(t, name, name, "__SSE2__", "($0)x, ($0)y",
                      ExtremeByMask(t, is_min)));
}

std::string Rounded(const VectorName& t, absl::string_view op,
                    absl::string_view function, int mode) {
  return absl::Substitute(
      "\nstatic inline $0 ingot_$1_$0($0 x) {\n$2}\n", t.name, op,
      WithInstruction(t, "round", "roundscale", "__SSE4_1__",
                      absl::StrCat("($0)x, ", mode),
                      ByLanes(t, function, false)));
}

// The element that a conversion gives: "u8" of "tou8".
std::string ElementOf(absl::string_view op, const VectorName& t) {
  if (IsOfQuantization(op)) return ElementOfQuantization(op);
  return absl::StartsWith(op, "to") ? std::string(op.substr(2)) : t.element;
}

// The type that the function gives.
VectorName ResultOf(absl::string_view op, const VectorName& t) {
  return VectorName(absl::StrCat(ElementOf(op, t), "x", t.lanes));
}

bool IsConversion(absl::string_view op, const VectorName& t) {
  return ElementOf(op, t) != t.element;
}

// Whether integers become wider ones; other conversions are of floats to
// integers.
bool IsWidening(absl::string_view op, const VectorName& t) {
  return IsConversion(op, t) && t.element[0] != 'f';
}

// How many of the processor's vectors hold one, and what it becomes in the
// function. Compilers take wider ones apart, but not well where a function
// looks at them.
int PartsOf(absl::string_view op, const VectorName& t,
            const HelperOptions& options) {
  const int inside = t.element == "f32" && IsInDoubles(op) ? 2 : 1;
  const int bytes = std::max(t.bytes * inside, ResultOf(op, t).bytes);
  return std::max(1, bytes * 8 / options.vector_bits);
}

VectorName PartOf(absl::string_view op, const VectorName& t,
                  const HelperOptions& options) {
  return VectorName(
      absl::StrCat(t.element, "x", t.lanes / PartsOf(op, t, options)));
}

// Whether the function is one of its parts, which are vectors of that width.
bool IsByParts(absl::string_view op, const VectorName& t,
               const HelperOptions& options) {
  return PartsOf(op, t, options) > 1 && op != "load" && op != "strided" &&
         op != "store" && op != "turns2" && op != "splat" && op != "select" &&
         op != "bits" && op != "from" && op != "widen" && op != "narrow" &&
         !IsLoadBlock(op);
}

std::string ByParts(absl::string_view op, const VectorName& t,
                    const HelperOptions& options) {
  const VectorName part = PartOf(op, t, options);
  const int count = PartsOf(op, t, options);
  const std::string to = ElementOf(op, t);
  std::vector<std::string> params = {"x"};
  const bool has_three = IsDot(op) || op == "muladd";
  if (op == "min" || op == "max" || op == "pow" || op == "fmod" || has_three) {
    params.push_back("y");
  }
  if (has_three) params.push_back("z");
  std::string body;
  std::vector<std::string> declared, parts;
  const bool is_table = op == "lookup";
  std::vector<std::string> scalars;
  if (IsOfQuantization(op)) scalars = QuantizationParams(op);
  if (is_table) {
    declared.push_back(absl::StrCat("const ", t.c, "* p"));
    parts.push_back("p");
  }
  const std::string operand = is_table ? "u8" : t.element;
  for (const std::string& p : params) {
    declared.push_back(absl::StrCat(operand, "x", t.lanes, " ", p));
    parts.push_back(absl::StrCat(p, "s[i]"));
    absl::StrAppend(&body, "  ", operand, "x", part.lanes, " ", p, "s[", count,
                    "];\n  memcpy(", p, "s, &", p, ", sizeof(", p, "s));\n");
  }
  for (const std::string& scalar : scalars) {
    declared.push_back(scalar);
    parts.push_back(scalar.substr(scalar.find(' ') + 1));
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
  if (IsLoadBlock(op)) return LoadBlockSource(op, t);
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
  if (op == "turns2") return StoreTurnsSource(t);
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
  if (op == "lookup") return LookUp(t);
  if (IsOfQuantization(op)) return QuantizationSource(op, t);
  if (IsWidening(op, t)) return Widening(t, ResultOf(op, t));
  if (IsConversion(op, t)) return Saturating(t, ElementOf(op, t));
  const bool has_two = op == "pow" || op == "fmod";
  return absl::Substitute("\nstatic inline $0 ingot_$1_$0($0 x$2) {\n$3}\n",
                          t.name, op,
                          has_two ? absl::StrCat(", ", t.name, " y") : "",
                          ByLanes(t, absl::StrCat(op, suffix), has_two));
}

// The types that its definition names.
std::set<std::string> TypesOf(const std::string& op, const VectorName& t,
                              const HelperOptions& options) {
  std::set<std::string> types = {t.name, t.mask, ResultOf(op, t).name};
  const auto with = [&](absl::string_view element, int lanes) {
    types.insert(absl::StrCat(element, "x", lanes));
  };
  if (op == "lookup") {
    with("u8", t.lanes);
    with("u8", PartOf(op, t, options).lanes);
  }
  if (IsLoadBlock(op)) types.merge(TypesOfLoadBlock(op, t));
  if (IsByParts(op, t, options)) return types;
  if (op == "widen" || op == "narrow") {
    with("f64", t.lanes);
    with("i64", t.lanes);
  } else if (IsWidening(op, t)) {
    const int bits = 8 * t.bytes / t.lanes;
    const int most = 8 * ResultOf(op, t).bytes / t.lanes;
    for (int between = 2 * bits; between < most; between *= 2) {
      with(absl::StrCat("i", between), t.lanes);
    }
  } else if (IsConversion(op, t)) {
    with("i32", t.lanes);
  }
  return types;
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
    const bool is_simple = op == "load" || op == "store" || op == "turns2" ||
                           op == "splat" || op == "sqrt";
    return is_simple ? 1 : NeedsQuotient(op) ? 5 : MathRank(op);
  };
  std::map<std::string, VectorName> types;
  // Narrow ones come before the wide ones that are made of them.
  std::set<std::tuple<int, int, std::string>> functions;
  const auto use = [&types](const VectorName& t) { types.emplace(t.name, t); };
  const std::function<void(const std::string&, const VectorName&)> need =
      [&](const std::string& op, const VectorName& t) {
        for (const std::string& type : TypesOf(op, t, options)) {
          use(VectorName(type));
        }
        if (IsByParts(op, t, options)) {
          need(op, PartOf(op, t, options));
        } else if (op == "rsqrt") {
          need("sqrt", t);
        } else if (NeedsQuotient(op)) {
          need("quotient", t);
          need("select", t);
        } else if (op == "quotient" ||
                   (IsConversion(op, t) && !IsWidening(op, t))) {
          need("min", t);
          need("max", t);
          if (op[2] == 'i') need("select", t);
        }
        if (IsOwnMath(op, true) && !IsByParts(op, t, options)) {
          std::set<std::string> used = {
              absl::StrCat("ingot_", op, "_", t.name)};
          AddMathNeeds(&used, options.fused);
          for (const std::string& name : used) {
            const std::vector<std::string> words = absl::StrSplit(name, '_');
            if (IsVectorHelper(name) && words[1] != op) {
              need(words[1], VectorName(words[2]));
            }
          }
        }
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

#include "compiler/codegen/c_vector_quantize.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"

namespace ingot::codegen {
namespace {

constexpr char kQuotient[] = "quotient", kQuantized[] = "quantized",
               kDequantized[] = "dequantized";

bool IsSigned(absl::string_view op) { return absl::EndsWith(op, "i8"); }

// One rounding of a product and a sum, which the reciprocal relies on: the
// compiler's own choice might round the other product.
std::string Quotient(const VectorName& t) {
  const char* const macro = t.bytes == 64 ? "__AVX512F__" : "__FMA__";
  const int bits = 8 * t.bytes;
  const bool has_instruction = bits == 128 || bits == 256 || bits == 512;
  const std::string divided = "  x = x / scale;\n";
  const std::string multiplied = absl::Substitute(
      "  x = ($0)_mm$1_fmadd_ps(($2)x, ($2)(($0){0} + by), ($2)(x * rest));\n",
      t.name, bits == 128 ? "" : absl::StrCat(bits),
      bits == 128 ? "__m128" : absl::StrCat("__m", bits));
  return absl::Substitute(
      "\n/* 1.5 * 2^23 + x / scale, whose last digits are the quotient's, "
      "rounded: x is\n   limited to what becomes the first and the last byte, "
      "and `by` + `rest` are so\n   close to 1 / scale that the product rounds "
      "as the quotient does. */\n"
      "static inline $0 ingot_quotient_$0($0 x, $1) {\n"
      "  x = ingot_min_$0(ingot_max_$0(x, ($0){0} + least), ($0){0} + most);\n"
      "$2  return x + 12582912.0f;\n}\n",
      t.name, absl::StrJoin(QuantizationParams(kQuotient), ", "),
      has_instruction ? absl::StrCat("#ifdef ", macro, "\n", multiplied,
                                     "#else\n", divided, "#endif\n")
                      : divided);
}

}  // namespace

bool IsOfQuantization(absl::string_view op) {
  return op == kQuotient || NeedsQuotient(op);
}

bool NeedsQuotient(absl::string_view op) {
  return absl::StartsWith(op, kQuantized) || absl::StartsWith(op, kDequantized);
}

std::string ElementOfQuantization(absl::string_view op) {
  return absl::ConsumePrefix(&op, kQuantized) ? std::string(op) : "f32";
}

std::vector<std::string> QuantizationParams(absl::string_view op) {
  std::vector<std::string> params = {"float least", "float most", "float scale",
                                     "float by", "float rest"};
  if (absl::StartsWith(op, kQuantized)) params.push_back("int zero");
  if (absl::StartsWith(op, kDequantized)) {
    params.push_back("float less");
    if (IsSigned(op)) params.push_back("float of_nan");
  }
  return params;
}

std::string QuantizationSource(absl::string_view op, const VectorName& t) {
  if (op == kQuotient) return Quotient(t);
  const std::string element = ElementOfQuantization(op);
  std::string call = absl::Substitute(
      "ingot_quotient_$0(x, least, most, scale, by, rest)", t.name);
  std::string result;
  if (element == "f32") {
    call = absl::StrCat(call, " - less");
    result =
        !IsSigned(op)
            ? call
            : absl::Substitute("ingot_select_$0(x == x, $1, ($0){0} + of_nan)",
                               t.name, call);
  } else {
    // Less the bits of 1.5 * 2^23. Their last byte is 0, but GCC takes the bits
    // of floats for bytes one by one.
    call = absl::Substitute("($0)$1 + (zero - 0x4b400000)", t.mask, call);
    if (IsSigned(op)) call = absl::StrCat("(", call, ") & (x == x)");
    result = absl::Substitute("__builtin_convertvector($0, $1x$2)", call,
                              element, t.lanes);
  }
  return absl::Substitute(
      "\nstatic inline $0x$1 ingot_$2_$3($3 x, $4) {\n  return $5;\n}\n",
      element, t.lanes, op, t.name, absl::StrJoin(QuantizationParams(op), ", "),
      result);
}

}  // namespace ingot::codegen

#include "compiler/relay/passes/rule_examples.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace ingot::relay {
namespace {

using Examples = std::map<std::string, std::string>;

void AddShapes(Examples* e) {
  (*e)["views as one reshape"] =
      "(%x: f32[2, 3]) -> (%y) { %a = reshape(%x) {shape=[6]}"
      " %y = reshape(%a) {shape=[3, 2]} }";
  (*e)["transposes"] =
      "(%x: f32[2, 3, 4]) -> (%y) { %a = transpose(%x) {axes=[1, 0, 2]}"
      " %y = transpose(%a) {axes=[1, 2, 0]} }";
  (*e)["slice of everything"] =
      "(%x: f32[3, 2]) -> (%y) {"
      " %y = slice(%x) {starts=[0], ends=[3], axes=[0]} }";
  (*e)["slice of a slice"] =
      "(%x: f32[5, 2]) -> (%y) {"
      " %a = slice(%x) {starts=[1], ends=[5], axes=[0]}"
      " %y = slice(%a) {starts=[1], ends=[3], axes=[0]} }";
  (*e)["slice of a concat"] =
      "(%x: f32[2, 3], %z: f32[2, 5]) -> (%y) { %a = concat(%x, %z) {axis=-1}"
      " %y = slice(%a) {starts=[1, 4], ends=[2, 8], axes=[0, 1],"
      " steps=[1, 2]} }";
  (*e)["concat"] =
      "(%x: f32[2, 3], %z: f32[2, 3]) -> (%y) {"
      " %a = concat(%x, %z) {axis=1} %y = concat(%a, %x) {axis=1} }";
  (*e)["expand to the same shape"] =
      "(%x: f32[2, 3]) -> (%y) { %y = expand(%x) {shape=[2, 3]} }";
  (*e)["tile once"] =
      "(%x: f32[2, 3]) -> (%y) { %y = tile(%x) {repeats=[1, 1]} }";
  (*e)["pad by nothing"] =
      "(%x: f32[2, 3]) -> (%y) { %y = pad(%x) {pads=[0, 0, 0, 0]} }";
  (*e)["layout there and back"] =
      "(%x: f32[1, 8, 2, 3]) -> (%y) {"
      " %a = layout_transform(%x) {src=\"NCHW\", dst=\"NCHW4c\"}"
      " %y = layout_transform(%a) {src=\"NCHW4c\", dst=\"NCHW\"} }";
  (*e)["expand before a broadcast"] =
      "(%x: f32[2, 3], %b: f32[3]) -> (%y) { %a = expand(%b) {shape=[2, 3]}"
      " %y = add(%x, %a) }";
  for (const char* op : {"mul", "add"}) {
    (*e)[absl::StrCat(*op == 'm' ? "factor" : "term", " before a transpose")] =
        absl::StrCat(
            "(%x: f32[2, 3]) -> (%y) { %c = const f32[2] {3, 4}"
            " %a = transpose(%x) {axes=[1, 0]} %y = ",
            op, "(%a, %c) }");
  }
  (*e)["transpose of joined dimensions"] =
      "(%x: f32[2, 3, 4, 5]) -> (%y) { %t = transpose(%x) {axes=[0, 3, 1, 2]}"
      " %r = reshape(%t) {shape=[2, 5, 12]} %y = transpose(%r) {axes=[0, 2, "
      "1]} }";
  (*e)["squeeze before a transpose"] =
      "(%x: f32[2, 1, 3, 1]) -> (%y) { %a = transpose(%x) {axes=[2, 1, 0, 3]}"
      " %y = reshape(%a) {shape=[3, 2, 1]} }";
}

void AddIndexing(Examples* e) {
  (*e)["gather of equal steps"] =
      "(%x: f32[2, 7]) -> (%y) { %i = const i64[3] {1, -4, 5}"
      " %y = gather(%x, %i) {axis=1} }";
  (*e)["scatter into a box"] =
      "(%x: f32[3, 4, 2], %u: f32[2, 2, 2]) -> (%y) {"
      " %i = const i64[2, 2, 2] {1, 1, 1, 2, 2, -3, -1, 2}"
      " %y = scatter_nd(%x, %i, %u) }";
}

void AddProjections(Examples* e) {
  (*e)["part of a projection"] =
      "(%x: f32[2, 3, 5]) -> (%y, %z) { %w = const f32[5, 16] random(1)"
      " %b = const f32[16] random(2) %m = matmul(%x, %w) %a = add(%m, %b)"
      " %r = reshape(%a) {shape=[2, 3, 2, 4, 2]}"
      " %t = transpose(%r) {axes=[2, 0, 3, 1, 4]}"
      " %y = slice(%t) {axes=[0], starts=[0], ends=[1]}"
      " %z = slice(%t) {axes=[0], starts=[1], ends=[2]} }";
}

void AddArithmetic(Examples* e) {
  for (const auto& [op, name] : Examples{{"add", "constant term"},
                                         {"mul", "constant factor"},
                                         {"minimum", "constant minimum"},
                                         {"maximum", "constant maximum"}}) {
    (*e)[name + " to the right"] =
        "(%x: f32[2, 3]) -> (%y) { %c = const f32[3] {3, 4, 5} %y = " + op +
        "(%c, %x) }";
  }
  auto with_splat = [](const char* op, const char* value) {
    return absl::StrCat("(%x: f32[2, 3]) -> (%y) { %c = const f32[3] fill(",
                        value, ") %y = ", op, "(%x, %c) }");
  };
  (*e)["zero added"] = with_splat("add", "0");
  (*e)["zero subtracted"] = with_splat("sub", "0");
  (*e)["factor of one"] = with_splat("mul", "1");
  (*e)["divisor of one"] = with_splat("div", "1");
  (*e)["exponent of one"] = with_splat("pow", "1");
  (*e)["equal elements as one"] = with_splat("sub", "5");
  (*e)["subtract a constant"] = with_splat("sub", "5");
  (*e)["divide by a constant"] = with_splat("div", "5");
  (*e)["simple powers"] = with_splat("pow", "2");
  (*e)["lower limit"] = with_splat("maximum", "0");
  (*e)["upper limit"] = with_splat("minimum", "6");
  for (const char* op : {"add", "mul"}) {
    (*e)[*op == 'a' ? "join added constants" : "join constant factors"] =
        absl::StrReplaceAll(
            "(%x: f32[2, 3]) -> (%y) { %c = const f32[3] {3, 4, 5}"
            " %d = const f32[2, 1] {6, 7} %e = const f32[3] {8, 9, 1}"
            " %a = OP(%x, %c) %b = OP(%a, %e) %y = OP(%b, %d) }",
            {{"OP", op}});
  }
  (*e)["cast to the same type"] =
      "(%x: f32[2, 3]) -> (%y) { %y = cast(%x) {dtype=f32} }";
  (*e)["clip"] =
      "(%x: f32[2, 3]) -> (%y) { %a = clip(%x) {min=-0.5}"
      " %y = clip(%a) {min=-0.25, max=0.5} }";
  (*e)["relu"] = "(%x: f32[2, 3]) -> (%y) { %a = relu(%x) %y = relu(%a) }";
}

// Rules on windows of `n` dimensions.
void AddWindows(int n, Examples* e) {
  std::string ones, pads = "0, 0", plane, kernel, threes;
  for (int d = 0; d < n; ++d) {
    absl::StrAppend(&plane, ", ", 3 + d);
    absl::StrAppend(&pads, ", 1");
    absl::StrAppend(&kernel, d == 0 ? "" : ", ", 2);
    absl::StrAppend(&ones, d == 0 ? "" : ", ", 1);
    absl::StrAppend(&threes, ", 3");
  }
  pads = absl::StrCat(pads, ", ", pads);
  (*e)[absl::StrCat("pad into a conv", n, "d")] =
      absl::StrCat("(%x: f32[2, 3", plane, "]) -> (%y) { %w = const f32[4, 3",
                   threes, "] random(1) %a = pad(%x) {pads=[", pads,
                   "]} %y = conv", n, "d(%a, %w) }");
  for (const std::string pool : {"max_pool", "avg_pool"}) {
    const std::string op = absl::StrCat(pool, n, "d");
    (*e)[absl::StrCat("pad into a", pool[0] == 'a' ? "n " : " ", op)] =
        absl::StrCat("(%x: f32[2, 3", plane, "]) -> (%y) { %r = relu(%x)",
                     " %a = pad(%r) {pads=[", pads, "]} %y = ", op,
                     "(%a) {kernel=[", kernel, "]} }");
    (*e)[op + " of single elements"] =
        absl::StrCat("(%x: f32[2, 3", plane, "]) -> (%y) { %y = ", op,
                     "(%x) {kernel=[", ones, "]} }");
  }
}

void AddPlanes(Examples* e) {
  auto of_plane = [](const char* op, const char* attrs) {
    return absl::StrCat("(%x: f32[2, 3, 4, 5]) -> (%y) { %y = ", op, "(%x) {",
                        attrs, "} }");
  };
  (*e)["maximum of planes"] = of_plane("reduce_max", "axes=[2, 3], keepdims=0");
  (*e)["mean of planes"] = of_plane("reduce_mean", "axes=[-2, -1]");
  (*e)["maximum of whole planes"] = of_plane("max_pool2d", "kernel=[4, 5]");
  (*e)["average of whole planes"] = of_plane("avg_pool2d", "kernel=[4, 5]");
  (*e)["conv1d without taps of padding"] =
      "(%x: f32[2, 3, 5]) -> (%y) { %w = const f32[4, 3, 3] random(1)"
      " %y = conv1d(%x, %w) {pads=[7, 6], dilations=[6], strides=[2]} }";
  (*e)["conv2d without taps of padding"] =
      "(%x: f32[1, 3, 5, 6]) -> (%y) { %w = const f32[4, 3, 3, 3] random(1)"
      " %y = conv2d(%x, %w) {pads=[8, 4, 8, 4], dilations=[8, 4]} }";
  (*e)["conv3d without taps of padding"] =
      "(%x: f32[1, 2, 3, 5, 4]) -> (%y) { %w = const f32[4, 2, 3, 3, 3] "
      "random(1) %y = conv3d(%x, %w) {pads=[3, 1, 5, 3, 1, 5], "
      "dilations=[3, 1, 5]} }";
  (*e)["conv1d as conv2d"] =
      "(%x: f32[2, 3, 5]) -> (%y) { %w = const f32[4, 3, 3] random(1)"
      " %y = conv1d(%x, %w) {pads=[1, 0]} }";
  (*e)["conv1d with sums of f32"] =
      "(%x: f16[1, 2, 5]) -> (%y) { %w = const f16[4, 1, 2] random(1)"
      " %y = conv1d(%x, %w) {pads=[1, 0], groups=2} }";
  (*e)["conv2d with sums of f32"] =
      "(%x: bf16[1, 2, 5, 4]) -> (%y) { %w = const bf16[4, 2, 1, 2] random(1)"
      " %y = conv2d(%x, %w) {strides=[2, 1]} }";
  (*e)["conv3d with sums of f32"] =
      "(%x: f16[1, 2, 3, 5, 4]) -> (%y) { %w = const f16[4, 2, 1, 2, 1]"
      " random(1) %y = conv3d(%x, %w) }";
  (*e)["conv2d of patches as product"] =
      "(%x: f32[2, 3, 20, 27]) -> (%y) { %w = const f32[5, 3, 10, 9] random(1)"
      " %y = conv2d(%x, %w) {strides=[10, 9]} }";
  (*e)["conv3d as conv2d"] =
      "(%x: f32[2, 3, 6, 5, 4]) -> (%y) { %w = const f32[4, 3, 3, 2, 3] "
      "random(1) %y = conv3d(%x, %w) {pads=[1, 0, 1, 2, 1, 0], strides=[2, 1, "
      "2]} }";
  (*e)["element-wise after conv3d"] =
      "(%x: f32[2, 3, 4, 6]) -> (%y) { %w = const f32[4, 3, 3, 1] random(1)"
      " %b = const f32[4, 1, 1, 1] random(2) %c = conv2d(%x, %w)"
      " %v = reshape(%c) {shape=[2, 4, 2, 3, 2]} %y = add(%v, %b) }";
  for (const auto& [name, op] :
       {std::pair("maximum", "reduce_max"), std::pair("mean", "reduce_mean")}) {
    (*e)[absl::StrCat(name, " over a signal as pool")] = absl::StrCat(
        "(%x: f32[2, 3, 5]) -> (%y) { %w = const f32[4, 3, 3] random(1)"
        " %c = conv1d(%x, %w) %r = relu(%c) %y = ",
        op, "(%r) {axes=[-1], keepdims=0} }");
  }
  for (const std::string op :
       {"max_pool1d", "avg_pool1d", "lp_pool1d", "global_max_pool1d",
        "global_avg_pool1d", "global_lp_pool1d"}) {
    (*e)[op + " as 2d"] =
        absl::StrCat("(%x: f32[2, 3, 5]) -> (%y) { %y = ", op, "(%x)",
                     op[0] == 'g' ? "" : " {kernel=[2]}", " }");
  }
}

void AddProducts(Examples* e) {
  const std::string conv =
      "(%x: f32[1, 3, 4, 5]) -> (%y) { %w = const f32[4, 3, 3, 3] random(1)"
      " %s = const f32[4, 1, 1] random(2) %b = const f32[4, 1, 1] random(3)"
      " %c = conv2d(%x, %w)";
  (*e)["batch norm as factor and term"] =
      "(%x: f32[1, 3, 4, 5]) -> (%y) { %s = const f32[3] random(1)"
      " %b = const f32[3] random(2) %m = const f32[3] random(3)"
      " %v = const f32[3] fill(0.5) %y = batch_norm(%x, %s, %b, %m, %v) }";
  (*e)["factor into weights"] = conv + " %y = mul(%c, %s) }";
  (*e)["factor past a bias"] = conv + " %a = add(%c, %b) %y = mul(%a, %s) }";
  (*e)["one bias of two"] = conv + " %a = add(%c, %b) %y = add(%a, %s) }";
  (*e)["product with a transposed matrix"] =
      "(%x: f32[2, 3], %w: f32[4, 3]) -> (%y) {"
      " %t = transpose(%w) {axes=[1, 0]} %y = matmul(%x, %t) }";
  (*e)["einsum in products of two"] =
      "(%x: f32[3, 2, 4], %z: f32[4, 3, 5], %w: f32[2, 1, 5]) -> (%y) {"
      " %y = einsum(%x, %z, %w) {equation=\"aib,bac,iad->cdi\"} }";
}

void AddPatterns(Examples* e) {
  (*e)["attention in parts"] =
      "(%q: f32[1, 2, 16, 3], %k: f32[1, 2, 4, 3], %v: f32[1, 2, 4, 2]) -> (%y)"
      " { %t = transpose(%k) {axes=[0, 1, 3, 2]} %s = matmul(%q, %t)"
      " %w = softmax(%s) %y = matmul(%w, %v) }";
  (*e)["layer norm"] =
      "(%x: f32[2, 3]) -> (%y) { %e = const f32[] {0.01}"
      " %m = reduce_mean(%x) {axes=[-1]} %d = sub(%x, %m) %q = mul(%d, %d)"
      " %v = reduce_mean(%q) {axes=[-1]} %p = add(%v, %e) %r = sqrt(%p)"
      " %y = div(%d, %r) }";
  (*e)["scale of a layer norm"] =
      "(%x: f32[2, 3]) -> (%y) { %one = const f32[3] fill(1)"
      " %s = const f32[3] random(1) %n = layer_norm(%x, %one)"
      " %y = mul(%n, %s) }";
  (*e)["bias of a layer norm"] =
      "(%x: f32[2, 3]) -> (%y) { %s = const f32[3] random(1)"
      " %b = const f32[3] random(2) %n = layer_norm(%x, %s)"
      " %y = add(%n, %b) }";
  (*e)["gelu"] =
      "(%x: f32[2, 3]) -> (%y) { %h = const f32[] {0.5}"
      " %r = const f32[] {0.70710678} %one = const f32[] {1} %s = mul(%x, %r)"
      " %f = erf(%s) %p = add(%f, %one) %a = mul(%x, %p) %y = mul(%a, %h) }";
}

void AddQuantizedMoves(Examples* e) {
  const std::string dequantized =
      "(%x: u8[2, 3]) -> (%y) { %s = const f32[] {0.5} %z = const u8[] {3}"
      " %d = dequantize(%x, %s, %z) ";
  (*e)["pad of bytes"] = dequantized + "%y = pad(%d) {pads=[0, 1, 2, 3]} }";
  (*e)["slice of bytes"] =
      dequantized + "%y = slice(%d) {starts=[1], ends=[3], axes=[1]} }";
  (*e)["transpose of bytes"] =
      dequantized + "%y = transpose(%d) {axes=[1, 0]} }";
  (*e)["reshape of bytes"] = dequantized + "%y = reshape(%d) {shape=[3, 2]} }";
  (*e)["bytes of a concat"] =
      "(%x: f32[2, 3], %y: f32[2, 2]) -> (%q) { %s = const f32[] {0.5}"
      " %c = concat(%x, %y) {axis=1} %q = quantize(%c, %s) {dtype=u8} }";
  for (int n : {1, 2, 3}) {
    const std::string plane = n == 1 ? "4" : n == 2 ? "2, 4" : "1, 2, 4";
    const std::string kernel = n == 1 ? "2" : n == 2 ? "1, 2" : "1, 1, 2";
    (*e)[absl::StrCat("max_pool", n, "d of bytes")] = absl::StrCat(
        "(%x: u8[1, 3, ", plane, "]) -> (%y) { %s = const f32[] {0.5}",
        " %d = dequantize(%x, %s) %y = max_pool", n, "d(%d) {kernel=[", kernel,
        "]} }");
  }
  (*e)["resize of bytes"] =
      "(%x: u8[1, 3, 2, 2]) -> (%y) { %s = const f32[] {0.5}"
      " %d = dequantize(%x, %s) %y = resize(%d) {sizes=[1, 3, 4, 4]} }";
  (*e)["bytes that interleave"] =
      "(%x: f32[1, 8, 2, 3]) -> (%q) { %s = const f32[] {0.5}"
      " %i = depth_to_space(%x) {blocks=[2, 2]}"
      " %q = quantize(%i, %s) {dtype=u8} }";
  (*e)["bytes quantised again"] =
      dequantized + "%y = quantize(%d, %s, %z) {dtype=u8} }";
}

void AddBytes(Examples* e) {
  (*e)["product of two operands of bytes"] =
      "(%x: u8[2, 16, 16], %w: u8[2, 16, 16]) -> (%y) {"
      " %y = matmul(%x, %w) {out_dtype=i32} }";
  const std::string quantized =
      " %z = const i32[] {3} %i = cast(%x) {dtype=i32} %d = sub(%i, %z)";
  for (const char* parts : {"bytes", "halves"}) {
    (*e)[absl::StrCat("product of ", parts)] =
        "(%x: u8[4, 3]) -> (%y) { %w = const i8[3, 2] {1, -2, 3, -4, 5, -6}" +
        quantized + " %y = matmul(%d, %w) {out_dtype=i32} }";
    (*e)[absl::StrCat("product of ", parts, " with a transpose")] =
        "(%x: u8[4, 3]) -> (%y) { %w = const i8[2, 3] {1, -2, 3, -4, 5, -6}" +
        quantized + " %y = dense(%d, %w) {out_dtype=i32} }";
    for (int n : {1, 2, 3}) {
      const std::string window = n == 1 ? "2" : n == 2 ? "1, 2" : "1, 1, 2";
      (*e)[absl::StrCat("conv", n, "d of ", parts)] = absl::StrCat(
          "(%x: u8[1, 3, ", window, "]) -> (%y) { %w = const i8[2, 3, ", window,
          "] {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12}", quantized,
          " %y = conv", n, "d(%d, %w) {out_dtype=i32} }");
    }
  }
}

}  // namespace

std::map<std::string, std::string> RuleExamples() {
  Examples examples;
  AddShapes(&examples);
  AddIndexing(&examples);
  AddProjections(&examples);
  AddArithmetic(&examples);
  for (int n : {1, 2, 3}) AddWindows(n, &examples);
  AddPlanes(&examples);
  AddProducts(&examples);
  AddPatterns(&examples);
  AddQuantizedMoves(&examples);
  AddBytes(&examples);
  for (auto& [name, text] : examples) {
    text = absl::StrCat("module { func @main", text, " }");
  }
  return examples;
}

}  // namespace ingot::relay

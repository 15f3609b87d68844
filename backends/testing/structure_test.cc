// Loops, memory and control flow, as each target runs them and as the
// interpreter does.

#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_kernels.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/thread_pool.h"

namespace ingot::testing_support {
namespace {

using ::testing::HasSubstr;

// Each is called with tensors of the shapes of its parameters, symbols being 5
// (n) and 3 (m), whose memory ends, or begins, where nothing else is.
const char* const kKernels[] = {
    // A load before the buffer, behind a condition.
    "func @guard(%x: f32[10]) -> (%y: f32[14]) { for i in [0, 14) { %y[i] = "
    "select(i >= 2 && i < 12, %x[i - 2], 0.5f) } }",
    "func @guard_vector(%x: f32[10]) -> (%y: f32[16]) { vectorized i in [0, "
    "16) { %y[i] = select(i >= 3 && i < 13, %x[i - 3], 0.5f) } }",
    "func @guard_both(%x: f32[8], %z: f32[8]) -> (%y: f32[16]) { vectorized i "
    "in [0, 16) { %y[i] = select(i < 8, %x[i], %z[i - 8]) } }",
    "func @guard_reversed(%x: f32[10]) -> (%y: f32[16]) { vectorized i in [0, "
    "16) { %y[i] = select(i < 10, %x[9 - i], 1.0f) } }",
    "func @guard_strided(%x: f32[9]) -> (%y: f32[8]) { vectorized i in [0, 8) "
    "{ %y[i] = select(i < 5, %x[i * 2], 2.0f) } }",
    "func @guard_uniform(%x: f32[3]) -> (%y: f32[4, 8]) { for k in [0, 4) { "
    "vectorized i in [0, 8) { %y[k, i] = select(k < 3, %x[k], 2.0f) } } }",
    "func @guard_lanes_scalar(%x: f32[3]) -> (%y: f32[4, 8]) { for k in [0, 4) "
    "{ %y[k, ramp(0, 1, 8)] = select(ramp(k * 8, 1, 8) < broadcast(24, 8), "
    "broadcast(%x[k], 8), broadcast(2.0f, 8)) } }",
    "func @guard_nested(%x: f32[4, 6]) -> (%y: f32[8, 8]) { for i in [0, 8) { "
    "vectorized j in [0, 8) { %y[i, j] = select(i >= 1 && i < 5, select(j >= "
    "1 && j < 7, %x[i - 1, j - 1], 1.0f), 2.0f) } } }",
    "func @guard_mask_nested(%x: f32[8], %z: f32[4]) -> (%y: f32[16]) { "
    "vectorized i in [0, 16) { %y[i] = select(i < 8, %x[i] + select(i < 4, "
    "%z[i], 1.0f), 2.0f) } }",
    "func @guard_gather(%x: f32[4], %i: i64[8]) -> (%y: f32[8]) { vectorized k "
    "in [0, 8) { %y[k] = select(%i[k] >= 0 && %i[k] < 4, %x[%i[k]], -1.0f) } }",
    "func @guard_symbolic(%x: f32[n]) -> (%y: f32[n + 2]) { for i in [0, n + "
    "2) { %y[i] = select(i >= 1 && i < n + 1, %x[i - 1], 0.0f) } }",
    "func @guard_bool(%x: bool[10]) -> (%y: bool[16]) { vectorized i in [0, "
    "16) { %y[i] = select(i >= 3 && i < 13, %x[i - 3], true) } }",
    "func @guard_f16(%x: f16[10]) -> (%y: f16[16]) { vectorized i in [0, 16) { "
    "%y[i] = select(i >= 3 && i < 13, %x[i - 3], f16(0.5)) } }",
    "func @guard_division(%x: i32[8], %z: i32[8]) -> (%y: i32[8]) { for i in "
    "[0, 8) { %y[i] = select(%z[i] != i32(0), %x[i], i32(7)) } }",

    // An array of lanes that fill no register, below the stack pointer.
    "func @twelve(%x: f32[m, 2, n], %w: f32[12, 5]) -> (%y: f32[m, 2, 12]) { "
    "parallel i in [0, m) { alloc %t: f32[2, 12] stack vectorized j in [0, 12) "
    "{ %t[0, j] = 0.0f } vectorized j in [0, 12) { %t[1, j] = 0.0f } for r in "
    "[0, n) { vectorized j in [0, 12) { %t[0, j] = muladd(%x[i, 0, r], %w[j, "
    "r], %t[0, j]) } vectorized j in [0, 12) { %t[1, j] = muladd(%x[i, 1, r], "
    "%w[j, r], %t[1, j]) } } vectorized j in [0, 12) { %y[i, 0, j] = %t[0, j] "
    "} vectorized j in [0, 12) { %y[i, 1, j] = %t[1, j] } } }",

    // Vectors of every shape of access.
    "func @reversed(%x: f32[16]) -> (%y: f32[16]) { vectorized i in [0, 16) { "
    "%y[15 - i] = %x[15 - i] * 2.0f } }",
    "func @strided(%x: i32[32]) -> (%y: i32[48]) { vectorized i in [0, 16) { "
    "%y[i * 3] = %x[i * 2 + 1] %y[i * 3 + 1] = i32(1) %y[i * 3 + 2] = i32(2) "
    "} }",
    "func @gather(%x: f64[20], %i: i64[8]) -> (%y: f64[8]) { vectorized k in "
    "[0, 8) { %y[k] = %x[k * 2 + (k + 3) // 2] } }",
    "func @scatter(%x: f32[8]) -> (%y: f32[8]) { vectorized k in [0, 8) { "
    "%y[(k * 3 + 1) % 8] = %x[k] } }",
    "func @transpose(%x: f32[n, m]) -> (%y: f32[m, n]) { for i in [0, n) { for "
    "j in [0, m) { %y[j, i] = %x[i, j] } } }",
    "func @odd_lanes(%x: f32[15]) -> (%y: f32[15]) { for i in [0, 5) { "
    "vectorized j in [0, 3) { %y[i * 3 + j] = %x[i * 3 + j] + 1.0f } } }",
    "func @wide(%x: f32[128]) -> (%y: f32[128]) { vectorized j in [0, 64) { "
    "%y[j * 2] = %x[j] %y[j * 2 + 1] = %x[64 + j] } }",
    "func @overlap(%x: f32[9]) -> (%y: f32[9]) { for i in [0, 9) { %y[i] = "
    "%x[i] } %y[ramp(1, 1, 8)] = %y[ramp(0, 1, 8)] }",
    "func @let_vector(%x: f32[8]) -> (%y: f32[8]) { let v: f32x8 = %x[ramp(0, "
    "1, 8)] * broadcast(3.0f, 8) %y[ramp(0, 1, 8)] = v + v }",
    "func @bools(%x: bool[16], %z: bool[16]) -> (%y: bool[16], %c: i32[16]) { "
    "vectorized i in [0, 16) { %y[i] = %x[i] && !%z[i] || %x[i] == %z[i] "
    "%c[i] = i32(%x[i]) + i32(%z[i]) } }",

    // Accumulators.
    "func @matmul(%a: f32[6, 10], %b: f32[10, 16]) -> (%c: f32[6, 16]) { alloc "
    "%acc: f32[6, 16] stack unrolled i in [0, 6) { vectorized j in [0, 16) { "
    "%acc[i, j] = 0.0f } } for k in [0, 10) { unrolled i in [0, 6) { "
    "vectorized j in [0, 16) { %acc[i, j] = muladd(%a[i, k], %b[k, j], "
    "%acc[i, j]) } } } unrolled i in [0, 6) { vectorized j in [0, 16) { %c[i, "
    "j] = %acc[i, j] } } }",
    "func @matmul_i8(%a: u8[4, 12], %b: i8[12, 8]) -> (%c: i32[4, 8]) { for i "
    "in [0, 4) { alloc %acc: i32[8] stack vectorized j in [0, 8) { %acc[j] = "
    "i32(0) } for k in [0, 12) { vectorized j in [0, 8) { %acc[j] = %acc[j] + "
    "i32(%a[i, k]) * i32(%b[k, j]) } } vectorized j in [0, 8) { %c[i, j] = "
    "%acc[j] } } }",
    "func @dot4(%a: i32[5], %b: i32[5, 16], %s: i32[3]) -> (%c: i32[16], %d: "
    "i32[3]) { alloc %acc: i32[16] stack vectorized j in [0, 16) { %acc[j] = "
    "i32(7) } for k in [0, 5) { vectorized j in [0, 16) { %acc[j] = "
    "dot4(%a[k], %b[k, j], %acc[j]) } } vectorized j in [0, 16) { %c[j] = "
    "%acc[j] } for i in [0, 3) { %d[i] = dot4(%s[i], %a[i], %s[i]) } }",
    "func @dot2(%a: i32[5], %b: i32[5, 16], %s: i32[3]) -> (%c: i32[16], %d: "
    "i32[3]) { alloc %acc: i32[16] stack vectorized j in [0, 16) { %acc[j] = "
    "i32(0) "
    "} for k in [0, 5) { vectorized j in [0, 16) { %acc[j] = "
    "dot2(%a[k], %b[k, j], %acc[j]) } } vectorized j in [0, 16) { %c[j] = "
    "%acc[j] } for i in [0, 3) { %d[i] = dot2(%s[i], %a[i], %s[i]) } }",
    // Bytes of -128 and 127, 15 times as much: 16 bits hold eight sums of two.
    // Words of neighbouring vectors: of three and of four, with a gap between,
    // and of others, some of which are no vectors after another.
    "func @dot4_of_neighbours(%x: u8[6, 16], %w: i32[3, 16]) -> (%y: i32[3, "
    "16]) { for i in [0, 3) { vectorized j in [0, 16) { %y[i, j] = "
    "dot4(i32(%x[i, j]) | i32(%x[i + 1, j]) << i32(8) | i32(%x[i + 2, j]) << "
    "i32(16) | i32(%x[i + 2, j]) << i32(24), %w[i, j], dot4(i32(%x[i, j]) | "
    "i32(%x[i + 1, j]) << i32(8) | i32(%x[i + 2, j]) << i32(16) | i32(%x[i + "
    "3, j]) << i32(24), %w[i, j], dot4(i32(%x[i + 1, j]) << i32(8) | i32(%x[i "
    "+ 3, j]) << i32(24), %w[i, j], i32(j)))) } } }",
    "func @dot4_of_8_neighbours(%x: u8[6, 8], %w: i32[3, 8]) -> (%y: i32[3, "
    "8]) { for i in [0, 3) { vectorized j in [0, 8) { %y[i, j] = "
    "dot4(i32(%x[i, j]) | i32(%x[i + 1, j]) << i32(8) | i32(%x[i + 2, j]) << "
    "i32(16) | i32(%x[i + 3, j]) << i32(24), %w[i, j], dot4(i32(%x[i, j]) | "
    "i32(%x[i + 1, j]) << i32(8) | i32(%x[i + 2, j]) << i32(16), %w[i, j], "
    "i32(1))) } } }",
    "func @dot4_of_4_neighbours(%x: u8[6, 4], %w: i32[3, 4]) -> (%y: i32[3, "
    "4]) { for i in [0, 3) { vectorized j in [0, 4) { %y[i, j] = "
    "dot4(i32(%x[i, j]) | i32(%x[i + 1, j]) << i32(8) | i32(%x[i + 2, j]) << "
    "i32(16), %w[i, j], dot4(i32(%x[i + 2, j]) | i32(%x[i + 1, j]) << i32(8) "
    "| i32(%x[i, j]) << i32(16), %w[i, j], i32(1))) } } }",
    "func @dot4_of_others(%x: u8[64], %w: i32[16]) -> (%y: i32[16]) { "
    "vectorized j in [0, 16) { %y[j] = dot4(i32(%x[j]) | i32(%x[j + 3]) << "
    "i32(8) | i32(%x[j * 2]) << i32(16), %w[j], dot4(select(j < 9, i32(%x[j]) "
    "| i32(%x[j + 16]) << i32(8), i32(7)), %w[j], i32(2))) } }",
    "func @dot4_of_rows(%x: i32[4, 25], %w: i32[25]) -> (%y: i32[4]) { alloc "
    "%s: i32[4] stack unrolled i in [0, 4) { %s[i] = i32(0) } for k in [0, 25) "
    "{ unrolled i in [0, 4) { %s[i] = dot4(%x[i, k], %w[k], %s[i]) } } "
    "unrolled i in [0, 4) { %y[i] = %s[i] } }",
    "func @dot4_of_few_bits(%a: i32[19], %w: i32[19, 16]) -> (%c: i32[16]) { "
    "alloc %acc: i32[16] stack vectorized j in [0, 16) { %acc[j] = i32(-9) } "
    "vectorized j in [0, 16) { %acc[j] = dot4(%w[18, j] & i32(252645135), "
    "%a[18] ^ i32(-2139062144), dot4((%w[17, j] >> i32(4)) & i32(252645135), "
    "%a[17] ^ i32(-2139062144), dot4(%w[16, j] & i32(252645135), %a[16] ^ "
    "i32(-2139062144), dot4((%w[15, j] >> i32(4)) & i32(252645135), %a[15] ^ "
    "i32(-2139062144), dot4(%w[14, j] & i32(252645135), %a[14] ^ "
    "i32(-2139062144), dot4((%w[13, j] >> i32(4)) & i32(252645135), %a[13] ^ "
    "i32(-2139062144), dot4(%w[12, j] & i32(252645135), %a[12] ^ "
    "i32(-2139062144), dot4((%w[11, j] >> i32(4)) & i32(252645135), %a[11] ^ "
    "i32(-2139062144), dot4(%w[10, j] & i32(252645135), %a[10] ^ "
    "i32(-2139062144), dot4((%w[9, j] >> i32(4)) & i32(252645135), %a[9] ^ "
    "i32(-2139062144), dot4(%w[8, j] & i32(252645135), %a[8] ^ "
    "i32(-2139062144), dot4((%w[7, j] >> i32(4)) & i32(252645135), %a[7] ^ "
    "i32(-2139062144), dot4(%w[6, j] & i32(252645135), %a[6] ^ "
    "i32(-2139062144), dot4((%w[5, j] >> i32(4)) & i32(252645135), %a[5] ^ "
    "i32(-2139062144), dot4(%w[4, j] & i32(252645135), %a[4] ^ "
    "i32(-2139062144), dot4((%w[3, j] >> i32(4)) & i32(252645135), %a[3] ^ "
    "i32(-2139062144), dot4(%w[2, j] & i32(252645135), %a[2] ^ "
    "i32(-2139062144), dot4((%w[1, j] >> i32(4)) & i32(252645135), %a[1] ^ "
    "i32(-2139062144), dot4(%w[0, j] & i32(252645135), %a[0] ^ "
    "i32(-2139062144), %acc[j]))))))))))))))))))) } vectorized j in [0, 16) "
    "{ %c[j] = %acc[j] } }",
    "func @dot4_of_7_bits(%a: i32[5], %w: i32[5, 16]) -> (%c: i32[16]) "
    "{ alloc %acc: i32[16] stack vectorized j in [0, 16) { %acc[j] = "
    "i32(-9) } for k in [0, 5) { vectorized j in [0, 16) { %acc[j] = "
    "dot4(%w[k, j] & i32(2139062143), %a[k], dot4(%w[k, j] & "
    "i32(50529027), %w[k, j], %acc[j])) } } vectorized j in [0, 16) { "
    "%c[j] = %acc[j] } }",
    "func @dot4_of_8_bits(%a: i32[5], %w: i32[5, 16]) -> (%c: i32[16]) "
    "{ alloc %acc: i32[16] stack vectorized j in [0, 16) { %acc[j] = "
    "i32(-9) } for k in [0, 5) { vectorized j in [0, 16) { %acc[j] = "
    "dot4(%w[k, j] & i32(-16843009), %a[k], dot4(%w[k, j] & "
    "i32(50529027), %w[k, j], %acc[j])) } } vectorized j in [0, 16) { "
    "%c[j] = %acc[j] } }",
    "func @sum(%x: f32[n, m]) -> (%y: f32[n]) { for i in [0, n) { %y[i] = 0.0f "
    "for j in [0, m) { %y[i] = %y[i] + %x[i, j] } } }",
    "func @max_of_none() -> (%y: f32[1]) { %y[0] = f32(-inf) for i in [0, 0) { "
    "%y[0] = 1.0f } }",
    "func @scalar(%x: f32[]) -> (%y: f32[]) { %y[] = %x[] + 1.0f }",

    // Control flow.
    "func @branches(%x: i32[n]) -> (%y: i32[n]) { for i in [0, n) { if %x[i] > "
    "i32(0) { %y[i] = %x[i] } else if %x[i] < i32(-5) { %y[i] = i32(-5) } else "
    "{ %y[i] = i32(0) } } }",
    "func @log2_of(%x: i64[8]) -> (%y: i64[8]) { for i in [0, 8) { alloc %v: "
    "i64[] stack alloc %n: i64[] stack %v[] = abs(%x[i]) %n[] = 0 while %v[] "
    "> 0 { %v[] = %v[] >> 1 %n[] = %n[] + 1 } %y[i] = %n[] } }",
    "func @let_index(%x: i64[n, m]) -> (%y: i64[n * m]) { for i in [0, n * m) "
    "{ let r: i64 = i // m let c: i64 = i % m %y[i] = %x[r, c] * 2 } }",
    "func @floors(%x: i64[16]) -> (%y: i64[16]) { for i in [-8, 8) { %y[i + 8] "
    "= (i // 3) * 1000 + (i % 3) * 10 + %x[(i // 4) + 2] } }",
    "func @from_min(%x: f32[n]) -> (%y: f32[n]) { for i in [0, n) { %y[i] = "
    "-%x[i] } for i in [2, n) { %y[i] = %x[i - 2] } }",
    "func @workspace(%x: f32[16]) -> (%y: f32[16]) workspace(%w: f32[16]) { "
    "for i in [0, 16) { %w[i] = %x[i] * 2.0f } for i in [0, 16) { %y[i] = "
    "%w[15 - i] } }",
    "func @outputs(%x: f32[n]) -> (%y: f32[n], %z: i32[n], %b: bool[n]) { for "
    "i in [0, n) { %y[i] = %x[i] %z[i] = i32(%x[i]) %b[i] = %x[i] > 0.0f } }",

    // Threads.
    "func @threads(%x: f32[n, m], %s: f32[m]) -> (%y: f32[n, m]) { parallel i "
    "in [0, n) { for j in [0, m) { %y[i, j] = %x[i, j] * %s[j] } } }",
    "func @threads_capture(%x: i64[16], %k: i32[1]) -> (%y: i64[16, 4]) { let "
    "k: i32 = %k[0] let o: i64 = i64(k) + 3 alloc %t: i64[4] stack for j in "
    "[0, 4) { %t[j] = o + j } parallel i in [0, 16) { for j in [0, 4) { %y[i, "
    "j] = %x[i] + %t[j] * i + i64(k) } } }",
    "func @threads_offset(%x: f32[20]) -> (%y: f32[20]) { for i in [0, 4) { "
    "%y[i] = 0.0f } parallel i in [4, 20) { %y[i] = %x[i] + 1.0f } }",
    "func @threads_two(%x: f32[n]) -> (%y: f32[n], %z: f32[n]) { parallel i in "
    "[0, n) { %y[i] = %x[i] + 1.0f } parallel i in [0, n) { %z[i] = %y[i] * "
    "2.0f } }",
    "func @threads_dims(%x: f32[n, m, 2]) -> (%y: f32[n * m * 2]) { parallel i "
    "in [0, n) { for j in [0, m * 2) { %y[i * (m * 2) + j] = %x[i, j // 2, j "
    "% 2] } } }",
    "func @threads_none() -> (%y: i64[8]) { parallel i in [0, 8) { %y[i] = i * "
    "i } }",

    // Parts that occur many times; without care these take forever.
    "func @shared(%x: f32[8]) -> (%y: f32[8]) { for i in [0, 8) { let a: f32 = "
    "%x[i] * 0.5f let b: f32 = a + a let c: f32 = b + b %y[i] = c + c } }",

    // Names that C would choke on.
    "func @names(%int: f32[n], %expf: f32[n], %args: f32[n]) -> (%return: "
    "f32[n]) attrs(\"source\" = \"a*/b\\n\") { for while_ in [0, n) { "
    "%return[while_] = %int[while_] + exp(%expf[while_] * 0.0f) + "
    "%args[while_] } }",
    // Types, macros and functions of C's headers and of generated text.
    "func @header_names(%int64_t: f32[n], %INT8_MIN: f32[n], %UINT8_MAX: "
    "f32[n], %HUGE_VAL: f32[n], %FP_NAN: f32[n], %ingot_tanh_f32: f32[n], "
    "%INGOT_EXPORT: f32[n], %_Bool: f32[n]) -> (%__LINE__: f32[n]) { for "
    "size_t in [0, n) { "
    "%__LINE__[size_t] = tanh(%int64_t[size_t] * 0.0f) + %INT8_MIN[size_t] + "
    "%UINT8_MAX[size_t] + %HUGE_VAL[size_t] + %FP_NAN[size_t] + "
    "%ingot_tanh_f32[size_t] + %INGOT_EXPORT[size_t] + %_Bool[size_t] } }",
};

int64_t SizeOf(const tir::Expr& dim) {
  int64_t n = 0;
  if (tir::AsConstInt(dim, &n)) return n;
  if (const auto* var = tir::As<tir::Var>(dim)) {
    return var->name == "n" ? 5 : 3;
  }
  const auto* binary = tir::As<tir::Binary>(dim);
  if (binary == nullptr) return 0;
  const int64_t a = SizeOf(binary->a), b = SizeOf(binary->b);
  return binary->op == tir::BinaryOp::kMul ? a * b : a + b;
}

class StructureTest : public testing::TestWithParam<const char*> {};

TEST_P(StructureTest, Kernels) {
  std::vector<tir::PrimFunc> kernels;
  for (const char* text : kKernels) kernels.push_back(ParseKernel(text));
  auto module = BuildKernels(GetParam(), kernels);
  ASSERT_TRUE(module.ok()) << module.status();
  ThreadPool threads(3);
  ScopedThreadPool scope(&threads);
  for (const tir::PrimFunc& kernel : kernels) {
    for (bool at_end : {false, true}) {
      std::vector<Tensor> inputs, outputs;
      const int params =
          static_cast<int>(kernel.params.size()) - kernel.num_workspaces;
      for (int p = 0; p < params; ++p) {
        const tir::BufferNode& buffer = *kernel.params[p];
        std::vector<int64_t> shape;
        for (const tir::Expr& dim : buffer.shape) shape.push_back(SizeOf(dim));
        Tensor t = at_end ? AtPageEnd(buffer.dtype, shape)
                          : AtPageStart(buffer.dtype, shape);
        FillExact(&t, static_cast<uint32_t>(p) * 77 + at_end);
        (p < kernel.num_inputs() ? inputs : outputs).push_back(t);
      }
      EXPECT_EQ(CompareWithInterpreter(**module, kernel, inputs, outputs,
                                       {1e-6, 1e-6}),
                absl::OkStatus());
    }
  }
}

TEST_P(StructureTest, RefusesWrongArguments) {
  auto module = BuildKernels(
      GetParam(),
      {ParseKernel("func @f(%x: f32[n, 4], %z: bool[n]) -> (%y: f32[n * 2]) { "
                   "for i in [0, n) { %y[i] = %x[i, 0] } }")});
  ASSERT_TRUE(module.ok()) << module.status();
  const Function f = *(*module)->GetFunction("f");
  const auto make = [](DataType t, std::vector<int64_t> shape) {
    return *Tensor::Empty(t, shape);
  };
  const DataType f32 = DataType::Float(32), boolean = DataType::Bool();
  const Tensor x = make(f32, {3, 4}), z = make(boolean, {3}),
               y = make(f32, {6});
  const auto error = [&](std::vector<Tensor> tensors) {
    std::vector<DLTensor*> args;
    for (const Tensor& t : tensors) args.push_back(t.dl());
    return std::string(f.Call(args).message());
  };
  EXPECT_EQ(error({x, z, y}), "");
  EXPECT_THAT(error({x, z}), HasSubstr("f: expected 3 arguments"));
  EXPECT_THAT(error({make(f32, {3, 5}), z, y}),
              HasSubstr("f: argument 0 (x) must be a f32[n, 4]"));
  EXPECT_THAT(error({x, make(boolean, {4}), y}),
              HasSubstr("f: argument 1 (z) must be a bool[n]"));
  EXPECT_THAT(error({x, make(DataType::UInt(8), {3}), y}),
              HasSubstr("f: argument 1 (z) must be a CPU tensor of type bool "
                        "with 1 dimensions"));
  EXPECT_THAT(error({x, z, make(f32, {7})}),
              HasSubstr("f: argument 2 (y) must be a f32[n * 2]"));
  EXPECT_THAT(error({make(f32, {3}), z, y}), HasSubstr("with 2 dimensions"));
}

// A plan sets workspaces aside, and a plan may say anything.
TEST_P(StructureTest, RefusesWrongWorkspaces) {
  auto module = BuildKernels(
      GetParam(),
      {ParseKernel("func @f(%x: f32[n]) -> (%y: f32[n]) workspace(%w: f32[n + "
                   "1]) { for i in [0, n) { %w[i + 1] = %x[i] } for i in [0, "
                   "n) { %y[i] = %w[i + 1] } }")});
  ASSERT_TRUE(module.ok()) << module.status();
  const Function f = *(*module)->GetFunction("f");
  const DataType f32 = DataType::Float(32);
  const auto error = [&](DataType t, std::vector<int64_t> shape) {
    const Tensor x = *Tensor::Empty(f32, {3}), y = *Tensor::Empty(f32, {3}),
                 w = *Tensor::Empty(t, shape);
    std::vector<DLTensor*> args = {x.dl(), y.dl(), w.dl()};
    return std::string(f.Call(args).message());
  };
  EXPECT_EQ(error(f32, {4}), "");
  EXPECT_THAT(error(f32, {3}),
              HasSubstr("f: argument 2 (w) must be a f32[n + 1]"));
  EXPECT_THAT(error(DataType::UInt(8), {4}), HasSubstr("of type f32"));
  EXPECT_THAT(error(f32, {4, 1}), HasSubstr("with 1 dimensions"));
}

// In a program that is not Ingot's: no threads, no error texts, the same
// results.
TEST_P(StructureTest, RunsWithoutAHost) {
  auto path = LinkKernels(
      GetParam(), {ParseKernel("func @f(%x: f32[n]) -> (%y: f32[n]) { parallel "
                               "i in [0, n) { %y[i] = %x[i] + 1.0f } }")});
  if (absl::IsInvalidArgument(path.status())) GTEST_SKIP();
  ASSERT_TRUE(path.ok()) << path.status();
  void* library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto f = reinterpret_cast<TVMFFISafeCallType>(dlsym(library, "__tvm_ffi_f"));
  ASSERT_NE(f, nullptr);
  Tensor x = *Tensor::Empty(DataType::Float(32), {5});
  Tensor y = *Tensor::Empty(DataType::Float(32), {5});
  FillExact(&x, 1);
  TVMFFIAny args[2] = {};
  args[0].type_index = args[1].type_index = kTVMFFIDLTensorPtr;
  args[0].v_ptr = x.dl();
  args[1].v_ptr = y.dl();
  TVMFFIAny result = {};
  EXPECT_EQ(f(nullptr, args, 2, &result), 0);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(y.data<float>()[i], x.data<float>()[i] + 1);
  }
  EXPECT_EQ(f(nullptr, args, 1, &result), -1);
  dlclose(library);
  unlink(path->c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Targets, StructureTest,
    testing::Values("llvm", "llvm -mcpu=generic", "llvm -O=0", "llvmjit",
                    "llvm -mattr=-fma,-f16c", "c", "c -cc=clang-19 -O=1",
                    "c -mcpu=native", "c -cc=clang-19 -mcpu=native"));

}  // namespace
}  // namespace ingot::testing_support

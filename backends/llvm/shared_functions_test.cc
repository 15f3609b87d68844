// Kernels whose loops are one function in the code, for they differ in scales,
// zero points and offsets alone, against the interpreter.
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/testing/run_kernels.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing_support::AtPageEnd;

// Bytes of two tensors, of scales and zero points of their own, become those of
// one with a third.
tir::PrimFunc Concatenation(int number, float scale, int zero) {
  const auto part = [&](int input, int offset, float of_input) {
    return absl::StrCat(
        "parallel i in [0, 6) { for j in [0, 5) { %y[i + ", offset,
        ", j, ramp(0, 1, 16)] = u8x16(round(f32x16(i32x16(%x", input,
        "[i, j, ramp(0, 1, 16)]) - broadcast(i32(", zero + input,
        "), 16)) * broadcast(", of_input, "f, 16) / broadcast(", scale,
        "f, 16)) + broadcast(", zero, ".0f, 16)) } }");
  };
  return testing_support::ParseKernel(absl::StrCat(
      "func @concat_", number,
      "(%x0: u8[6, 5, 16], %x1: u8[6, 5, 16], %x2: u8[6, 5, 16])"
      " -> (%y: u8[18, 5, 16]) {",
      part(0, 0, 0.037f), part(1, 6, 0.21f * scale), part(2, 12, 0.019f), "}"));
}

TEST(SharedFunctions, PartsOfConcatenations) {
  const std::vector<tir::PrimFunc> kernels = {Concatenation(0, 0.0413f, 131),
                                              Concatenation(1, 0.0527f, 7),
                                              Concatenation(2, 0.0309f, 128)};
  const auto module =
      testing_support::BuildKernels("llvm -mcpu=native", kernels);
  ASSERT_TRUE(module.ok()) << module.status();
  for (const tir::PrimFunc& kernel : kernels) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < 3; ++i) {
      inputs.push_back(AtPageEnd(DataType::UInt(8), {6, 5, 16}));
      testing_support::FillExact(&inputs.back(), 7 + i);
    }
    EXPECT_EQ(testing_support::CompareWithInterpreter(
                  **module, kernel, inputs,
                  {AtPageEnd(DataType::UInt(8), {18, 5, 16})}),
              absl::OkStatus());
  }
}

}  // namespace
}  // namespace ingot

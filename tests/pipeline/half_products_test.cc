// Products of matrices of 16-bit floats: their sums are of f32 and are rounded
// once. Compiled for llvm as users' models are, compared with sums in double of
// numbers whose products and sums are exact.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

// [m, k] by [k, n].
struct Sizes {
  int64_t m, k, n;
};

struct Type {
  const char* name;
  DataType type;
  double half_step;  // to the next number, of a number at most
  uint16_t (*from)(float);
  float (*to)(uint16_t);
};

const Type kTypes[] = {
    {"f16", DataType::Float(16), 0x1p-11, &FloatToHalf, &HalfToFloat},
    {"bf16", DataType::BFloat16(), 0x1p-8, &FloatToBFloat16, &BFloat16ToFloat},
};

// Eighths from -1 to 1, which start in different places.
std::vector<double> Eighths(int64_t count, int64_t start) {
  std::vector<double> numbers;
  for (int64_t i = start; i < start + count; ++i) {
    numbers.push_back(static_cast<double>((i * i + i / 5) % 17 - 8) / 8);
  }
  return numbers;
}

Tensor Matrix(const Type& type, int64_t rows, int64_t columns,
              const std::vector<double>& numbers) {
  Tensor matrix = *Tensor::Empty(type.type, {rows, columns});
  auto* const to = static_cast<uint16_t*>(matrix.mutable_raw_data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    to[i] = type.from(static_cast<float>(numbers[i]));
  }
  return matrix;
}

// The module's main is `head` and then y = x w.
void Check(const Type& type, const Sizes& s, const std::string& head,
           bool is_constant) {
  SCOPED_TRACE(absl::StrCat(head.substr(0, 60), ", m = ", s.m));
  auto module = relay::ReadModule(
      absl::Substitute("module { func @main($0 %y = matmul(%x, %w) } }", head));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto executor = testing_support::CompileAndOpen(module->get(), "llvm");
  ASSERT_TRUE(executor.ok()) << executor.status();
  const std::vector<double> x = Eighths(s.m * s.k, 3),
                            w = Eighths(s.k * s.n, 0);
  std::vector<Tensor> inputs = {Matrix(type, s.m, s.k, x)};
  if (!is_constant) inputs.push_back(Matrix(type, s.k, s.n, w));
  const auto results = (*executor)->Run(inputs);
  ASSERT_TRUE(results.ok()) << results.status();
  const auto* const y = static_cast<const uint16_t*>((*results)[0].raw_data());
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      for (int64_t r = 0; r < s.k; ++r) {
        sum += x[i * s.k + r] * w[r * s.n + j];
      }
      ASSERT_NEAR(type.to(y[i * s.n + j]), sum, std::abs(sum) * type.half_step)
          << "row " << i << ", column " << j;
    }
  }
}

TEST(HalfProductsTest, AreRoundedOnce) {
  // One row, few, several tiles of rows, and weights that fill no stack.
  for (const Sizes& s : std::vector<Sizes>{{1, 40, 33},
                                           {5, 64, 100},
                                           {50, 300, 70},
                                           {67, 33, 16},
                                           {64, 2000, 40}}) {
    for (const Type& type : kTypes) {
      const auto w = Eighths(s.k * s.n, 0);
      const std::string weights =
          absl::Substitute("-> (%y) { %w = const $0[$1, $2] {$3}", type.name,
                           s.k, s.n, absl::StrJoin(w, ", "));
      Check(
          type, s,
          absl::Substitute("%x: $0[$1, $2]) $3", type.name, s.m, s.k, weights),
          true);
      Check(type, s,
            absl::Substitute("%x: $0[m, $1]) $2", type.name, s.k, weights),
            true);
      Check(type, s,
            absl::Substitute("%x: $0[$1, $2], %w: $0[$2, $3]) -> (%y) {",
                             type.name, s.m, s.k, s.n),
            false);
    }
  }
}

}  // namespace
}  // namespace ingot

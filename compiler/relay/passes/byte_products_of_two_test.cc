// Products of bytes that are all known at run time alone, in every type and
// with every kind of zero point, against sums written down here.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// x[batch, m, k] times w[batch, k, n].
struct Product {
  int64_t batch = 3, m = 17, k = 18, n = 21;
  bool x_signed = false, w_signed = false;
  int64_t x_zero = 0, w_zero = 0;
  bool dequantized = false;
};

int64_t Low(bool is_signed) { return is_signed ? -128 : 0; }
const char* TypeOf(bool is_signed) { return is_signed ? "i8" : "u8"; }

// Gives bytes of all sizes, the extremes among them.
Ints Bytes(int64_t count, bool is_signed, uint64_t state) {
  Ints values;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    values.push_back(Low(is_signed) + static_cast<int64_t>(state >> 56));
  }
  values[0] = Low(is_signed);
  values[1] = Low(is_signed) + 255;
  return values;
}

Tensor ByteTensor(const Ints& shape, const Ints& values, bool is_signed) {
  Tensor tensor =
      *Tensor::Empty(is_signed ? DataType::Int(8) : DataType::UInt(8), shape);
  auto* to = static_cast<uint8_t*>(tensor.mutable_raw_data());
  for (size_t i = 0; i < values.size(); ++i) {
    to[i] = static_cast<uint8_t>(values[i]);
  }
  return tensor;
}

std::string Parameter(const char* name, bool is_signed, const Ints& shape) {
  return absl::StrCat("%", name, ": ", TypeOf(is_signed), "[",
                      absl::StrJoin(shape, ", "), "]");
}

// Of integers, zero points are operands; of floats, constants.
std::string TextOf(const Product& p) {
  const std::string parameters =
      absl::StrCat(Parameter("x", p.x_signed, {p.batch, p.m, p.k}), ", ",
                   Parameter("w", p.w_signed, {p.batch, p.k, p.n}));
  if (!p.dequantized) {
    return absl::StrCat(
        "module { func @main(", parameters, ", ",
        Parameter("zx", p.x_signed, {}), ", ", Parameter("zw", p.w_signed, {}),
        ") -> (%y) { %xi = cast(%x) {dtype=i32} %wi = cast(%w) {dtype=i32}"
        " %zxi = cast(%zx) {dtype=i32} %zwi = cast(%zw) {dtype=i32}"
        " %xc = sub(%xi, %zxi) %wc = sub(%wi, %zwi)"
        " %y = matmul(%xc, %wc) {out_dtype=i32} } }");
  }
  return absl::StrCat("module { func @main(", parameters,
                      ") -> (%y) { %s = const f32[] {0.5} %zx = const ",
                      TypeOf(p.x_signed), "[] {", p.x_zero, "} %zw = const ",
                      TypeOf(p.w_signed), "[] {", p.w_zero,
                      "} %xf = dequantize(%x, %s, %zx)"
                      " %wf = dequantize(%w, %s, %zw)"
                      " %y = matmul(%xf, %wf) } }");
}

std::unique_ptr<Module> Optimized(const std::string& text, bool run_time) {
  std::unique_ptr<Module> module = ParseForTest(text);
  if (module == nullptr) return nullptr;
  PassContext context = TestContext();
  context.layouts.run_time_words = run_time;
  const absl::Status status = RunPasses(
      {"fold_constants", "byte_products", "fold_constants", "simplify",
       "pack_weights", "fold_constants", "simplify", "eliminate_dead"},
      module.get(), &context);
  EXPECT_TRUE(status.ok()) << status << text;
  return status.ok() ? std::move(module) : nullptr;
}

void Check(const Product& p) {
  const std::string text = TextOf(p);
  const auto module = Optimized(text, /*run_time=*/true);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "dense_packed"), 1) << Print(*module);
  const Ints x = Bytes(p.batch * p.m * p.k, p.x_signed, 3);
  const Ints w = Bytes(p.batch * p.k * p.n, p.w_signed, 7);
  std::vector<Tensor> inputs = {ByteTensor({p.batch, p.m, p.k}, x, p.x_signed),
                                ByteTensor({p.batch, p.k, p.n}, w, p.w_signed)};
  if (!p.dequantized) {
    inputs.push_back(ByteTensor({}, {p.x_zero}, p.x_signed));
    inputs.push_back(ByteTensor({}, {p.w_zero}, p.w_signed));
  }
  const auto y = EvaluateFunction(*module, *module->main(), inputs);
  ASSERT_TRUE(y.ok()) << y.status() << Print(*module);
  for (int64_t i = 0; i < p.batch * p.m; ++i) {
    const int64_t b = i / p.m;
    for (int64_t j = 0; j < p.n; ++j) {
      int64_t sum = 0;
      for (int64_t r = 0; r < p.k; ++r) {
        sum += (x[i * p.k + r] - p.x_zero) *
               (w[(b * p.k + r) * p.n + j] - p.w_zero);
      }
      const int64_t at = i * p.n + j;
      if (p.dequantized) {
        // A quarter of it is a float.
        ASSERT_EQ((*y)[0].data<float>()[at], sum * 0.25f) << text;
      } else {
        ASSERT_EQ((*y)[0].data<int32_t>()[at], sum) << text;
      }
    }
  }
}

TEST(ByteProductsOfTwoTest, EveryTypeAndZeroPoint) {
  for (const bool dequantized : {false, true}) {
    for (const bool x_signed : {false, true}) {
      for (const bool w_signed : {false, true}) {
        for (const int64_t zero : {0, 77, 128, 255}) {
          Product p;
          p.dequantized = dequantized;
          p.x_signed = x_signed;
          p.w_signed = w_signed;
          p.x_zero = Low(x_signed) + zero;
          p.w_zero = Low(w_signed) + 255 - zero;
          ASSERT_NO_FATAL_FAILURE(Check(p));
        }
      }
    }
  }
}

TEST(ByteProductsOfTwoTest, EveryRemainderOfWordsAndPanels) {
  for (const int64_t k : {16, 17, 19}) {
    for (const int64_t n : {16, 31, 32, 65}) {
      Product p;
      p.k = k;
      p.n = n;
      p.x_zero = 5;
      ASSERT_NO_FATAL_FAILURE(Check(p));
    }
  }
}

// Making words costs as much as a few rows of products.
TEST(ByteProductsOfTwoTest, FewRowsStay) {
  Product p;
  p.dequantized = true;
  p.m = 3;
  const auto module = Optimized(TextOf(p), /*run_time=*/true);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "matmul"), 1) << Print(*module);
  EXPECT_EQ(CountOps(*module, "dequantize"), 2) << Print(*module);
}

TEST(ByteProductsOfTwoTest, NothingWhereTheTargetDoesNotWantIt) {
  Product p;
  p.dequantized = true;
  const auto module = Optimized(TextOf(p), /*run_time=*/false);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "matmul"), 1) << Print(*module);
  EXPECT_EQ(CountOps(*module, "dequantize"), 2) << Print(*module);
}

}  // namespace
}  // namespace ingot::relay

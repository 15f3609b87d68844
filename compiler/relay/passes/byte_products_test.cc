// Quantised products and convolutions, of bytes and of numbers of 16 bits, in
// every type and with every kind of zero point, against sums of 64-bit integers
// written down here.
#include <cstdint>
#include <cstring>
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

// x[m, k] times w[k, n]; w is stored as [n, k] for `dense`.
struct Product {
  int64_t m = 4, k = 10, n = 19;
  bool x_signed = false, w_signed = true;
  int64_t x_zero = 0;
  Ints w_zeros = {0};  // one, or one a column
  bool dense = false;
  bool zero_is_operand = false;
};

int64_t Low(bool is_signed) { return is_signed ? -128 : 0; }

// Gives bytes of all sizes, the extremes among them.
Ints Bytes(int64_t count, bool is_signed, uint64_t seed) {
  Ints values;
  uint64_t state = seed;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    values.push_back(Low(is_signed) + static_cast<int64_t>(state >> 56));
  }
  if (count > 1) values[0] = Low(is_signed);
  if (count > 1) values[1] = Low(is_signed) + 255;
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

std::string List(const Ints& values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}
const char* ByteType(bool is_signed) { return is_signed ? "i8" : "u8"; }

std::string Constant(const std::string& name, const std::string& type,
                     const Ints& shape, const Ints& values) {
  return absl::StrCat("%", name, " = const ", type,
                      shape.empty() ? "[]" : List(shape), " {",
                      absl::StrJoin(values, ", "), "}\n");
}

// Words of weights hold these.
enum class Parts { kBytes, kHalves };
constexpr Parts kAllParts[] = {Parts::kBytes, Parts::kHalves};

// The passes that a compilation runs from here on, where processors multiply
// such parts.
std::unique_ptr<Module> Optimized(const std::string& text, Parts parts) {
  std::unique_ptr<Module> module = ParseForTest(text);
  if (module == nullptr) return nullptr;
  PassContext context = TestContext();
  context.layouts.wide_words = parts == Parts::kHalves;
  const absl::Status status = RunPasses(
      {"fold_constants", "partition", "byte_products", "fold_constants",
       "simplify", "block_layout", "pack_weights", "fold_constants", "simplify",
       "eliminate_common", "eliminate_dead"},
      module.get(), &context);
  EXPECT_TRUE(status.ok()) << status << text;
  return status.ok() ? std::move(module) : nullptr;
}

Ints Weights(const Product& p) { return Bytes(p.k * p.n, p.w_signed, 7); }

// The element of row k and column n.
int64_t WeightAt(const Product& p, const Ints& w, int64_t k, int64_t n) {
  return (p.dense ? w[n * p.k + k] : w[k * p.n + n]) -
         p.w_zeros[p.w_zeros.size() == 1 ? 0 : n];
}

std::vector<int64_t> Expected(const Product& p, const Ints& x, const Ints& w) {
  std::vector<int64_t> y;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t n = 0; n < p.n; ++n) {
      int64_t sum = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        sum += (x[i * p.k + k] - p.x_zero) * WeightAt(p, w, k, n);
      }
      y.push_back(sum);
    }
  }
  return y;
}

std::string TextOf(const Product& p, const Ints& w) {
  std::string text = absl::StrCat(
      "module { func @main(%x: ", ByteType(p.x_signed), List({p.m, p.k}),
      p.zero_is_operand ? ", %zx: i32[]" : "", ") -> (%y) {\n");
  const Ints w_shape = p.dense ? Ints{p.n, p.k} : Ints{p.k, p.n};
  absl::StrAppend(&text, Constant("w", ByteType(p.w_signed), w_shape, w));
  if (!p.zero_is_operand) {
    absl::StrAppend(&text, Constant("zx", "i32", {}, {p.x_zero}));
  }
  Ints zeros_shape;
  if (p.w_zeros.size() > 1) zeros_shape = p.dense ? Ints{p.n, 1} : Ints{p.n};
  absl::StrAppend(&text, Constant("zw", "i32", zeros_shape, p.w_zeros));
  absl::StrAppend(&text,
                  "%xi = cast(%x) {dtype=i32} %xc = sub(%xi, %zx)\n"
                  "%wi = cast(%w) {dtype=i32} %wc = sub(%wi, %zw)\n%y = ",
                  p.dense ? "dense" : "matmul",
                  "(%xc, %wc) {out_dtype=i32} } }");
  return text;
}

void CheckOne(const Product& p, Parts parts) {
  const Ints x = Bytes(p.m * p.k, p.x_signed, 3), w = Weights(p);
  const std::string text = TextOf(p, w);
  const auto module = Optimized(text, parts);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Print(*module).find("i16[") != std::string::npos,
            parts == Parts::kHalves)
      << Print(*module);
  EXPECT_EQ(CountOps(*module, "dense_packed"), 1) << Print(*module);
  std::vector<Tensor> inputs = {ByteTensor({p.m, p.k}, x, p.x_signed)};
  if (p.zero_is_operand) {
    Tensor zero = *Tensor::Empty(DataType::Int(32), {});
    *zero.mutable_data<int32_t>() = static_cast<int32_t>(p.x_zero);
    inputs.push_back(zero);
  }
  const auto y = EvaluateFunction(*module, *module->main(), inputs);
  ASSERT_TRUE(y.ok()) << y.status() << Print(*module);
  const std::vector<int64_t> expected = Expected(p, x, w);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ((*y)[0].data<int32_t>()[i], expected[i])
        << "element " << i << "\n"
        << text << Print(*module);
  }
}

void Check(const Product& p) {
  for (const Parts parts : kAllParts) CheckOne(p, parts);
}

TEST(ByteProductsTest, EveryTypeAndZeroPoint) {
  for (bool x_signed : {false, true}) {
    for (bool w_signed : {false, true}) {
      for (int64_t x_zero : {0, 1, -1}) {
        for (int w_zero : {0, 1, 2, 3}) {
          for (bool dense : {false, true}) {
            for (bool zero_is_operand : {false, true}) {
              Product p;
              p.x_signed = x_signed;
              p.w_signed = w_signed;
              p.x_zero = x_zero == 0 ? 0 : Low(x_signed) + 100 + x_zero * 99;
              p.dense = dense;
              p.zero_is_operand = zero_is_operand;
              // None, the middle, an extreme, one a column.
              if (w_zero == 1) p.w_zeros = {Low(w_signed) + 128};
              if (w_zero == 2) p.w_zeros = {Low(w_signed) + 255};
              if (w_zero == 3) p.w_zeros = Bytes(p.n, w_signed, 5);
              ASSERT_NO_FATAL_FAILURE(Check(p)) << TextOf(p, Weights(p));
            }
          }
        }
      }
    }
  }
}

TEST(ByteProductsTest, EveryRemainderOfWordsAndPanels) {
  for (int64_t k : {1, 2, 3, 4, 5, 8, 33}) {
    for (int64_t n : {1, 8, 9, 31, 40}) {
      Product p;
      p.k = k;
      p.n = n;
      p.x_zero = 7;
      ASSERT_NO_FATAL_FAILURE(Check(p)) << k << " x " << n;
    }
  }
}

// --------------------------------------------------------------- convolutions

struct Conv {
  Ints x = {2, 3, 5, 6}, w = {9, 3, 3, 3};
  bool x_signed = false;
  int64_t x_zero = 0, stride = 1, pad = 0, groups = 1;
};

Ints ResultShape(const Conv& c) {
  auto extent = [&](int d) {
    return (c.x[d] + 2 * c.pad - c.w[d]) / c.stride + 1;
  };
  return {c.x[0], c.w[0], extent(2), extent(3)};
}

int64_t Count(const Ints& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

int64_t ConvAt(const Conv& c, const Ints& x, const Ints& w, const Ints& at) {
  int64_t sum = 0;
  const int64_t group = at[1] / (c.w[0] / c.groups);
  for (int64_t i = 0; i < c.w[1]; ++i) {
    for (int64_t kh = 0; kh < c.w[2]; ++kh) {
      for (int64_t kw = 0; kw < c.w[3]; ++kw) {
        const int64_t row = at[2] * c.stride + kh - c.pad;
        const int64_t column = at[3] * c.stride + kw - c.pad;
        if (row < 0 || row >= c.x[2] || column < 0 || column >= c.x[3]) {
          continue;
        }
        const int64_t channel = group * c.w[1] + i;
        sum +=
            (x[((at[0] * c.x[1] + channel) * c.x[2] + row) * c.x[3] + column] -
             c.x_zero) *
            w[((at[1] * c.w[1] + i) * c.w[2] + kh) * c.w[3] + kw];
      }
    }
  }
  return sum;
}

void CheckOne(const Conv& c, const char* anchor, Parts parts) {
  const Ints x = Bytes(Count(c.x), c.x_signed, 3);
  const Ints w = Bytes(Count(c.w), true, 7);
  const Ints pads(4, c.pad), strides(2, c.stride);
  const std::string text = absl::StrCat(
      "module { func @main(%x: ", ByteType(c.x_signed), List(c.x),
      ") -> (%y) {\n", Constant("w", "i8", c.w, w),
      Constant("zx", "i32", {}, {c.x_zero}),
      "%xi = cast(%x) {dtype=i32} %xc = sub(%xi, %zx)\n"
      "%y = conv2d(%xc, %w) {out_dtype=i32, groups=",
      c.groups, ", pads=", List(pads), ", strides=", List(strides), "} } }");
  const auto module = Optimized(text, parts);
  ASSERT_NE(module, nullptr);
  EXPECT_NE(Print(*module).find(anchor), std::string::npos) << Print(*module);
  const auto y = EvaluateFunction(*module, *module->main(),
                                  {ByteTensor(c.x, x, c.x_signed)});
  ASSERT_TRUE(y.ok()) << y.status() << Print(*module);
  const Ints shape = ResultShape(c);
  int64_t i = 0;
  Ints at(4);
  for (at[0] = 0; at[0] < shape[0]; ++at[0]) {
    for (at[1] = 0; at[1] < shape[1]; ++at[1]) {
      for (at[2] = 0; at[2] < shape[2]; ++at[2]) {
        for (at[3] = 0; at[3] < shape[3]; ++at[3], ++i) {
          ASSERT_EQ((*y)[0].data<int32_t>()[i], ConvAt(c, x, w, at))
              << "element " << i << "\n"
              << text << Print(*module);
        }
      }
    }
  }
}

void Check(const Conv& c, const char* anchor) {
  for (const Parts parts : kAllParts) CheckOne(c, anchor, parts);
}

TEST(ByteProductsTest, Convolutions) {
  for (bool x_signed : {false, true}) {
    for (int64_t pad : {0, 1}) {
      for (int64_t stride : {1, 2}) {
        for (int64_t channels : {1, 3, 8, 13, 16}) {
          Conv c;
          c.x_signed = x_signed;
          c.x_zero = x_signed ? -100 : 121;
          c.x[1] = c.w[1] = channels;
          c.pad = pad;
          c.stride = stride;
          ASSERT_NO_FATAL_FAILURE(Check(c, "words=1"));
        }
      }
    }
  }
}

TEST(ByteProductsTest, GroupsOfChannels) {
  Conv depthwise;
  depthwise.x = {1, 20, 4, 4};
  depthwise.w = {20, 1, 3, 3};
  depthwise.groups = 20;
  depthwise.pad = 1;
  depthwise.x_zero = 3;
  ASSERT_NO_FATAL_FAILURE(Check(depthwise, "data_layout=\"NCHW8c\""));
  Conv grouped;
  grouped.x = {1, 16, 4, 4};
  grouped.w = {32, 8, 1, 1};
  grouped.groups = 2;
  ASSERT_NO_FATAL_FAILURE(Check(grouped, "words=1"));
  grouped.w = {6, 8, 1, 1};  // groups smaller than a block stay plain
  ASSERT_NO_FATAL_FAILURE(Check(grouped, "groups=2"));
}

// ------------------------------------------------------ between floats' scales

void CheckDequantized(Parts parts) {
  constexpr int64_t kRows = 5;
  const std::string text = absl::StrCat(
      "module { func @main(%x: u8[5, 6]) -> (%y) {\n",
      Constant("w", "i8", {6, 3}, Bytes(18, true, 7)),
      "%sx = const f32[] {0.25} %zx = const u8[] {130}\n"
      "%sw = const f32[3] {0.5, 2, 0.125} %zw = const i8[3] {0, 1, -2}\n"
      "%a = dequantize(%x, %sx, %zx) %b = dequantize(%w, %sw, %zw)\n"
      "%y = matmul(%a, %b) } }");
  const auto module = Optimized(text, parts);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "dequantize"), 0) << Print(*module);
  EXPECT_EQ(CountOps(*module, "dense_packed"), 1) << Print(*module);
  const Ints x = Bytes(6 * kRows, false, 3), w = Bytes(18, true, 7);
  const auto y = EvaluateFunction(*module, *module->main(),
                                  {ByteTensor({kRows, 6}, x, false)});
  ASSERT_TRUE(y.ok()) << y.status();
  const double scales[] = {0.5, 2, 0.125};
  const int64_t zeros[] = {0, 1, -2};
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t n = 0; n < 3; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < 6; ++k) {
        sum += 0.25 * static_cast<double>(x[i * 6 + k] - 130) * scales[n] *
               static_cast<double>(w[k * 3 + n] - zeros[n]);
      }
      EXPECT_EQ((*y)[0].data<float>()[i * 3 + n], sum);
    }
  }
}

TEST(ByteProductsTest, DequantizedOperandsAreMultipliedAsIntegers) {
  for (const Parts parts : kAllParts) CheckDequantized(parts);
}

// ------------------------------------------------------ weights of run time

// x[..., m, k] times w[k, n], both known at run time only.
void CheckRunTime(int64_t k, int64_t n, bool x_signed, bool w_signed,
                  bool has_zeros) {
  constexpr int64_t kRows = 6;
  const std::string text = absl::StrCat(
      "module { func @main(%x: ", ByteType(x_signed), List({2, 3, k}),
      ", %w: ", ByteType(w_signed), List({k, n}), ", %zx: ", ByteType(x_signed),
      "[], %zw: ", ByteType(w_signed),
      "[]) -> (%y) { %xi = cast(%x) {dtype=i32} %wi = cast(%w) {dtype=i32}",
      has_zeros ? " %zxi = cast(%zx) {dtype=i32} %zwi = cast(%zw) {dtype=i32}"
                  " %xc = sub(%xi, %zxi) %wc = sub(%wi, %zwi)"
                  " %y = matmul(%xc, %wc) {out_dtype=i32} } }"
                : " %y = matmul(%xi, %wi) {out_dtype=i32} } }");
  const auto module = Optimized(text, Parts::kHalves);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "dense_packed"), 1) << Print(*module);
  const Ints x = Bytes(kRows * k, x_signed, 3), w = Bytes(k * n, w_signed, 7);
  const int64_t x_zero = has_zeros ? Low(x_signed) + 255 : 0;
  const int64_t w_zero = has_zeros ? Low(w_signed) : 0;
  const auto y = EvaluateFunction(
      *module, *module->main(),
      {ByteTensor({2, 3, k}, x, x_signed), ByteTensor({k, n}, w, w_signed),
       ByteTensor({}, {x_zero}, x_signed), ByteTensor({}, {w_zero}, w_signed)});
  ASSERT_TRUE(y.ok()) << y.status() << Print(*module);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (int64_t r = 0; r < k; ++r) {
        sum += (x[i * k + r] - x_zero) * (w[r * n + j] - w_zero);
      }
      ASSERT_EQ((*y)[0].data<int32_t>()[i * n + j], sum) << text;
    }
  }
}

TEST(ByteProductsTest, WeightsOfRunTime) {
  for (int64_t k : {1, 2, 7, 16}) {
    for (int64_t n : {1, 16, 33}) {
      for (bool x_signed : {false, true}) {
        for (bool w_signed : {false, true}) {
          for (bool has_zeros : {false, true}) {
            ASSERT_NO_FATAL_FAILURE(
                CheckRunTime(k, n, x_signed, w_signed, has_zeros));
          }
        }
      }
    }
  }
}

// x[rows, k] times w[k, n] as bytes, w known at run time only, in which bytes
// do not become words of bytes.
void CheckBytesOfRunTime(int64_t rows, int64_t k, Parts parts) {
  constexpr int64_t kColumns = 20;
  const auto module = Optimized(
      absl::StrCat("module { func @main(%x: u8", List({rows, k}), ", %w: i8",
                   List({k, kColumns}),
                   ") -> (%y) { %y = matmul(%x, %w) {out_dtype=i32} } }"),
      parts);
  ASSERT_NE(module, nullptr);
  const Ints x = Bytes(rows * k, false, 3), w = Bytes(k * kColumns, true, 7);
  const auto y = EvaluateFunction(
      *module, *module->main(),
      {ByteTensor({rows, k}, x, false), ByteTensor({k, kColumns}, w, true)});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      int64_t sum = 0;
      for (int64_t r = 0; r < k; ++r) {
        sum += x[i * k + r] * w[r * kColumns + j];
      }
      EXPECT_EQ((*y)[0].data<int32_t>()[i * kColumns + j], sum);
    }
  }
}

TEST(ByteProductsTest, BytesOfRunTime) {
  for (const Parts parts : kAllParts) {
    for (const int64_t rows : {1, 3, 4, 33}) {
      for (const int64_t k : {1, 2, 5, 8}) {
        ASSERT_NO_FATAL_FAILURE(CheckBytesOfRunTime(rows, k, parts));
      }
    }
  }
}

// Their weights are read so few times that a byte of each is enough.
TEST(ByteProductsTest, ProductsOfFewRowsStayInBytes) {
  Product p;
  p.m = 3;
  const auto module = Optimized(TextOf(p, Weights(p)), Parts::kHalves);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "dense_packed"), 1) << Print(*module);
  EXPECT_EQ(Print(*module).find("i16"), std::string::npos) << Print(*module);
}

TEST(ByteProductsTest, NothingWhereTheMachineDoesNotMultiplyBytes) {
  const Product p;
  auto module = ParseForTest(TextOf(p, Weights(p)));
  ASSERT_NE(module, nullptr);
  PassContext context = TestContext();
  context.layouts.byte_words = false;
  const std::string before = Print(*module);
  ASSERT_TRUE(RunPasses({"byte_products"}, module.get(), &context).ok());
  EXPECT_EQ(Print(*module), before);
}

}  // namespace
}  // namespace ingot::relay

// Sums that become bytes, which may be looked up, as quantised networks have
// them, against loops written here. The widths leave every number of vectors
// behind the last whole tile.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

constexpr int kChannels = 16;
constexpr int kWidths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 14, 29, 30, 31, 60};
constexpr float kFactor = 1.0f / 8192, kScale = 0.02f, kSmall = 0.0041f;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int Weight(int o, int i) { return (5 * o + 3 * i) % 11 - 5; }
int Datum(int i, int x) { return (37 * i + 71 * x + i * x) % 256; }

// Operators that make each sum, times %m, a byte.
constexpr char kLookedUp[] = R"(
      %q$0 = quantize(%p$0, %s, %z) {dtype=$1}
      %d$0 = dequantize(%q$0, %s, %z)
      %h$0 = tanh(%d$0)
      %u$0 = quantize(%h$0, %t, %z) {dtype=$1})";
constexpr char kRounded[] = R"(
      %u$0 = quantize(%p$0, %s, %z) {dtype=$1})";
constexpr char kRoundedRelu[] = R"(
      %r$0 = relu(%p$0)
      %u$0 = quantize(%r$0, %s, %z) {dtype=$1})";

// Every channel of the second convolution is one of the first.
std::string Text(const std::string& type, int zero, absl::string_view made) {
  std::vector<int> weights, same;
  for (int o = 0; o < kChannels; ++o) {
    for (int i = 0; i < kChannels; ++i) {
      weights.push_back(Weight(o, i));
      same.push_back(o == i ? 1 : 0);
    }
  }
  std::vector<std::string> inputs = {"%m: f32[]"}, outputs;
  std::string body = absl::Substitute(
      "%w = const i8[16, 16, 1, 1] {$0}\n%v = const i8[16, 16, 1, 1] {$1}\n"
      "%s = const f32[] {$2}\n%t = const f32[] {$3}\n%z = const $4[] {$5}\n",
      absl::StrJoin(weights, ", "), absl::StrJoin(same, ", "), kScale, kSmall,
      type, zero);
  for (const int n : kWidths) {
    inputs.push_back(absl::StrCat("%x", n, ": u8[1, 16, 1, ", n, "]"));
    outputs.push_back(absl::StrCat("%y", n));
    absl::StrAppend(&body, absl::Substitute(absl::StrCat(R"(
      %c$0 = conv2d(%x$0, %w) {out_dtype=i32}
      %f$0 = cast(%c$0) {dtype=f32}
      %p$0 = mul(%f$0, %m))",
                                                         made, R"(
      %y$0 = conv2d(%u$0, %v) {out_dtype=i32})"),
                                            n, type));
  }
  return absl::StrCat("module { func @main(", absl::StrJoin(inputs, ", "),
                      ") -> (", absl::StrJoin(outputs, ", "), ") {\n", body,
                      "} }");
}

int Quantized(float x, float scale, int zero, int least) {
  if (std::isnan(x)) return 0;
  const float whole = std::nearbyint(x / scale) + static_cast<float>(zero);
  return static_cast<int>(std::clamp(whole, static_cast<float>(least),
                                     static_cast<float>(least + 255)));
}

int Byte(absl::string_view made, float x, int zero, int least) {
  if (made == kRoundedRelu && x < 0) x = 0;
  const int byte = Quantized(x, kScale, zero, least);
  if (made != kLookedUp) return byte;
  return Quantized(std::tanh(static_cast<float>(byte - zero) * kScale), kSmall,
                   zero, least);
}

void CheckResults(const std::vector<Tensor>& results, absl::string_view made,
                  float factor, int zero, int least) {
  for (size_t k = 0; k < results.size(); ++k) {
    const int n = kWidths[k];
    for (int o = 0; o < kChannels; ++o) {
      for (int x = 0; x < n; ++x) {
        int sum = 0;
        for (int i = 0; i < kChannels; ++i) sum += Weight(o, i) * Datum(i, x);
        ASSERT_EQ(results[k].data<int32_t>()[o * n + x],
                  Byte(made, static_cast<float>(sum) * factor, zero, least))
            << n << " wide, channel " << o << ", place " << x << ", times "
            << factor;
      }
    }
  }
}

// Far from any byte a number is at the end of their range; NaN is 0.
constexpr float kFactors[] = {
    kFactor, 0.4f,   -0.4f,     3e4f,
    1e32f,   -1e32f, kInfinity, std::numeric_limits<float>::quiet_NaN()};

void Check(const std::string& type, int zero, absl::string_view made) {
  SCOPED_TRACE(absl::StrCat(type, " around ", zero, made));
  auto module = relay::ReadModule(Text(type, zero, made));
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<Tensor> inputs = {*Tensor::Empty(DataType::Float(32), {})};
  for (const int n : kWidths) {
    inputs.push_back(*Tensor::Empty(DataType::UInt(8), {1, 16, 1, n}));
    for (int i = 0; i < kChannels; ++i) {
      for (int x = 0; x < n; ++x) {
        inputs.back().mutable_data<uint8_t>()[i * n + x] =
            static_cast<uint8_t>(Datum(i, x));
      }
    }
  }
  const auto executor = testing_support::CompileAndOpen(module->get(), "llvm");
  ASSERT_TRUE(executor.ok()) << executor.status();
  for (const float factor : kFactors) {
    // Tables are of unsigned bytes, where NaN is the first.
    if (std::isnan(factor) && made == kLookedUp) continue;
    *inputs[0].mutable_data<float>() = factor;
    const auto results = (*executor)->Run(inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    CheckResults(*results, made, factor, zero, type == "i8" ? -128 : 0);
  }
}

TEST(LookedUpBytesTest, AsLoopsMakeThem) {
  for (const absl::string_view made : {kRounded, kRoundedRelu, kLookedUp}) {
    Check("u8", 128, made);
    Check("u8", 0, made);
    Check("i8", -3, made);
  }
}

}  // namespace
}  // namespace ingot

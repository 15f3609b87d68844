// Sums that become bytes and are looked up, as quantised networks with
// activations have them, against loops written here. The widths leave every
// number of vectors behind the last whole tile.
#include <algorithm>
#include <cmath>
#include <cstdint>
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

int Weight(int o, int i) { return (5 * o + 3 * i) % 11 - 5; }
int Datum(int i, int x) { return (37 * i + 71 * x + i * x) % 256; }

// Every channel of the second convolution is one of the first.
std::string Text(const std::string& type, int zero) {
  std::vector<int> weights, same;
  for (int o = 0; o < kChannels; ++o) {
    for (int i = 0; i < kChannels; ++i) {
      weights.push_back(Weight(o, i));
      same.push_back(o == i ? 1 : 0);
    }
  }
  std::vector<std::string> inputs, outputs;
  std::string body = absl::Substitute(
      "%w = const i8[16, 16, 1, 1] {$0}\n%v = const i8[16, 16, 1, 1] {$1}\n"
      "%s = const f32[] {$2}\n%t = const f32[] {$3}\n%z = const $4[] {$5}\n%m "
      "= const f32[] {$6}\n",
      absl::StrJoin(weights, ", "), absl::StrJoin(same, ", "), kScale, kSmall,
      type, zero, kFactor);
  for (const int n : kWidths) {
    inputs.push_back(absl::StrCat("%x", n, ": u8[1, 16, 1, ", n, "]"));
    outputs.push_back(absl::StrCat("%y", n));
    absl::StrAppend(&body, absl::Substitute(R"(
      %c$0 = conv2d(%x$0, %w) {out_dtype=i32}
      %f$0 = cast(%c$0) {dtype=f32}
      %p$0 = mul(%f$0, %m)
      %q$0 = quantize(%p$0, %s, %z) {dtype=$1}
      %d$0 = dequantize(%q$0, %s, %z)
      %h$0 = tanh(%d$0)
      %u$0 = quantize(%h$0, %t, %z) {dtype=$1}
      %y$0 = conv2d(%u$0, %v) {out_dtype=i32})",
                                            n, type));
  }
  return absl::StrCat("module { func @main(", absl::StrJoin(inputs, ", "),
                      ") -> (", absl::StrJoin(outputs, ", "), ") {\n", body,
                      "} }");
}

int Quantized(float x, float scale, int zero, int least) {
  const int whole = static_cast<int>(std::nearbyint(x / scale)) + zero;
  return std::clamp(whole, least, least + 255);
}

void Check(const std::string& type, int zero) {
  SCOPED_TRACE(absl::StrCat(type, " around ", zero));
  auto module = relay::ReadModule(Text(type, zero));
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<Tensor> inputs;
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
  const auto results = (*executor)->Run(inputs);
  ASSERT_TRUE(results.ok()) << results.status();
  const int least = type == "i8" ? -128 : 0;
  for (size_t k = 0; k < results->size(); ++k) {
    const int n = kWidths[k];
    for (int o = 0; o < kChannels; ++o) {
      for (int x = 0; x < n; ++x) {
        int sum = 0;
        for (int i = 0; i < kChannels; ++i) sum += Weight(o, i) * Datum(i, x);
        const int byte =
            Quantized(static_cast<float>(sum) * kFactor, kScale, zero, least);
        const float known = static_cast<float>(byte - zero) * kScale;
        ASSERT_EQ((*results)[k].data<int32_t>()[o * n + x],
                  Quantized(std::tanh(known), kSmall, zero, least))
            << n << " wide, channel " << o << ", place " << x;
      }
    }
  }
}

TEST(LookedUpBytesTest, AsLoopsMakeThem) {
  Check("u8", 128);
  Check("u8", 0);
  Check("i8", -3);
}

}  // namespace
}  // namespace ingot

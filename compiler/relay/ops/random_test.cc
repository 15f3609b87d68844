// The random numbers are those of the published generator: compared with a
// plain form of it here, which is compared with its authors' known answers
// (Random123's test vectors).
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::relay {
namespace {

using testing::ElementsAre;
using Words = std::array<uint32_t, 4>;

Words Philox(Words c, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

TEST(RandomTest, ThePlainFormGivesTheKnownAnswers) {
  EXPECT_THAT(Philox({0, 0, 0, 0}, 0, 0),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  const uint32_t ones = 0xffffffff;
  EXPECT_THAT(Philox({ones, ones, ones, ones}, ones, ones),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                     0xa4093822, 0x299f31d0),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

// The numbers that `random` gives for a state.
Tensor Draw(int64_t seed, int64_t run, const Attrs& attrs) {
  Module module;
  Function* f = module.AddFunction("main");
  Tensor state = *Tensor::Empty(DataType::Int(64), {2});
  state.mutable_data<int64_t>()[0] = seed;
  state.mutable_data<int64_t>()[1] = run;
  absl::StatusOr<Node*> node =
      f->AddOp("random", "r", {Value{f->AddConstant("state", state)}}, attrs);
  EXPECT_TRUE(node.ok()) << node.status();
  f->outputs = {Value{*node}};
  absl::StatusOr<std::vector<Tensor>> out = EvaluateFunction(module, *f, {});
  EXPECT_TRUE(out.ok()) << out.status();
  return (*out)[0];
}

Attrs Of(DataType dtype, const std::string& distribution) {
  return Attrs{{"shape", MakeShape({2, 5})},
               {"dtype", dtype},
               {"distribution", distribution}};
}

constexpr int64_t kSeed = 0x299f31d0a4093822;
constexpr int64_t kRun = 0x13198a2e;

// The words of element `i`, of stream 3.
Words Expected(uint32_t i) {
  return Philox({i, 0, uint32_t{kRun}, 3}, 0xa4093822, 0x299f31d0);
}

TEST(RandomTest, UniformNumbersAreTheTopBits) {
  Attrs attrs = Of(DataType::Float(32), "uniform");
  attrs.Set("stream", int64_t{3});
  const Tensor f32 = Draw(kSeed, kRun, attrs);
  attrs.Set("dtype", DataType::Float(64));
  const Tensor f64 = Draw(kSeed, kRun, attrs);
  for (uint32_t i = 0; i < 10; ++i) {
    const Words w = Expected(i);
    EXPECT_EQ(f32.values<float>()[i], std::ldexp(w[0] >> 8, -24));
    const uint64_t bits = uint64_t{w[0] >> 5} << 26 | w[1] >> 6;
    EXPECT_EQ(f64.values<double>()[i],
              std::ldexp(static_cast<double>(bits), -53));
  }
}

TEST(RandomTest, NormalNumbersAreBoxAndMullers) {
  Attrs attrs = Of(DataType::Float(32), "normal");
  attrs.Set("stream", int64_t{3});
  const Tensor f32 = Draw(kSeed, kRun, attrs);
  attrs.Set("dtype", DataType::Float(64));
  const Tensor f64 = Draw(kSeed, kRun, attrs);
  auto normal = [](double a, double b) {
    return std::sqrt(-2 * std::log(1 - a)) * std::cos(2 * M_PI * b);
  };
  for (uint32_t i = 0; i < 10; ++i) {
    const Words w = Expected(i);
    EXPECT_NEAR(f32.values<float>()[i],
                normal(std::ldexp(w[0] >> 8, -24), std::ldexp(w[1] >> 8, -24)),
                2e-6);
    auto unit = [](uint32_t high, uint32_t low) {
      const uint64_t bits = uint64_t{high >> 5} << 26 | low >> 6;
      return std::ldexp(static_cast<double>(bits), -53);
    };
    EXPECT_NEAR(f64.values<double>()[i],
                normal(unit(w[0], w[1]), unit(w[2], w[3])), 1e-13);
  }
}

TEST(RandomTest, ASeedOfTheCallReplacesTheStates) {
  Attrs attrs = Of(DataType::Float(32), "uniform");
  const Tensor of_state = Draw(77, 5, attrs);
  attrs.Set("seed", int64_t{77});
  EXPECT_EQ(Draw(1, 5, attrs).values<float>(), of_state.values<float>());
  EXPECT_NE(Draw(77, 6, attrs).values<float>(), of_state.values<float>());
  attrs.Set("stream", int64_t{1});
  EXPECT_NE(Draw(77, 5, attrs).values<float>(), of_state.values<float>());
}

TEST(RandomTest, WhatCannotBeDrawn) {
  Module module;
  Function* f = module.AddFunction("main");
  Tensor three = *Tensor::Empty(DataType::Int(64), {3});
  const Value state{*f->AddOp("random_state", "state", {})};
  const Value wrong{f->AddConstant("three", three)};
  const Attrs good = Of(DataType::Float(32), "uniform");
  EXPECT_FALSE(f->AddOp("random", "r", {wrong}, good).ok());
  EXPECT_FALSE(
      f->AddOp("random", "r", {state}, Of(DataType::Float(32), "zipf")).ok());
  EXPECT_FALSE(
      f->AddOp("random", "r", {state}, Of(DataType::Int(32), "uniform")).ok());
  EXPECT_TRUE(f->AddOp("random", "r", {state}, good).ok());
}

}  // namespace
}  // namespace ingot::relay

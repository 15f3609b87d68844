// Products of bf16 parts, and of bytes, by tiles, in every point of the
// template's space and with sizes that fill no tile, against loops without a
// schedule. (How a processor runs such loops is
// backends/llvm/matmul_precision_test.cc's.)
#include <string>
#include <vector>

#include "compiler/schedules/choose.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/tags.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot::te::cpu {
namespace {

using Tags = std::map<std::string, std::string>;

constexpr DataType kBf16 = DataType::BFloat16();

MachineModel WithTiles() {
  MachineModel machine;
  machine.vector_bits = 512;
  machine.vector_registers = 32;
  // Small, so that small sizes are blocked.
  machine.l2_bytes = 16 << 10;
  machine.units = {MachineUnit::kBFloat16Tiles, MachineUnit::kInt8Tiles,
                   MachineUnit::kInt8Dot};
  return machine;
}

struct Size {
  int64_t m, n, steps;
};

// Rows of m (symbolic where `rows` is) by n columns, sums of steps * 32 terms,
// of one part each; then a bias.
Kernel Product(const Size& s, Expr rows) {
  Kernel k;
  Graph& g = k.graph;
  Tensor x = g.Placeholder("x", kF32, {rows, tir::MakeInt(s.steps * 32)});
  Tensor w = g.Placeholder(
      "w", kBf16, ConstShape({(s.n + 15) / 16, s.steps, 1, 16, 16, 2}));
  Tensor bias = g.Placeholder("bias", kF32, ConstShape({s.n}));
  Tensor parts = g.Compute(
      "parts", {rows, tir::MakeInt(s.steps | 1), tir::MakeInt(32)},
      [&](auto& i) {
        const Expr k = i[1] * 32 + i[2];
        return tir::MakeSelect(tir::Lt(k, tir::MakeInt(s.steps * 32)),
                               tir::MakeCast(kBf16, x({i[0], k})),
                               tir::MakeConst(kBf16, 0));
      },
      Tags{{kParts, "1"}});
  const auto f32 = [](const Expr& e) { return tir::MakeCast(kF32, e); };
  const Expr sixteen = tir::MakeInt(16);
  Tensor c = g.Reduce(
      "c", {rows, tir::MakeInt(s.n)},
      {tir::MakeInt(s.steps), sixteen, tir::MakeInt(2)}, Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        return f32(parts({i[0], r[0], r[1] * 2 + r[2]})) *
               f32(w({i[1] / sixteen, r[0], tir::MakeInt(0), r[1],
                      i[1] % sixteen, r[2]}));
      },
      Tags{{kAnchor, kDenseParts}});
  k.inputs = {x, w, bias};
  k.outputs = {g.Compute("d", {rows, tir::MakeInt(s.n)},
                         [&](auto& i) { return c(i) + bias({i[1]}); })};
  return k;
}

// Small whole numbers, so that sums are exact in any order.
std::vector<ingot::Tensor> Inputs(const Size& s) {
  int next = 1;
  const auto number = [&next] { return (next = next * 75 % 65537) % 7 - 3; };
  ingot::Tensor x = *ingot::Tensor::Empty(kF32, {s.m, s.steps * 32});
  ingot::Tensor w =
      *ingot::Tensor::Empty(kBf16, {(s.n + 15) / 16, s.steps, 1, 16, 16, 2});
  ingot::Tensor bias = *ingot::Tensor::Empty(kF32, {s.n});
  for (ingot::Tensor* t : {&x, &bias}) {
    for (int64_t i = 0; i < t->NumElements(); ++i) {
      t->mutable_data<float>()[i] = static_cast<float>(number());
    }
  }
  for (int64_t i = 0; i < w.NumElements(); ++i) {
    w.mutable_data<uint16_t>()[i] =
        FloatToBFloat16(static_cast<float>(number()));
  }
  return {x, w, bias};
}

// The same of bytes, sums of steps * 64 terms.
Kernel ByteProduct(const Size& s, Expr rows) {
  const DataType i32 = DataType::Int(32);
  Kernel k;
  Graph& g = k.graph;
  Tensor x =
      g.Placeholder("x", DataType::UInt(8), {rows, tir::MakeInt(s.steps * 64)});
  Tensor w =
      g.Placeholder("w", i32, ConstShape({(s.n + 15) / 16, s.steps * 16, 16}));
  Tensor bias = g.Placeholder("bias", kF32, ConstShape({s.n}));
  const Expr sixteen = tir::MakeInt(16);
  Tensor c = g.Reduce(
      "c", {rows, tir::MakeInt(s.n)}, {tir::MakeInt(s.steps * 16)},
      Reducer::Sum(i32),
      [&](auto& i, auto& r) {
        Expr word;
        for (int64_t j = 0; j < 4; ++j) {
          const Expr byte = tir::MakeBinary(
              tir::BinaryOp::kShl, tir::MakeCast(i32, x({i[0], r[0] * 4 + j})),
              tir::MakeInt(8 * j, i32));
          word = j == 0 ? tir::MakeCast(i32, x({i[0], r[0] * 4}))
                        : tir::MakeBinary(tir::BinaryOp::kBitOr, word, byte);
        }
        return tir::MakeCall(tir::Intrinsic::kDot4,
                             {word, w({i[1] / sixteen, r[0], i[1] % sixteen}),
                              tir::MakeInt(0, i32)});
      },
      Tags{{kAnchor, kDensePacked}});
  k.inputs = {x, w, bias};
  k.outputs = {g.Compute("d", {rows, tir::MakeInt(s.n)}, [&](auto& i) {
    return tir::MakeCast(kF32, c(i)) + bias({i[1]});
  })};
  return k;
}

std::vector<ingot::Tensor> ByteInputs(const Size& s) {
  int next = 1;
  const auto number = [&next] { return next = next * 75 % 65537; };
  ingot::Tensor x =
      *ingot::Tensor::Empty(DataType::UInt(8), {s.m, s.steps * 64});
  ingot::Tensor w = *ingot::Tensor::Empty(DataType::Int(32),
                                          {(s.n + 15) / 16, s.steps * 16, 16});
  ingot::Tensor bias = *ingot::Tensor::Empty(kF32, {s.n});
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(number());
  }
  for (int64_t i = 0; i < w.NumElements(); ++i) {
    w.mutable_data<int32_t>()[i] =
        static_cast<int32_t>(int64_t{number()} * 65537 + number());
  }
  for (int64_t i = 0; i < bias.NumElements(); ++i) {
    bias.mutable_data<float>()[i] = static_cast<float>(number());
  }
  return {x, w, bias};
}

// A family of products, and data for it.
struct Family {
  Kernel (*kernel)(const Size&, Expr rows);
  std::vector<ingot::Tensor> (*inputs)(const Size&);
};
constexpr Family kFamilies[] = {{Product, Inputs}, {ByteProduct, ByteInputs}};

void ExpectRight(const Kernel& kernel, const std::vector<ingot::Tensor>& inputs,
                 const DimValues& dims, const ParameterPicker& pick) {
  auto plain = Schedule::Create(kernel.graph, kernel.outputs);
  auto schedule = ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(),
                                 WithTiles(), pick);
  ASSERT_TRUE(plain.ok() && schedule.ok()) << schedule.status();
  const auto want = RunSchedule(kernel, *plain, inputs, dims, false);
  const auto got = RunSchedule(kernel, *schedule, inputs, dims, true);
  ASSERT_EQ(want.size(), 1u);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(want[0].values<float>() == got[0].values<float>());
}

void ExpectRightInAllPoints(const Family& family, const Size& size) {
  const Kernel kernel = family.kernel(size, tir::MakeInt(size.m));
  const std::vector<ingot::Tensor> inputs = family.inputs(size);
  std::vector<ScheduleChoice> points;
  ExpectRight(kernel, inputs, {},
              [&](const ScheduleTemplate& t, const ScheduleSite& site,
                  const ScheduleChoice& cheapest) {
                if (t.name == "cpu.tile_product") points = AllPoints(t, site);
                return cheapest;
              });
  ASSERT_GT(points.size(), 1u);
  for (const ScheduleChoice& point : points) {
    SCOPED_TRACE(point.ToString());
    ExpectRight(kernel, inputs, {},
                [&](const ScheduleTemplate& t, const ScheduleSite&,
                    const ScheduleChoice& cheapest) {
                  return t.name == "cpu.tile_product" ? point : cheapest;
                });
  }
}

TEST(TileProduct, ComputesWhatPlainLoopsDo) {
  for (const Family& family : kFamilies) {
    for (const Size& size : std::vector<Size>{{16, 16, 2},
                                              {37, 40, 3},
                                              {90, 17, 2},
                                              {50, 33, 4},
                                              {200, 50, 2}}) {
      SCOPED_TRACE(testing::Message() << size.m << " " << size.n);
      ExpectRightInAllPoints(family, size);
    }
  }
  SCOPED_TRACE("few rows");
  ExpectRightInAllPoints(kFamilies[0], {5, 33, 4});
}

TEST(TileProduct, TakesAnyNumberOfRows) {
  const tir::VarPtr rows = tir::MakeVar("m");
  for (const Family& family : kFamilies) {
    for (const int64_t m : {1, 15, 32, 43}) {
      SCOPED_TRACE(m);
      const Size size = {m, 24, 2};
      ExpectRight(family.kernel(size, rows), family.inputs(size),
                  {{rows.get(), m}}, nullptr);
    }
  }
}

}  // namespace
}  // namespace ingot::te::cpu

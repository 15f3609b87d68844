// Random kernels, as each target runs them and as the interpreter does.

#include <random>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_kernels.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"
#include "gtest/gtest.h"

namespace ingot::testing_support {
namespace {

using tir::BinaryOp;
using tir::Buffer;
using tir::Expr;
using tir::VarPtr;

// Makes kernels that are well defined: indices are inside of the buffers or
// behind conditions that keep them there, integers are divided by constants.
// Floats are small multiples of 1/4 and are not multiplied twice, so that
// fused operations round no differently.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  tir::PrimFunc Make(const std::string& name) {
    tir::PrimFunc func;
    func.name = name;
    const DataType types[] = {
        DataType::Float(32), DataType::Int(32),   DataType::Int(64),
        DataType::UInt(8),   DataType::Float(64), DataType::Float(16),
        DataType::Bool(),    DataType::Int(8),    DataType::BFloat16()};
    const bool symbolic = Pick(3) == 0;
    rows_ = symbolic ? Expr(tir::MakeVar("n")) : tir::MakeInt(5);
    columns_ = tir::MakeInt(16);
    inputs_.clear();
    for (int i = 0; i < 3; ++i) {
      inputs_.push_back(tir::MakeBuffer(absl::StrCat("x", i),
                                        types[Pick(std::size(types))],
                                        {rows_, columns_}));
    }
    const DataType result = types[Pick(std::size(types))];
    Buffer out = tir::MakeBuffer("y", result, {rows_, columns_});
    func.params = inputs_;
    func.params.push_back(out);
    func.body = Loops(out);
    return func;
  }

 private:
  int Pick(size_t n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }

  tir::Stmt Loops(const Buffer& out) {
    const VarPtr i = tir::MakeVar("i");
    const VarPtr j = tir::MakeVar("j");
    Expr row = i, column = j;
    tir::Stmt body;
    const tir::ForKind rows =
        Pick(2) == 0 ? tir::ForKind::kParallel : tir::ForKind::kSerial;
    switch (Pick(4)) {
      case 0:  // a plain loop
        body = Loop(j, 16, tir::ForKind::kSerial, Body(out, row, column));
        break;
      case 1:  // vectors
        body = Loop(j, 16, tir::ForKind::kVectorized, Body(out, row, column));
        break;
      case 2: {  // tiles, the inner one unrolled
        const VarPtr k = tir::MakeVar("k");
        column = Expr(j) * 4 + Expr(k);
        body =
            Loop(j, 4, tir::ForKind::kSerial,
                 Loop(k, 4, tir::ForKind::kUnrolled, Body(out, row, column)));
        break;
      }
      default: {  // vectors of a quarter, under an unrolled loop
        const VarPtr k = tir::MakeVar("k");
        column = Expr(j) * 4 + Expr(k);
        body =
            Loop(j, 4, tir::ForKind::kUnrolled,
                 Loop(k, 4, tir::ForKind::kVectorized, Body(out, row, column)));
        break;
      }
    }
    return tir::MakeFor(i, tir::MakeInt(0), rows_, rows, body);
  }

  static tir::Stmt Loop(const VarPtr& var, int64_t extent, tir::ForKind kind,
                        tir::Stmt body) {
    return tir::MakeFor(var, tir::MakeInt(0), tir::MakeInt(extent), kind,
                        std::move(body));
  }

  tir::Stmt Body(const Buffer& out, const Expr& row, const Expr& column) {
    row_ = row;
    column_ = column;
    lets_.clear();
    const DataType t = out->dtype;
    std::vector<std::pair<VarPtr, Expr>> lets;
    for (int n = Pick(3); n > 0; --n) {
      Expr value = Value(t, 2);
      lets.emplace_back(tir::MakeVar("v", t), value);
      lets_.push_back(lets.back().first);
    }
    tir::Stmt s = tir::MakeStore(out, {row, column}, Value(t, 4));
    if (Pick(4) == 0) {
      s = tir::MakeIf(tir::Lt(row, tir::MakeInt(Pick(5))), s,
                      tir::MakeStore(out, {row, column}, Value(t, 2)));
    }
    for (size_t n = lets.size(); n > 0; --n) {
      s = tir::MakeLet(lets[n - 1].first, lets[n - 1].second, s);
    }
    return s;
  }

  Expr Constant(DataType t) {
    const int value = Pick(9) - 4;
    if (t.is_float()) return tir::MakeFloat(value / 4.0, t);
    return tir::MakeInt(t.is_bool() ? value & 1 : value, t);
  }

  // An element of an input, near the one that is computed.
  Expr Element(DataType t) {
    const Buffer& buffer = inputs_[Pick(inputs_.size())];
    Expr load;
    Expr condition;
    const int dy = Pick(3) - 1, dx = Pick(3) - 1;
    if (Pick(2) == 0 || (dy == 0 && dx == 0)) {
      load = tir::MakeLoad(buffer, {row_, column_});
    } else {
      const Expr y = row_ + dy, x = column_ + dx;
      const Expr zero = tir::MakeInt(0);
      condition = tir::And(tir::And(tir::Ge(y, zero), tir::Lt(y, rows_)),
                           tir::And(tir::Ge(x, zero), tir::Lt(x, columns_)));
      load = tir::MakeLoad(buffer, {y, x});
    }
    load = tir::MakeCast(t, load);
    if (condition == nullptr) return load;
    return tir::MakeSelect(condition, load, Constant(t));
  }

  Expr Leaf(DataType t) {
    if (!lets_.empty() && lets_.back()->dtype == t && Pick(3) == 0) {
      return lets_[Pick(lets_.size())];
    }
    if (Pick(4) == 0) return Constant(t);
    if (Pick(8) == 0 && !t.is_bool()) return tir::MakeCast(t, column_);
    return Element(t);
  }

  Expr Condition(int depth) {
    const DataType types[] = {DataType::Float(32), DataType::Int(32),
                              DataType::Float(16)};
    const DataType t = types[Pick(3)];
    const BinaryOp ops[] = {BinaryOp::kLt, BinaryOp::kLe, BinaryOp::kEq,
                            BinaryOp::kNe, BinaryOp::kGt, BinaryOp::kGe};
    return tir::MakeBinary(ops[Pick(6)], Value(t, depth - 1),
                           Value(t, depth - 1));
  }

  Expr Value(DataType t, int depth) {
    if (depth <= 0 || Pick(6) == 0) return Leaf(t);
    if (Pick(5) == 0) {
      return tir::MakeSelect(Condition(depth), Value(t, depth - 1),
                             Value(t, depth - 1));
    }
    if (t.is_bool()) {
      const BinaryOp ops[] = {BinaryOp::kAnd, BinaryOp::kOr, BinaryOp::kBitXor};
      if (Pick(2) == 0) return Condition(depth);
      return tir::MakeBinary(ops[Pick(3)], Value(t, depth - 1),
                             Value(t, depth - 1));
    }
    if (Pick(8) == 0) {
      const DataType from = t.is_float() ? DataType::Int(8) : DataType::Int(32);
      return tir::MakeCast(t, Value(from, depth - 1));
    }
    if (t.is_integer() && Pick(4) == 0) {
      const BinaryOp ops[] = {BinaryOp::kDiv, BinaryOp::kMod,
                              BinaryOp::kFloorDiv, BinaryOp::kFloorMod};
      return tir::MakeBinary(ops[Pick(4)], Value(t, depth - 1),
                             tir::MakeInt(Pick(6) + 1, t));
    }
    if (t.is_integer() && Pick(5) == 0) {
      return tir::MakeBinary(Pick(2) == 0 ? BinaryOp::kShl : BinaryOp::kShr,
                             Value(t, depth - 1), tir::MakeInt(Pick(7), t));
    }
    if (t.is_float() && Pick(6) == 0) {
      const tir::Intrinsic functions[] = {
          tir::Intrinsic::kAbs, tir::Intrinsic::kFloor, tir::Intrinsic::kCeil,
          tir::Intrinsic::kTrunc, tir::Intrinsic::kRound};
      return tir::MakeCall(functions[Pick(5)], {Value(t, depth - 1)});
    }
    if (t.is_float() && Pick(4) == 0) {
      return Leaf(t) * tir::MakeFloat(Pick(3) + 0.5, t);
    }
    const BinaryOp ops[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMin,
                            BinaryOp::kMax, BinaryOp::kMul};
    return tir::MakeBinary(ops[Pick(t.is_float() ? 4 : 5)], Value(t, depth - 1),
                           Value(t, depth - 1));
  }

  std::mt19937 random_;
  std::vector<Buffer> inputs_;
  std::vector<VarPtr> lets_;
  Expr rows_, columns_, row_, column_;
};

class RandomTest : public testing::TestWithParam<const char*> {};

TEST_P(RandomTest, AgreesWithTheInterpreter) {
  constexpr int kKernels = 150;
  Generator generator(20240613);
  std::vector<tir::PrimFunc> kernels;
  for (int i = 0; i < kKernels; ++i) {
    kernels.push_back(generator.Make(absl::StrCat("k", i)));
    ASSERT_EQ(tir::Verify(kernels.back()), absl::OkStatus())
        << tir::Print(kernels.back());
  }
  auto module = BuildKernels(GetParam(), kernels);
  ASSERT_TRUE(module.ok()) << module.status();
  for (const tir::PrimFunc& kernel : kernels) {
    std::vector<Tensor> inputs;
    for (int p = 0; p < 3; ++p) {
      inputs.push_back(p == 0 ? AtPageStart(kernel.params[p]->dtype, {5, 16})
                              : AtPageEnd(kernel.params[p]->dtype, {5, 16}));
      FillExact(&inputs.back(), static_cast<uint32_t>(p));
    }
    Tensor out = AtPageEnd(kernel.params[3]->dtype, {5, 16});
    EXPECT_EQ(CompareWithInterpreter(**module, kernel, inputs, {out}),
              absl::OkStatus())
        << tir::Print(kernel);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomTest,
                         testing::Values("llvm", "llvm -mcpu=generic",
                                         "llvmjit -O=1", "c",
                                         "c -cc=clang-19 -O=1",
                                         "c -mcpu=native",
                                         "c -cc=clang-19 -mcpu=native"));

}  // namespace
}  // namespace ingot::testing_support

#include "compiler/te/testing/check.h"

#include <cmath>
#include <random>

#include "compiler/te/lower.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/interpreter.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"
#include "compiler/tir/visitor.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot::te {
namespace {

std::vector<int64_t> Bind(const std::vector<Expr>& shape,
                          const DimValues& dims) {
  std::map<const tir::Var*, Expr> map;
  for (const auto& [var, value] : dims) map[var] = tir::MakeInt(value);
  std::vector<int64_t> result;
  for (const Expr& dim : shape) {
    int64_t value = -1;
    EXPECT_TRUE(
        tir::AsConstInt(tir::Simplify(tir::Substitute(dim, map)), &value))
        << tir::Print(dim);
    result.push_back(value);
  }
  return result;
}

}  // namespace

std::vector<Expr> ConstShape(const std::vector<int64_t>& dims) {
  std::vector<Expr> shape;
  for (int64_t dim : dims) shape.push_back(tir::MakeInt(dim));
  return shape;
}

std::vector<ingot::Tensor> RandomInputs(const Kernel& kernel,
                                        const DimValues& dims, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ingot::Tensor> result;
  for (const Tensor& t : kernel.inputs) {
    ingot::Tensor value =
        *ingot::Tensor::Empty(t.dtype(), Bind(t.shape(), dims));
    for (int64_t i = 0; i < value.NumElements(); ++i) {
      int number = static_cast<int>(random() % 9) - 4;
      if (t.dtype() == DataType::Float(32)) {
        value.mutable_data<float>()[i] = static_cast<float>(number);
      } else if (t.dtype() == DataType::Float(16)) {
        value.mutable_data<uint16_t>()[i] =
            FloatToHalf(static_cast<float>(number));
      } else if (t.dtype() == DataType::BFloat16()) {
        value.mutable_data<uint16_t>()[i] =
            FloatToBFloat16(static_cast<float>(number));
      } else {
        value.mutable_data<int64_t>()[i] = number;
      }
    }
    result.push_back(std::move(value));
  }
  return result;
}

std::vector<ingot::Tensor> RunSchedule(const Kernel& kernel,
                                       const Schedule& schedule,
                                       const std::vector<ingot::Tensor>& inputs,
                                       const DimValues& dims, bool passes) {
  auto func =
      Lower("kernel", kernel.graph, kernel.inputs, kernel.outputs, schedule);
  if (!func.ok()) {
    ADD_FAILURE() << func.status();
    return {};
  }
  absl::Status verified = tir::Verify(*func);
  EXPECT_TRUE(verified.ok()) << verified << "\n" << tir::Print(*func);
  if (!verified.ok()) return {};
  if (passes) {
    func = tir::VectorizeLoops(tir::Simplify(*func));
    EXPECT_TRUE(func.ok()) << func.status();
    if (!func.ok()) return {};
    func = tir::UnrollLoops(*func);
    EXPECT_TRUE(func.ok()) << func.status();
    if (!func.ok()) return {};
  }
  std::vector<ingot::Tensor> arguments = inputs;
  for (const Tensor& t : kernel.outputs) {
    arguments.push_back(
        *ingot::Tensor::Empty(t.dtype(), Bind(t.shape(), dims)));
  }
  absl::Status status = tir::Interpret(*func, arguments);
  EXPECT_TRUE(status.ok()) << status << "\n" << tir::Print(*func);
  if (!status.ok()) return {};
  arguments.erase(arguments.begin(), arguments.begin() + inputs.size());
  return arguments;
}

void ExpectSame(const Kernel& kernel, const Schedule& schedule,
                const DimValues& dims, float tolerance) {
  auto plain = Schedule::Create(kernel.graph, kernel.outputs);
  ASSERT_TRUE(plain.ok()) << plain.status();
  std::vector<ingot::Tensor> inputs = RandomInputs(kernel, dims, 7);
  auto expected = RunSchedule(kernel, *plain, inputs, dims, false);
  for (bool passes : {false, true}) {
    auto actual = RunSchedule(kernel, schedule, inputs, dims, passes);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t o = 0; o < actual.size(); ++o) {
      ASSERT_EQ(actual[o].NumElements(), expected[o].NumElements());
      for (int64_t i = 0; i < actual[o].NumElements(); ++i) {
        if (actual[o].dtype() == DataType::Int(64)) {
          ASSERT_EQ(actual[o].data<int64_t>()[i],
                    expected[o].data<int64_t>()[i])
              << "output " << o << " element " << i;
          continue;
        }
        const float a = actual[o].data<float>()[i];
        const float e = expected[o].data<float>()[i];
        const bool close =
            a == e || std::fabs(a - e) <= tolerance * (1 + std::fabs(e));
        ASSERT_TRUE(close) << "output " << o << " element " << i << ": " << a
                           << " instead of " << e
                           << (passes ? " (after passes)" : "");
      }
    }
  }
}

}  // namespace ingot::te

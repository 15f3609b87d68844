#include "tests/onnxruntime/expect_same.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backends/testing/run_model.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "tests/onnxruntime/session.h"

namespace ingot::onnxruntime {

std::vector<Tensor> OutputsOf(const Blob& model,
                              absl::Span<const std::string> names,
                              absl::Span<const Tensor> inputs,
                              absl::Span<const std::string> outputs) {
  auto session = Session::Create(model.view());
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  auto made = (*session)->Run(names, inputs, outputs);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *std::move(made) : std::vector<Tensor>();
}

namespace {

// The element, which is an integer of at most 64 bits.
int64_t IntegerAt(const Tensor& t, int64_t i) {
  const DataType type = t.dtype();
  if (type.is_bool() || type == DataType::UInt(8)) return t.data<uint8_t>()[i];
  if (type == DataType::Int(8)) return t.data<int8_t>()[i];
  if (type == DataType::Int(32)) return t.data<int32_t>()[i];
  if (type == DataType::Int(64)) return t.data<int64_t>()[i];
  ADD_FAILURE() << "no integers to compare: " << t.TypeString();
  return 0;
}

void ExpectNear(const Tensor& actual, const Tensor& expected,
                const Room& room) {
  ASSERT_EQ(actual.TypeString(), expected.TypeString());
  if (expected.dtype() == DataType::Float(32)) {
    onnx_frontend::ExpectNear(onnx_frontend::ValuesOf(actual),
                              onnx_frontend::ValuesOf(expected), room.floats);
    return;
  }
  int64_t most = 0;
  for (int64_t i = 0; i < expected.NumElements(); ++i) {
    most =
        std::max(most, std::abs(IntegerAt(actual, i) - IntegerAt(expected, i)));
  }
  EXPECT_LE(most, room.integers);
}

}  // namespace

void ExpectCompiled(const Blob& model, const std::vector<Tensor>& inputs,
                    absl::Span<const Tensor> expected, const Room& room) {
  absl::StatusOr<relay::Module> module = ImportOnnx(model);
  ASSERT_TRUE(module.ok()) << module.status();
  auto executor = testing_support::CompileAndOpen(&*module, "llvm");
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto actual = (*executor)->Run(inputs);
  ASSERT_TRUE(actual.ok()) << actual.status();
  ASSERT_EQ(actual->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "output " << i);
    ExpectNear((*actual)[i], expected[i], room);
  }
}

void ExpectSame(const onnx_frontend::Operator& op,
                const std::vector<onnx_frontend::Operand>& operands,
                const Room& room, bool symbolic) {
  const onnx_frontend::OperatorModel known =
      onnx_frontend::ModelOf(op, operands);
  const std::vector<Tensor> expected = OutputsOf(
      known.model, known.input_names, known.inputs, known.output_names);
  ASSERT_FALSE(expected.empty());
  ExpectCompiled(known.model, known.inputs, expected, room);
  if (!symbolic) return;
  SCOPED_TRACE("without the shapes of the inputs");
  std::vector<onnx_frontend::Operand> unknown = operands;
  for (onnx_frontend::Operand& operand : unknown) operand.symbolic = true;
  ExpectCompiled(onnx_frontend::ModelOf(op, unknown).model, known.inputs,
                 expected, room);
}

}  // namespace ingot::onnxruntime

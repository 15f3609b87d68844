#include "tests/onnxruntime/expect_same.h"

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

void ExpectCompiled(const Blob& model, const std::vector<Tensor>& inputs,
                    absl::Span<const Tensor> expected, float tolerance) {
  absl::StatusOr<relay::Module> module = ImportOnnx(model);
  ASSERT_TRUE(module.ok()) << module.status();
  auto executor = testing_support::CompileAndOpen(&*module, "llvm");
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto actual = (*executor)->Run(inputs);
  ASSERT_TRUE(actual.ok()) << actual.status();
  ASSERT_EQ(actual->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ((*actual)[i].TypeString(), expected[i].TypeString());
    const auto a = (*actual)[i].values<float>();
    const auto e = expected[i].values<float>();
    onnx_frontend::ExpectNear({a.begin(), a.end()}, {e.begin(), e.end()},
                              tolerance);
  }
}

}  // namespace ingot::onnxruntime

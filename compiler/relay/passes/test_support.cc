#include "compiler/relay/passes/test_support.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/passes/evaluate.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

// Inputs of main: floats in [-1, 1), integers in [0, 8).
std::vector<Tensor> MakeInputs(const Function& main, int64_t symbol) {
  std::vector<Tensor> inputs;
  uint64_t state = 12345;
  for (const Node* node : main.inputs) {
    std::vector<int64_t> shape;
    for (const Dim& dim : node->outputs[0].shape) {
      int64_t value;
      shape.push_back(tir::AsConstInt(dim, &value) ? value : symbol);
    }
    const DataType t = node->outputs[0].dtype;
    Tensor tensor = *Tensor::Empty(t, shape);
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const uint64_t bits = state >> 40;
      if (t == DataType::Float(32)) {
        tensor.mutable_data<float>()[i] =
            static_cast<float>(bits) / (1 << 23) - 1;
      } else if (t == DataType::Int(64)) {
        tensor.mutable_data<int64_t>()[i] = static_cast<int64_t>(bits % 8);
      } else {
        ADD_FAILURE() << "inputs of " << t.ToString() << " are not made";
      }
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

void ExpectNear(const Tensor& actual, const Tensor& expected, double tolerance,
                const std::string& where) {
  ASSERT_EQ(actual.TypeString(), expected.TypeString()) << where;
  if (expected.dtype() != DataType::Float(32)) {
    const absl::string_view a(static_cast<const char*>(actual.raw_data()),
                              actual.bytes());
    const absl::string_view b(static_cast<const char*>(expected.raw_data()),
                              expected.bytes());
    EXPECT_EQ(a, b) << where;
    return;
  }
  double largest = 1e-3;
  for (float v : expected.values<float>()) {
    if (std::isfinite(v)) largest = std::max<double>(largest, std::abs(v));
  }
  for (int64_t i = 0; i < expected.NumElements(); ++i) {
    const float a = actual.data<float>()[i], b = expected.data<float>()[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    ASSERT_NEAR(a, b, tolerance * largest) << where << ", element " << i;
  }
}

}  // namespace

std::unique_ptr<Module> ParseForTest(absl::string_view text) {
  auto module = ReadModule(text);
  if (!module.ok()) {
    ADD_FAILURE() << module.status();
    return nullptr;
  }
  if (absl::Status status = Verify(**module); !status.ok()) {
    ADD_FAILURE() << status;
    return nullptr;
  }
  return *std::move(module);
}

PassContext TestContext() {
  PassContext context;
  context.cpu.vector_bits = 256;
  context.cpu.fma = true;
  return context;
}

bool RunForTest(const std::vector<std::string>& passes, Module* module) {
  PassContext context = TestContext();
  const absl::Status status = RunPasses(passes, module, &context);
  EXPECT_TRUE(status.ok()) << status << "\n" << Print(*module);
  return status.ok();
}

std::unique_ptr<Module> CheckKeepsMeaning(
    absl::string_view text, const std::vector<std::string>& passes,
    double tolerance, int64_t symbol) {
  std::unique_ptr<Module> module = ParseForTest(text);
  if (module == nullptr) return nullptr;
  const std::vector<Tensor> inputs = MakeInputs(*module->main(), symbol);
  const auto expected = EvaluateFunction(*module, *module->main(), inputs);
  if (!expected.ok()) {
    ADD_FAILURE() << expected.status();
    return nullptr;
  }
  for (const std::string& pass : passes) {
    if (!RunForTest({pass}, module.get())) return nullptr;
    const auto actual = EvaluateFunction(*module, *module->main(), inputs);
    if (!actual.ok()) {
      ADD_FAILURE() << "after " << pass << ": " << actual.status() << "\n"
                    << Print(*module);
      return nullptr;
    }
    EXPECT_EQ(actual->size(), expected->size());
    for (size_t i = 0; i < expected->size(); ++i) {
      ExpectNear((*actual)[i], (*expected)[i], tolerance,
                 absl::StrCat("after ", pass, ", output ", i));
    }
    if (testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << Print(*module);
      return nullptr;
    }
  }
  return module;
}

int CountOps(const Function& function, absl::string_view op) {
  int count = 0;
  for (const auto& node : function.nodes()) count += node->Is(op);
  return count;
}

int CountOps(const Module& module, absl::string_view op) {
  int count = 0;
  for (const auto& function : module.functions()) {
    count += CountOps(*function, op);
  }
  return count;
}

}  // namespace ingot::relay

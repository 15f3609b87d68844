#include "compiler/relay/passes/test_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "compiler/schedules/cpu/layouts.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot::relay {
namespace {

// Inputs of main. A sequence or a shape that is not known gives none.
std::optional<std::vector<Tensor>> MakeInputs(const Function& main,
                                              int64_t symbol) {
  std::vector<Tensor> inputs;
  for (const Node* node : main.inputs) {
    const TensorType& type = node->outputs[0];
    if (type.is_sequence) return std::nullopt;
    std::vector<int64_t> shape;
    for (const Dim& dim : type.shape) {
      int64_t value;
      shape.push_back(tir::AsConstInt(dim, &value) ? value : symbol);
    }
    inputs.push_back(TestTensor(type.dtype, shape, 12345 + inputs.size()));
  }
  return inputs;
}

// Whether they are the same up to `tolerance` times the largest element; where
// not, says so.
bool ExpectNear(const Tensor& actual, const Tensor& expected, double tolerance,
                const std::string& where) {
  if (actual.TypeString() != expected.TypeString()) {
    ADD_FAILURE() << where << ": " << actual.TypeString() << ", not "
                  << expected.TypeString();
    return false;
  }
  if (expected.dtype() != DataType::Float(32)) {
    const absl::string_view a(static_cast<const char*>(actual.raw_data()),
                              actual.bytes());
    const absl::string_view b(static_cast<const char*>(expected.raw_data()),
                              expected.bytes());
    EXPECT_EQ(a, b) << where;
    return a == b;
  }
  double largest = 1e-3;
  for (float v : expected.values<float>()) {
    if (std::isfinite(v)) largest = std::max<double>(largest, std::abs(v));
  }
  for (int64_t i = 0; i < expected.NumElements(); ++i) {
    const float a = actual.data<float>()[i], b = expected.data<float>()[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b || std::abs(a - b) <= tolerance * largest) continue;
    ADD_FAILURE() << where << ", element " << i << ": " << a << ", not " << b;
    return false;
  }
  return true;
}

}  // namespace

Tensor TestTensor(DataType dtype, absl::Span<const int64_t> shape,
                  uint64_t seed) {
  Tensor tensor = *Tensor::Empty(dtype, shape);
  auto* to = static_cast<char*>(tensor.mutable_raw_data());
  uint64_t state = seed;
  for (int64_t i = 0; i < tensor.NumElements(); ++i, to += dtype.bytes()) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const uint64_t bits = state >> 40;
    const double number =
        seed == 0 ? 1 : static_cast<double>(bits) / (1 << 23) - 1;
    auto put = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
    if (dtype.code == DataType::kBFloat) {
      put(DoubleToBFloat16(number));
    } else if (dtype.is_float() && dtype.bits == 16) {
      put(DoubleToHalf(number));
    } else if (dtype == DataType::Float(32)) {
      put(static_cast<float>(number));
    } else if (dtype == DataType::Float(64)) {
      put(number);
    } else {
      const uint64_t integer = seed == 0 ? 1 : bits % (dtype.is_bool() ? 2 : 8);
      std::memcpy(to, &integer, dtype.bytes());
    }
  }
  return tensor;
}

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
  MachineModel machine;
  machine.vector_bits = 256;
  machine.fma = true;
  machine.units = {MachineUnit::kInt8Dot};
  context.layouts = te::cpu::CpuLayouts(machine);
  LayoutPreferences& gpu = context.device_layouts["gpu"];
  gpu.channel_block = [](const Node&) { return 8; };
  gpu.one_block = true;
  return context;
}

bool RunForTest(const std::vector<std::string>& passes, Module* module) {
  PassContext context = TestContext();
  const absl::Status status = RunPasses(passes, module, &context);
  EXPECT_TRUE(status.ok()) << status << "\n" << Print(*module);
  return status.ok();
}

bool KeepsMeaning(Module* module, const std::vector<std::string>& passes,
                  double tolerance, int64_t symbol) {
  const auto inputs = MakeInputs(*module->main(), symbol);
  absl::StatusOr<std::vector<Tensor>> expected =
      absl::UnimplementedError("inputs are not made");
  if (inputs) expected = EvaluateFunction(*module, *module->main(), *inputs);
  const std::string before = Print(*module);
  for (const std::string& pass : passes) {
    if (!RunForTest({pass}, module)) return false;
    if (!expected.ok()) continue;
    const auto actual = EvaluateFunction(*module, *module->main(), *inputs);
    if (!actual.ok()) {
      ADD_FAILURE() << "after " << pass << ": " << actual.status() << "\n"
                    << before << Print(*module);
      return false;
    }
    EXPECT_EQ(actual->size(), expected->size());
    bool same = true;
    for (size_t i = 0; i < expected->size(); ++i) {
      same = same && ExpectNear((*actual)[i], (*expected)[i], tolerance,
                                absl::StrCat("after ", pass, ", output ", i));
    }
    if (!same) {
      ADD_FAILURE() << before << Print(*module);
      return false;
    }
  }
  return true;
}

std::unique_ptr<Module> CheckKeepsMeaning(
    absl::string_view text, const std::vector<std::string>& passes,
    double tolerance, int64_t symbol) {
  std::unique_ptr<Module> module = ParseForTest(text);
  if (module == nullptr) return nullptr;
  const auto inputs = MakeInputs(*module->main(), symbol);
  if (!inputs) {
    ADD_FAILURE() << "its inputs are not made";
    return nullptr;
  }
  const auto expected = EvaluateFunction(*module, *module->main(), *inputs);
  if (!expected.ok()) {
    ADD_FAILURE() << expected.status();
    return nullptr;
  }
  if (!KeepsMeaning(module.get(), passes, tolerance, symbol)) return nullptr;
  return module;
}

std::string Main(absl::string_view body) {
  return absl::StrCat("module { func @main", body, " }");
}

std::vector<std::string> OpsOf(const Function& function) {
  std::vector<std::string> ops;
  for (const auto& node : function.nodes()) {
    if (node->kind == NodeKind::kOp) ops.push_back(node->op->name);
  }
  return ops;
}

std::vector<std::string> OpsAfter(absl::string_view text,
                                  const std::vector<std::string>& passes,
                                  double tolerance) {
  const auto module = CheckKeepsMeaning(text, passes, tolerance);
  return module == nullptr ? std::vector<std::string>{"(failed)"}
                           : OpsOf(*module->main());
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

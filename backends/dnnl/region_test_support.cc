#include "backends/dnnl/region_test_support.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "backends/dnnl/codegen.h"
#include "backends/dnnl/load_json.h"
#include "base/status_macros.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/verifier.h"
#include "gtest/gtest.h"

namespace ingot::dnnl_backend {

const TargetKind& DnnlKind() {
  static const auto* const kRegistry = [] {
    auto* registry = new TargetRegistry;
    if (!RegisterDnnlTarget(registry).ok()) std::abort();
    return registry;
  }();
  return **kRegistry->Find("dnnl");
}

absl::StatusOr<LoadedRegion> LoadRegionText(absl::string_view text) {
  LoadedRegion region;
  INGOT_ASSIGN_OR_RETURN(region.module, relay::ReadModule(text));
  INGOT_RETURN_IF_ERROR(relay::Verify(*region.module));
  relay::Function* main = region.module->main();
  std::map<std::string, Tensor> constants;
  for (const auto& node : main->nodes()) {
    if (node->kind != relay::NodeKind::kConstant) continue;
    node->attrs.Set("constant", node->name);
    constants[node->name] = *node->constant;
  }
  INGOT_ASSIGN_OR_RETURN(Target target, ParseTarget("dnnl"));
  INGOT_ASSIGN_OR_RETURN(
      CodegenResult code,
      DnnlKind().relay_to_runtime(target, *region.module, *main, "region"));
  if (code.artifacts.size() != 1) {
    return absl::InternalError("not one artifact");
  }
  region.json = std::string(code.artifacts[0].content.view());
  INGOT_ASSIGN_OR_RETURN(region.loaded, LoadJson(region.json, constants));
  std::optional<Function> function = region.loaded->GetFunction("region");
  if (!function) return absl::InternalError("no function");
  region.function = *function;
  return region;
}

std::vector<Tensor> RandomInputs(const relay::Function& function, float low,
                                 float high, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<Tensor> inputs;
  for (const relay::Node* input : function.inputs) {
    const auto shape = relay::ConstShape(input->outputs[0].shape);
    Tensor tensor = *Tensor::Empty(DataType::Float(32), *shape);
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      tensor.mutable_data<float>()[i] = distribution(random);
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

absl::StatusOr<std::vector<Tensor>> CallRegion(
    const Function& callee, const relay::Function& function,
    absl::Span<const Tensor> inputs) {
  std::vector<DLTensor*> arguments;
  for (const Tensor& input : inputs) arguments.push_back(input.dl());
  std::vector<Tensor> outputs;
  for (const relay::Value& output : function.outputs) {
    INGOT_ASSIGN_OR_RETURN(
        Tensor tensor, Tensor::Empty(output.type().dtype,
                                     *relay::ConstShape(output.type().shape)));
    std::fill_n(tensor.mutable_data<float>(), tensor.NumElements(), 1e30f);
    arguments.push_back(tensor.dl());
    outputs.push_back(std::move(tensor));
  }
  INGOT_RETURN_IF_ERROR(callee.Call(arguments));
  return outputs;
}

Graph ExpectRegionMeans(absl::string_view text, float low, float high,
                        double tolerance) {
  absl::StatusOr<LoadedRegion> region = LoadRegionText(text);
  if (!region.ok()) {
    ADD_FAILURE() << region.status() << "\n" << text;
    return Graph();
  }
  SCOPED_TRACE(std::string(text) + region->json);
  const relay::Function& main = *region->module->main();
  const std::vector<Tensor> inputs = RandomInputs(main, low, high);
  absl::StatusOr<std::vector<Tensor>> expected =
      relay::EvaluateFunction(*region->module, main, inputs);
  if (!expected.ok()) {
    ADD_FAILURE() << expected.status();
    return Graph();
  }
  // Twice: buffers hold what the first run left.
  for (int run = 0; run < 2; ++run) {
    absl::StatusOr<std::vector<Tensor>> got =
        CallRegion(region->function, main, inputs);
    if (!got.ok()) {
      ADD_FAILURE() << got.status();
      return Graph();
    }
    for (size_t k = 0; k < got->size(); ++k) {
      const Tensor &a = (*got)[k], &b = (*expected)[k];
      double largest = 0, error = 0;
      for (int64_t i = 0; i < b.NumElements(); ++i) {
        const double x = a.data<float>()[i], y = b.data<float>()[i];
        largest = std::max(largest, std::abs(y));
        const double difference = std::abs(x - y);
        if (!(difference <= error)) error = difference;
      }
      EXPECT_LE(error, tolerance * std::max(largest, 1e-3))
          << "output " << k << " of run " << run;
      EXPECT_FALSE(std::isnan(error));
    }
  }
  absl::StatusOr<Graph> graph = ReadGraph(region->json);
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status();
    return Graph();
  }
  EXPECT_EQ(WriteGraph(*graph), region->json);
  return *graph;
}

}  // namespace ingot::dnnl_backend

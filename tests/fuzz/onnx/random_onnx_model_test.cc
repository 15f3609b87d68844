#include "tests/fuzz/onnx/random_onnx_model.h"

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/operators.h"
#include "gtest/gtest.h"
#include "tests/fuzz/onnx/deviations.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

TEST(RandomOnnxModel, TheSameSeedGivesTheSameModel) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(MakeOnnxModel(seed).proto.SerializeAsString(),
              MakeOnnxModel(seed).proto.SerializeAsString());
  }
  EXPECT_NE(MakeOnnxModel(1).proto.SerializeAsString(),
            MakeOnnxModel(2).proto.SerializeAsString());
}

bool MakesANode(const OnnxSampler& sampler, const std::string& op) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    // ONNX Runtime has some operators in older sets only.
    Grower grower(seed, 13 + static_cast<int>(seed % 15));
    sampler.add(&grower, op);
    if (grower.operators() == 0) continue;
    const onnx::ModelProto model = grower.Finish();
    for (const auto& node : model.graph().node()) {
      if (node.op_type() == op) return true;
    }
  }
  return false;
}

TEST(RandomOnnxModel, EverySamplerMakesEachOfItsOperators) {
  for (const OnnxSampler& sampler : OnnxSamplers()) {
    for (const std::string& op : sampler.ops) {
      EXPECT_TRUE(MakesANode(sampler, op)) << op;
    }
  }
}

TEST(RandomOnnxModel, EveryOperatorIsSampledOrSaysWhyNot) {
  const std::set<std::string> sampled = SampledOnnxOperators();
  std::set<std::string> imported;
  for (const OnnxOperator& op : ImportedOperators()) {
    if (!op.domain.empty() && op.domain != "ai.onnx.ml") continue;
    imported.insert(op.name);
    EXPECT_NE(sampled.count(op.name), UnsampledOperators().count(op.name))
        << op.name;
  }
  for (const auto& [name, why] : UnsampledOperators()) {
    EXPECT_TRUE(imported.count(name) > 0) << name << " is not imported";
  }
}

TEST(RandomOnnxModel, SymbolsReplaceExtentsOfInputs) {
  const OnnxModel model = MakeOnnxModel(1);
  int symbols = 0;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const onnx::ModelProto symbolic = WithSymbols(model.proto, seed);
    for (const auto& input : symbolic.graph().input()) {
      for (const auto& dim : input.type().tensor_type().shape().dim()) {
        symbols += dim.has_dim_param();
      }
    }
  }
  EXPECT_GT(symbols, 0);
}

}  // namespace
}  // namespace ingot::fuzz

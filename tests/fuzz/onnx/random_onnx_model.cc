#include "tests/fuzz/onnx/random_onnx_model.h"

#include <cstring>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/operators.h"
#include "tests/fuzz/onnx/deviations.h"
#include "tests/fuzz/onnx/grower.h"
#include "tests/fuzz/onnx/samplers.h"
#include "tests/fuzz/random.h"

namespace ingot::fuzz {
namespace {

// The sampler of operators that have none of their own: floats of any shape for
// operands, and the attributes' defaults. ONNX Runtime refuses what that is
// wrong for.
void AddPlain(Grower* g, const std::string& op) {
  const int count = g->random().OneOf({1, 1, 1, 1, 2, 2, 3});
  Call call(op, {g->Some(g->FloatType(), 0, 5)});
  const std::string first = call.operands[0];
  for (int i = 1; i < count; ++i) {
    call.operands.push_back(g->random().Chance(70)
                                ? g->Like(g->TypeOf(first), g->ShapeOf(first))
                                : g->Some(g->TypeOf(first), 0, 5));
  }
  g->Try(call);
}

// The operators of ONNX's own domain that none of the samplers makes, and that
// have no reason not to be made.
std::vector<std::string> OperatorsWithout(
    const std::vector<OnnxSampler>& samplers) {
  std::set<std::string> sampled;
  for (const OnnxSampler& sampler : samplers) {
    sampled.insert(sampler.ops.begin(), sampler.ops.end());
  }
  std::vector<std::string> without;
  for (const OnnxOperator& op : ImportedOperators()) {
    if (op.domain.empty() && sampled.count(op.name) == 0 &&
        UnsampledOperators().count(op.name) == 0) {
      without.push_back(op.name);
    }
  }
  return without;
}

}  // namespace

const std::vector<OnnxSampler>& OnnxSamplers() {
  static const auto* const kSamplers = [] {
    auto* samplers = new std::vector<OnnxSampler>;
    AddElementwise(samplers);
    AddProducts(samplers);
    AddConvolutions(samplers);
    AddPools(samplers);
    AddReductions(samplers);
    AddNormalizations(samplers);
    AddMoves(samplers);
    AddIndexing(samplers);
    AddState(samplers);
    AddStored(samplers);
    AddRecurrent(samplers);
    AddAttention(samplers);
    AddQuantized(samplers);
    AddControlFlow(samplers);
    AddGenerators(samplers);
    AddImages(samplers);
    AddSignals(samplers);
    AddSequences(samplers);
    AddLosses(samplers);
    AddClassical(samplers);
    samplers->push_back({OperatorsWithout(*samplers), AddPlain, 5});
    return samplers;
  }();
  return *kSamplers;
}

OnnxModel MakeOnnxModel(uint64_t seed, const OnnxModelKinds& kinds) {
  Random random(seed);
  // Newer operator sets more often: most samplers use what came with them.
  const int opset = static_cast<int>(random.OneOf<int64_t>(
      {13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 23, 24, 25, 26, 27, 27}));
  const uint64_t own = static_cast<uint64_t>(random.Next(int64_t{1} << 62));
  const bool large = random.Chance(kinds.large);
  Grower grower(own, opset, large);
  // Samplers as often as they weigh, each with the operators to draw from.
  std::vector<std::pair<const OnnxSampler*, std::vector<std::string>>> drawn;
  for (const OnnxSampler& sampler : OnnxSamplers()) {
    std::vector<std::string> ops;
    for (const std::string& op : sampler.ops) {
      if (kinds.only.empty() || kinds.only.count(op) > 0) ops.push_back(op);
    }
    if (!ops.empty())
      drawn.insert(drawn.end(), sampler.weight, {&sampler, ops});
  }
  // Short models say most about an operator, long ones about fusion and plans.
  const int64_t wanted = large
                             ? 1 + random.Next(3)
                             : random.OneOf<int64_t>({1, 2, 3, 4, 5, 6, 8, 12});
  for (int tries = 0; grower.operators() < wanted &&
                      (tries < 4 * wanted || grower.operators() == 0);
       ++tries) {
    const auto& [sampler, ops] = random.OneOf(drawn);
    sampler->add(&grower, random.OneOf(ops));
  }
  OnnxModel model;
  model.proto = grower.Finish();
  for (const auto& input : model.proto.graph().input()) {
    model.inputs[input.name()] = grower.inputs().at(input.name());
  }
  return model;
}

namespace {

// The inputs that carry a model's data. Weights are left out as far as one can
// tell, and so are shapes and axes, whose lengths are ranks.
std::set<std::string> DataInputs(const onnx::ModelProto& model, bool weights) {
  std::set<std::string> data;
  for (const auto& node : model.graph().node()) {
    if (node.input_size() > 0) data.insert(node.input(0));
    if (node.op_type().rfind("Conv", 0) != 0 &&
        (node.input_size() == 2 || weights)) {
      data.insert(node.input().begin(), node.input().end());
    }
  }
  for (const auto& input : model.graph().input()) {
    const auto& type = input.type().tensor_type();
    if (type.elem_type() == onnx::TensorProto::INT64 &&
        type.shape().dim_size() <= 1) {
      data.erase(input.name());
    }
  }
  return data;
}

// The extents of the outputs follow from those of the inputs then.
void ForgetOutputShapes(onnx::ModelProto* model) {
  for (auto& output : *model->mutable_graph()->mutable_output()) {
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  }
}

}  // namespace

onnx::ModelProto WithTwice(const onnx::ModelProto& model,
                           std::map<std::string, Tensor>* inputs) {
  onnx::ModelProto result = model;
  const std::set<std::string> data = DataInputs(model, /*weights=*/false);
  for (auto& info : *result.mutable_graph()->mutable_input()) {
    auto* shape = info.mutable_type()->mutable_tensor_type()->mutable_shape();
    if (data.count(info.name()) == 0 || shape->dim_size() == 0) continue;
    shape->mutable_dim(0)->set_dim_param(absl::StrCat(info.name(), "_0"));
    Tensor& input = inputs->at(info.name());
    Shape twice(input.shape().begin(), input.shape().end());
    const int64_t rows = twice[0];
    twice[0] *= 2;
    Tensor more = *Tensor::Empty(input.dtype(), twice);
    const size_t bytes =
        rows == 0 ? 0 : input.bytes() / static_cast<size_t>(rows);
    const char* from = static_cast<const char*>(input.raw_data());
    char* to = static_cast<char*>(more.mutable_raw_data());
    for (int64_t row = 0; row < rows; ++row) {
      std::memcpy(to + row * bytes, from + row * bytes, bytes);
      std::memcpy(to + (rows + row) * bytes, from + (rows - 1 - row) * bytes,
                  bytes);
    }
    input = more;
  }
  ForgetOutputShapes(&result);
  return result;
}

onnx::ModelProto WithSymbols(const onnx::ModelProto& model, uint64_t seed) {
  Random random(seed);
  onnx::ModelProto result = model;
  const bool shared = random.Chance(50), first_only = random.Chance(40);
  const std::set<std::string> data =
      DataInputs(model, /*weights=*/random.Chance(10));
  for (auto& input : *result.mutable_graph()->mutable_input()) {
    if (data.count(input.name()) == 0) continue;
    // The choice does not depend on the other inputs, which shrinking removes.
    random = Random(seed ^ std::hash<std::string>()(input.name()));
    auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int d = 0; d < shape->dim_size(); ++d) {
      const bool channels = d == 1 && shape->dim_size() > 2;
      if (first_only ? d != 0 : !random.Chance(channels ? 20 : 60)) continue;
      auto* dim = shape->mutable_dim(d);
      const int64_t extent = dim->dim_value();
      dim->set_dim_param(shared ? absl::StrCat("n", extent)
                                : absl::StrCat(input.name(), "_", d));
    }
  }
  ForgetOutputShapes(&result);
  return result;
}

onnx::ModelProto WithCopies(const onnx::ModelProto& model,
                            std::map<std::string, Tensor>* inputs) {
  onnx::ModelProto result = model;
  onnx::GraphProto* graph = result.mutable_graph();
  std::set<std::string> read;
  for (auto& node : *graph->mutable_node()) {
    for (std::string& name : *node.mutable_input()) {
      if (inputs->count(name) == 0 || read.insert(name).second) continue;
      const std::string copy = absl::StrCat(name, "_copy", graph->input_size());
      for (const auto& input : model.graph().input()) {
        if (input.name() != name) continue;
        *graph->add_input() = input;
        graph->mutable_input(graph->input_size() - 1)->set_name(copy);
      }
      (*inputs)[copy] = inputs->at(name);
      name = copy;
    }
  }
  return result;
}

std::set<std::string> SampledOnnxOperators() {
  std::set<std::string> names;
  for (const OnnxSampler& sampler : OnnxSamplers()) {
    names.insert(sampler.ops.begin(), sampler.ops.end());
  }
  return names;
}

}  // namespace ingot::fuzz

// GroupQueryAttention, compiled, against ONNX Runtime.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"
#include "tests/onnxruntime/expect_same.h"

namespace ingot {
namespace {

using onnx::TensorProto;
using onnx_frontend::MakeTestTensor;
using onnx_frontend::ModelBuilder;
using onnx_frontend::RandomFloats;
using onnx_frontend::SetFloat;
using onnx_frontend::SetInt;

constexpr int64_t kHeads = 4, kKept = 2, kSize = 16, kMostWords = 32;

struct Case {
  std::string name;
  int64_t words = 1;  // new ones of each sequence
  int64_t past = 0;   // kept ones of the longest sequence; -1: no such operand
  std::vector<int32_t> lengths;  // of each sequence, with the new words
  bool packed = false, rotary = false, bias = false, sink = false;
  bool room = false;  // the kept tensors have room for more words
  std::function<void(onnx::NodeProto*)> attributes;
};

std::vector<Case> Cases() {
  const auto interleaved = [](onnx::NodeProto* n) {
    SetInt(n, "rotary_interleaved", 1);
  };
  const auto window = [](onnx::NodeProto* n) {
    SetInt(n, "local_window_size", 3);
  };
  const auto cap = [](onnx::NodeProto* n) {
    SetFloat(n, "softcap", 0.7f);
    SetFloat(n, "scale", 0.4f);
  };
  const auto smooth = [](onnx::NodeProto* n) {
    SetInt(n, "smooth_softmax", 1);
  };
  std::vector<Case> cases;
  const auto add = [&](const char* name, int64_t words, int64_t past,
                       std::vector<int32_t> lengths) -> Case& {
    Case c;
    c.name = name;
    c.words = words;
    c.past = past;
    c.lengths = std::move(lengths);
    cases.push_back(std::move(c));
    return cases.back();
  };
  add("Prompt", 5, 0, {5, 5});
  add("PromptWithoutPast", 5, -1, {5, 5});
  add("NextWord", 1, 6, {7, 7});
  add("NextWordOfSequencesOfTheirOwnLengths", 1, 6, {7, 4});
  add("NextWords", 3, 6, {9});
  add("Packed", 1, 6, {7, 7}).packed = true;
  add("Rotated", 5, 0, {5, 5}).rotary = true;
  Case& next = add("RotatedNextWord", 1, 6, {7, 5});
  next.rotary = next.packed = true;
  Case& neighbours = add("RotatedNeighbours", 3, 4, {7});
  neighbours.rotary = true;
  neighbours.attributes = interleaved;
  add("Window", 1, 6, {7, 5}).attributes = window;
  add("WindowOfPrompt", 6, 0, {6}).attributes = window;
  add("Capped", 4, 3, {7}).attributes = cap;
  add("Smooth", 4, 3, {7}).attributes = smooth;
  add("Bias", 4, 3, {7}).bias = true;
  add("Sink", 4, 3, {7}).sink = true;
  add("Room", 1, 12, {7, 5}).room = true;
  return cases;
}

Tensor Ints(const std::vector<int64_t>& shape, const std::vector<int32_t>& v) {
  return MakeTestTensor<int32_t>(DataType::Int(32), shape, v);
}

struct Problem {
  ModelBuilder model{21};
  std::vector<std::string> names;  // of inputs
  std::vector<Tensor> inputs;
};

// `symbolic`: the model does not say its inputs' extents but those of heads.
Problem Make(const Case& c, bool symbolic) {
  Problem p;
  std::vector<std::string> operands;
  unsigned seed = 1;
  const auto give = [&](const std::string& name, Tensor tensor, int type,
                        std::vector<std::string> dims) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!symbolic || dims[d].empty())
        dims[d] = absl::StrCat(tensor.shape()[d]);
    }
    p.model.Input(name, dims, type);
    operands.push_back(name);
    p.names.push_back(name);
    p.inputs.push_back(std::move(tensor));
  };
  const auto floats = [&](const std::string& name, std::vector<int64_t> shape,
                          std::vector<std::string> dims) {
    give(name, RandomFloats(shape, seed++), TensorProto::FLOAT, dims);
  };
  const int64_t batch = static_cast<int64_t>(c.lengths.size());
  const int64_t total =
      c.room ? c.lengths[0] : std::max<int64_t>(c.past, 0) + c.words;
  const auto words = [&](const std::string& name, int64_t heads) {
    floats(name, {batch, c.words, heads * kSize}, {"batch", "words", ""});
  };
  words("query", c.packed ? kHeads + 2 * kKept : kHeads);
  if (c.packed) {
    operands.insert(operands.end(), {"", ""});
  } else {
    words("key", kKept);
    words("value", kKept);
  }
  for (const char* name : {"past_key", "past_value"}) {
    if (c.past < 0) {
      operands.push_back("");
    } else {
      floats(name, {batch, kKept, c.past, kSize}, {"batch", "", "past", ""});
    }
  }
  std::vector<int32_t> last = c.lengths;
  for (int32_t& place : last) --place;
  give("last", Ints({batch}, last), TensorProto::INT32, {"batch"});
  give("total", Ints({}, {static_cast<int32_t>(total)}), TensorProto::INT32,
       {});
  for (const char* name : {"cosine", "sine"}) {
    if (c.rotary) {
      floats(name, {kMostWords, kSize / 2}, {"", ""});
    } else if (c.bias || c.sink) {
      operands.push_back("");
    }
  }
  if (c.bias || c.sink) operands.push_back("");  // positions
  if (c.bias) floats("bias", {1, kHeads, c.words, total}, {"", "", "", ""});
  if (c.sink) {
    operands.push_back("");
    floats("sink", {kHeads}, {""});
  }
  onnx::NodeProto* node =
      p.model.Node("GroupQueryAttention", operands, {"y", "k", "v"}, "node");
  node->set_domain("com.microsoft");
  p.model.Domain("com.microsoft", 1);
  SetInt(node, "num_heads", kHeads);
  SetInt(node, "kv_num_heads", kKept);
  if (c.rotary) SetInt(node, "do_rotary", 1);
  if (c.attributes != nullptr) c.attributes(node);
  for (const char* name : {"y", "k", "v"}) {
    p.model.Output(name);
    p.model.graph()
        .mutable_output(p.model.graph().output_size() - 1)
        ->mutable_type()
        ->mutable_tensor_type()
        ->set_elem_type(TensorProto::FLOAT);
  }
  return p;
}

class GroupQueryAttentionTest : public testing::TestWithParam<size_t> {};

TEST_P(GroupQueryAttentionTest, AsOnnxRuntime) {
  const Case c = Cases()[GetParam()];
  const Problem known = Make(c, /*symbolic=*/false);
  const std::vector<Tensor> expected = onnxruntime::OutputsOf(
      known.model.Build(), known.names, known.inputs, {"y", "k", "v"});
  ASSERT_EQ(expected.size(), 3u);
  for (bool symbolic : {false, true}) {
    const Problem problem = Make(c, symbolic);
    onnxruntime::ExpectCompiled(problem.model.Build(), problem.inputs, expected,
                                {});
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GroupQueryAttentionTest,
                         testing::Range<size_t>(0, Cases().size()),
                         [](const auto& info) {
                           return Cases()[info.param].name;
                         });

}  // namespace
}  // namespace ingot

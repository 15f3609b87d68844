#include "tests/bisect/models.h"

#include "tests/pipeline/models.h"

namespace ingot {
namespace {

void AddInt(onnx::NodeProto* node, const std::string& name, int64_t value) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

// Conv, BatchNormalization.
void AddConv(ModelMaker* maker, const std::string& name,
             const std::string& from, int64_t in, int64_t out, int64_t size,
             int64_t groups) {
  maker->RandomWeights(name + ".w", {out, in / groups, size, size});
  for (const char* part : {".scale", ".shift", ".mean"}) {
    maker->RandomWeights(name + part, {out});
  }
  maker->Weights(name + ".var", {out}, std::vector<float>(out, 0.7F));
  onnx::NodeProto& conv =
      maker->Node("Conv", name, {from, name + ".w"}, {name + ".c"});
  AddInts(&conv, "pads", {size / 2, size / 2, size / 2, size / 2});
  AddInt(&conv, "group", groups);
  maker->Node("BatchNormalization", name + "_norm",
              {name + ".c", name + ".scale", name + ".shift", name + ".mean",
               name + ".var"},
              {name + ".y"});
}

void WriteResidual(const std::string& path) {
  ModelMaker maker("residual");
  maker.Input("image", {1, 3, 12, 12}).Output("scores", {1, 5});
  AddConv(&maker, "stem", "image", 3, 16, 3, 1);
  maker.Node("Relu", "stem_relu", {"stem.y"}, {"a"});
  AddConv(&maker, "depthwise", "a", 16, 16, 3, 16);
  maker.Node("Relu", "depthwise_relu", {"depthwise.y"}, {"b"});
  AddConv(&maker, "point", "b", 16, 16, 1, 1);
  maker.Node("Add", "residual", {"point.y", "a"}, {"c"});
  maker.Node("GlobalAveragePool", "pool", {"c"}, {"d"});
  maker.Node("Flatten", "flatten", {"d"}, {"e"});
  maker.RandomWeights("dense", {16, 5}).RandomWeights("offset", {5});
  maker.Node("Gemm", "gemm", {"e", "dense", "offset"}, {"scores"});
  maker.Write(path);
}

void WriteAttention(const std::string& path) {
  ModelMaker maker("attention");
  maker.Input("x", {1, 6, 16}).Output("y", {1, 6, 16});
  for (const std::string name : {"q", "k", "v"}) {
    maker.RandomWeights(name + ".w", {16, 16});
    maker.Node("MatMul", name, {"x", name + ".w"}, {name + ".y"});
  }
  AddInts(&maker.Node("Transpose", "turn", {"k.y"}, {"kt"}), "perm", {0, 2, 1});
  maker.Node("MatMul", "scores", {"q.y", "kt"}, {"s"});
  maker.Weights("scale", {}, {0.25F});
  maker.Node("Mul", "scaled", {"s", "scale"}, {"t"});
  AddInt(&maker.Node("Softmax", "softmax", {"t"}, {"p"}), "axis", -1);
  maker.Node("MatMul", "mix", {"p", "v.y"}, {"m"});
  maker.Node("Add", "skip", {"m", "x"}, {"n"});
  AddInts(&maker.Node("ReduceMean", "mean", {"n"}, {"mu"}), "axes", {-1});
  maker.Node("Sub", "centered", {"n", "mu"}, {"c"});
  maker.RandomWeights("gain", {16});
  maker.Node("Mul", "gained", {"c", "gain"}, {"y"});
  maker.Write(path);
}

void WriteAnyBatch(const std::string& path) {
  ModelMaker maker("any_batch");
  maker.Input("x", {-1, 12}).Output("y", {-1, 7});
  maker.RandomWeights("w1", {12, 20}).RandomWeights("b1", {20});
  maker.RandomWeights("w2", {20, 7}).RandomWeights("b2", {7});
  maker.Node("Gemm", "first", {"x", "w1", "b1"}, {"a"});
  maker.Node("Sigmoid", "gate", {"a"}, {"g"});
  maker.Node("Mul", "silu", {"a", "g"}, {"s"});
  maker.Node("Gemm", "second", {"s", "w2", "b2"}, {"t"});
  maker.Node("Tanh", "tanh", {"t"}, {"y"});
  maker.Write(path);
}

void WriteDecoder(const std::string& path) {
  ModelMaker maker("decoder");
  maker.Input("x", {1, 8, 5, 5}).Output("image", {1, 4, 10, 10});
  maker.RandomWeights("grow.w", {8, 4, 2, 2}).RandomWeights("grow.b", {4});
  onnx::NodeProto& grow =
      maker.Node("ConvTranspose", "grow", {"x", "grow.w", "grow.b"}, {"a"});
  AddInts(&grow, "strides", {2, 2});
  maker.Node("Tanh", "tanh", {"a"}, {"b"});
  AddConv(&maker, "smooth", "b", 4, 4, 3, 1);
  maker.Node("Add", "sum", {"smooth.y", "b"}, {"c"});
  maker.RandomWeights("tint", {1, 4, 1, 1});
  maker.Node("Mul", "tinted", {"c", "tint"}, {"image"});
  maker.Write(path);
}

void WriteRecurrent(const std::string& path) {
  ModelMaker maker("recurrent");
  maker.Input("x", {4, 1, 6}).Output("y", {4, 1, 3});
  maker.RandomWeights("w", {1, 32, 6}).RandomWeights("r", {1, 32, 8});
  onnx::NodeProto& lstm =
      maker.Node("LSTM", "lstm", {"x", "w", "r"}, {"states"});
  AddInt(&lstm, "hidden_size", 8);
  AddInts(&maker.Node("Transpose", "turn", {"states"}, {"t"}), "perm",
          {0, 2, 1, 3});
  onnx::NodeProto& flat = maker.Node("Flatten", "flatten", {"t"}, {"f"});
  AddInt(&flat, "axis", 1);
  maker.RandomWeights("out.w", {8, 3});
  maker.Node("MatMul", "out", {"f", "out.w"}, {"o"});
  onnx::NodeProto& axes = maker.Node("Constant", "axis", {}, {"one_axis"});
  AddInts(&axes, "value_ints", {1});
  maker.Node("Unsqueeze", "unsqueeze", {"o", "one_axis"}, {"y"});
  maker.Write(path);
}

}  // namespace

std::vector<std::string> WriteBisectModels(const std::string& folder) {
  WriteResidual(folder + "/residual.onnx");
  WriteMlp(folder + "/mlp.onnx");
  WriteAttention(folder + "/attention.onnx");
  WriteAnyBatch(folder + "/any_batch.onnx");
  WriteDecoder(folder + "/decoder.onnx");
  WriteRecurrent(folder + "/recurrent.onnx");
  return {"residual", "mlp", "attention", "any_batch", "decoder", "recurrent"};
}

}  // namespace ingot

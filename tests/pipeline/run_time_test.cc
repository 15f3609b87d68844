// Models whose shapes and steps the data decides, on every target that makes
// code for this machine, against numbers computed here in plain C++.

#include <filesystem>
#include <string>
#include <vector>

#include "onnx/onnx.pb.h"
#include "runtime/onnx_tensor/onnx_tensor.pb.h"
#include "tests/pipeline/run_time_models.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

// y = sum(x) > 0 ? 2x : x after x; p = the elements of y that are not 0;
// sums: p[0], p[0] + p[1], … until one is more than 20; last: the last of them.
void WriteDeciding(const std::string& path) {
  onnx::ModelProto model;
  onnx::GraphProto* g = StartModel(&model);
  AddVector(g->add_input(), "x");
  AddFloat(g, "zero", 0);
  AddFloat(g, "two", 2);
  AddFloat(g, "limit", 20);
  AddConstant(g, "first", {1}, {0});
  AddInt(AddNode(g, "ReduceSum", {"x"}, {"sum"}), "keepdims", 0);
  AddNode(g, "Greater", {"sum", "zero"}, {"positive"});
  onnx::NodeProto* branch = AddNode(g, "If", {"positive"}, {"y"});
  onnx::GraphProto* yes = AddGraph(branch, "then_branch");
  AddNode(yes, "Mul", {"x", "two"}, {"twice"});
  yes->add_output()->set_name("twice");
  onnx::GraphProto* no = AddGraph(branch, "else_branch");
  AddInt(AddNode(no, "Concat", {"x", "x"}, {"both"}), "axis", 0);
  no->add_output()->set_name("both");
  AddNode(g, "NonZero", {"y"}, {"columns"});
  AddNode(g, "Squeeze", {"columns", "first"}, {"places"});
  AddNode(g, "Gather", {"y", "places"}, {"p"});
  AddNode(g, "Size", {"p"}, {"count"});
  onnx::NodeProto* loop =
      AddNode(g, "Loop", {"count", "", "zero"}, {"last", "sums"});
  onnx::GraphProto* body = AddGraph(loop, "body");
  AddValue(body->add_input(), "i", kInt64);
  AddValue(body->add_input(), "go", kBool);
  AddValue(body->add_input(), "so_far", kFloat);
  AddNode(body, "Gather", {"p", "i"}, {"next"});
  AddNode(body, "Add", {"so_far", "next"}, {"now"});
  AddNode(body, "LessOrEqual", {"now", "limit"}, {"go_on"});
  AddNode(body, "Identity", {"now"}, {"slice"});
  AddOutputs(body, {"go_on", "now", "slice"});
  for (const char* output : {"p", "last", "sums"}) {
    AddValue(g->add_output(), output, kFloat);
  }
  WriteFileBytes(path, model.SerializeAsString());
}

void WriteDecidingData(const std::string& dir, const std::vector<float>& x) {
  std::filesystem::create_directories(dir);
  float sum = 0;
  for (float v : x) sum += v;
  std::vector<float> p, sums;
  for (int round = 0; round < (sum > 0 ? 1 : 2); ++round) {
    for (float v : x) {
      if (v != 0) p.push_back(sum > 0 ? 2 * v : v);
    }
  }
  float last = 0;
  for (size_t i = 0; i < p.size() && (i == 0 || last <= 20); ++i) {
    last += p[i];
    sums.push_back(last);
  }
  auto size = [](const std::vector<float>& v) {
    return std::vector<int64_t>{static_cast<int64_t>(v.size())};
  };
  WriteTensorProto(dir + "/input_0.pb", "x", size(x), x);
  WriteTensorProto(dir + "/output_0.pb", "p", size(p), p);
  WriteTensorProto(dir + "/output_1.pb", "last", {}, {last});
  WriteTensorProto(dir + "/output_2.pb", "sums", size(sums), sums);
}

void AddSequence(onnx::ValueInfoProto* info, const std::string& name) {
  info->set_name(name);
  auto* tensor = info->mutable_type()
                     ->mutable_sequence_type()
                     ->mutable_elem_type()
                     ->mutable_tensor_type();
  tensor->set_elem_type(kFloat);
  tensor->mutable_shape()->add_dim();  // of any size
}

// out: twice each tensor of seq, one with a positive sum after those so far,
// another in front of them; all: these one after the other.
void WriteSorting(const std::string& path) {
  onnx::ModelProto model;
  onnx::GraphProto* g = StartModel(&model);
  AddSequence(g->add_input(), "seq");
  AddFloat(g, "zero", 0);
  AddFloat(g, "two", 2);
  AddConstant(g, "front", {}, {0});
  AddNode(g, "SequenceLength", {"seq"}, {"count"});
  AddNode(g, "SequenceEmpty", {}, {"empty"});
  onnx::NodeProto* loop = AddNode(g, "Loop", {"count", "", "empty"}, {"out"});
  onnx::GraphProto* body = AddGraph(loop, "body");
  AddValue(body->add_input(), "i", kInt64);
  AddValue(body->add_input(), "go", kBool);
  AddSequence(body->add_input(), "so_far");
  AddNode(body, "SequenceAt", {"seq", "i"}, {"x"});
  AddNode(body, "Mul", {"x", "two"}, {"y"});
  AddInt(AddNode(body, "ReduceSum", {"y"}, {"sum"}), "keepdims", 0);
  AddNode(body, "Greater", {"sum", "zero"}, {"positive"});
  onnx::NodeProto* branch = AddNode(body, "If", {"positive"}, {"now"});
  onnx::GraphProto* yes = AddGraph(branch, "then_branch");
  AddNode(yes, "SequenceInsert", {"so_far", "y"}, {"after"});
  yes->add_output()->set_name("after");
  onnx::GraphProto* no = AddGraph(branch, "else_branch");
  AddNode(no, "SequenceInsert", {"so_far", "y", "front"}, {"before"});
  no->add_output()->set_name("before");
  AddOutputs(body, {"go", "now"});
  AddInt(AddNode(g, "ConcatFromSequence", {"out"}, {"all"}), "axis", 0);
  AddSequence(g->add_output(), "out");
  AddValue(g->add_output(), "all", kFloat);
  WriteFileBytes(path, model.SerializeAsString());
}

using Lists = std::vector<std::vector<float>>;

void WriteSequence(const std::string& path, const Lists& lists) {
  OnnxSequenceProto data;
  data.set_kind(1);
  for (const std::vector<float>& list : lists) {
    OnnxTensorProto* tensor = data.add_tensors();
    tensor->set_data_type(kFloat);
    tensor->add_dims(static_cast<int64_t>(list.size()));
    for (float v : list) tensor->add_float_data(v);
  }
  WriteFileBytes(path, data.SerializeAsString());
}

void WriteSortingData(const std::string& dir, const Lists& seq) {
  std::filesystem::create_directories(dir);
  Lists out;
  std::vector<float> all;
  for (std::vector<float> list : seq) {
    float sum = 0;
    for (float& v : list) sum += v *= 2;
    out.insert(sum > 0 ? out.end() : out.begin(), list);
  }
  for (const std::vector<float>& list : out) {
    all.insert(all.end(), list.begin(), list.end());
  }
  WriteSequence(dir + "/input_0.pb", seq);
  WriteSequence(dir + "/output_0.pb", out);
  WriteTensorProto(dir + "/output_1.pb", "all",
                   {static_cast<int64_t>(all.size())}, all);
}

// noise: normal numbers of x's size; seeds: those of a node with a seed,
// iteration by iteration; coins: of a loop's body, which the interpreter draws
// iteration by iteration too; y: x or nothing, as the mask says.
void WriteRandom(const std::string& path) {
  onnx::ModelProto model;
  onnx::GraphProto* g = StartModel(&model);
  AddVector(g->add_input(), "x");
  AddValue(g->add_input(), "count", kInt64);
  onnx::TensorProto* training = g->add_initializer();
  training->set_name("training");
  training->set_data_type(kBool);
  training->add_int32_data(1);
  AddNode(g, "RandomNormalLike", {"x"}, {"noise"});
  AddNode(g, "Dropout", {"x", "", "training"}, {"y", "mask"});
  onnx::NodeProto* loop = AddNode(g, "Loop", {"count", ""}, {"coins", "seeds"});
  onnx::GraphProto* body = AddGraph(loop, "body");
  AddValue(body->add_input(), "i", kInt64);
  AddValue(body->add_input(), "go", kBool);
  AddNode(body, "Abs", {"x"}, {"size"});
  AddNode(body, "Bernoulli", {"size"}, {"coin"});
  onnx::NodeProto* uniform = AddNode(body, "RandomUniform", {}, {"number"});
  onnx::AttributeProto* seed = uniform->add_attribute();
  seed->set_name("seed");
  seed->set_type(onnx::AttributeProto::FLOAT);
  seed->set_f(4);
  AddInts(uniform, "shape", {3});
  AddOutputs(body, {"go", "coin", "number"});
  for (const char* output : {"noise", "y", "coins", "seeds"}) {
    AddValue(g->add_output(), output, kFloat);
  }
  AddValue(g->add_output(), "mask", kBool);
  WriteFileBytes(path, model.SerializeAsString());
}

INSTANTIATE_TEST_SUITE_P(Targets, RunTimeTest,
                         testing::Values("llvm", "llvmjit", "c"),
                         [](const auto& info) { return info.param; });

TEST_P(RunTimeTest, TheDataDecides) {
  WriteDeciding(Path("m.onnx"));
  const std::vector<std::vector<float>> inputs = {
      {1, 0, 2, 3},        // positive
      {-1, 0, 0, -2, 1},   // negative: twice as long
      {9, 0, 8, 7, 6, 5},  // beyond the limit
      {0, 0, 0},           // nothing is left
      {-3},
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    WriteDecidingData(Path("data/test_data_set_" + std::to_string(i)),
                      inputs[i]);
  }
  ExpectVerified(inputs.size(), 3 * inputs.size());
  EXPECT_THAT(Do({"inspect", "@m.ingot", "--artifact=plan.binpb"}),
              HasSubstr("= loop("));
}

TEST_P(RunTimeTest, SequencesAreValuesOfARun) {
  WriteSorting(Path("m.onnx"));
  const std::vector<Lists> inputs = {
      {{1, 2}, {-3}, {4, 5, 6}, {}, {-1, -1}}, {{7}}, {{}, {}}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    WriteSortingData(Path("data/test_data_set_" + std::to_string(i)),
                     inputs[i]);
  }
  // Tensor by tensor, and `all` of each set.
  ExpectVerified(inputs.size(), 5 + 1 + 1 + 1 + 2 + 1);
  EXPECT_THAT(Do({"inspect", "@m.ingot", "--artifact=plan.binpb"}),
              HasSubstr("= sequence_at("));
  WriteSortingData(Path("wrong"), {{1, 2}});
  WriteSequence(Path("wrong/output_0.pb"), {{2, 4}, {1}});
  ExpectError({"verify", "@m.ingot", "--test-data=@wrong"}, 1,
              {"output 'out': it is sequence<f32> of 1"});
  const nlohmann::json run =
      DoJson({"run", "@m.ingot", "--output-dir=@out",
              "--input=seq:" + Path("data/test_data_set_0/input_0.pb")});
  EXPECT_EQ(run["outputs"][4]["name"], "out.4");
  EXPECT_EQ(run["outputs"][4]["shape"], nlohmann::json({3}));
  EXPECT_TRUE(std::filesystem::exists(Path("out/out.4.npy")));
  ExpectError({"run", "@m.ingot"}, 1, {"input 'seq' is a sequence<f32>"});
}

// A constant without elements keeps none, however long the run makes it.
TEST_P(RunTimeTest, AnEmptyConstantTakesASymbolicShape) {
  onnx::ModelProto model;
  onnx::GraphProto* g = StartModel(&model);
  AddVector(g->add_input(), "x");
  AddConstant(g, "nothing", {0, 3}, {});
  AddConstant(g, "none", {1}, {0});
  AddNode(g, "Shape", {"x"}, {"length"});
  AddInt(AddNode(g, "Concat", {"length", "none"}, {"shape"}), "axis", 0);
  AddInt(AddNode(g, "Reshape", {"nothing", "shape"}, {"y"}), "allowzero", 1);
  AddValue(g->add_output(), "y", kInt64);
  WriteFileBytes(Path("m.onnx"), model.SerializeAsString());
  Do({"compile", "@m.onnx", "-o", "@m.ingot", Target()});
  const nlohmann::json run = DoJson({"run", "@m.ingot", "--input-shape=x:4"});
  EXPECT_EQ(run["outputs"][0]["shape"], nlohmann::json({4, 0}));
}

// The padding of SAME with strides takes an extent from 0.
TEST_P(RunTimeTest, PadsSymbolsToTheSame) {
  onnx::ModelProto model;
  onnx::GraphProto* g = StartModel(&model);
  AddVector(g->add_input(), "x");
  AddConstant(g, "shape", {3}, {1, 1, -1});
  onnx::TensorProto* kernel = g->add_initializer();
  kernel->set_name("kernel");
  kernel->set_data_type(kFloat);
  for (int64_t dim : {1, 1, 2}) kernel->add_dims(dim);
  for (int tap : {1, 1}) kernel->add_float_data(tap);
  AddNode(g, "Reshape", {"x", "shape"}, {"row"});
  onnx::NodeProto* conv = AddNode(g, "Conv", {"row", "kernel"}, {"y"});
  AddInts(conv, "strides", {2});
  onnx::AttributeProto* pad = conv->add_attribute();
  pad->set_name("auto_pad");
  pad->set_type(onnx::AttributeProto::STRING);
  pad->set_s("SAME_LOWER");
  AddValue(g->add_output(), "y", kFloat);
  WriteFileBytes(Path("m.onnx"), model.SerializeAsString());
  Do({"compile", "@m.onnx", "-o", "@m.ingot", Target()});
  const nlohmann::json run = DoJson({"run", "@m.ingot", "--input-shape=x:5"});
  EXPECT_EQ(run["outputs"][0]["shape"], nlohmann::json({1, 1, 3}));
}

TEST_P(RunTimeTest, AgreesWithTheInterpreter) {
  WriteDeciding(Path("m.onnx"));
  Do({"compile", "@m.onnx", "-o", "@m.ingot", Target()});
  for (const char* seed : {"--seed=1", "--seed=2", "--seed=3"}) {
    EXPECT_THAT(Do({"verify", "@m.ingot", "--reference=@m.onnx", seed,
                    "--input-shape=x:7"}),
                HasSubstr("ok"));
  }
}

// Nothing in this model says that N is N2, or that N3 is 3 or 1.
TEST_P(RunTimeTest, DimensionsThatMustBeEqualAre) {
  ModelMaker maker("sums");
  maker.Input("a", {2, -1}).Input("b", {-2, 3}).Input("c", {-3});
  maker.Node("MatMul", "product", {"a", "b"}, {"p"});
  maker.Node("Add", "shift", {"p", "c"}, {"y"});
  maker.Output("y", {2, 3}).Write(Path("m.onnx"));
  Do({"compile", "@m.onnx", "-o", "@m.ingot", Target()});
  auto run = [](const char* a, const char* b, const char* c) {
    return std::vector<std::string>{"run", "@m.ingot",
                                    std::string("--input-shape=a:") + a,
                                    std::string("--input-shape=b:") + b,
                                    std::string("--input-shape=c:") + c};
  };
  Do(run("2x4", "4x3", "3"));
  Do(run("2x5", "5x3", "1"));
  ExpectError(run("2x4", "5x3", "3"), 1,
              {"N (4 here)", "N2 (5 here)", "must be equal", "product"});
  ExpectError(run("2x4", "4x3", "2"), 1,
              {"N3 (2 here)", "3", "must be equal, or one of them 1", "shift"});
  EXPECT_THAT(Do({"inspect", "@m.ingot", "--artifact=plan.binpb"}),
              HasSubstr("N = N2"));
}

TEST_P(RunTimeTest, RandomNumbersFollowFromTheSeed) {
  WriteRandom(Path("m.onnx"));
  WriteTensorProto(Path("x.pb"), "x", {50}, Numbers("x", 50));
  onnx::GraphProto count;
  AddConstant(&count, "count", {}, {3});
  WriteFileBytes(Path("count.pb"), count.initializer(0).SerializeAsString());
  Do({"compile", "@m.onnx", "-o", "@m.ingot", Target()});
  // The results that the interpreter gives, which says what operators mean.
  const nlohmann::json json =
      DoJson({"verify", "@m.ingot", "--reference=@m.onnx"});
  EXPECT_EQ(json["ok"], true) << json;
  auto run = [&](const std::string& seed) {
    return DoJson({"run", "@m.ingot", "--seed=" + seed, "--input=x:@x.pb",
                   "--input=count:@count.pb"})["outputs"];
  };
  const nlohmann::json one = run("1");
  EXPECT_EQ(one, run("1"));
  const nlohmann::json two = run("2");
  for (size_t i = 0; i < one.size(); ++i) {
    const bool same = one[i]["name"] == "seeds";
    EXPECT_EQ(one[i] == two[i], same) << one[i];
  }
}

}  // namespace
}  // namespace ingot

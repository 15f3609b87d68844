#include "compiler/frontends/onnx/import.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/relay/op.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// The type of output `i`, or the error.
std::string OutputType(const Blob& model, const ImportOptions& options = {},
                       int i = 0) {
  absl::StatusOr<relay::Module> module = ImportOnnx(model, options);
  if (!module.ok()) return module.status().ToString();
  if (absl::Status s = relay::Verify(*module); !s.ok()) return s.ToString();
  return relay::ToString(module->main()->outputs[i].type());
}

std::string Error(const ModelBuilder& b, const ImportOptions& options = {}) {
  return std::string(ImportOnnx(b.Build(), options).status().ToString());
}

TEST(ImportOnnx, ConvolutionWithBias) {
  ModelBuilder b;
  b.Input("x", {"1", "1", "4", "4"}).Output("y");
  b.Floats("w", {2, 1, 3, 3}, std::vector<float>(18, 1));
  b.Floats("b", {2}, {1, 2});
  SetInts(b.Node("Conv", {"x", "w", "b"}, {"y"}), "pads", {1, 1, 1, 1});
  absl::StatusOr<relay::Module> m = ImportOnnx(b.Build());
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_THAT(m->main()->output_names, ElementsAre("y"));
  const relay::Node* add = m->main()->outputs[0].node;
  EXPECT_TRUE(add->Is("add"));
  EXPECT_THAT(add->sources, ElementsAre("Conv_0"));
  const relay::Node* conv = add->inputs[0].node;
  EXPECT_TRUE(conv->Is("conv2d"));
  EXPECT_EQ(conv->name, "Conv_0");
  EXPECT_EQ(relay::ToString(add->inputs[1].type()), "f32[1, 2, 1, 1]");
}

TEST(ImportOnnx, SymbolsByNameAndBound) {
  ModelBuilder b;
  b.Input("x", {"batch", "3"}).Input("z", {"batch", "?"}).Output("y");
  b.Node("Concat", {"x", "z"}, {"y"});
  SetInt(b.graph().mutable_node(0), "axis", 1);
  EXPECT_EQ(OutputType(b.Build()), "f32[batch, z_d1 + 3]");
  ImportOptions options;
  options.input_shapes["z"] = {2, 5};
  // Both inputs' batch is bound.
  EXPECT_EQ(OutputType(b.Build(), options), "f32[2, 8]");
  options.input_shapes["x"] = {3, 3};
  EXPECT_THAT(Error(b, options), HasSubstr("'batch' was given as"));
  options.input_shapes = {{"q", {1}}};
  EXPECT_THAT(Error(b, options), HasSubstr("the model's inputs are: x, z"));
  options.input_shapes = {{"x", {1, 4}}};
  EXPECT_THAT(Error(b, options), HasSubstr("dimension 1 is 3 in the model"));
}

// As some exporters have it for what is not known.
TEST(ImportOnnx, ADimensionOfMinusOneIsOpen) {
  ModelBuilder b;
  b.Input("x", {"-1", "3"}).Output("y").Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(OutputType(b.Build()), "f32[x_d0, 3]");
  ImportOptions options;
  options.input_shapes["x"] = {2, 3};
  EXPECT_EQ(OutputType(b.Build(), options), "f32[2, 3]");
}

// x.reshape(x.shape[0], -1) as exporters write it.
TEST(ImportOnnx, FollowsComputedShapes) {
  ModelBuilder b;
  b.Input("x", {"n", "4", "5"}).Output("y");
  b.Ints("zero", {0});
  b.Ints("minus", {-1});
  b.Node("Shape", {"x"}, {"shape"});
  b.Node("Gather", {"shape", "zero"}, {"batch"});
  b.Node("Concat", {"batch", "minus"}, {"target"});
  SetInt(b.graph().mutable_node(2), "axis", 0);
  b.Node("Reshape", {"x", "target"}, {"y"});
  EXPECT_EQ(OutputType(b.Build()), "f32[n, 20]");
}

TEST(ImportOnnx, ShapeAsOutput) {
  ModelBuilder b;
  b.Input("x", {"n", "4"}).Output("y");
  b.Node("Shape", {"x"}, {"y"});
  EXPECT_EQ(OutputType(b.Build()), "i64[2]");
}

TEST(ImportOnnx, BranchesThatAreDecidedAreInlined) {
  ModelBuilder b;
  b.Input("x", {"2", "1"}).Output("y");
  b.Ints("one", {1});
  b.Node("Size", {"x"}, {"size"});
  b.Node("Equal", {"size", "one"}, {"condition"});
  auto* node = b.Node("If", {"condition"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto* a = node->add_attribute();
    a->set_name(branch);
    a->set_type(onnx::AttributeProto::GRAPH);
    auto* inner = a->mutable_g()->add_node();
    inner->set_op_type(branch[0] == 't' ? "Nonsense" : "Relu");
    inner->add_input("x");
    inner->add_output("r");
    a->mutable_g()->add_output()->set_name("r");
  }
  EXPECT_EQ(OutputType(b.Build()), "f32[2, 1]");
}

// Imports a model whose output is f32[3], and gives what that warns of.
std::vector<std::string> Warnings(const ModelBuilder& b) {
  std::vector<std::string> warnings;
  ImportOptions options;
  options.on_warning = [&](absl::string_view message) {
    warnings.emplace_back(message);
  };
  EXPECT_EQ(OutputType(b.Build(), options), "f32[3]");
  return warnings;
}

TEST(ImportOnnx, WarnsOfNewerOperatorSetsAndFiles) {
  ModelBuilder b(28);
  b.model().set_ir_version(14);
  b.Input("x", {"3"}).Output("y").Node("Relu", {"x"}, {"y"});
  EXPECT_THAT(Warnings(b), testing::IsEmpty());
  b.model().mutable_opset_import(0)->set_version(99);
  b.model().set_ir_version(77);
  EXPECT_THAT(Warnings(b), ElementsAre(HasSubstr("IR version 77"),
                                       HasSubstr("operator set 99")));
}

TEST(ImportOnnx, WarnsOfOutputsOfOtherTypesThanDeclared) {
  ModelBuilder b;
  b.Input("x", {"3"}).Output("y").Node("Relu", {"x"}, {"y"});
  auto* type =
      b.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  EXPECT_THAT(Warnings(b), testing::IsEmpty());
  type->set_elem_type(onnx::TensorProto::INT64);
  EXPECT_THAT(
      Warnings(b),
      ElementsAre(HasSubstr("declared as i64, and its node gives f32")));
}

TEST(ImportOnnx, OperatorsThatABackendBrings) {
  ImportOptions options;
  std::string told;
  options.custom_operators.push_back(
      {"com.example", "Mangle",
       [&told](absl::Span<const relay::Value> inputs,
               absl::string_view attributes)
           -> absl::StatusOr<std::vector<relay::TensorType>> {
         told = std::string(attributes);
         return std::vector<relay::TensorType>{
             {DataType::Int(8), {inputs[0].type().shape[0]}}};
       }});
  ModelBuilder b;
  b.Domain("com.example", 1);
  b.Input("x", {"n", "3"}).Output("y");
  onnx::NodeProto* node = b.Node("Mangle", {"x"}, {"y"}, "first");
  node->set_domain("com.example");
  SetInt(node, "times", 2);
  EXPECT_EQ(OutputType(b.Build(), options), "i8[n]");
  EXPECT_EQ(told, "{\"times\":2}");
  node->add_output("z");
  EXPECT_THAT(Error(b, options),
              AllOf(HasSubstr("first"), HasSubstr("knows 1 results")));
  node->mutable_output()->RemoveLast();
  node->mutable_attribute(0)->set_type(onnx::AttributeProto::GRAPH);
  EXPECT_THAT(Error(b, options),
              AllOf(HasSubstr("UNIMPLEMENTED"), HasSubstr("times")));
}

// --------------------------------------------------------------- what is wrong

TEST(ImportOnnxErrors, ListsUnsupportedOperators) {
  ModelBuilder b;
  b.Input("x", {"3"}).Output("y");
  b.Node("Frobnicate", {"x"}, {"t"}, "first");
  b.Node("Mangle", {"t"}, {"y"})->set_domain("com.example");
  const std::string error = Error(b);
  EXPECT_THAT(error, HasSubstr("UNIMPLEMENTED"));
  EXPECT_THAT(error, HasSubstr("Frobnicate (ai.onnx, operator set 17, node "
                               "'first')"));
  EXPECT_THAT(error, HasSubstr("Mangle (com.example"));
}

// Operator set 29 is known to change it.
TEST(ImportOnnxErrors, OperatorsThatNewerSetsChange) {
  ModelBuilder b(29);
  b.Input("x", {"1", "2", "3"}).Output("y");
  b.Node("LinearAttention", {"x", "x", "x"}, {"y"}, "attend");
  EXPECT_THAT(Error(b),
              HasSubstr("LinearAttention (ai.onnx, operator set 29, node "
                        "'attend')"));
}

TEST(ImportOnnxErrors, Graphs) {
  {
    ModelBuilder b;
    b.Input("x", {"3"}).Output("y");
    b.Node("Add", {"x", "z"}, {"y"});
    b.Node("Relu", {"y"}, {"z"});
    EXPECT_THAT(Error(b), HasSubstr("node 'Add_0' (Add): reads 'z'"));
  }
  {
    ModelBuilder b;
    b.Input("x", {"3"}).Output("y");
    b.Node("Relu", {"x"}, {"y"});
    b.Node("Relu", {"x"}, {"y"});
    EXPECT_THAT(Error(b), HasSubstr("defined already"));
  }
  {
    ModelBuilder b;
    b.Input("x", {"3"}).Input("x", {"3"}).Output("x");
    EXPECT_THAT(Error(b), HasSubstr("two inputs named 'x'"));
  }
  {
    ModelBuilder b;
    b.Input("x", {"3"}).Output("nothing");
    EXPECT_THAT(Error(b), HasSubstr("is computed by no node"));
  }
  EXPECT_THAT(Error(ModelBuilder()), HasSubstr("INVALID_ARGUMENT"));
}

TEST(ImportOnnxErrors, AttributesAndDimensions) {
  {
    ModelBuilder b;
    b.Input("x", {"3"}).Output("y");
    SetInts(b.Node("LeakyRelu", {"x"}, {"y"}, "leaky"), "alpha", {1});
    EXPECT_THAT(Error(b), HasSubstr("node 'leaky' (LeakyRelu): attribute "
                                    "'alpha' is of type INTS"));
  }
  {
    ModelBuilder b;
    b.Input("x", {"-3"}).Output("x");
    EXPECT_THAT(Error(b), HasSubstr("dimension 0 is -3"));
  }
  {
    ModelBuilder b;
    b.Input("x", {"1000000000000", "1000000000000"}).Output("y");
    b.Node("Add", {"x", "x"}, {"y"});
    EXPECT_THAT(Error(b), HasSubstr("too large"));
  }
  {
    ModelBuilder b;
    b.Output("w").Floats("w", {4611686018427387904, 4}, {1});
    EXPECT_THAT(Error(b), HasSubstr("tensor 'w'"));
  }
  {
    ModelBuilder b;
    b.Output("w").Floats("w", {3}, {1, 2});
    EXPECT_THAT(Error(b), HasSubstr("has 2 elements where its shape says 3"));
  }
}

TEST(ImportOnnxErrors, DamagedFiles) {
  ModelBuilder b;
  b.Input("x", {"1", "2"}).Output("y");
  b.Floats("w", {2, 2}, {1, 2, 3, 4});
  b.Node("MatMul", {"x", "w"}, {"y"});
  const std::string bytes(b.Build().view());
  for (size_t n = 0; n < bytes.size(); ++n) {
    const absl::Status status =
        ImportOnnx(Blob::FromString(bytes.substr(0, n))).status();
    // A prefix that is a whole message of its own lacks parts of the graph.
    EXPECT_FALSE(status.ok()) << n;
  }
}

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = absl::StrCat(testing::TempDir(), "/external_XXXXXX");
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    outside_ = pattern;
    dir_ = absl::StrCat(pattern, "/model");
    ASSERT_EQ(system(absl::StrCat("mkdir -p ", dir_, "/sub").c_str()), 0);
    const float values[] = {0, 1, 2, 3};
    for (const std::string& path :
         {dir_ + "/sub/w.bin", outside_ + "/secret.bin"}) {
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(values), sizeof(values));
    }
    ASSERT_EQ(symlink("../secret.bin", (dir_ + "/link.bin").c_str()), 0);
  }

  std::string Import(const std::string& location, const std::string& offset,
                     const std::string& length) {
    ModelBuilder b;
    auto* t = b.Output("w").Floats("w", {2}, {});
    t->set_data_location(onnx::TensorProto::EXTERNAL);
    auto add = [&](const char* key, const std::string& value) {
      auto* e = t->add_external_data();
      e->set_key(key);
      e->set_value(value);
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    ImportOptions options;
    options.model_path = dir_ + "/model.onnx";
    absl::StatusOr<relay::Module> m = ImportOnnx(b.Build(), options);
    if (!m.ok()) return std::string(m.status().message());
    const Tensor& w = *m->main()->outputs[0].node->constant;
    return absl::StrCat(w.values<float>()[0], " ", w.values<float>()[1]);
  }

  std::string outside_, dir_;
};

TEST_F(ExternalDataTest, ReadsInsideTheFolderOnly) {
  EXPECT_EQ(Import("sub/w.bin", "4", "8"), "1 2");
  EXPECT_EQ(Import("./sub/w.bin", "0", "8"), "0 1");
  EXPECT_THAT(Import("../secret.bin", "0", "8"), HasSubstr("leads out"));
  EXPECT_THAT(Import(outside_ + "/secret.bin", "0", "8"),
              HasSubstr("not a relative path"));
  EXPECT_THAT(Import("link.bin", "0", "8"), HasSubstr("is a link"));
  EXPECT_THAT(Import("sub", "0", "8"), HasSubstr("tensor 'w'"));
  EXPECT_THAT(Import("gone.bin", "0", "8"), HasSubstr("No such file"));
  EXPECT_THAT(Import("sub/w.bin", "12", "8"), HasSubstr("has no 8 bytes"));
  EXPECT_THAT(Import("sub/w.bin", "9223372036854775807", "8"),
              HasSubstr("has no 8 bytes"));
  EXPECT_THAT(Import("sub/w.bin", "-4", "8"), HasSubstr("offset='-4'"));
  EXPECT_THAT(Import("sub/w.bin", "0", "4"), HasSubstr("4 bytes of external"));
}

TEST(ImportOnnxErrors, ExternalDataNeedsTheFolder) {
  ModelBuilder b;
  auto* t = b.Output("w").Floats("w", {2}, {});
  t->set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_THAT(Error(b), HasSubstr("without the model's folder"));
}

TEST(ImportOnnx, SliceBackwardsOfNothing) {
  for (const bool constant : {false, true}) {
    ModelBuilder b;
    if (constant) {
      b.Floats("x", {2, 0}, {});
    } else {
      b.Input("x", {"2", "0"});
    }
    b.Ints("starts", {-1});
    b.Ints("ends", {-100});
    b.Ints("axes", {1});
    b.Ints("steps", {-1});
    b.Node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
    b.Output("y");
    EXPECT_EQ(OutputType(b.Build()), "f32[2, 0]");
  }
}

// ---------------------------------------------------------------- broadcasting

TEST(ImportOnnx, GemmAddsToSymbols) {
  const auto type = [](const std::vector<std::string>& dims) {
    ModelBuilder b;
    b.Input("x", {"n", "3"}).Input("w", {"3", "5"}).Input("c", dims);
    b.Node("Gemm", {"x", "w", "c"}, {"y"});
    b.Output("y");
    return OutputType(b.Build());
  };
  EXPECT_EQ(type({"4", "5"}), "f32[n, 5]");
  EXPECT_EQ(type({"m", "5"}), "f32[n, 5]");
  EXPECT_EQ(type({"m", "k"}), "f32[n, 5]");
  EXPECT_EQ(type({"5"}), "f32[n, 5]");
  EXPECT_THAT(type({"4", "6"}), HasSubstr("do not broadcast"));
  EXPECT_THAT(type({"1", "1", "5"}), HasSubstr("does not broadcast"));
}

// A misspelt attribute would leave its default in force.
TEST(ImportTest, AttributesThatTheOperatorDoesNotHave) {
  const auto status = [](const char* op, const char* attribute) {
    ModelBuilder b;
    b.Input("x", {"2", "3"}).Output("y");
    SetInt(b.Node(op, {"x"}, {"y"}, "n"), attribute, 1);
    return std::string(ImportOnnx(b.Build()).status().message());
  };
  EXPECT_EQ(status("Softmax", "axes"),
            "node 'n' (Softmax): there is no attribute 'axes'; did you mean "
            "axis?");
  EXPECT_EQ(status("Relu", "alpha"),
            "node 'n' (Relu): there is no attribute 'alpha'");
  // One that old exporters leave, and one that only another operator set has.
  EXPECT_EQ(status("Relu", "consumed_inputs"), "");
  EXPECT_EQ(status("Flatten", "axis"), "");
  EXPECT_EQ(status("Identity", "consumed_inputs"), "");
  EXPECT_EQ(status("Relu", "_output_shapes"), "");
}

}  // namespace
}  // namespace ingot::onnx_frontend

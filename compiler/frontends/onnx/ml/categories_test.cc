// LabelEncoder, Binarizer and ArrayFeatureExtractor as specified.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/frontends/onnx/testing/text_tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using Node = onnx::NodeProto;
using Fill = std::function<void(Node*)>;

constexpr char kMl[] = "ai.onnx.ml";

Operator Encoder(Fill attributes, int opset = 4) {
  return {"LabelEncoder", kMl, opset, std::move(attributes)};
}

Operand Strings(const std::vector<int64_t>& shape,
                const std::vector<std::string>& strings) {
  return OfStorageType(TextTensor(shape, strings), kTextType);
}

void SetStrings(Node* node, const std::string& name,
                const std::vector<std::string>& strings) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& s : strings) a->add_strings(s);
}

void SetFloats(Node* node, const std::string& name,
               const std::vector<float>& values) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::FLOATS);
  for (float v : values) a->add_floats(v);
}

onnx::TensorProto* SetTensor(Node* node, const std::string& name, int type,
                             int64_t count) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::TENSOR);
  a->mutable_t()->set_data_type(type);
  a->mutable_t()->add_dims(count);
  return a->mutable_t();
}

TEST(LabelEncoderTest, StringsToNumbers) {
  const Operator op = Encoder([](Node* n) {
    SetStrings(n, "keys_strings", {"a", "bcd", ""});
    SetInts(n, "values_int64s", {7, 8, 9});
    SetInt(n, "default_int64", 42);
  });
  const Tensor y =
      Outputs(op, {Strings({2, 3}, {"bcd", "a", "b", "", "bcde", "a"})})[0];
  EXPECT_EQ(y.TypeString(), "i64[2, 3]");
  EXPECT_THAT(y.values<int64_t>(), ElementsAre(8, 7, 42, 9, 42, 7));
}

TEST(LabelEncoderTest, NumbersToStrings) {
  const Operator op = Encoder([](Node* n) {
    SetInts(n, "keys_int64s", {3, -1});
    SetStrings(n, "values_strings", {"three", "é"});
  });
  EXPECT_THAT(StringsOf(Outputs(op, {Longs({3}, {-1, 5, 3})})[0]),
              ElementsAre("é", "_Unused", "three"));
  // A key that is there twice.
  const Operator twice = Encoder([](Node* n) {
    SetInts(n, "keys_int64s", {3, 3});
    SetStrings(n, "values_strings", {"first", "second"});
    SetString(n, "default_string", "none at all");
  });
  EXPECT_THAT(StringsOf(Outputs(twice, {Longs({2}, {3, 0})})[0]),
              ElementsAre("first", "none at all"));
}

TEST(LabelEncoderTest, NotANumberIsAKey) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Operator op = Encoder([nan](Node* n) {
    SetFloats(n, "keys_floats", {0.5f, nan});
    SetFloats(n, "values_floats", {1, 2});
  });
  ExpectNear(RunFloats(op, {Floats({3}, {nan, 0.5f, 0})}), {2, 1, 0});
}

TEST(LabelEncoderTest, TensorsOfKeysAndValues) {
  const Operator op = Encoder([](Node* n) {
    auto* keys = SetTensor(n, "keys_tensor", onnx::TensorProto::STRING, 2);
    keys->add_string_data("x");
    keys->add_string_data("long one");
    auto* values = SetTensor(n, "values_tensor", onnx::TensorProto::INT16, 2);
    values->add_int32_data(-5);
    values->add_int32_data(6);
    SetTensor(n, "default_tensor", onnx::TensorProto::INT16, 1)
        ->add_int32_data(1);
  });
  const Tensor y = Outputs(op, {Strings({3}, {"long one", "x", "y"})})[0];
  EXPECT_EQ(y.TypeString(), "i16[3]");
  EXPECT_THAT(y.values<int16_t>(), ElementsAre(6, -5, 1));
}

// The first version has one list, and goes both ways.
TEST(LabelEncoderTest, ClassesOfStrings) {
  const Operator op = Encoder(
      [](Node* n) {
        SetStrings(n, "classes_strings", {"cat", "dog"});
      },
      1);
  EXPECT_THAT(
      Outputs(op, {Strings({3}, {"dog", "cow", "cat"})})[0].values<int64_t>(),
      ElementsAre(1, -1, 0));
  EXPECT_THAT(StringsOf(Outputs(op, {Longs({3}, {0, 2, 1})})[0]),
              ElementsAre("cat", "_Unused", "dog"));
}

TEST(LabelEncoderTest, RefusesWhatDoesNotFit) {
  const Operator lengths = Encoder([](Node* n) {
    SetInts(n, "keys_int64s", {3, -1});
    SetInts(n, "values_int64s", {3});
  });
  EXPECT_FALSE(RunOperator(lengths, {Longs({1}, {3})}).ok());
  const Operator types = Encoder([](Node* n) {
    SetInts(n, "keys_int64s", {3});
    SetInts(n, "values_int64s", {3});
  });
  EXPECT_FALSE(RunOperator(types, {Floats({1}, {3})}).ok());
  EXPECT_FALSE(RunOperator(Encoder(nullptr), {Longs({1}, {3})}).ok());
}

TEST(MlFeaturesTest, Binarizer) {
  const Operator op{"Binarizer", kMl, 1,
                    [](Node* n) { SetFloat(n, "threshold", 1); }};
  ExpectNear(RunFloats(op, {Floats({4}, {0, 1, 1.5f, -3})}), {0, 0, 1, 0});
}

TEST(MlFeaturesTest, ArrayFeatureExtractor) {
  const Operator op{"ArrayFeatureExtractor", kMl, 1};
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectNear(RunFloats(op, {x, Longs({2}, {2, 0})}), {3, 1, 6, 4});
  const Tensor row = Outputs(op, {Floats({3}, {1, 2, 3}), Longs({1}, {1})})[0];
  EXPECT_EQ(row.TypeString(), "f32[1, 1]");
}

}  // namespace
}  // namespace ingot::onnx_frontend

// LabelEncoder, CategoryMapper and OneHotEncoder as specified.
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

TEST(CategoryMapperTest, EitherWay) {
  auto categories = [](Node* n) {
    SetStrings(n, "cats_strings", {"a", "bb", "dog"});
    SetInts(n, "cats_int64s", {5, 6, 9});
    SetInt(n, "default_int64", -3);
    SetString(n, "default_string", "?");
  };
  const Operator op{"CategoryMapper", kMl, 1, categories};
  EXPECT_THAT(Outputs(op, {Strings({2, 2}, {"bb", "b", "dog", "a"})})[0]
                  .values<int64_t>(),
              ElementsAre(6, -3, 9, 5));
  EXPECT_THAT(StringsOf(Outputs(op, {Longs({3}, {9, 5, 7})})[0]),
              ElementsAre("dog", "a", "?"));
  const Operator uneven{"CategoryMapper", kMl, 1, [](Node* n) {
                          SetStrings(n, "cats_strings", {"a", "b"});
                          SetInts(n, "cats_int64s", {1});
                        }};
  EXPECT_FALSE(RunOperator(uneven, {Longs({1}, {1})}).ok());
}

TEST(OneHotEncoderTest, StringsAndNumbers) {
  const Operator text{"OneHotEncoder", kMl, 1, [](Node* n) {
                        SetStrings(n, "cats_strings", {"a", "bb", ""});
                      }};
  const Tensor y = Outputs(text, {Strings({2, 2}, {"bb", "", "b", "a"})})[0];
  EXPECT_EQ(y.TypeString(), "f32[2, 2, 3]");
  ExpectNear(ValuesOf(y), {0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0});
  const Operator numbers{"OneHotEncoder", kMl, 1, [](Node* n) {
                           SetInts(n, "cats_int64s", {3, -1});
                           SetInt(n, "zeros", 0);
                         }};
  const std::vector<float> expected = {0, 1, 0, 0, 1, 0};
  ExpectNear(RunFloats(numbers, {Longs({3}, {-1, 5, 3})}), expected);
  // Numbers of other types become integers.
  ExpectNear(RunFloats(numbers, {Floats({3}, {-1.9f, 5, 3.5f})}), expected);
  ExpectNear(RunFloats(numbers, {Symbolic(Longs({3}, {-1, 5, 3}))}), expected);
}

TEST(OneHotEncoderTest, RefusesWhatDoesNotFit) {
  auto refused = [](Fill fill, Operand x) {
    return !RunOperator({"OneHotEncoder", kMl, 1, std::move(fill)}, {x}).ok();
  };
  const Tensor x = Longs({1}, {1});
  EXPECT_TRUE(refused(nullptr, x));
  EXPECT_TRUE(refused([](Node* n) { SetInts(n, "cats_int64s", {1, 1}); }, x));
  EXPECT_TRUE(
      refused([](Node* n) { SetStrings(n, "cats_strings", {"a"}); }, x));
  EXPECT_TRUE(refused([](Node* n) { SetInts(n, "cats_int64s", {1}); },
                      Strings({1}, {"a"})));
  EXPECT_TRUE(refused(
      [](Node* n) {
        SetStrings(n, "cats_strings", {"a"});
        SetInts(n, "cats_int64s", {1});
      },
      x));
}

}  // namespace
}  // namespace ingot::onnx_frontend

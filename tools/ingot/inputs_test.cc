#include "tools/ingot/inputs.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/npy.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<TensorInfo> Declared() {
  return {{"x", DataType::Float(32), {2}, {"2"}},
          {"x:0", DataType::Int(64), {-1, 3}, {"N", "3"}}};
}

// A file with f32 numbers, by its path.
std::string NpyFile(const std::string& name, std::vector<float> values) {
  const int64_t size = static_cast<int64_t>(values.size());
  absl::StatusOr<Tensor> t =
      Tensor::FromBorrowed(values.data(), DataType::Float(32), {size});
  const std::string path = testing::TempDir() + "/" + name;
  EXPECT_TRUE(WriteFile(path, *FormatNpy(*t)).ok());
  return path;
}

template <typename T>
std::string Message(const absl::StatusOr<T>& result) {
  return result.ok() ? "fine" : std::string(result.status().message());
}

TEST(ParseInputShapesTest, NamesMayHaveColons) {
  const std::vector<std::string> texts = {"image:1x3x224x224", "x:0:5"};
  absl::StatusOr<InputShapes> shapes = ParseInputShapes(texts);
  ASSERT_TRUE(shapes.ok()) << shapes.status();
  EXPECT_THAT(shapes->at("image"), ElementsAre(1, 3, 224, 224));
  EXPECT_THAT(shapes->at("x:0"), ElementsAre(5));
}

TEST(ParseInputShapesTest, SaysWhatIsOff) {
  for (const char* text : {"", "x", "x:", ":1", "x:1x", "x:x1", "x:-1", "x:+1",
                           "x:1X2", "x:1,2", "x:99999999999999999999"}) {
    const std::vector<std::string> texts = {text};
    absl::StatusOr<InputShapes> shapes = ParseInputShapes(texts);
    ASSERT_FALSE(shapes.ok()) << text;
    EXPECT_TRUE(IsUsageError(shapes.status())) << text;
  }
  const std::vector<std::string> twice = {"x:1", "x:2"};
  EXPECT_THAT(Message(ParseInputShapes(twice)), HasSubstr("twice"));
}

TEST(ReadInputsTest, TheLongestNameThatFits) {
  const std::string a = NpyFile("a.npy", {1, 2}), b = NpyFile("b.npy", {3});
  const std::vector<std::string> texts = {"x:0:" + b, "x:" + a};
  absl::StatusOr<std::vector<TensorOrSequence>> inputs =
      ReadInputs(Declared(), texts);
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_THAT(std::get<Tensor>((*inputs)[0]).values<float>(),
              ElementsAre(1, 2));
  EXPECT_THAT(std::get<Tensor>((*inputs)[1]).values<float>(), ElementsAre(3));
}

TEST(ReadInputsTest, ASequenceTensorByTensor) {
  std::vector<TensorInfo> declared(1);
  declared[0].name = "seq";
  declared[0].dtype = DataType::Float(32);
  declared[0].is_sequence = true;
  const std::string a = NpyFile("a.npy", {1, 2}), b = NpyFile("b.npy", {3});
  const std::vector<std::string> texts = {"seq:" + a, "seq:" + b};
  absl::StatusOr<std::vector<TensorOrSequence>> inputs =
      ReadInputs(declared, texts);
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  const auto& sequence = std::get<TensorSequence>((*inputs)[0]);
  ASSERT_EQ(sequence.TypeString(), "sequence<f32> of 2");
  EXPECT_THAT(sequence.tensors[0].values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(sequence.tensors[1].values<float>(), ElementsAre(3));
  std::string note;
  EXPECT_THAT(Message(MakeRandomInputs(declared, {}, 0, &note)),
              HasSubstr("input 'seq' is a sequence<f32>"));
}

TEST(ReadInputsTest, SaysWhatIsOff) {
  const std::string a = NpyFile("a.npy", {1, 2});
  const auto error = [](std::vector<std::string> texts) {
    return Message(ReadInputs(Declared(), texts));
  };
  EXPECT_THAT(error({"y:" + a}),
              HasSubstr("'y' is no input; the model's inputs are 'x' (f32[2]), "
                        "'x:0' (i64[N, 3])"));
  EXPECT_THAT(error({"x:" + a}), HasSubstr("input 'x:0' is not given"));
  EXPECT_THAT(error({"x:" + a, "x:" + a}), HasSubstr("given twice"));
  EXPECT_THAT(error({a}), HasSubstr("not like name:file.npy"));
  EXPECT_THAT(error({"x:/no/file.npy"}), HasSubstr("/no/file.npy"));
  EXPECT_THAT(error({"x:/etc/passwd"}), HasSubstr("neither .npy"));
  const std::string text = testing::TempDir() + "/text.npy";
  ASSERT_TRUE(WriteFile(text, "hello world").ok());
  EXPECT_THAT(error({"x:" + text}), HasSubstr(text + ": not a .npy file"));
}

TEST(MakeRandomInputsTest, SameSeedSameNumbers) {
  std::string note;
  const auto make = [&](int64_t seed) {
    return MakeRandomInputs(Declared(), {}, seed, &note).value();
  };
  const std::vector<Tensor> a = make(1), b = make(1), c = make(2);
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(memcmp(a[0].raw_data(), b[0].raw_data(), a[0].bytes()), 0);
  EXPECT_NE(memcmp(a[0].raw_data(), c[0].raw_data(), a[0].bytes()), 0);
  EXPECT_EQ(a[1].TypeString(), "i64[1, 3]");
  EXPECT_EQ(note,
            "inputs are random numbers (seed 2); N is taken as 1 "
            "(--input-shape chooses)");
}

// These numbers are part of bug reports: they may never change.
TEST(MakeRandomInputsTest, NumbersAreTheSameOnEveryMachine) {
  std::string note;
  absl::StatusOr<std::vector<Tensor>> inputs =
      MakeRandomInputs(Declared(), {}, 0, &note);
  ASSERT_TRUE(inputs.ok());
  EXPECT_THAT((*inputs)[0].values<float>(),
              ElementsAre(0.76662159f, -0.13694406f));
  EXPECT_THAT((*inputs)[1].values<int64_t>(), ElementsAre(9, 4, 7));
}

TEST(MakeRandomInputsTest, EveryTypeHasNumbersInItsRange) {
  for (const DataType type :
       {DataType::Float(64), DataType::Float(32), DataType::Float(16),
        DataType::BFloat16(), DataType::Int(8), DataType::Int(16),
        DataType::Int(32), DataType::UInt(8), DataType::UInt(64),
        DataType::Bool()}) {
    const std::vector<TensorInfo> declared = {{"x", type, {100}, {"100"}}};
    std::string note;
    absl::StatusOr<std::vector<Tensor>> inputs =
        MakeRandomInputs(declared, {}, 0, &note);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    if (type.is_bool()) {
      EXPECT_THAT((*inputs)[0].values<uint8_t>(),
                  testing::Each(testing::Le(1)));
    }
    if (type == DataType::UInt(64)) {
      EXPECT_THAT((*inputs)[0].values<uint64_t>(),
                  testing::Each(testing::Lt(10u)));
    }
  }
}

TEST(MakeRandomInputsTest, ShapesAreChecked) {
  std::string note;
  absl::StatusOr<std::vector<Tensor>> inputs =
      MakeRandomInputs(Declared(), {{"x:0", {4, 3}}}, 0, &note);
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_EQ((*inputs)[1].TypeString(), "i64[4, 3]");
  const auto error = [&](const InputShapes& shapes) {
    return Message(MakeRandomInputs(Declared(), shapes, 0, &note));
  };
  EXPECT_THAT(error({{"x", {3}}}), HasSubstr("'x' is f32[2]"));
  EXPECT_THAT(error({{"x", {2, 1}}}), HasSubstr("'x' is f32[2]"));
  EXPECT_THAT(error({{"z", {3}}}), HasSubstr("'z' is no input"));
}

}  // namespace
}  // namespace ingot

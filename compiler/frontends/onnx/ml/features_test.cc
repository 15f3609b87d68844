// Binarizer, ArrayFeatureExtractor, FeatureVectorizer, Scaler, Normalizer,
// Imputer and ZipMap, by formulas in double precision.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/frontends/onnx/testing/text_tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Node = onnx::NodeProto;
using Fill = std::function<void(Node*)>;

constexpr char kMl[] = "ai.onnx.ml";

Operator Ml(const std::string& op, Fill fill) {
  return {op, kMl, 1, std::move(fill)};
}

bool Refused(const Operator& op, const std::vector<Operand>& operands) {
  return !RunOperator(op, operands).ok();
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

TEST(MlFeaturesTest, ArrayFeatureExtractorOfStrings) {
  const Operator op = Ml("ArrayFeatureExtractor", nullptr);
  const Operand x = OfStorageType(
      TextTensor({2, 3}, {"a", "bb", "c", "dd", "e", ""}), kTextType);
  EXPECT_THAT(StringsOf(Outputs(op, {x, Constant(Longs({2}, {2, 0}))})[0]),
              ElementsAre("c", "a", "", "dd"));
}

TEST(MlFeaturesTest, FeatureVectorizer) {
  const Tensor a = Floats({2, 2}, {1, 2, 3, 4});
  const Tensor b = Longs({2, 3}, {5, 6, 7, 8, 9, 10});
  auto op = [](std::vector<int64_t> columns) {
    return Ml("FeatureVectorizer",
              [columns](Node* n) { SetInts(n, "inputdimensions", columns); });
  };
  ExpectNear(RunFloats(op({2, 3}), {a, b}), {1, 2, 5, 6, 7, 3, 4, 8, 9, 10});
  // Too few columns are filled up, and too many cut off.
  ExpectNear(RunFloats(op({3, 1}), {a, b}), {1, 2, 0, 5, 3, 4, 0, 8});
  ExpectNear(RunFloats(op({3, 1}), {Symbolic(a), Symbolic(b)}),
             {1, 2, 0, 5, 3, 4, 0, 8});
  const Tensor row = Outputs(op({3}), {Floats({3}, {1, 2, 3})})[0];
  EXPECT_EQ(row.TypeString(), "f32[1, 3]");
  EXPECT_TRUE(Refused(op({2}), {a, b}));
  EXPECT_TRUE(Refused(op({-2}), {a}));
  EXPECT_TRUE(Refused(op({1}), {Floats({}, {1})}));
}

TEST(ScalerTest, OffsetsAndScales) {
  const Operator each = Ml("Scaler", [](Node* n) {
    SetFloats(n, "offset", {1, -2, 0.5f});
    SetFloats(n, "scale", {2, 3, -1});
  });
  const std::vector<float> expected = {-2, 6, 0.5f, 4, 15, -5.5f};
  const Tensor x = Floats({2, 3}, {0, 0, 0, 3, 3, 6});
  ExpectNear(RunFloats(each, {x}), expected);
  ExpectNear(RunFloats(each, {Symbolic(x)}), expected);
  ExpectNear(RunFloats(each, {Longs({2, 3}, {0, 0, 0, 3, 3, 6})}), expected);
  const Operator all = Ml("Scaler", [](Node* n) {
    SetFloats(n, "offset", {1});
    SetFloats(n, "scale", {2});
  });
  // Differences of numbers in double precision are not those of floats.
  const Tensor doubles =
      MakeTestTensor<double>(DataType::Float(64), {1, 1}, {1 + 0x1p-40});
  EXPECT_EQ(RunFloats(all, {doubles})[0], 0x1p-39f);
  EXPECT_TRUE(Refused(each, {Floats({1, 2}, {0, 0})}));
  EXPECT_TRUE(Refused(Ml("Scaler", nullptr), {x}));
}

std::vector<float> Normalized(const Tensor& x, const std::string& norm) {
  std::vector<float> result;
  const int64_t n = x.shape().back();
  for (int64_t at = 0; at < x.NumElements(); at += n) {
    const float* row = x.data<float>() + at;
    double size = norm == "MAX" ? row[0] : 0;
    for (int64_t i = 0; i < n; ++i) {
      const double v = row[i];
      size = norm == "MAX"  ? std::max(size, v)
             : norm == "L1" ? size + std::abs(v)
                            : size + v * v;
    }
    if (norm == "L2") size = std::sqrt(size);
    for (int64_t i = 0; i < n; ++i) {
      result.push_back(static_cast<float>(size == 0 ? row[i] : row[i] / size));
    }
  }
  return result;
}

TEST(NormalizerTest, EachRow) {
  // The second row's largest is 0, and the third has nothing but zeros.
  const Tensor x = Floats({3, 4}, {1, -2, 3, 0.5f, -1, 0, -2, -3, 0, 0, 0, 0});
  for (const char* norm : {"MAX", "L1", "L2"}) {
    const Operator op =
        Ml("Normalizer", [norm](Node* n) { SetString(n, "norm", norm); });
    ExpectNear(RunFloats(op, {x}), Normalized(x, norm));
    ExpectNear(RunFloats(op, {Symbolic(x)}), Normalized(x, norm));
    const Tensor row = Floats({3}, {4, -1, 2});
    ExpectNear(RunFloats(op, {row}), Normalized(row, norm));
    EXPECT_TRUE(Outputs(op, {Floats({0, 4}, {})})[0].NumElements() == 0);
  }
  EXPECT_TRUE(Refused(
      Ml("Normalizer", [](Node* n) { SetString(n, "norm", "L3"); }), {x}));
}

TEST(ImputerTest, ReplacesAValue) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto floats = [](float missing, std::vector<float> imputed) {
    return Ml("Imputer", [missing, imputed](Node* n) {
      SetFloat(n, "replaced_value_float", missing);
      SetFloats(n, "imputed_value_floats", imputed);
    });
  };
  const Tensor x = Floats({2, 3}, {nan, -1, 2, 3, nan, -1});
  ExpectNear(RunFloats(floats(nan, {7, 8, 9}), {x}), {7, -1, 2, 3, 8, -1});
  ExpectNear(RunFloats(floats(nan, {7}), {Symbolic(x)}), {7, -1, 2, 3, 7, -1});
  const std::vector<float> kept = RunFloats(floats(-1, {7, 8, 9}), {x});
  EXPECT_TRUE(std::isnan(kept[0]) && std::isnan(kept[4]));
  EXPECT_THAT(std::vector<float>({kept[1], kept[2], kept[3], kept[5]}),
              ElementsAre(8, 2, 3, 9));
  constexpr int64_t kLarge = (int64_t{1} << 60) + 1;
  const Operator integers = Ml("Imputer", [](Node* n) {
    SetInt(n, "replaced_value_int64", kLarge);
    SetInts(n, "imputed_value_int64s", {kLarge + 1, 5});
  });
  EXPECT_THAT(
      Outputs(integers, {Longs({2, 2}, {kLarge, kLarge - 1, 3, kLarge})})[0]
          .values<int64_t>(),
      ElementsAre(kLarge + 1, kLarge - 1, 3, 5));
  EXPECT_TRUE(Refused(floats(nan, {7, 8}), {x}));
  EXPECT_TRUE(Refused(integers, {x}));
}

// A classifier's scores under a map's name, as exporters write it.
TEST(ZipMapTest, GivesTheScoresAndSaysSo) {
  ModelBuilder b(15);
  b.Domain(kMl).Input("x", {"n", "2"}).Output("map");
  Node* node = b.Node("ZipMap", {"x"}, {"map"}, "zip");
  node->set_domain(kMl);
  SetStrings(node, "classlabels_strings", {"no", "yes"});
  auto* map = b.graph().mutable_output(0)->mutable_type();
  auto* entry = map->mutable_sequence_type()->mutable_elem_type();
  entry->mutable_map_type()->set_key_type(onnx::TensorProto::STRING);
  entry->mutable_map_type()
      ->mutable_value_type()
      ->mutable_tensor_type()
      ->set_elem_type(onnx::TensorProto::FLOAT);
  std::string warning;
  ImportOptions options;
  options.on_warning = [&](absl::string_view message) {
    warning = std::string(message);
  };
  const auto module = ImportOnnx(b.Build(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  const relay::Function& main = *module->main();
  EXPECT_EQ(relay::ToString(main.outputs[0].type()), "f32[n, 2]");
  EXPECT_EQ(main.output_names[0], "map");
  EXPECT_THAT(warning, HasSubstr("node 'zip' (ZipMap) gives a tensor"));
  EXPECT_THAT(warning, HasSubstr("'no', 'yes'"));
}

TEST(MapsTest, AreNoInputs) {
  ModelBuilder b(15);
  b.Domain(kMl).Output("y");
  auto* input = b.graph().add_input();
  input->set_name("words");
  auto* map = input->mutable_type()->mutable_map_type();
  map->set_key_type(onnx::TensorProto::STRING);
  map->mutable_value_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::FLOAT);
  b.Node("DictVectorizer", {"words"}, {"y"}, "dict")->set_domain(kMl);
  const absl::Status status = ImportOnnx(b.Build()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("input 'words' is a map"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("without node 'dict' (DictVectorizer)"));
}

}  // namespace
}  // namespace ingot::onnx_frontend

// `ingot verify --state` on test data of language models, of several runs, as
// ONNX Runtime computes them.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnx/onnx.pb.h"
#include "tests/onnxruntime/decoder_steps.h"
#include "tests/onnxruntime/session.h"
#include "tests/pipeline/cli_fixture.h"

namespace ingot {
namespace {

constexpr char kState[] = "--state=past_key_values.*:present.*:32";

void Write(const std::string& path, const std::string& name,
           const Tensor& tensor) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(tensor.dtype() == DataType::Int(64)
                          ? onnx::TensorProto::INT64
                          : onnx::TensorProto::FLOAT);
  for (const int64_t dim : tensor.shape()) proto.add_dims(dim);
  proto.set_raw_data(tensor.raw_data(), tensor.bytes());
  WriteFileBytes(path, proto.SerializeAsString());
}

class DecoderVerifyTest : public CliTest,
                          public testing::WithParamInterface<std::string> {
 protected:
  // Where data are rounded to bytes, a number between two may go either way.
  std::string Tolerance() const {
    return GetParam() == "llama_tiny" ? "--atol=2e-3" : "--atol=2e-4";
  }

  std::string Model() const {
    return std::filesystem::absolute("examples/generate/" + GetParam() +
                                     ".onnx");
  }

  // A data set for each run, in the model's own order. After the first one,
  // `with_past` says whether files hold what was kept.
  void WriteData(bool with_past) {
    auto session = onnxruntime::Session::Open(Model());
    ASSERT_TRUE(session.ok()) << session.status();
    const std::vector<std::string> inputs = *(*session)->InputNames();
    const std::vector<std::string> outputs = *(*session)->OutputNames();
    std::vector<Tensor> kept = NothingKept(GetParam(), outputs.size() - 1);
    int run = 0;
    for (const Words& words : DecoderSteps()) {
      const std::vector<Tensor> given = InputsOf(inputs, words, kept);
      const auto made = (*session)->Run(inputs, given, outputs);
      ASSERT_TRUE(made.ok()) << made.status();
      const std::string folder =
          Path(absl::StrCat("data/test_data_set_", run++));
      std::filesystem::create_directories(folder);
      int files = 0;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const bool is_past = inputs[i].rfind("past", 0) == 0;
        if (is_past && !with_past && run > 1) continue;
        Write(absl::StrCat(folder, "/input_", files++, ".pb"), inputs[i],
              given[i]);
      }
      for (size_t i = 0; i < outputs.size(); ++i) {
        Write(absl::StrCat(folder, "/output_", i, ".pb"), outputs[i],
              (*made)[i]);
      }
      kept.assign(made->begin() + 1, made->end());
    }
  }
};

TEST_P(DecoderVerifyTest, SeveralRuns) {
  WriteData(/*with_past=*/true);
  const nlohmann::json json =
      DoJson({"verify", Model(), kState, "--test-data=@data", Tolerance()});
  EXPECT_EQ(json["ok"], true) << json;
  EXPECT_EQ(json["sets"], DecoderSteps().size());
  // The scores and four states, each run.
  EXPECT_EQ(json["outputs"].size(), 5 * DecoderSteps().size());
  EXPECT_EQ(json["outputs"][1]["type"], GetParam() == "gpt2_tiny"
                                            ? "f32[1, 3, 5, 16]"
                                            : "f32[1, 2, 5, 16]");

  // A wrong value in the middle of a state shows.
  const std::string path = Path("data/test_data_set_3/output_2.pb");
  onnx::TensorProto value;
  ASSERT_TRUE(value.ParseFromString(ReadFile(path)));
  value.mutable_raw_data()->at(64 * 9 + 3) ^= 0x40;
  WriteFileBytes(path, value.SerializeAsString());
  ExpectError(
      {"verify", Model(), kState, "--test-data=@data", Tolerance(), "--quiet"},
      1, {"test_data_set_3, output 'present.0.value'"});
  // So does one that has no name.
  value.clear_name();
  WriteFileBytes(path, value.SerializeAsString());
  ExpectError({"verify", Model(), kState, "--test-data=@data", "--quiet"}, 1,
              {"output_2.pb", "has no name"});
}

TEST_P(DecoderVerifyTest, ShowsStates) {
  Do({"compile", Model(), kState, "-o", "@model.ingot", "--quiet"});
  const std::string type =
      GetParam() == "gpt2_tiny" ? "f32[1, 3, 32, 16]" : "f32[1, 2, 32, 16]";
  EXPECT_THAT(Do({"inspect", "@model.ingot"}),
              testing::ContainsRegex("state +past_key_values.0.key: "));
  const nlohmann::json json = DoJson({"explain", Model(), kState});
  ASSERT_EQ(json["states"].size(), 4u) << json;
  EXPECT_EQ(json["states"][1]["name"], "past_key_values.0.value");
  EXPECT_EQ(json["states"][1]["result"], "present.0.value");
  EXPECT_EQ(json["states"][1]["type"], type);
  EXPECT_EQ(json["states"][1]["is_rewritten"], false);
  EXPECT_THAT(
      Do({"explain", Model(), kState}),
      testing::HasSubstr(absl::StrCat("  state past_key_values.0.key: ", type,
                                      ", becomes present.0.key: each run "
                                      "writes its new entries\n")));
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderVerifyTest,
                         testing::Values("gpt2_tiny", "llama_tiny"),
                         [](const auto& param) { return param.param; });

// Where no input tells how many entries there are, a run goes on where the one
// before ended.
class GoingOnTest : public DecoderVerifyTest {};

// Each call against the interpreter, those among them that write into a state.
TEST_P(GoingOnTest, CallByCall) {
  EXPECT_THAT(
      Do({"verify", Model(), kState, "--per-node",
          "--input-shape=input_ids:1x3", "--input-shape=attention_mask:1x3"}),
      testing::HasSubstr("every call is as the interpreter says"));
}

TEST_P(GoingOnTest, WithoutThePast) {
  WriteData(/*with_past=*/false);
  const nlohmann::json json =
      DoJson({"verify", Model(), kState, "--test-data=@data", Tolerance()});
  EXPECT_EQ(json["ok"], true) << json;
}

INSTANTIATE_TEST_SUITE_P(Models, GoingOnTest, testing::Values("llama_tiny"),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace ingot

// A model that runs on functions of this program, from an ONNX file to its
// outputs, and what becomes of a set that holds them.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "artifact/container.h"
#include "artifact/directory.h"
#include "artifact/inspector.h"
#include "backends/builtin.h"
#include "backends/callback/codegen.h"
#include "backends/callback/live_function.h"
#include "backends/callback/loader.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "loaders/native/linker.h"

namespace ingot {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kModel[] = R"(module {
  func @main(%x: f32[2, 3], %b: f32[2, 3]) -> (%y, %t) {
    %s = add(%x, %b)
    %t = leaky_relu(%s) {alpha=0.5}
    %two = const f32[] {2}
    %d = mul(%t, %two)
    %y = exp(%d)
  }
})";

// Counts how often each callback of a test was called.
struct Counts {
  int add = 0, leaky_relu = 0, mul = 0;
};

TargetKind Counting(std::shared_ptr<Counts> counts) {
  const auto each = [](absl::Span<const Tensor> operands, Tensor* result,
                       auto f) {
    for (int64_t i = 0; i < result->NumElements(); ++i) {
      const Tensor& last = operands.back();
      result->mutable_data<float>()[i] =
          f(operands[0].data<float>()[i],
            last.data<float>()[last.NumElements() == 1 ? 0 : i]);
    }
    return absl::OkStatus();
  };
  return MakeCallbackTarget(
      "here",
      {{"add",
        [=](const relay::Attrs&, absl::Span<const Tensor> operands,
            absl::Span<Tensor> results) {
          ++counts->add;
          return each(operands, &results[0],
                      [](float a, float b) { return a + b; });
        }},
       {"leaky_relu",
        [=](const relay::Attrs& attrs, absl::Span<const Tensor> operands,
            absl::Span<Tensor> results) {
          ++counts->leaky_relu;
          const float alpha = static_cast<float>(attrs.Get<double>("alpha"));
          return each(operands, &results[0],
                      [=](float a, float) { return a < 0 ? alpha * a : a; });
        }},
       {"mul", [=](const relay::Attrs&, absl::Span<const Tensor> operands,
                   absl::Span<Tensor> results) {
          ++counts->mul;
          return each(operands, &results[0],
                      [](float a, float b) { return a * b; });
        }}});
}

class CallbackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(RegisterBuiltinTargets(&targets_).ok());
    ASSERT_TRUE(targets_.Register(Counting(counts_)).ok());
    ASSERT_TRUE(RegisterCoreLoaders(&loaders_).ok());
    ASSERT_TRUE(RegisterCallbackLoader(&loaders_).ok());
  }

  absl::StatusOr<ArtifactSet> Compile(const std::string& target,
                                      const char* text = kModel) {
    INGOT_ASSIGN_OR_RETURN(auto module, relay::ReadModule(text));
    CompileOptions options;
    INGOT_ASSIGN_OR_RETURN(std::vector<Target> list, ParseTargets(target));
    options.targets = list;
    options.target_text = target;
    options.known_loaders = loaders_.Names();
    options.known_loaders.push_back(kNativeLoader);
    return CompileModule(module.get(), "model", "", targets_, options);
  }

  TargetRegistry targets_;
  LoaderRegistry loaders_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

std::vector<float> Floats(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

TEST_F(CallbackTest, AModelRunsOnThem) {
  std::unique_ptr<GraphExecutor> executor;
  {
    // The host computes exp, in a library that is linked as for any model; the
    // set itself may go before the model runs.
    auto set = Compile("here,llvm");
    ASSERT_TRUE(set.ok()) << set.status();
    LoadOptions options;
    options.link = [](const ArtifactSet& set) {
      return LinkCached(set, nullptr);
    };
    auto model = Load(*set, loaders_, options);
    ASSERT_TRUE(model.ok()) << model.status();
    auto created = CreateExecutor(*model);
    ASSERT_TRUE(created.ok()) << created.status();
    executor = *std::move(created);
  }
  Tensor x = *Tensor::Empty(DataType::Float(32), {2, 3});
  Tensor b = *Tensor::Empty(DataType::Float(32), {2, 3});
  for (int i = 0; i < 6; ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i);
    b.mutable_data<float>()[i] = -3;
  }
  for (int run = 1; run <= 2; ++run) {
    auto outputs = executor->Run({x, b});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_THAT(Floats((*outputs)[1]), ElementsAre(-1.5, -1, -0.5, 0, 1, 2));
    const std::vector<float> y = Floats((*outputs)[0]);
    EXPECT_FLOAT_EQ(y[0], std::exp(-3.f));
    EXPECT_FLOAT_EQ(y[5], std::exp(4.f));
    EXPECT_EQ(counts_->add, run);
    EXPECT_EQ(counts_->leaky_relu, run);
    EXPECT_EQ(counts_->mul, run);
  }
}

TEST_F(CallbackTest, ASetOfThemCannotBeExported) {
  const auto set = Compile("here,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string folder = ::testing::TempDir();
  for (const absl::Status& status :
       {WriteContainer(*set, folder + "/live.ingot"),
        WriteDirectory(*set, folder + "/live", InspectorRegistry()),
        LinkLibrary(*set, folder + "/live.so"),
        SerializeContainer(*set).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("host/here/model_here_0.callback"),
                      HasSubstr("live object"), HasSubstr("not exported")));
  }
}

TEST_F(CallbackTest, AnErrorOfACallbackNamesTheNode) {
  ASSERT_TRUE(
      targets_
          .Register(MakeCallbackTarget(
              "broken", {{"relu",
                          [](const relay::Attrs&, absl::Span<const Tensor>,
                             absl::Span<Tensor>) {
                            return absl::AbortedError("no more");
                          }}}))
          .ok());
  auto set = Compile("broken", R"(module {
    func @main(%x: f32[4]) -> (%y) { %y = relu(%x) }
  })");
  ASSERT_TRUE(set.ok()) << set.status();
  auto model = Load(*set, loaders_);
  ASSERT_TRUE(model.ok()) << model.status();
  auto executor = CreateExecutor(*model);
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto outputs =
      (*executor)->Run({*Tensor::Empty(DataType::Float(32), {4})});
  EXPECT_THAT(std::string(outputs.status().message()),
              AllOf(HasSubstr("node y"), HasSubstr("no more")));
}

// Only a file that was written by hand names this loader.
TEST_F(CallbackTest, AnArtifactFromAFileHasNoObject) {
  ArtifactSet set;
  Artifact artifact;
  artifact.codegen_id = "here";
  artifact.loader = callback::kLoader;
  artifact.file_name = "f.callback";
  ASSERT_TRUE(set.Add(artifact).ok());
  const absl::Status status = Load(set, loaders_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("f.callback"), HasSubstr("no file holds")));
}

TEST_F(CallbackTest, ShapesThatOnlyARunKnowsStayWithTheHost) {
  const auto set = Compile("here,llvm", R"(module {
    func @main(%x: f32[N, 3]) -> (%y) { %y = leaky_relu(%x) }
  })");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_TRUE(set->CheckExportable().ok());
}

}  // namespace
}  // namespace ingot

// The C API as a program sees it: by its header, from the shared library.
//
// MODEL is affine.relay, linked.
#include "loaders/c_api/ingot.h"

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DLTensor Rows(float* data, int64_t* shape) {
  DLTensor tensor = {};
  tensor.data = data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = 2;
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.shape = shape;
  return tensor;
}

std::vector<float> Floats(const DLTensor& tensor) {
  int64_t elements = 1;
  for (int d = 0; d < tensor.ndim; ++d) elements *= tensor.shape[d];
  const auto* data = static_cast<const float*>(tensor.data);
  return std::vector<float>(data, data + elements);
}

class IngotTest : public testing::Test {
 protected:
  IngotTest() {
    EXPECT_EQ(ingot_load(getenv("MODEL"), nullptr, &model_), INGOT_OK)
        << ingot_last_error();
    EXPECT_EQ(ingot_create_executor(model_, &executor_), INGOT_OK)
        << ingot_last_error();
  }
  ~IngotTest() override {
    ingot_free_executor(executor_);
    ingot_free_model(model_);
  }

  IngotModel* model_ = nullptr;
  IngotExecutor* executor_ = nullptr;
  float x_[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape_[2] = {2, 3};
};

TEST_F(IngotTest, TellsInputsAndOutputs) {
  EXPECT_GE(ingot_api_version(), INGOT_API_VERSION);
  int32_t count = 0;
  const IngotTensorInfo* inputs = ingot_inputs(model_, &count);
  ASSERT_EQ(count, 1);
  EXPECT_STREQ(inputs[0].name, "x");
  ASSERT_EQ(inputs[0].ndim, 2);
  EXPECT_EQ(inputs[0].shape[0], -1);
  EXPECT_EQ(inputs[0].shape[1], 3);
  EXPECT_EQ(inputs[0].dtype.code, kDLFloat);
  EXPECT_EQ(inputs[0].dtype.bits, 32);
  EXPECT_STREQ(ingot_input_type(model_, 0), "f32[rows, 3]");
  EXPECT_EQ(ingot_input_type(model_, 1), nullptr);
  const IngotTensorInfo* outputs = ingot_outputs(model_, &count);
  ASSERT_EQ(count, 2);
  EXPECT_STREQ(outputs[1].name, "count");
  EXPECT_STREQ(ingot_output_type(model_, 1), "i64[1]");
  EXPECT_EQ(ingot_output_type(model_, -1), nullptr);
}

TEST_F(IngotTest, RunsOnTheCallersMemory) {
  const DLTensor x = Rows(x_, shape_);
  ASSERT_EQ(ingot_set_input(executor_, 0, &x), INGOT_OK) << ingot_last_error();
  ASSERT_EQ(ingot_run(executor_), INGOT_OK) << ingot_last_error();
  DLTensor y, count;
  ASSERT_EQ(ingot_get_output(executor_, 0, &y), INGOT_OK) << ingot_last_error();
  ASSERT_EQ(ingot_get_output(executor_, 1, &count), INGOT_OK);
  EXPECT_THAT(Floats(y), ElementsAre(3, 6, 9, 9, 12, 15));
  EXPECT_EQ(*static_cast<int64_t*>(count.data), 2);

  // Nothing was copied: the next run sees other elements.
  x_[0] = 10;
  ASSERT_EQ(ingot_run(executor_), INGOT_OK);
  ASSERT_EQ(ingot_get_output(executor_, 0, &y), INGOT_OK);
  EXPECT_EQ(Floats(y)[0], 21);

  // Another number of rows.
  shape_[0] = 1;
  const DLTensor row = Rows(x_, shape_);
  ASSERT_EQ(ingot_set_input(executor_, 0, &row), INGOT_OK);
  ASSERT_EQ(ingot_run(executor_), INGOT_OK);
  ASSERT_EQ(ingot_get_output(executor_, 0, &y), INGOT_OK);
  EXPECT_THAT(Floats(y), ElementsAre(21, 6, 9));
}

TEST_F(IngotTest, ExportedOutputsOutliveTheModel) {
  const DLTensor x = Rows(x_, shape_);
  ASSERT_EQ(ingot_set_input(executor_, 0, &x), INGOT_OK);
  ASSERT_EQ(ingot_run(executor_), INGOT_OK);
  DLManagedTensor* y = nullptr;
  ASSERT_EQ(ingot_export_output(executor_, 0, &y), INGOT_OK);
  ingot_free_executor(executor_);
  ingot_free_model(model_);
  executor_ = nullptr;
  model_ = nullptr;
  EXPECT_THAT(Floats(y->dl_tensor), ElementsAre(3, 6, 9, 9, 12, 15));
  y->deleter(y);
}

TEST_F(IngotTest, OutputsCanBeFedBack) {
  const DLTensor x = Rows(x_, shape_);
  ASSERT_EQ(ingot_set_input(executor_, 0, &x), INGOT_OK);
  ASSERT_EQ(ingot_run(executor_), INGOT_OK);
  DLTensor y;
  ASSERT_EQ(ingot_get_output(executor_, 0, &y), INGOT_OK);
  ASSERT_EQ(ingot_set_input(executor_, 0, &y), INGOT_OK);
  ASSERT_EQ(ingot_run(executor_), INGOT_OK);
  ASSERT_EQ(ingot_get_output(executor_, 0, &y), INGOT_OK);
  EXPECT_THAT(Floats(y), ElementsAre(7, 14, 21, 19, 26, 33));
}

TEST_F(IngotTest, PreparesForALongRun) {
  EXPECT_EQ(ingot_prepare(executor_), INGOT_FAILED_PRECONDITION);
  std::vector<float> rows(300, 1.0f);
  int64_t shape[2] = {100, 3};
  DLTensor x = Rows(rows.data(), shape);
  ASSERT_EQ(ingot_set_input(executor_, 0, &x), INGOT_OK);
  ASSERT_EQ(ingot_prepare(executor_), INGOT_OK) << ingot_last_error();
  DLTensor y;
  EXPECT_EQ(ingot_get_output(executor_, 0, &y), INGOT_FAILED_PRECONDITION);
  x = Rows(x_, shape_);
  ASSERT_EQ(ingot_set_input(executor_, 0, &x), INGOT_OK);
  ASSERT_EQ(ingot_run(executor_), INGOT_OK);
  ASSERT_EQ(ingot_get_output(executor_, 0, &y), INGOT_OK);
  EXPECT_EQ(y.shape[0], shape_[0]);
}

TEST_F(IngotTest, FailuresSayWhy) {
  EXPECT_EQ(ingot_run(executor_), INGOT_FAILED_PRECONDITION);
  EXPECT_THAT(ingot_last_error(), HasSubstr("x"));
  DLTensor y;
  EXPECT_EQ(ingot_get_output(executor_, 0, &y), INGOT_FAILED_PRECONDITION);
  EXPECT_EQ(ingot_get_output(executor_, 2, &y), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("there is no output 2"));

  DLTensor x = Rows(x_, shape_);
  EXPECT_EQ(ingot_set_input(executor_, -1, &x), INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_set_input(executor_, 0, nullptr), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("input 0 ('x')"));
  x.dtype.bits = 64;
  EXPECT_EQ(ingot_set_input(executor_, 0, &x), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("f32[rows, 3]"));
  x = Rows(x_, shape_);
  shape_[1] = 2;
  EXPECT_EQ(ingot_set_input(executor_, 0, &x), INGOT_INVALID_ARGUMENT);
  x.device.device_type = kDLCUDA;
  EXPECT_EQ(ingot_set_input(executor_, 0, &x), INGOT_INVALID_ARGUMENT);

  IngotModel* none = nullptr;
  EXPECT_EQ(ingot_load("/nowhere/model.so", nullptr, &none), INGOT_NOT_FOUND);
  EXPECT_THAT(ingot_last_error(), HasSubstr("/nowhere/model.so"));
  EXPECT_EQ(ingot_load_memory("no model", 8, nullptr, &none),
            INGOT_INVALID_ARGUMENT);
  IngotLoadOptions options = {};
  EXPECT_EQ(ingot_load(getenv("MODEL"), &options, &none),
            INGOT_INVALID_ARGUMENT);
  options.size = sizeof(options);
  options.threads = -1;
  EXPECT_EQ(ingot_load(getenv("MODEL"), &options, &none),
            INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("threads is -1"));
  EXPECT_EQ(none, nullptr);
}

TEST_F(IngotTest, ErrorsBelongToTheirThread) {
  EXPECT_NE(ingot_run(executor_), INGOT_OK);
  std::thread([] { EXPECT_STREQ(ingot_last_error(), ""); }).join();
  EXPECT_STRNE(ingot_last_error(), "");
}

TEST_F(IngotTest, ExecutorsOfOneModelRunAtOnce) {
  const auto run = [this](float start, float* result) {
    IngotExecutor* executor = nullptr;
    ASSERT_EQ(ingot_create_executor(model_, &executor), INGOT_OK);
    float data[3] = {start, start, start};
    int64_t shape[2] = {1, 3};
    const DLTensor x = Rows(data, shape);
    ASSERT_EQ(ingot_set_input(executor, 0, &x), INGOT_OK);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(ingot_run(executor), INGOT_OK);
      DLTensor y;
      ASSERT_EQ(ingot_get_output(executor, 0, &y), INGOT_OK);
      *result = Floats(y)[2];
      ASSERT_EQ(*result, 2 * start + 3);
    }
    ingot_free_executor(executor);
  };
  float a = 0, b = 0;
  std::thread other(run, 5.0f, &a);
  run(7.0f, &b);
  other.join();
  EXPECT_EQ(a, 13);
  EXPECT_EQ(b, 17);
}

TEST_F(IngotTest, LoadsMemoryWithOptions) {
  std::ifstream file(getenv("MODEL"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  IngotLoadOptions options = {};
  options.size = sizeof(options);
  options.threads = 2;
  options.check_digests = 1;
  IngotModel* model = nullptr;
  ASSERT_EQ(ingot_load_memory(bytes.data(), bytes.size(), &options, &model),
            INGOT_OK)
      << ingot_last_error();
  EXPECT_STREQ(ingot_output_type(model, 0), "f32[rows, 3]");
  ingot_free_model(model);
}

// python/tests/backends_test.py has loaders that load something.
TEST_F(IngotTest, RefusesLoadersThatCannotBe) {
  IngotLoader loader = {};
  loader.name = "mine";
  loader.load = [](void*, const IngotArtifact*, int32_t, IngotModule*) {
    ADD_FAILURE() << "no artifact names it";
    return IngotStatus{INGOT_ABORTED};
  };
  IngotLoadOptions options = {};
  options.size = sizeof(options);
  options.loaders = &loader;
  options.num_loaders = 1;
  IngotModel* model = nullptr;
  ASSERT_EQ(ingot_load(getenv("MODEL"), &options, &model), INGOT_OK)
      << ingot_last_error();
  ingot_free_model(model);
  // Programs of before know nothing of loaders.
  options.size = offsetof(IngotLoadOptions, loaders);
  options.num_loaders = -1;
  ASSERT_EQ(ingot_load(getenv("MODEL"), &options, &model), INGOT_OK);
  ingot_free_model(model);
  options.size = sizeof(options);
  EXPECT_EQ(ingot_load(getenv("MODEL"), &options, &model),
            INGOT_INVALID_ARGUMENT);
  options.num_loaders = 1;
  loader.name = "constants";
  EXPECT_NE(ingot_load(getenv("MODEL"), &options, &model), INGOT_OK);
  EXPECT_THAT(ingot_last_error(), HasSubstr("constants"));
  loader = {"mine", nullptr, nullptr};
  EXPECT_EQ(ingot_load(getenv("MODEL"), &options, &model),
            INGOT_INVALID_ARGUMENT);
}

TEST_F(IngotTest, SetsAreData) {
  IngotSet* set = nullptr;
  ASSERT_EQ(ingot_open_set(getenv("MODEL"), &set), INGOT_OK)
      << ingot_last_error();
  ASSERT_GT(ingot_set_size(set), 0);
  IngotArtifact artifact;
  ASSERT_EQ(ingot_get_artifact(set, 0, &artifact), INGOT_OK);
  EXPECT_STREQ(artifact.target_key, "host");
  EXPECT_STREQ(artifact.codegen_id, "ingot");
  EXPECT_STREQ(artifact.loader, "metadata");
  EXPECT_STREQ(artifact.file_name, "plan.binpb");
  EXPECT_GT(artifact.size, 0u);

  EXPECT_EQ(ingot_get_artifact(set, ingot_set_size(set), &artifact),
            INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("no artifact"));
  ASSERT_EQ(ingot_replace_artifact(set, 0, "new", 3), INGOT_OK);
  const std::string path = testing::TempDir() + "/changed.ingot";
  ASSERT_EQ(ingot_write_set(set, path.c_str()), INGOT_OK) << ingot_last_error();
  ingot_free_set(set);

  ASSERT_EQ(ingot_open_set(path.c_str(), &set), INGOT_OK) << ingot_last_error();
  ASSERT_EQ(ingot_get_artifact(set, 0, &artifact), INGOT_OK);
  EXPECT_EQ(
      std::string(static_cast<const char*>(artifact.bytes), artifact.size),
      "new");
  ingot_free_set(set);
  ingot_free_set(nullptr);
  EXPECT_EQ(ingot_open_set("/nowhere", &set), INGOT_NOT_FOUND);
}

TEST_F(IngotTest, AModelWithoutVariantsHasNone) {
  EXPECT_STREQ(ingot_variant(model_), "");
  IngotLoadOptions options = {sizeof(IngotLoadOptions), 1, 0, "v4"};
  IngotModel* other = nullptr;
  EXPECT_EQ(ingot_load(getenv("MODEL"), &options, &other), INGOT_NOT_FOUND);
  EXPECT_THAT(ingot_last_error(), HasSubstr("no variant 'v4'"));
}

class RunningSumTest : public testing::Test {
 protected:
  RunningSumTest() {
    EXPECT_EQ(ingot_load(getenv("RUNNING_SUM"), nullptr, &model_), INGOT_OK)
        << ingot_last_error();
    EXPECT_EQ(ingot_create_executor(model_, &executor_), INGOT_OK);
    const DLTensor x = Row(x_);
    EXPECT_EQ(ingot_set_input(executor_, 0, &x), INGOT_OK)
        << ingot_last_error();
  }
  ~RunningSumTest() override {
    ingot_free_executor(executor_);
    ingot_free_model(model_);
  }

  DLTensor Row(float* data) {
    DLTensor tensor = Rows(data, &size_);
    tensor.ndim = 1;
    return tensor;
  }

  std::vector<float> Run() {
    DLTensor y;
    EXPECT_EQ(ingot_run(executor_), INGOT_OK) << ingot_last_error();
    EXPECT_EQ(ingot_get_output(executor_, 0, &y), INGOT_OK);
    return Floats(y);
  }

  IngotModel* model_ = nullptr;
  IngotExecutor* executor_ = nullptr;
  float x_[3] = {1, 2, 3};
  int64_t size_ = 3;
};

TEST_F(RunningSumTest, StatesAreNeitherInputsNorOutputs) {
  int32_t count = 0;
  EXPECT_STREQ(ingot_inputs(model_, &count)[0].name, "x");
  EXPECT_EQ(count, 1);
  EXPECT_STREQ(ingot_outputs(model_, &count)[0].name, "y");
  EXPECT_EQ(count, 1);
  const IngotTensorInfo* states = ingot_states(model_, &count);
  ASSERT_EQ(count, 1);
  EXPECT_STREQ(states[0].name, "total");
  EXPECT_EQ(states[0].shape[0], 3);
  EXPECT_STREQ(ingot_state_type(model_, 0), "f32[3]");
  EXPECT_EQ(ingot_state_type(model_, 1), nullptr);
}

TEST_F(RunningSumTest, StatesAreKeptReadChangedAndReset) {
  EXPECT_THAT(Run(), ElementsAre(2, 4, 6));
  EXPECT_THAT(Run(), ElementsAre(4, 8, 12));
  DLTensor total;
  ASSERT_EQ(ingot_get_state(executor_, 0, &total), INGOT_OK);
  EXPECT_THAT(Floats(total), ElementsAre(2, 4, 6));
  static_cast<float*>(total.data)[0] = 100;
  EXPECT_THAT(Run(), ElementsAre(202, 12, 18));
  ASSERT_EQ(ingot_reset_states(executor_), INGOT_OK) << ingot_last_error();
  EXPECT_THAT(Floats(total), ElementsAre(0, 0, 0));
  EXPECT_THAT(Run(), ElementsAre(2, 4, 6));
}

// Two sequences in turn, each in memory of the caller.
TEST_F(RunningSumTest, StatesMayBeTheCallers) {
  float first[3] = {10, 10, 10}, second[3] = {0, 0, 0};
  const DLTensor of_first = Row(first), of_second = Row(second);
  ASSERT_EQ(ingot_set_state(executor_, 0, &of_first), INGOT_OK)
      << ingot_last_error();
  EXPECT_THAT(Run(), ElementsAre(22, 24, 26));
  ASSERT_EQ(ingot_set_state(executor_, 0, &of_second), INGOT_OK);
  EXPECT_THAT(Run(), ElementsAre(2, 4, 6));
  ASSERT_EQ(ingot_set_state(executor_, 0, &of_first), INGOT_OK);
  EXPECT_THAT(Run(), ElementsAre(24, 28, 32));
  EXPECT_THAT(first, ElementsAre(12, 14, 16));
  EXPECT_THAT(second, ElementsAre(1, 2, 3));
  // Another executor has a state of its own.
  IngotExecutor* other = nullptr;
  ASSERT_EQ(ingot_create_executor(model_, &other), INGOT_OK);
  DLTensor total;
  ASSERT_EQ(ingot_get_state(other, 0, &total), INGOT_OK);
  EXPECT_THAT(Floats(total), ElementsAre(0, 0, 0));
  ingot_free_executor(other);
}

TEST_F(RunningSumTest, RefusesOtherStates) {
  DLTensor total;
  EXPECT_EQ(ingot_get_state(executor_, 1, &total), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("there is no state 1"));
  EXPECT_EQ(ingot_set_state(executor_, 0, nullptr), INGOT_INVALID_ARGUMENT);
  float few[2] = {1, 2};
  DLTensor tensor = Row(few);
  int64_t two = 2;
  tensor.shape = &two;
  EXPECT_EQ(ingot_set_state(executor_, 0, &tensor), INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(ingot_last_error(), HasSubstr("expected f32[3], got f32[2]"));
}

}  // namespace

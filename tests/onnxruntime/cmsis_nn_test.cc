// Quantised networks by CMSIS-NN's arithmetic, against ONNX Runtime: bytes are
// rounded otherwise, each by at most 1, and layers add that up.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "artifact/blob.h"
#include "backends/testing/run_model.h"
#include "compiler/frontends/onnx/import.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "tests/onnxruntime/expect_same.h"

namespace ingot {
namespace {

struct Case {
  const char* name;
  std::vector<int64_t> shape;
  const char* input;
  int most;  // that a byte of the result may be off
};

Tensor RandomBytes(const std::vector<int64_t>& shape, uint32_t seed) {
  Tensor x = *Tensor::Empty(DataType::Int(8), shape);
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    seed = seed * 1664525 + 1013904223;
    x.mutable_data<int8_t>()[i] = static_cast<int8_t>(seed >> 24);
  }
  return x;
}

class CmsisNnTest : public testing::TestWithParam<Case> {};

TEST_P(CmsisNnTest, IsNearOnnxRuntime) {
  const Case& c = GetParam();
  const auto model = Blob::MapFile(std::string("examples/firmware/") + c.name);
  ASSERT_TRUE(model.ok()) << model.status();
  auto module = ImportOnnx(*model);
  ASSERT_TRUE(module.ok()) << module.status();
  auto executor = testing_support::CompileAndOpen(
      &*module, "cmsis_nn -rounding=double -library=reference,c");
  ASSERT_TRUE(executor.ok()) << executor.status();
  int most = 0, different = 0, count = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const Tensor x = RandomBytes(c.shape, seed);
    const std::vector<Tensor> expected =
        onnxruntime::OutputsOf(*model, {c.input}, {x}, {"scores"});
    ASSERT_EQ(expected.size(), 1u);
    const auto got = (*executor)->Run({x});
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_EQ((*got)[0].TypeString(), expected[0].TypeString());
    for (int64_t i = 0; i < expected[0].NumElements(); ++i) {
      const int off =
          std::abs((*got)[0].data<int8_t>()[i] - expected[0].data<int8_t>()[i]);
      most = std::max(most, off);
      different += off != 0;
      ++count;
    }
  }
  std::cout << c.name << ": " << different << " of " << count
            << " bytes differ, by at most " << most << "\n";
  EXPECT_LE(most, c.most);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, CmsisNnTest,
    // A softmax of tenths makes up to 6 of a byte that is 1 off, and may have
    // two of these.
    testing::Values(Case{"layers_int8.onnx", {1, 3, 16, 16}, "image", 13},
                    Case{"keyword_int8.onnx", {1, 1, 49, 10}, "sound", 2},
                    Case{"person_int8.onnx", {1, 3, 96, 96}, "image", 2}),
    [](const auto& info) {
      const std::string name = info.param.name;
      return name.substr(0, name.find('.'));
    });

}  // namespace
}  // namespace ingot

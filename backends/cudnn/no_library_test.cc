// A machine with NVIDIA's driver, but without cuDNN.
#include <string>

#include "backends/device/testing/device_sets.h"
#include "backends/gpu/testing/open_fake_driver.h"
#include "backends/testing/run_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

class NoCudnn : public testing_support::FakeDriverTest {
 protected:
  NoCudnn() : FakeDriverTest("libcuda.so.1") {}
};

TEST_F(NoCudnn, IsSaidInOneLine) {
  const auto set =
      testing_support::CompileText(testing_support::kConvolution, "cudnn,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("this system has no libcudnn.so.0, which "
                        "INGOT_CUDNN_LIBRARY names"));
}

}  // namespace
}  // namespace ingot

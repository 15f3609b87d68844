// A machine with NVIDIA's driver, but without cuBLAS.
#include <string>

#include "backends/device/testing/device_sets.h"
#include "backends/gpu/testing/open_fake_driver.h"
#include "backends/testing/run_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

class NoCublas : public testing_support::FakeDriverTest {
 protected:
  NoCublas() : FakeDriverTest("libcuda.so.1") {}
};

TEST_F(NoCublas, IsSaidInOneLine) {
  const auto set =
      testing_support::CompileText(testing_support::kProduct, "cublas,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("this system has no libcublasLt.so.0, which "
                        "INGOT_CUBLAS_LIBRARY names"));
}

}  // namespace
}  // namespace ingot

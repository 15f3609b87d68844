// For tests: what kernels of NVIDIA's GPUs compute, by the fake driver, which
// emulates PTX. The parameter is the processor: "sm_80".
#ifndef INGOT_BACKENDS_CUDA_CUDA_COMPUTES_H_
#define INGOT_BACKENDS_CUDA_CUDA_COMPUTES_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/device/testing/device_sets.h"
#include "backends/gpu/testing/open_fake_driver.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::testing_support {

class CudaComputes : public FakeDriverTest,
                     public ::testing::WithParamInterface<const char*> {
 protected:
  CudaComputes() : FakeDriverTest("libcuda.so.1") {}

  void SetUp() override {
    FakeDriverTest::SetUp();
    if (!HasFatalFailure()) compute_(true);
  }
  void TearDown() override {
    if (compute_ != nullptr) compute_(false);
    FakeDriverTest::TearDown();
  }

  std::string Targets() const {
    return absl::StrCat("cuda -mcpu=", GetParam(), ",llvm");
  }
  bool CopiesAhead() const { return std::string(GetParam()) != "sm_70"; }

  // The PTX that the target makes of a model.
  std::string PtxOf(const std::string& model) const {
    const auto set = CompileText(model, Targets());
    EXPECT_TRUE(set.ok()) << set.status();
    return set.ok() ? ContentOf(*set, "cuda", "kernels.ptx") : "";
  }

  // Runs a model of one function, and compares it with the interpreter.
  void Compare(const std::string& parameters, const std::string& body,
               Tolerance tolerance) {
    const std::string model =
        absl::StrCat("module {\n  func @main(", parameters, ") -> (%y) {\n    ",
                     body, "\n  }\n}\n");
    log_();
    EXPECT_EQ(CompareWithEvaluate(Targets(), model, 1, tolerance),
              absl::OkStatus())
        << model;
    EXPECT_THAT(log_(), ::testing::HasSubstr("launch ")) << model;
  }
};

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_CUDA_CUDA_COMPUTES_H_

#include "tools/ingot/per_node.h"

#include <vector>

#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

class PerNodeTest : public ::testing::Test {
 protected:
  PerNodeTest() {
    call_.set_function("m_kernel");
    call_.set_source("Add_3");
    call_.set_num_outputs(1);
    x_ = *Tensor::Empty(DataType::Float(32), {2});
    y_ = *Tensor::Empty(DataType::Float(32), {2});
    x_.mutable_data<float>()[0] = 1;
    x_.mutable_data<float>()[1] = 2;
  }

  // The verdict when the kernel, y = x + x, gave these. Before its results it
  // may have weights that its target made.
  absl::Status Observe(float first, float second, bool has_weights = false) {
    absl::StatusOr<std::unique_ptr<relay::Module>> module =
        relay::ReadModule(R"(module {
      func @main(%x: f32[2]) -> (%y) { %y = @kernel(%x) : f32[2] }
      func @kernel(%x: f32[2]) -> (%y) attrs {primitive=1} {
        %y = add(%x, %x)
      }
    })");
    EXPECT_TRUE(module.ok()) << module.status();
    y_.mutable_data<float>()[0] = first;
    y_.mutable_data<float>()[1] = second;
    Progress::Options quiet;
    quiet.quiet = true;
    Progress progress(quiet);
    PerNodeCheck check(*std::move(module), {{"m_kernel", "kernel"}},
                       Tolerance(), &progress);
    std::vector<const DLTensor*> args = {x_.dl(), y_.dl()};
    if (has_weights) args.insert(args.begin() + 1, x_.dl());
    return check.Observe(call_, args);
  }

  PlanCall call_;
  Tensor x_, y_;
};

TEST_F(PerNodeTest, ARightResultPasses) { EXPECT_TRUE(Observe(2, 4).ok()); }

TEST_F(PerNodeTest, AWrongOneIsNamedWithItsNodes) {
  const absl::Status s = Observe(2, 5);
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("call 0, m_kernel, for Add_3: result 0 is wrong: "));
  EXPECT_THAT(std::string(s.message()), HasSubstr("(1 of 2)"));
}

TEST_F(PerNodeTest, WeightsOfTheTargetsOwnAreNoResults) {
  EXPECT_TRUE(Observe(2, 4, /*has_weights=*/true).ok());
  EXPECT_FALSE(Observe(2, 5, /*has_weights=*/true).ok());
}

TEST_F(PerNodeTest, AnUnknownFunctionIsAnError) {
  call_.set_function("other");
  EXPECT_THAT(std::string(Observe(2, 4).message()), HasSubstr("other"));
}

}  // namespace
}  // namespace ingot

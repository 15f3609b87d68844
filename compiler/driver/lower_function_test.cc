// Checks on the loops that relay lowers to: the element-wise operators after a
// convolution or a product run while its sums are in registers or in a small
// array, and symbolic sizes are no work for each element.
#include "compiler/driver/lower_function.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/machine/test_machine.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/schedules/cpu/layouts.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/te/testing/workspaces.h"
#include "compiler/tir/interpreter.h"
#include "compiler/tir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using relay::FusionKind;

// Operators that make %c of the operands that they declare.
struct AnchorCase {
  const char* name;
  const char* inputs;
  const char* text;
};

constexpr AnchorCase kAnchors[] = {
    {"dense_1", "%x: f32[1, 64]",
     "%w = const f32[40, 64] random(1) %c = dense(%x, %w)"},
    {"dense_n", "%x: f32[n, 64]",
     "%w = const f32[40, 64] random(1) %c = dense(%x, %w)"},
    {"dense_one_column", "%x: f32[7, 64]",
     "%w = const f32[1, 64] random(1) %c = dense(%x, %w)"},
    {"dense_f16", "%x: f16[1, 64], %w: f16[40, 64]", "%c = dense(%x, %w)"},
    {"dense_i32", "%x: i8[1, 64], %w: i8[40, 64]",
     "%i = dense(%x, %w) {out_dtype=i32} %c = cast(%i) {dtype=f32}"},
    {"matmul_1", "%x: f32[1, 1, 30, 20], %z: f32[1, 1, 20, 33]",
     "%c = matmul(%x, %z)"},
    {"matmul_row", "%x: f32[4, 1, 20], %z: f32[4, 20, 33]",
     "%c = matmul(%x, %z)"},
    {"matmul_broadcast", "%x: f32[2, 1, 40, 20], %z: f32[3, 20, 33]",
     "%c = matmul(%x, %z)"},
    {"matmul_symbolic", "%x: f32[b, 4, n, 16], %z: f32[b, 4, 16, m]",
     "%c = matmul(%x, %z)"},
    {"matmul_transposed", "%x: f32[1, 50, 20], %z: f32[1, 70, 20]",
     "%r = transpose(%z) {axes=[0, 2, 1]} %c = matmul(%x, %r)"},
    {"conv2d_1", "%x: f32[1, 16, 9, 9]",
     "%w = const f32[32, 16, 3, 3] random(1)"
     " %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}"},
    {"conv2d_n", "%x: f32[n, 16, 9, 9]",
     "%w = const f32[32, 16, 3, 3] random(1) %c = conv2d(%x, %w)"},
    {"conv2d_h_w", "%x: f32[1, 16, h, w]",
     "%w = const f32[32, 16, 3, 3] random(1)"
     " %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}"},
    {"conv2d_1x1", "%x: f32[1, 16, 1, 1]",
     "%w = const f32[32, 16, 1, 1] random(1) %c = conv2d(%x, %w)"},
    {"conv2d_first", "%x: f32[1, 3, 16, 16]",
     "%w = const f32[24, 3, 3, 3] random(1)"
     " %c = conv2d(%x, %w) {strides=[2, 2]}"},
    {"conv2d_deep", "%x: f32[1, 512, 14, 14]",
     "%w = const f32[256, 512, 1, 1] random(1) %c = conv2d(%x, %w)"},
    {"conv2d_depthwise", "%x: f32[1, 32, 9, 9]",
     "%w = const f32[32, 1, 3, 3] random(1)"
     " %c = conv2d(%x, %w) {groups=32, pads=[1, 1, 1, 1]}"},
    {"conv2d_odd_groups", "%x: f32[1, 6, 9, 9]",
     "%w = const f32[10, 3, 3, 3] random(1) %c = conv2d(%x, %w) {groups=2}"},
    {"conv2d_weights_of_a_run", "%x: f32[1, 5, 9, 9], %w: f32[7, 5, 3, 3]",
     "%c = conv2d(%x, %w)"},
    {"conv1d", "%x: f32[1, 16, 50]",
     "%w = const f32[32, 16, 3] random(1) %c = conv1d(%x, %w)"},
    {"conv3d", "%x: f32[1, 4, 5, 9, 9]",
     "%w = const f32[8, 4, 3, 3, 3] random(1) %c = conv3d(%x, %w)"},
    {"conv_transpose1d", "%x: f32[1, 8, 19]",
     "%w = const f32[8, 4, 3] random(1) %c = conv_transpose1d(%x, %w)"},
    {"conv_transpose2d", "%x: f32[1, 8, 9, 9]",
     "%w = const f32[8, 4, 2, 2] random(1)"
     " %c = conv_transpose2d(%x, %w) {strides=[2, 2]}"},
    {"conv_transpose3d", "%x: f32[1, 8, 3, 5, 5]",
     "%w = const f32[8, 4, 2, 2, 2] random(1)"
     " %c = conv_transpose3d(%x, %w) {strides=[2, 2, 2]}"},
};

// Operators that make %y of %c.
struct TailCase {
  const char* name;
  const char* text;
};

constexpr TailCase kTails[] = {
    {"relu", "%y = relu(%c)"},
    {"swish", "%s = sigmoid(%c) %y = mul(%c, %s)"},
    {"mish", "%p = softplus(%c) %t = tanh(%p) %y = mul(%c, %t)"},
    {"sum_of_two", "%s = sigmoid(%c) %t = tanh(%c) %y = add(%s, %t)"},
    {"read_twice", "%s = sigmoid(%c) %q = mul(%s, %s) %y = sub(%s, %q)"},
    {"read_twice_again",
     "%s = tanh(%c) %q = mul(%s, %s) %d = sub(%s, %q) %e = exp(%d)"
     " %f = neg(%e) %y = mul(%e, %f)"},
    {"where",
     "%p = abs(%c) %g = greater(%c, %p) %e = tanh(%c)"
     " %y = where(%g, %e, %c)"},
    {"cast", "%y = cast(%c) {dtype=i32}"},
};

class EpilogueTest
    : public testing::TestWithParam<std::tuple<AnchorCase, TailCase>> {};

TEST_P(EpilogueTest, IsNoSecondPass) {
  const auto& [anchor, tail] = GetParam();
  const std::string text =
      absl::StrCat("module { func @main(", anchor.inputs, ") -> (%y) { ",
                   anchor.text, " ", tail.text, " } }");
  for (int vector_bits : {0, 128, 256, 512}) {
    SCOPED_TRACE(absl::StrCat(text, " with vectors of ", vector_bits));
    absl::StatusOr<std::unique_ptr<relay::Module>> module =
        relay::ReadModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    relay::PassContext context;
    const MachineModel machine = TestCpu(vector_bits);
    context.layouts = te::cpu::CpuLayouts(machine);
    const absl::Status ran =
        relay::RunPasses(relay::DefaultPasses(2), module->get(), &context);
    ASSERT_TRUE(ran.ok()) << ran;
    bool found = false;
    for (const auto& function : (*module)->functions()) {
      if (!function->attrs.Has("primitive")) continue;
      // The phases of a transposed convolution are interleaved by a kernel of
      // their own, which what follows rides in.
      bool sums = false, maps = false, interleaves = false;
      for (const auto& node : function->nodes()) {
        if (node->kind != relay::NodeKind::kOp) continue;
        sums = sums || node->op->fusion == FusionKind::kAnchor;
        maps = maps || node->op->fusion == FusionKind::kElementwise ||
               node->op->fusion == FusionKind::kBroadcast;
        interleaves = interleaves || node->op->fusion == FusionKind::kInjective;
      }
      found = found || (maps && (sums || interleaves));
      if (!sums) continue;
      absl::StatusOr<tir::PrimFunc> kernel = LowerFunction(
          *function, function->name, te::cpu::CpuTemplates(), machine);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      for (const tir::Buffer& workspace : te::WorkspacesOfSums(*kernel)) {
        ADD_FAILURE() << function->name << " keeps " << workspace->name;
      }
    }
    EXPECT_TRUE(found) << "no kernel has the sum and what follows";
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EpilogueTest,
                         testing::Combine(testing::ValuesIn(kAnchors),
                                          testing::ValuesIn(kTails)),
                         [](const auto& info) {
                           return absl::StrCat(std::get<0>(info.param).name,
                                               "_",
                                               std::get<1>(info.param).name);
                         });

// Products of one row have loops of their own, which give what those of several
// rows give of each.
struct RowsCase {
  const char* name;
  const char* inputs;  // the first has n rows
  const char* text;    // makes %y
};

constexpr RowsCase kRows[] = {
    {"dense", "%x: f32[n, 40], %w: f32[21, 40]", "%y = dense(%x, %w)"},
    {"scores", "%x: f32[2, n, 20], %w: f32[2, 33, 20]",
     "%r = transpose(%w) {axes=[0, 2, 1]} %m = matmul(%x, %r) %y = exp(%m)"},
    {"weighted", "%x: f32[2, n, 33], %w: f32[2, 33, 20]",
     "%y = matmul(%x, %w)"},
    {"few_bits", "%x: f32[n, 64], %w: u8[9, 2, 16], %s: f32[9, 2]",
     "%y = dense_bits(%x, %w, %s) {bits=4}"},
    {"words",
     "%x: u8[n, 64], %a: f32[n, 2], %b: i32[n, 2], %w: i32[2, 2, 4, 8], "
     "%s: f32[2, 2, 8]",
     "%y = dense_bits_packed(%x, %a, %b, %w, %s) {bits=4, units=9}"},
    {"words_of_tiles",
     "%x: u8[n, 64], %a: f32[n, 2], %b: i32[n, 2], %w: i32[2, 2, 4, 8], "
     "%s: f32[2, 2, 8]",
     "%y = dense_bits_packed(%x, %a, %b, %w, %s) "
     "{bits=4, units=9, tile_rows=16}"},
};

class RowsTest : public testing::TestWithParam<RowsCase> {};

// A tensor of small numbers, each its own.
Tensor Numbers(const relay::TensorType& type, int64_t n) {
  std::vector<int64_t> shape;
  for (const relay::Dim& dim : type.shape) {
    int64_t size = n;
    tir::AsConstInt(dim, &size);
    shape.push_back(size);
  }
  Tensor tensor = *Tensor::Empty(type.dtype, shape);
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    if (type.dtype == DataType::Float(32)) {
      tensor.mutable_data<float>()[i] =
          static_cast<float>(i * 37 % 41 - 20) / 32;
    } else if (type.dtype == DataType::Int(32)) {
      tensor.mutable_data<int32_t>()[i] =
          static_cast<int32_t>(static_cast<uint32_t>(i + 1) * 2654435761u);
    } else {
      tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 91);
    }
  }
  return tensor;
}

TEST_P(RowsTest, OneIsAsOneOfSeveral) {
  const auto& [name, inputs, body] = GetParam();
  const absl::StatusOr<std::unique_ptr<relay::Module>> module =
      relay::ReadModule(absl::StrCat("module { func @main(", inputs,
                                     ") -> (%y) { ", body, " } }"));
  ASSERT_TRUE(module.ok()) << module.status();
  const relay::Function& main = *(*module)->main();
  const relay::TensorType type = main.outputs[0].type();
  for (int vector_bits : {0, 128, 256, 512}) {
    SCOPED_TRACE(vector_bits);
    const absl::StatusOr<tir::PrimFunc> kernel =
        LowerFunction(main, "f", te::cpu::CpuTemplates(), TestCpu(vector_bits));
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_THAT(tir::Print(*kernel), testing::HasSubstr("if n == 1"));
    const auto run = [&](int64_t n) {
      std::vector<Tensor> arguments;
      for (const relay::Node* input : main.inputs) {
        arguments.push_back(Numbers(input->outputs[0], n));
      }
      arguments.push_back(Numbers(type, n));
      const absl::Status ran = tir::Interpret(*kernel, arguments);
      EXPECT_TRUE(ran.ok()) << ran;
      return arguments.back();
    };
    // The matrices of the second batch meet other rows, so only the first
    // batch's first row is the same one.
    const Tensor one = run(1), several = run(7);
    const int64_t columns = one.shape().back();
    for (int64_t i = 0; i < columns; ++i) {
      EXPECT_NEAR(one.data<float>()[i], several.data<float>()[i], 1e-4) << i;
    }
    EXPECT_NE(one.data<float>()[0], one.data<float>()[1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, RowsTest, testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

tir::PrimFunc LoweredForAvx2(const std::string& inputs,
                             const std::string& body) {
  const absl::StatusOr<std::unique_ptr<relay::Module>> module =
      relay::ReadModule(absl::StrCat("module { func @main(", inputs,
                                     ") -> (%y) { ", body, " } }"));
  EXPECT_TRUE(module.ok()) << module.status();
  absl::StatusOr<tir::PrimFunc> kernel = LowerFunction(
      *(*module)->main(), "f", te::cpu::CpuTemplates(), TestCpu(256));
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return *std::move(kernel);
}

// Sizes that make one row, or none that there may be, are not those where the
// symbol is 1.
TEST(SymbolicSizes, ThatCannotBeOneHaveNoLoopsOfOneRow) {
  const tir::PrimFunc less =
      LoweredForAvx2("%s: f32[n], %x: f16[2, n - 2, 40], %z: f16[2, 40, 64]",
                     "%y = matmul(%x, %z)");
  const tir::PrimFunc cut = LoweredForAvx2(
      "%x: f32[n, 40], %w: f32[21, 40]",
      "%d = dense(%x, %w) %y = slice(%d) {starts=[2], ends=[n], axes=[0]}");
  for (const tir::PrimFunc* kernel : {&less, &cut}) {
    EXPECT_THAT(tir::Print(*kernel), testing::Not(testing::HasSubstr("== 1")));
  }
}

// A division by a symbol takes as long as many additions.
TEST(SymbolicSizes, AreDividedByOncePerRow) {
  const std::string text = tir::Print(LoweredForAvx2(
      "%x: f32[b, 8, h, w], %z: f32[b, 8, 1, w]", "%y = add(%x, %z)"));
  EXPECT_THAT(text, testing::HasSubstr("parallel i0_i1 in [0, b * 8)"));
  EXPECT_THAT(text, testing::HasSubstr("for i2 in [0, h)"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("// h")));
}

// Places that whole numbers tell are no floats.
TEST(SymbolicSizes, AreEnlargedByWholeNumbers) {
  const tir::PrimFunc kernel = LoweredForAvx2("%x: f32[1, 8, h, w]", R"(
    %r = resize(%x) {coordinate_transformation_mode="asymmetric",
      mode="nearest", nearest_mode="floor", scales=[1.0, 1.0, 2.0, 3.0],
      sizes=[1, 8, h * 2, w * 3]}
    %y = relu(%r))");
  EXPECT_THAT(tir::Print(kernel), testing::Not(testing::HasSubstr("floor")));
  constexpr int64_t kChannels = 8, kHeight = 2, kWidth = 3;
  Tensor x =
      *Tensor::Empty(DataType::Float(32), {1, kChannels, kHeight, kWidth});
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i + 1);
  }
  std::vector<Tensor> arguments = {
      x, *Tensor::Empty(DataType::Float(32),
                        {1, kChannels, 2 * kHeight, 3 * kWidth})};
  const absl::Status ran = tir::Interpret(kernel, arguments);
  ASSERT_TRUE(ran.ok()) << ran;
  for (int64_t i = 0; i < arguments[1].NumElements(); ++i) {
    const int64_t column = i % (3 * kWidth), row = i / (3 * kWidth);
    EXPECT_EQ(arguments[1].data<float>()[i],
              static_cast<float>(row / 2 * kWidth + column / 3 + 1))
        << i;
  }
}

}  // namespace
}  // namespace ingot

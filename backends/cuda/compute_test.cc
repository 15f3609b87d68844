// Numbers that kernels of NVIDIA's GPUs compute, by the fake driver, which
// emulates PTX: models of each template for GPUs against the interpreter, and
// points of the templates' spaces that would not be chosen against loops of
// whole numbers, whose sums are exact.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/cuda/cuda_computes.h"
#include "backends/device/testing/device_sets.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/ir.h"
#include "compiler/te/schedule_template.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompileText;
using testing_support::ContentOf;
using testing_support::CudaComputes;

INSTANTIATE_TEST_SUITE_P(Gpus, CudaComputes,
                         ::testing::Values("sm_70", "sm_80"),
                         [](const auto& info) { return info.param; });

// Only Hopper has units of four warps.
using CudaGroupsCompute = CudaComputes;
INSTANTIATE_TEST_SUITE_P(Gpus, CudaGroupsCompute, ::testing::Values("sm_90a"),
                         [](const auto& info) { return info.param; });

TEST_P(CudaComputes, Points) {
  Compare("%x: f32[7, 45], %b: f32[45]",
          "%s = add(%x, %b)  %e = exp(%s)  %y = relu(%e)", {1e-6, 1e-6});
  Compare("%x: f32[3, 5, 70]",
          "%t = transpose(%x) {axes=[2, 0, 1]}  "
          "%y = sigmoid(%t)",
          {1e-6, 1e-6});
  Compare("%x: i64[300], %z: i64[300]", "%d = sub(%x, %z)  %y = mul(%d, %x)",
          {});
  Compare("%x: i32[300]", "%y = cast(%x) {dtype=f32}", {});
  Compare("%x: f32[300]", "%y = cast(%x) {dtype=i8}", {});
}

// Enough elements for work items that take several.
TEST_P(CudaComputes, NeighbouringPoints) {
  Compare("%x: f32[9, 50, 1024], %r: f32[1024], %c: f32[50, 1]",
          "%s = add(%x, %r)  %t = mul(%s, %c)  %y = relu(%t)", {1e-6, 1e-6});
  Compare("%x: f32[32, 230, 64]", "%y = transpose(%x) {axes=[1, 0, 2]}", {});
  Compare("%x: f16[8, 230, 512]",
          "%s = slice(%x) {axes=[1, 2], starts=[7, 8], ends=[227, 456]}  "
          "%y = exp(%s)",
          {1e-3, 1e-3});
}

TEST_P(CudaComputes, Rows) {
  Compare("%x: f32[5, 384]", "%y = softmax(%x) {axis=1}", {1e-6, 1e-5});
  Compare("%x: f32[3, 2000]", "%y = softmax(%x) {axis=1}", {1e-6, 1e-5});
  Compare("%x: f32[2, 30, 7]", "%y = softmax(%x) {axis=1}", {1e-6, 1e-5});
  Compare("%x: f32[9, 300], %w: f32[300], %b: f32[300]",
          "%y = layer_norm(%x, %w, %b) {axis=1}", {1e-5, 1e-5});
}

TEST_P(CudaComputes, Sums) {
  Compare("%x: f32[1, 700], %w: f32[700, 130]", "%y = matmul(%x, %w)",
          {1e-3, 1e-5});
  Compare("%x: f32[70, 33]", "%y = reduce_sum(%x) {axes=[0]}", {1e-4, 1e-5});
  Compare("%x: f32[4, 900]", "%y = reduce_max(%x) {axes=[1]}", {});
  Compare("%x: f32[2, 6, 9, 9]", "%y = global_avg_pool2d(%x)", {1e-5, 1e-5});
}

// The GPU's own choice, of tiles as large as it has work for.
TEST_P(CudaComputes, Products) {
  const std::string ptx = PtxOf(testing_support::kProduct);
  EXPECT_EQ(testing_support::CountOf("cp.async.cg", ptx) > 0, CopiesAhead());
  Compare("%x: f32[256, 40], %w: f32[40, 256]",
          "%p = matmul(%x, %w)  %y = relu(%p)", {1e-3, 1e-5});
  Compare("%x: f32[3, 33, 50], %w: f32[3, 50, 70]", "%y = matmul(%x, %w)",
          {1e-3, 1e-5});
  Compare("%x: f16[2, 70, 40], %w: f16[40, 100]", "%y = matmul(%x, %w)",
          {1e-2, 1e-3});
  Compare("%x: bf16[64, 33], %w: bf16[72, 33]", "%y = dense(%x, %w)",
          {1e-1, 1e-2});
  Compare("%x: f32[65, 18], %w: f32[130, 18], %b: f32[130]",
          "%t = transpose(%w) {axes=[1, 0]}  %p = matmul(%x, %t)  "
          "%y = add(%p, %b)",
          {1e-3, 1e-5});
}

// The same, by units, of parts that lie side by side in memory and of others.
TEST_P(CudaGroupsCompute, ProductsAndConvolutions) {
  Compare("%x: bf16[2, 130, 264], %w: bf16[264, 260]",
          "%p = matmul(%x, %w)  %y = relu(%p)", {1e-1, 1e-2});
  Compare("%x: f16[130, 136], %w: f16[264, 136]", "%y = dense(%x, %w)",
          {1e-2, 1e-3});
  Compare("%x: f16[2, 20, 14, 14], %w: f16[130, 20, 3, 3]",
          "%c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}  %y = relu(%c)",
          {1e-2, 1e-3});
}

TEST_P(CudaComputes, Convolutions) {
  Compare("%x: f32[1, 8, 14, 14], %w: f32[16, 8, 3, 3]",
          "%c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}  %y = relu(%c)",
          {1e-3, 1e-5});
  Compare("%x: f32[2, 3, 17, 19], %w: f32[8, 3, 5, 5]",
          "%y = conv2d(%x, %w) {strides=[2, 2]}", {1e-3, 1e-5});
  // As products: patches, and points of several rows of an image.
  Compare("%x: f32[2, 3, 64, 64], %w: f32[48, 3, 16, 16]",
          "%y = conv2d(%x, %w) {strides=[16, 16]}", {1e-3, 1e-5});
  Compare("%x: f32[1, 64, 28, 28], %w: f32[64, 64, 3, 3]",
          "%y = conv2d(%x, %w) {pads=[1, 1, 1, 1]}", {1e-3, 1e-5});
  Compare("%x: bf16[2, 20, 9, 9], %w: bf16[40, 20, 3, 3]",
          "%c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}  %y = relu(%c)",
          {1e-1, 1e-2});
  Compare("%x: f32[1, 16, 9, 9], %w: f32[16, 1, 3, 3]",
          "%y = conv2d(%x, %w) {groups=16, pads=[1, 1, 1, 1]}", {1e-3, 1e-5});
}

// Runs a kernel that stores with another instruction, such as "st.global.f32",
// and at another address, such as "+4". Says how that fails.
std::string FailureWith(const std::string& targets, const std::string& opcode,
                        const std::string& offset) {
  const auto set = CompileText(R"(module {
  func @main(%x: f32[256]) -> (%y) {
    %y = exp(%x)
  }
})",
                               targets);
  EXPECT_TRUE(set.ok()) << set.status();
  std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  const std::string store = "st.global.f32";
  const size_t at = ptx.find(store);
  EXPECT_NE(at, ptx.npos) << ptx;
  if (at == ptx.npos) return "";
  ptx.insert(ptx.find(']', at), offset);
  ptx.replace(at, store.size(), opcode);
  const auto loaded = testing_support::StoreAndLoad(
      testing_support::WithFile(*set, "kernels.ptx", ptx));
  if (!loaded.ok()) return std::string(loaded.status().message());
  const Tensor x = *Tensor::Empty(DataType::Float(32), {256});
  const auto results = testing_support::RunModel(*loaded, {x});
  EXPECT_FALSE(results.ok());
  return std::string(results.status().message());
}

// As a GPU's driver tells it. The log has the instruction.
TEST_P(CudaComputes, FailsWhereKernelsAreWrong) {
  EXPECT_THAT(FailureWith(Targets(), "st.global.f32", "+2"),
              HasSubstr("misaligned address"));
  EXPECT_THAT(log_(), HasSubstr("failed: m_exp_0, line "));
  EXPECT_THAT(FailureWith(Targets(), "st.global.f32", "+1024"),
              HasSubstr("illegal memory access"));
  EXPECT_THAT(log_(), HasSubstr("nothing is at address 0x"));
  EXPECT_THAT(FailureWith(Targets(), "st.global.wb.f32", ""),
              HasSubstr("does not load"));
  EXPECT_THAT(log_(), HasSubstr("the machine does not know this instruction"));
}

// A tensor of floats, f16 or bf16 whose elements are numbers by their places.
template <typename NumberAt>
Tensor Filled(const std::vector<int64_t>& shape, DataType type,
              const NumberAt& number_at) {
  Tensor x = *Tensor::Empty(type, shape);
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    const float number = number_at(i);
    if (type == DataType::Float(32)) {
      x.mutable_data<float>()[i] = number;
    } else {
      x.mutable_data<uint16_t>()[i] = type == DataType::BFloat16()
                                          ? FloatToBFloat16(number)
                                          : FloatToHalf(number);
    }
  }
  return x;
}

// Counts the elements of a product that are right when these texts are left out
// of its kernels, wherever they are; none where the kernels fail.
int64_t RightWithout(const std::string& targets,
                     const std::vector<std::string>& left_out,
                     const std::string& type = "f32", int64_t size = 256) {
  const auto set = CompileText(
      absl::StrReplaceAll(R"(module {
  func @main(%x: TYPE[SIZE, 128], %w: TYPE[128, SIZE]) -> (%y) {
    %p = matmul(%x, %w)
    %y = cast(%p) {dtype=f32}
  }
})",
                          {{"TYPE", type}, {"SIZE", absl::StrCat(size)}}),
      targets);
  EXPECT_TRUE(set.ok()) << set.status();
  std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  for (const std::string& text : left_out) {
    absl::StrReplaceAll({{text, ""}}, &ptx);
  }
  const auto loaded = testing_support::StoreAndLoad(
      testing_support::WithFile(*set, "kernels.ptx", ptx));
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  const auto ones = [&type](const std::vector<int64_t>& shape) {
    return Filled(shape, DataType::Float(type == "f16" ? 16 : 32),
                  [](int64_t) { return 1.0f; });
  };
  const auto results = testing_support::RunModel(
      *loaded, {ones({size, 128}), ones({128, size})});
  if (!results.ok()) return 0;
  const auto y = (*results)[0].values<float>();
  return std::count(y.begin(), y.end(), 128.0f);
}

// A kernel whose threads do not wait as they have to fails, or gives wrong
// numbers.
TEST_P(CudaComputes, ShowsThatThreadsMustWait) {
  EXPECT_EQ(RightWithout(Targets(), {}), 256 * 256);
  EXPECT_LT(RightWithout(Targets(), {"bar.sync \t0;"}), 256 * 256);
  if (!CopiesAhead()) return;
  EXPECT_LT(RightWithout(Targets(),
                         {"cp.async.wait_group 0;", "cp.async.wait_group 1;",
                          "cp.async.wait_group 2;"}),
            256 * 256);
}

// The same of units, which see memory in another way, and go on by themselves.
TEST_P(CudaGroupsCompute, ShowsThatUnitsMustWait) {
  constexpr int64_t kSize = 1024;
  EXPECT_EQ(RightWithout(Targets(), {}, "f16", kSize), kSize * kSize);
  for (const char* const text :
       {"fence.mbarrier_init.release.cluster;", "wgmma.fence.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;", "bar.sync \t0;"}) {
    EXPECT_LT(RightWithout(Targets(), {text}, "f16", kSize), kSize * kSize)
        << text;
  }
}

// Values for the parameters of a template.
using Choice = std::map<std::string, int64_t>;

// The targets, of which cuda has one template and one point of its space.
std::unique_ptr<TargetRegistry> KindsWith(const std::string& name,
                                          const Choice& choice) {
  const TargetRegistry& builtin = testing_support::BuiltinTargets();
  TargetKind cuda = **builtin.Find("cuda");
  std::vector<te::ScheduleTemplate> templates;
  for (te::ScheduleTemplate& t : cuda.templates) {
    if (t.name == name) {
      t.space = [of = t.space, choice](const te::ScheduleSite& site) {
        te::ScheduleSpace space = of(site);
        for (auto& parameter : space.parameters) {
          parameter.values = {choice.at(parameter.name)};
        }
        space.cost = nullptr;
        return space;
      };
      templates.push_back(t);
    } else if (t.scope != te::TemplateScope::kAnchor) {
      templates.push_back(t);
    }
  }
  cuda.templates = templates;
  auto kinds = std::make_unique<TargetRegistry>();
  EXPECT_TRUE(kinds->Register(**builtin.Find("llvm")).ok());
  EXPECT_TRUE(kinds->Register(cuda).ok());
  return kinds;
}

// Whole numbers from -4 to 4.
Tensor Numbers(const std::vector<int64_t>& shape, int64_t seed,
               DataType type = DataType::Float(32)) {
  return Filled(shape, type, [seed](int64_t i) {
    return static_cast<float>((i * 7 + seed) % 9 - 4);
  });
}

float NumberAt(const Tensor& x, int64_t i) {
  if (x.dtype() == DataType::Float(32)) return x.data<float>()[i];
  const uint16_t bits = x.data<uint16_t>()[i];
  return x.dtype() == DataType::BFloat16() ? BFloat16ToFloat(bits)
                                           : HalfToFloat(bits);
}

Tensor RunWith(const TargetRegistry& kinds, const std::string& targets,
               const std::string& model, const std::vector<Tensor>& inputs) {
  const auto module = testing_support::ParseRelay(model);
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.targets = *ParseTargets(targets);
  const auto set = CompileModule(module->get(), "m", "", kinds, options);
  EXPECT_TRUE(set.ok()) << set.status();
  if (!set.ok()) return Tensor();
  const auto loaded = testing_support::StoreAndLoad(*set);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  if (!loaded.ok()) return Tensor();
  auto results = testing_support::RunModel(*loaded, inputs);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? (*results)[0] : Tensor();
}

// A product of so many rows, columns and terms, by one point of a template.
struct ProductCase {
  int64_t m, n, k;
  Choice choice;
};

Choice Tile(int64_t rows, int64_t columns, int64_t step, int64_t chunks) {
  return {
      {"rows", rows}, {"columns", columns}, {"step", step}, {"chunks", chunks}};
}

// Compares it with loops.
void CheckProduct(const std::string& name, const std::string& targets,
                  const ProductCase& c, DataType type) {
  SCOPED_TRACE(testing::Message() << c.m << " x " << c.n << " x " << c.k
                                  << " of " << type.ToString());
  const std::string model =
      absl::StrCat("module {\n  func @main(%x: ", type.ToString(), "[", c.m,
                   ", ", c.k, "], %w: ", type.ToString(), "[", c.k, ", ", c.n,
                   "]) -> (%y) {\n    %y = matmul(%x, %w)\n  }\n}\n");
  const Tensor x = Numbers({c.m, c.k}, 1, type);
  const Tensor w = Numbers({c.k, c.n}, 2, type);
  const Tensor y = RunWith(*KindsWith(name, c.choice), targets, model, {x, w});
  ASSERT_EQ(y.NumElements(), c.m * c.n);
  for (int64_t i = 0; i < c.m * c.n; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < c.k; ++k) {
      sum += NumberAt(x, i / c.n * c.k + k) * NumberAt(w, k * c.n + i % c.n);
    }
    if (type == DataType::BFloat16()) {
      sum = BFloat16ToFloat(FloatToBFloat16(sum));
    }
    ASSERT_EQ(NumberAt(y, i), sum) << i;
  }
}

// Tiles that stick out of the result and of the sum, and sums that blocks
// share.
TEST_P(CudaComputes, ProductsOfAnyTile) {
  for (const ProductCase& c :
       std::vector<ProductCase>{{64, 64, 32, Tile(32, 32, 16, 1)},
                                {70, 132, 20, Tile(64, 64, 16, 1)},
                                {65, 130, 17, Tile(16, 64, 8, 1)},
                                {130, 130, 96, Tile(128, 128, 8, 1)},
                                {40, 72, 128, Tile(32, 64, 16, 4)},
                                {40, 70, 90, Tile(32, 16, 8, 2)}}) {
    for (const int64_t terms_last : {0, 1}) {
      ProductCase each = c;
      each.choice["terms_last"] = terms_last;
      CheckProduct("gpu.tile_product", Targets(), each, DataType::Float(32));
      EXPECT_EQ(std::string(log_()).find("_1 ") != std::string::npos,
                c.choice.at("chunks") > 1);
    }
  }
}

// Tiles of four warps and of eight, with one and several boxes of an operand,
// in many steps and in one, which warps multiply each for itself.
TEST_P(CudaGroupsCompute, ProductsOfAnyTile) {
  for (const ProductCase& c :
       std::vector<ProductCase>{{64, 64, 128, Tile(64, 64, 64, 1)},
                                {64, 128, 40, Tile(64, 128, 64, 1)},
                                {70, 136, 96, Tile(64, 64, 64, 1)},
                                {130, 264, 200, Tile(128, 256, 64, 1)},
                                {129, 128, 328, Tile(128, 128, 64, 1)},
                                {128, 128, 512, Tile(128, 128, 64, 2)}}) {
    for (const DataType type : {DataType::Float(16), DataType::BFloat16()}) {
      CheckProduct("gpu.warp_group_product", Targets(), c, type);
    }
  }
}

// Whole numbers so small have all their digits in TF32 as well.
TEST_P(CudaComputes, ProductsOfAnyWarpTile) {
  if (!CopiesAhead()) return;  // it has no such units either
  const auto tile = [](int64_t rows, int64_t columns, int64_t warps,
                       int64_t step, int64_t chunks) {
    Choice choice = Tile(rows, columns, step, chunks);
    choice["warps"] = warps;
    return choice;
  };
  for (const ProductCase& c :
       std::vector<ProductCase>{{64, 64, 128, tile(32, 32, 4, 16, 1)},
                                {70, 136, 24, tile(64, 64, 4, 16, 1)},
                                {65, 130, 17, tile(32, 128, 4, 16, 1)},
                                {130, 130, 96, tile(128, 64, 8, 32, 1)},
                                {128, 64, 64, tile(128, 32, 4, 32, 1)},
                                {40, 72, 128, tile(32, 64, 8, 16, 4)}}) {
    for (const DataType type :
         {DataType::Float(16), DataType::BFloat16(), DataType::Float(32)}) {
      CheckProduct("gpu.warp_product",
                   absl::StrCat("cuda -mcpu=", GetParam(),
                                " -matmul-precision=high,llvm"),
                   c, type);
    }
  }
}

TEST_P(CudaComputes, ConvolutionsOfAnyTile) {
  constexpr int64_t kIn = 8, kOut = 20, kSize = 13;
  for (const Choice& choice : std::vector<Choice>{{{"channels", 4},
                                                   {"points", 4},
                                                   {"width", 16},
                                                   {"step", 8},
                                                   {"chunks", 1}},
                                                  {{"channels", 2},
                                                   {"points", 1},
                                                   {"width", 8},
                                                   {"step", 4},
                                                   {"chunks", 2}},
                                                  {{"channels", 1},
                                                   {"points", 2},
                                                   {"width", 4},
                                                   {"step", 2},
                                                   {"chunks", 1}}}) {
    const Tensor x = Numbers({1, kIn, kSize, kSize}, 1);
    const Tensor w = Numbers({kOut, kIn, 3, 3}, 2);
    const Tensor y = RunWith(
        *KindsWith("gpu.tile_conv", choice), Targets(),
        absl::StrCat("module {\n  func @main(%x: f32[1, 8, 13, 13], "
                     "%w: f32[20, 8, 3, 3]) -> (%y) {\n"
                     "    %y = conv2d(%x, %w) {pads=[1, 1, 1, 1]}\n  }\n}\n"),
        {x, w});
    ASSERT_EQ(y.NumElements(), kOut * kSize * kSize);
    for (int64_t i = 0; i < y.NumElements(); ++i) {
      const int64_t out = i / kSize / kSize, row = i / kSize % kSize,
                    column = i % kSize;
      float sum = 0;
      for (int64_t k = 0; k < kIn * 9; ++k) {
        const int64_t r = row + k / 3 % 3 - 1, c = column + k % 3 - 1;
        if (r < 0 || r >= kSize || c < 0 || c >= kSize) continue;
        sum += x.data<float>()[(k / 9 * kSize + r) * kSize + c] *
               w.data<float>()[out * kIn * 9 + k];
      }
      ASSERT_EQ(y.data<float>()[i], sum) << i;
    }
  }
}

}  // namespace
}  // namespace ingot

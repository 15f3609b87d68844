// sub_pixel against transposed convolution as ONNX defines it: each element of
// x, times the kernel, is added to the result around its place.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

struct Problem {
  Ints x;       // [n, c, spatial...]
  Ints kernel;  // of each spatial dimension
  Ints strides, pads, extra, dilations;
  int64_t out_per_group = 2;
  int64_t groups = 1;
  bool constant = true;  // otherwise only a run knows the weights

  size_t rank() const { return kernel.size(); }
};

Problem Plain(Ints x, Ints kernel) {
  Problem p;
  p.x = std::move(x);
  p.kernel = std::move(kernel);
  p.strides = p.dilations = Ints(p.rank(), 1);
  p.extra = Ints(p.rank(), 0);
  p.pads = Ints(2 * p.rank(), 0);
  return p;
}

Ints ResultShape(const Problem& p) {
  Ints shape = {p.x[0], p.out_per_group * p.groups};
  for (size_t d = 0; d < p.rank(); ++d) {
    shape.push_back((p.x[2 + d] - 1) * p.strides[d] +
                    (p.kernel[d] - 1) * p.dilations[d] + 1 + p.extra[d] -
                    p.pads[d] - p.pads[p.rank() + d]);
  }
  return shape;
}

bool HasElements(const Problem& p) {
  for (int64_t extent : ResultShape(p)) {
    if (extent < 1) return false;
  }
  return true;
}

// The module; with `symbolic`, the batch and the spatial extents are symbols.
std::string Text(const Problem& p, bool symbolic) {
  std::vector<std::string> x;
  for (size_t d = 0; d < p.x.size(); ++d) {
    x.push_back(symbolic && d != 1 ? absl::StrCat("s", d)
                                   : absl::StrCat(p.x[d]));
  }
  Ints w = {p.x[1], p.out_per_group};
  w.insert(w.end(), p.kernel.begin(), p.kernel.end());
  const auto list = [](const Ints& v) {
    return absl::StrCat("[", absl::StrJoin(v, ", "), "]");
  };
  return absl::StrCat(
      "module { func @main(%x: f32[", absl::StrJoin(x, ", "), "]",
      p.constant
          ? absl::StrCat(") -> (%y) { %w = const f32", list(w), " random(7) ")
          : absl::StrCat(", %w: f32", list(w), ") -> (%y) { "),
      "%y = conv_transpose", p.rank(), "d(%x, %w) {strides=", list(p.strides),
      ", pads=", list(p.pads), ", dilations=", list(p.dilations),
      ", output_padding=", list(p.extra), ", groups=", p.groups, "} } }");
}

// Advances `index` through `shape`, the last dimension first; false at the end.
bool Next(const Ints& shape, Ints* index) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++(*index)[d] < shape[d]) return true;
    (*index)[d] = 0;
  }
  return false;
}

int64_t Place(const Ints& shape, const Ints& index) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return at;
}

std::vector<double> Expected(const Problem& p, const Tensor& x,
                             const Tensor& w) {
  const Ints shape = ResultShape(p);
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  std::vector<double> y(count, 0.0);
  Ints taps = {p.out_per_group};
  taps.insert(taps.end(), p.kernel.begin(), p.kernel.end());
  const Ints w_shape(w.shape().begin(), w.shape().end());
  Ints from(p.x.size(), 0);
  do {
    const double value = x.data<float>()[Place(p.x, from)];
    Ints tap(taps.size(), 0);
    do {
      const int64_t group = from[1] / (p.x[1] / p.groups);
      Ints to = {from[0], group * p.out_per_group + tap[0]};
      Ints at = {from[1]};
      at.insert(at.end(), tap.begin(), tap.end());
      bool inside = true;
      for (size_t d = 0; d < p.rank(); ++d) {
        to.push_back(from[2 + d] * p.strides[d] + tap[1 + d] * p.dilations[d] -
                     p.pads[d]);
        inside = inside && to.back() >= 0 && to.back() < shape[2 + d];
      }
      if (inside)
        y[Place(shape, to)] += value * w.data<float>()[Place(w_shape, at)];
    } while (Next(taps, &tap));
  } while (Next(p.x, &from));
  return y;
}

// Runs passes on the problem and compares; returns the module after.
std::unique_ptr<Module> Check(const Problem& p, bool symbolic,
                              const std::vector<std::string>& passes) {
  const std::string text = Text(p, symbolic);
  std::unique_ptr<Module> module = ParseForTest(text);
  if (module == nullptr) return nullptr;
  Ints w_shape = {p.x[1], p.out_per_group};
  w_shape.insert(w_shape.end(), p.kernel.begin(), p.kernel.end());
  Tensor w = TestTensor(DataType::Float(32), w_shape, 98);
  for (const auto& node : module->main()->nodes()) {
    if (node->constant) w = *node->constant;
  }
  const Tensor x = TestTensor(DataType::Float(32), p.x, 99);
  const std::vector<double> expected = Expected(p, x, w);
  if (!RunForTest(passes, module.get())) return nullptr;
  std::vector<Tensor> inputs = {x};
  if (!p.constant) inputs.push_back(w);
  const auto actual = EvaluateFunction(*module, *module->main(), inputs);
  if (!actual.ok()) {
    ADD_FAILURE() << actual.status() << "\n" << text << Print(*module);
    return nullptr;
  }
  const Tensor& y = (*actual)[0];
  if (Ints(y.shape().begin(), y.shape().end()) != ResultShape(p)) {
    ADD_FAILURE() << y.TypeString() << "\n" << text << Print(*module);
    return nullptr;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::abs(y.data<float>()[i] - expected[i]) <= 1e-4) continue;
    ADD_FAILURE() << "element " << i << ": " << y.data<float>()[i] << ", not "
                  << expected[i] << "\n"
                  << text << Print(*module);
    return nullptr;
  }
  return module;
}

int CountTransposed(const Module& module) {
  return CountOps(module, "conv_transpose1d") +
         CountOps(module, "conv_transpose2d") +
         CountOps(module, "conv_transpose3d");
}

// Whether it is right after all kinds of passes and no longer transposed.
bool IsRewritten(Problem p) {
  for (const bool constant : {true, false}) {
    p.constant = constant;
    for (bool symbolic : {false, true}) {
      for (const auto& passes : std::vector<std::vector<std::string>>{
               {"sub_pixel"}, {"sub_pixel", "block_layout", "simplify"}}) {
        const auto module = Check(p, symbolic, passes);
        if (module == nullptr || CountTransposed(*module) > 0) return false;
      }
    }
  }
  return true;
}

// ------------------------------------------------------------------- numbers

TEST(SubPixelTest, EveryWindowOfOneDimension) {
  int tried = 0;
  for (int64_t kernel = 1; kernel <= 5; ++kernel) {
    for (int64_t stride = 1; stride <= 4; ++stride) {
      for (int64_t begin = 0; begin <= kernel; ++begin) {
        for (int64_t end : {int64_t{0}, int64_t{1}, kernel}) {
          for (int64_t extra : {0, 1, 3}) {
            Problem p = Plain({1, 2, 3}, {kernel});
            p.strides = {stride};
            p.pads = {begin, end};
            p.extra = {extra};
            if (!HasElements(p)) continue;
            ++tried;
            ASSERT_TRUE(IsRewritten(p)) << Text(p, false);
          }
        }
      }
    }
  }
  EXPECT_GT(tried, 500);
}

TEST(SubPixelTest, GroupsAndChannelsThatFillBlocksOrDoNot) {
  for (int64_t kernel : {2, 3}) {
    for (int64_t groups : {1, 2, 8}) {
      // Blocks have 8 channels here.
      for (int64_t out : {1, 2, 5, 8, 12}) {
        for (int64_t per_group : {1, 3}) {
          Problem p = Plain({2, groups * per_group, 3, 5}, {kernel, kernel});
          p.groups = groups;
          p.out_per_group = out;
          p.strides = {2, 2};
          p.pads = {kernel - 2, kernel - 2, 0, 0};
          ASSERT_TRUE(IsRewritten(p)) << Text(p, false);
        }
      }
    }
  }
}

TEST(SubPixelTest, TwoDimensionsThatDiffer) {
  for (int64_t kernel : {1, 2, 3, 4}) {
    for (int64_t stride : {1, 2, 3}) {
      for (int64_t groups : {1, 2}) {
        for (int64_t extra : {0, 1}) {
          Problem p = Plain({1, 4, 4, 3}, {3, kernel});
          p.groups = groups;
          p.out_per_group = 8;
          p.strides = {2, stride};
          p.pads = {1, 0, 0, kernel / 2};
          p.extra = {1, extra};
          ASSERT_TRUE(IsRewritten(p)) << Text(p, false);
        }
      }
    }
  }
}

TEST(SubPixelTest, ThreeDimensions) {
  for (int64_t kernel : {2, 3, 4}) {
    for (int64_t groups : {1, 2}) {
      Problem p = Plain({1, 2, 2, 3, 2}, {kernel, 2, kernel});
      p.groups = groups;
      p.strides = {2, 2, 1};
      p.pads = {1, 0, 0, 0, 1, 1};
      ASSERT_TRUE(IsRewritten(p)) << Text(p, false);
    }
  }
}

TEST(SubPixelTest, ManyPhasesOfGroups) {
  Problem p = Plain({2, 4, 3, 2}, {8, 8});
  p.groups = 2;
  p.strides = {4, 4};
  p.pads = {2, 2, 2, 2};
  ASSERT_TRUE(IsRewritten(p));
}

TEST(SubPixelTest, DilationsWithoutStrides) {
  for (int64_t begin = 0; begin <= 5; ++begin) {
    for (int64_t end : {0, 2, 5}) {
      Problem p = Plain({1, 2, 6, 2}, {3, 2});
      p.dilations = {2, 1};
      p.strides = {1, 2};
      p.pads = {begin, 0, end, 1};
      if (!HasElements(p)) continue;
      ASSERT_TRUE(IsRewritten(p)) << Text(p, false);
    }
  }
}

TEST(SubPixelTest, DilationsWithStrides) {
  for (int64_t kernel : {1, 2, 3}) {
    for (int64_t stride : {2, 3, 4}) {
      for (int64_t dilation : {2, 3, 4}) {
        for (int64_t begin = 0; begin <= 4; begin += 2) {
          for (int64_t extra : {0, 1}) {
            Problem p = Plain({1, 2, 3, 4}, {kernel, 2});
            p.strides = {stride, 2};
            p.dilations = {dilation, 1};
            p.pads = {begin, 0, 1, 1};
            p.extra = {extra, 0};
            if (!HasElements(p)) continue;
            ASSERT_TRUE(IsRewritten(p)) << Text(p, false);
          }
        }
      }
    }
  }
  for (int64_t groups : {1, 2, 4}) {
    Problem p = Plain({2, 4, 3, 2}, {3, 3});
    p.groups = groups;
    p.strides = {3, 2};
    p.dilations = {2, 2};
    p.pads = {1, 2, 0, 1};
    ASSERT_TRUE(IsRewritten(p)) << Text(p, false);
  }
}

// -------------------------------------------------------------- what it
// becomes

Problem Square(int64_t kernel, int64_t stride, int64_t pad) {
  Problem p = Plain({1, 16, 4, 4}, {kernel, kernel});
  p.out_per_group = 16;
  p.strides = {stride, stride};
  p.pads = Ints(4, pad);
  return p;
}

struct Becomes {
  Problem problem;
  int convolutions, concats, interleaves, slices;
};

TEST(SubPixelTest, OneConvolutionUnlessTooManyTapsAreZeros) {
  const std::vector<Becomes> cases = {
      {Square(2, 2, 0), 1, 0, 1, 0}, {Square(4, 2, 1), 1, 0, 1, 1},
      {Square(3, 2, 1), 4, 1, 1, 1}, {Square(5, 2, 2), 4, 1, 1, 1},
      {Square(7, 4, 0), 1, 0, 1, 1},  // fewer than a quarter
      {Square(5, 4, 0), 1, 0, 1, 1},  // sixteen would be too many
      {Square(3, 1, 1), 1, 0, 0, 0}, {Square(1, 2, 0), 1, 0, 1, 1},
  };
  for (const Becomes& c : cases) {
    const auto module = Check(c.problem, false, {"sub_pixel"});
    ASSERT_NE(module, nullptr);
    SCOPED_TRACE(Print(*module));
    EXPECT_EQ(CountOps(*module, "conv2d"), c.convolutions);
    EXPECT_EQ(CountOps(*module, "concat"), c.concats);
    EXPECT_EQ(CountOps(*module, "depth_to_space"), c.interleaves);
    EXPECT_EQ(CountOps(*module, "slice"), c.slices);
  }
}

TEST(SubPixelTest, StaysInBlocks) {
  for (int64_t out : {5, 8}) {
    for (int64_t kernel : {2, 3}) {
      const std::string text = absl::StrCat(
          "module { func @main(%x: f32[1, 8, 4, 4]) -> (%y) {"
          "  %w = const f32[8, ",
          out, ", ", kernel, ", ", kernel,
          "] random(1)"
          "  %b = const f32[",
          out,
          ", 1, 1] random(2)"
          "  %k = const f32[8, ",
          out,
          ", 3, 3] random(3)"
          "  %c = conv_transpose2d(%x, %w) {strides=[2, 2]}"
          "  %a = add(%c, %b) %r = relu(%a)"
          "  %y = conv2d(%r, %k) {pads=[1, 1, 1, 1]} } }");
      const auto module =
          CheckKeepsMeaning(text, {"sub_pixel", "block_layout", "simplify"});
      ASSERT_NE(module, nullptr);
      // The first one for x, the second for y.
      EXPECT_EQ(CountOps(*module, "layout_transform"), 2) << Print(*module);
    }
  }
}

TEST(SubPixelTest, LeavesTheRest) {
  Problem dilated = Square(3, 2, 0);
  dilated.dilations = {16, 16};
  Problem sparse = Square(1, 2, 0);
  sparse.strides = {5, 1};
  for (const Problem& p : {dilated, sparse}) {
    const auto module = Check(p, false, {"sub_pixel"});
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(CountTransposed(*module), 1) << Print(*module);
  }
  for (const char* text :
       {"(%x: f32[1, 2, 3, 3], %w: f32[2, k, 2, 2]) -> (%y) {"
        "  %y = conv_transpose2d(%x, %w) {strides=[2, 2]} }",
        "(%x: f32[1, 2, 3, 3]) -> (%y) {"
        "  %w = const f32[2, 2, 2, 2] random(1)"
        "  %y = conv_transpose2d(%x, %w) {target=\"other\"} }"}) {
    const auto module = CheckKeepsMeaning(
        absl::StrCat("module { func @main", text, " }"), {"sub_pixel"});
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(CountTransposed(*module), 1) << Print(*module);
  }
}

// A transposed convolution of three channels by bytes, of strides that divide
// the kernel, of ones that do not, and in groups.
std::string OfBytes(const std::string& kernel, const std::string& scales,
                    const std::string& zeros, int groups = 1) {
  const auto module = CheckKeepsMeaning(
      absl::StrCat("module { func @main(%x: u8[1, 4, 3, 5]) -> (%y) {",
                   " %s = const f32[] {0.25} %z = const u8[] {7}",
                   " %d = dequantize(%x, %s, %z)", " %b = const f32[4, 3, ",
                   kernel, "] random(3) %t = const f32[] {0.01}",
                   " %w = quantize(%b, %t) {dtype=i8}", scales, zeros,
                   " %v = dequantize(%w, %u, %n) {axis=1}",
                   " %y = conv_transpose2d(%d, %v) {strides=[2, 2], groups=",
                   groups, "} } }"),
      {"fold_constants", "sub_pixel", "byte_products", "simplify"}, 1e-5);
  return module == nullptr ? "(failed)" : Print(*module);
}

TEST(SubPixelTest, BytesStayBytes) {
  const std::string each = " %u = const f32[3] {0.5, 2, 0.125}";
  const std::string all = " %u = const f32[] {0.5}";
  const std::string zeros = " %n = const i8[3] {0, 0, 0}";
  const std::string zero = " %n = const i8[] {0}";
  const std::string bytes = "out_dtype=i32";
  for (const char* kernel : {"2, 2", "3, 3", "4, 2"}) {
    EXPECT_THAT(OfBytes(kernel, each, zeros), testing::HasSubstr(bytes));
    EXPECT_THAT(OfBytes(kernel, all, zero), testing::HasSubstr(bytes));
    EXPECT_THAT(OfBytes(kernel, all, zero, 2), testing::HasSubstr(bytes));
    EXPECT_THAT(OfBytes(kernel, each, " %n = const i8[3] {0, 1, 0}"),
                testing::Not(testing::HasSubstr("(failed)")));
  }
}

}  // namespace
}  // namespace ingot::relay

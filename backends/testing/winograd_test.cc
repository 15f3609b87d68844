// Convolutions by Winograd's algorithm, from end to end, against the definition
// in double-precision loops written here: tiles of both sizes, whatever the
// machine would choose, on targets that generate code, with channels and images
// that fill blocks and tiles or do not.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/builtin.h"
#include "backends/testing/checked_executor.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

struct Problem {
  int64_t batch, in, out, height, width;
  Ints pads;  // top, left, bottom, right
  // relu(conv(x, w) + bias + z) rather than the convolution alone.
  bool epilogue = false;
  // Which sizes a run alone knows, letters of "nhw".
  std::string open = "";

  int64_t result_height() const { return height + pads[0] + pads[2] - 2; }
  int64_t result_width() const { return width + pads[1] + pads[3] - 2; }
};

std::string Text(const Problem& p) {
  const auto type = [](const Ints& shape) {
    return absl::StrCat("f32[", absl::StrJoin(shape, ", "), "]");
  };
  // The type of data that is larger than x in two dimensions.
  const auto data = [&p](int64_t channels, int64_t rows, int64_t columns) {
    const auto dim = [&p](const char* name, int64_t size, int64_t more) {
      return absl::StrContains(p.open, name) ? absl::StrCat(name, " + ", more)
                                             : absl::StrCat(size + more);
    };
    return absl::StrCat("f32[", dim("n", p.batch, 0), ", ", channels, ", ",
                        dim("h", p.height, rows), ", ",
                        dim("w", p.width, columns), "]");
  };
  return absl::StrCat(
      "module { func @main(%x: ", data(p.in, 0, 0), ", %z: ",
      data(p.out, p.pads[0] + p.pads[2] - 2, p.pads[1] + p.pads[3] - 2),
      ") -> (%y) { %w = const ", type({p.out, p.in, 3, 3}), " random(5) %",
      p.epilogue ? "s" : "y", " = conv2d(%x, %w) {pads=[",
      absl::StrJoin(p.pads, ", "), "]}",
      p.epilogue
          ? absl::StrCat(" %b = const ", type({p.out, 1, 1}), " random(6)",
                         " %t = add(%s, %b) %u = add(%t, %z) %y = relu(%u)")
          : "",
      " } }");
}

// Numbers in [-1, 1] that follow from the place.
Tensor Input(const Ints& shape, int64_t seed) {
  Tensor t = *Tensor::Empty(DataType::Float(32), shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    t.mutable_data<float>()[i] =
        static_cast<float>((i * 7919 + seed * 104729) % 2001) / 1000 - 1;
  }
  return t;
}

// The element of the result at [n, o, y, x].
double Expected(const Problem& p, const float* data, const float* kernel,
                int64_t n, int64_t o, int64_t y, int64_t x) {
  const int64_t above = p.pads[0], left = p.pads[1];
  double sum = 0;
  for (int64_t c = 0; c < p.in; ++c) {
    const float* const plane = data + (n * p.in + c) * p.height * p.width;
    const float* weight = kernel + (o * p.in + c) * 9;
    for (int64_t row = y - above; row < y - above + 3; ++row) {
      for (int64_t column = x - left; column < x - left + 3; ++column) {
        const double w = *weight++;
        if (row < 0 || row >= p.height || column < 0 || column >= p.width) {
          continue;
        }
        sum += plane[row * p.width + column] * w;
      }
    }
  }
  return sum;
}

std::vector<double> ExpectedResult(const Problem& p, const Tensor& data,
                                   const Tensor& z, const Tensor& kernel,
                                   const Tensor* bias) {
  std::vector<double> result;
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t o = 0; o < p.out; ++o) {
      for (int64_t y = 0; y < p.result_height(); ++y) {
        for (int64_t x = 0; x < p.result_width(); ++x) {
          double value =
              Expected(p, data.data<float>(), kernel.data<float>(), n, o, y, x);
          if (p.epilogue) {
            value += bias->data<float>()[o];
            value += z.data<float>()[result.size()];
            value = std::max(value, 0.0);
          }
          result.push_back(value);
        }
      }
    }
  }
  return result;
}

// The built-in targets, whose convolutions all go by tiles of m x m.
absl::StatusOr<TargetRegistry> TargetsWithTiles(int64_t m) {
  TargetRegistry kinds;
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&kinds));
  for (const char* name : {"llvm", "c"}) {
    TargetKind kind = **kinds.Find(name);
    kind.name = absl::StrCat(name, "_tiles");
    kind.layouts = [layouts = kind.layouts, m](const MachineModel& machine) {
      LayoutPreferences preferences = layouts(machine);
      preferences.winograd_tile = [m](const relay::Node&) { return m; };
      return preferences;
    };
    INGOT_RETURN_IF_ERROR(kinds.Register(std::move(kind)));
  }
  return kinds;
}

// A convolution, ready to run, and the constants of its module.
struct Compiled {
  std::unique_ptr<GraphExecutor> executor;
  Tensor kernel, bias;
};

absl::StatusOr<Compiled> Compile(const std::string& text, int64_t m,
                                 const std::string& target) {
  INGOT_ASSIGN_OR_RETURN(const TargetRegistry kinds, TargetsWithTiles(m));
  INGOT_ASSIGN_OR_RETURN(auto module, testing_support::ParseRelay(text));
  Compiled compiled;
  for (const auto& node : module->main()->nodes()) {
    if (!node->constant) continue;
    (node->constant->shape().size() == 4 ? compiled.kernel : compiled.bias) =
        *node->constant;
  }
  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets(target));
  INGOT_ASSIGN_OR_RETURN(
      const ArtifactSet set,
      CompileModule(module.get(), "test", "", kinds, options));
  INGOT_ASSIGN_OR_RETURN(const LoadedModel model,
                         testing_support::StoreAndLoad(set));
  // Threads share chunks of tiles, or what each chunk takes.
  ExecutorOptions several;
  several.threads = 3;
  INGOT_ASSIGN_OR_RETURN(
      compiled.executor,
      testing_support::CreateCheckedExecutor(model, several));
  return compiled;
}

// The convolution's greatest distance from the definition.
absl::StatusOr<double> Distance(const Problem& p, const Compiled& compiled) {
  const Tensor x = Input({p.batch, p.in, p.height, p.width}, 1);
  const Tensor z =
      Input({p.batch, p.out, p.result_height(), p.result_width()}, 2);
  const std::vector<Tensor> inputs = {x, z};
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         compiled.executor->Run(inputs));
  const std::vector<double> expected = ExpectedResult(
      p, x, z, compiled.kernel, p.epilogue ? &compiled.bias : nullptr);
  if (outputs[0].NumElements() != static_cast<int64_t>(expected.size())) {
    return absl::InternalError(outputs[0].TypeString());
  }
  double distance = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(outputs[0].data<float>()[i] - expected[i]);
    distance = std::isnan(off) ? 1e9 : std::max(distance, off);
  }
  return distance;
}

// Runs convolutions that are the same but for sizes that a run tells.
void ExpectAllRight(const std::vector<Problem>& problems,
                    const std::vector<std::string>& targets) {
  const std::string text = Text(problems[0]);
  for (const std::string& target : targets) {
    for (const int64_t m : {2, 4}) {
      const auto compiled = Compile(text, m, target);
      ASSERT_TRUE(compiled.ok()) << compiled.status() << "\n" << text;
      for (const Problem& p : problems) {
        ASSERT_EQ(Text(p), text);
        SCOPED_TRACE(testing::Message()
                     << target << ", tiles of " << m << ", " << p.batch << " * "
                     << p.height << " x " << p.width << "\n"
                     << text);
        const auto distance = Distance(p, *compiled);
        ASSERT_TRUE(distance.ok()) << distance.status();
        // Sums of `in` times 9 products of numbers up to 1.
        EXPECT_LT(*distance, 1e-6 * static_cast<double>(p.in + 16));
      }
    }
  }
}

void ExpectRight(const Problem& p,
                 const std::vector<std::string>& targets = {"llvm_tiles"}) {
  ExpectAllRight({p}, targets);
}

// The same for planes of so many images, rows and columns, each of which a run
// tells where `p` is open.
void ExpectRightFor(Problem p, const std::vector<Ints>& sizes,
                    const std::vector<std::string>& targets = {"llvm_tiles"}) {
  std::vector<Problem> problems;
  for (const Ints& size : sizes) {
    p.batch = size[0];
    p.height = size[1];
    p.width = size[2];
    problems.push_back(p);
  }
  ExpectAllRight(problems, targets);
}

TEST(WinogradTest, WholeBlocksAndTiles) {
  ExpectRight({1, 16, 16, 8, 8, {1, 1, 1, 1}});
  ExpectRight({1, 64, 48, 16, 24, {1, 1, 1, 1}, true},
              {"llvm_tiles", "c_tiles"});
}

TEST(WinogradTest, ChannelsThatFillNoBlock) {
  ExpectRight({1, 20, 37, 9, 11, {1, 1, 1, 1}, true},
              {"llvm_tiles", "c_tiles"});
}

TEST(WinogradTest, EveryRestOfTilesAndPadding) {
  for (int64_t size = 1; size <= 9; ++size) {
    ExpectRight({1, 16, 16, size, 10 - size, {1, 1, 1, 1}});
  }
  ExpectRight({1, 16, 16, 7, 6, {0, 0, 0, 0}});
  ExpectRight({1, 16, 16, 5, 6, {0, 2, 1, 0}, true});
}

TEST(WinogradTest, ManyRowsOfTilesAndImages) {
  ExpectRight({1, 16, 32, 61, 37, {1, 1, 1, 1}, true});
  ExpectRight({3, 16, 16, 10, 7, {1, 1, 1, 1}, true});
}

// Tiles that are taken one after the other: of planes of few tiles and of
// many, with rows of tiles that end in the middle of what is taken at once.
TEST(WinogradTest, PlanesWhoseSizesARunTells) {
  std::vector<Ints> sizes = {
      {3, 30, 47}, {1, 61, 37}, {1, 1, 300}, {1, 70, 2}, {2, 64, 64}};
  for (int64_t size = 1; size <= 17; ++size) {
    sizes.push_back({1, size, size});
    sizes.push_back({2, size, 18 - size});
  }
  ExpectRightFor({1, 16, 16, 1, 1, {1, 1, 1, 1}, true, "nhw"}, sizes);
  ExpectRightFor({1, 24, 72, 1, 1, {2, 0, 0, 2}, true, "nhw"}, sizes);
}

TEST(WinogradTest, PaddingOfPlanesWhoseSizesARunTells) {
  const std::vector<Ints> sizes = {{1, 3, 3}, {1, 7, 6}, {2, 12, 21}};
  ExpectRightFor({1, 16, 16, 1, 1, {0, 0, 0, 0}, false, "nhw"}, sizes);
  ExpectRightFor({1, 20, 37, 1, 1, {0, 2, 1, 0}, false, "nhw"}, sizes,
                 {"llvm_tiles", "c_tiles"});
  ExpectRightFor({1, 16, 40, 1, 1, {5, 1, 3, 4}, false, "nhw"}, sizes);
}

TEST(WinogradTest, PlanesOfWhichARunTellsOneSize) {
  ExpectRightFor({1, 16, 16, 13, 22, {1, 1, 1, 1}, true, "h"},
                 {{1, 13, 22}, {1, 40, 22}});
  ExpectRightFor({2, 16, 16, 13, 22, {2, 1, 0, 1}, true, "w"},
                 {{2, 13, 22}, {2, 13, 3}});
  ExpectRightFor({2, 16, 16, 9, 7, {1, 1, 1, 1}, true, "n"},
                 {{2, 9, 7}, {1, 9, 7}});
}

TEST(WinogradTest, NoImagesAndNoPlaces) {
  ExpectRightFor({1, 16, 16, 1, 1, {1, 1, 1, 1}, true, "nhw"},
                 {{0, 9, 7}, {1, 9, 0}, {1, 0, 5}, {1, 0, 0}});
}

}  // namespace
}  // namespace ingot

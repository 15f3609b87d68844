// Convolutions of bytes by Winograd's algorithm of whole numbers, from end to
// end, against the definition in plain loops written here: equal to the last
// bit, on targets that generate code, with and without instructions for it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/builtin.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

// The numbers that data and weights are.
enum class Numbers {
  kAll,
  kLowest,
  kHighest,
  kOpposite  // the highest data and the lowest weights
};

struct Problem {
  int64_t batch, in, out, height, width;
  Ints pads;  // top, left, bottom, right
  DataType data = DataType::UInt(8);
  int64_t zero = 0;  // of the data
  bool zero_of_run_time = false;
  Numbers numbers = Numbers::kAll;
  // f32(conv(x, w) + bias) / 2 rather than the convolution alone.
  bool epilogue = false;
  bool open = false;  // a run tells height and width

  int64_t result_height() const { return height + pads[0] + pads[2] - 2; }
  int64_t result_width() const { return width + pads[1] + pads[3] - 2; }
  int64_t lowest() const { return data == DataType::Int(8) ? -128 : 0; }
};

std::string Type(DataType type, const Ints& shape) {
  return absl::StrCat(type.ToString(), "[", absl::StrJoin(shape, ", "), "]");
}

std::string Text(const Problem& p) {
  const DataType i32 = DataType::Int(32);
  const std::string plane =
      p.open ? "h, w" : absl::StrCat(p.height, ", ", p.width);
  return absl::StrCat(
      "module { func @main(%x: ", p.data.ToString(), "[", p.batch, ", ", p.in,
      ", ", plane, "], %z: ", Type(p.data, {}), ") -> (%y) { %w = const ",
      Type(DataType::Int(8), {p.out, p.in, 3, 3}), " random(5) ",
      p.zero_of_run_time ? "%o = cast(%z) {dtype=i32}"
                         : absl::StrCat("%o = const i32[] {", p.zero, "}"),
      " %i = cast(%x) {dtype=i32} %s = sub(%i, %o) %", p.epilogue ? "c" : "y",
      " = conv2d(%s, %w) {out_dtype=i32, pads=[", absl::StrJoin(p.pads, ", "),
      "]}",
      p.epilogue ? absl::StrCat(" %b = const ", Type(i32, {p.out, 1, 1}),
                                " random(6) %t = add(%c, %b) %f = cast(%t) "
                                "{dtype=f32} %h = const f32[] {0.5} "
                                "%y = mul(%f, %h)")
                 : "",
      " } }");
}

// Bytes of that type, all of them where there are enough.
Tensor Bytes(DataType type, const Ints& shape, int64_t lowest,
             Numbers numbers) {
  Tensor t = *Tensor::Empty(type, shape);
  auto* const to = static_cast<uint8_t*>(t.mutable_raw_data());
  uint64_t state = 17;
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const int64_t above = numbers == Numbers::kLowest    ? 0
                          : numbers == Numbers::kHighest ? 255
                                                         : state >> 56;
    to[i] = static_cast<uint8_t>(lowest + above);
  }
  return t;
}

// The sum at [n, o, y, x]. By pointers: nothing here is optimised, and there
// are millions of products.
template <typename T>
int64_t Sum(const Problem& p, const T* data, const int8_t* kernel, int64_t n,
            int64_t o, int64_t y, int64_t x) {
  const int64_t above = p.pads[0], left = p.pads[1];
  int64_t sum = 0;
  for (int64_t c = 0; c < p.in; ++c) {
    const T* const plane = data + (n * p.in + c) * p.height * p.width;
    const int8_t* weight = kernel + (o * p.in + c) * 9;
    for (int64_t row = y - above; row < y - above + 3; ++row) {
      for (int64_t column = x - left; column < x - left + 3; ++column) {
        const int64_t w = *weight++;
        if (row < 0 || row >= p.height || column < 0 || column >= p.width) {
          continue;
        }
        sum += (plane[row * p.width + column] - p.zero) * w;
      }
    }
  }
  return sum;
}

// The element of the result at [n, o, y, x].
int64_t Expected(const Problem& p, const Tensor& data, const Tensor& kernel,
                 int64_t n, int64_t o, int64_t y, int64_t x) {
  const int8_t* const weights = kernel.data<int8_t>();
  return p.data == DataType::Int(8)
             ? Sum(p, data.data<int8_t>(), weights, n, o, y, x)
             : Sum(p, data.data<uint8_t>(), weights, n, o, y, x);
}

// Whether an element of the result is as expected.
bool IsRight(const Problem& p, const Tensor& result, int64_t i,
             int64_t expected, const Tensor& bias) {
  if (!p.epilogue) return result.data<int32_t>()[i] == expected;
  const int64_t o = i / (p.result_height() * p.result_width()) % p.out;
  return result.data<float>()[i] ==
         static_cast<float>(expected + bias.data<int32_t>()[o]) / 2;
}

// How convolutions of bytes go by tiles.
struct Form {
  const char* name;
  int64_t tile;
  bool on_bytes;  // which the transforms make wider; else of 16 bits before
  // So many channels, times 9 products of 128 and 255, or of 128 and 128 of
  // data of i8, are sums that are not too large.
  int64_t most_channels, most_channels_of_i8;
};
constexpr Form kForms[] = {{"tiles_of_2", 2, false, 1827, 3640},
                           {"tiles_of_4", 4, false, 114, 227},
                           {"bytes_by_4", 4, true, 114, 114}};

// The built-in targets whose convolutions of bytes all go by tiles where the
// algorithm can: llvm_tiles_of_2 and so on.
absl::StatusOr<TargetRegistry> TargetsWithTiles() {
  TargetRegistry kinds;
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&kinds));
  for (const char* name : {"llvm", "c"}) {
    for (const Form& form : kForms) {
      TargetKind kind = **kinds.Find(name);
      kind.name = absl::StrCat(name, "_", form.name);
      kind.layouts = [layouts = kind.layouts,
                      form](const MachineModel& machine) {
        LayoutPreferences preferences = layouts(machine);
        preferences.byte_words = true;
        preferences.wide_words = !form.on_bytes;
        preferences.byte_depth = nullptr;
        preferences.winograd_tile = [form](const relay::Node&) {
          return form.tile;
        };
        return preferences;
      };
      INGOT_RETURN_IF_ERROR(kinds.Register(std::move(kind)));
    }
  }
  return kinds;
}

bool CallsWinograd(const relay::Module& module) {
  for (const auto& function : module.functions()) {
    for (const auto& node : function->nodes()) {
      if (node->Is("winograd_conv2d")) return true;
    }
  }
  return false;
}

// Sets *by_tiles to whether the algorithm was used. Internal where an element
// is another than by the definition.
absl::Status Check(const Problem& p, const std::string& target,
                   bool* by_tiles) {
  INGOT_ASSIGN_OR_RETURN(const TargetRegistry kinds, TargetsWithTiles());
  INGOT_ASSIGN_OR_RETURN(auto module, testing_support::ParseRelay(Text(p)));
  Numbers of_data = p.numbers, of_weights = p.numbers;
  if (p.numbers == Numbers::kOpposite) {
    of_data = Numbers::kHighest;
    of_weights = Numbers::kLowest;
  }
  Tensor kernel, bias;
  for (const auto& node : module->main()->nodes()) {
    if (!node->constant) continue;
    if (node->constant->shape().size() == 3) bias = *node->constant;
    if (node->constant->shape().size() != 4) continue;
    kernel = Bytes(DataType::Int(8), {p.out, p.in, 3, 3}, -128, of_weights);
    node->constant = kernel;
  }
  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets(target));
  INGOT_ASSIGN_OR_RETURN(
      const ArtifactSet set,
      CompileModule(module.get(), "test", "", kinds, options));
  *by_tiles = CallsWinograd(*module);
  INGOT_ASSIGN_OR_RETURN(const std::unique_ptr<GraphExecutor> executor,
                         testing_support::Open(set));
  const Tensor x =
      Bytes(p.data, {p.batch, p.in, p.height, p.width}, p.lowest(), of_data);
  const Tensor z = Bytes(p.data, {}, p.zero, Numbers::kLowest);
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         executor->Run(std::vector<Tensor>{x, z}));
  int64_t i = 0;
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t o = 0; o < p.out; ++o) {
      for (int64_t row = 0; row < p.result_height(); ++row) {
        for (int64_t column = 0; column < p.result_width(); ++column, ++i) {
          const int64_t expected = Expected(p, x, kernel, n, o, row, column);
          if (IsRight(p, outputs[0], i, expected, bias)) continue;
          return absl::InternalError(
              absl::StrCat("element ", i, " is not ", expected));
        }
      }
    }
  }
  return absl::OkStatus();
}

void ExpectSameOn(const std::string& target, const Problem& p,
                  bool tiles = true) {
  bool by_tiles = false;
  const absl::Status status = Check(p, target, &by_tiles);
  EXPECT_TRUE(status.ok()) << status << "\n" << target << "\n" << Text(p);
  EXPECT_EQ(by_tiles, tiles) << target << "\n" << Text(p);
}

std::string Native(const Form& form) {
  return absl::StrCat("llvm_", form.name, " -mcpu=native");
}

void ExpectSame(const Problem& p, bool tiles = true) {
  for (const Form& form : kForms) ExpectSameOn(Native(form), p, tiles);
}

void ExpectSameOnAll(const Problem& p) {
  for (const Form& form : kForms) {
    for (const char* name : {"llvm", "c"}) {
      for (const char* option : {"", " -mcpu=native"}) {
        ExpectSameOn(absl::StrCat(name, "_", form.name, option), p);
      }
    }
  }
}

TEST(WholeWinogradTest, WholeBlocksAndTiles) {
  ExpectSameOnAll({1, 16, 16, 8, 8, {1, 1, 1, 1}});
  Problem large = {1, 64, 48, 16, 24, {1, 1, 1, 1}};
  large.zero = 121;
  large.epilogue = true;
  ExpectSameOnAll(large);
}

TEST(WholeWinogradTest, ChannelsThatFillNoBlock) {
  for (const int64_t channels : {1, 3, 7, 20, 37}) {
    Problem p = {1, channels, 40 - channels, 9, 11, {1, 1, 1, 1}};
    p.zero = 3;
    p.epilogue = channels % 2 == 0;
    ExpectSame(p);
  }
  ExpectSameOn("c_bytes_by_4 -mcpu=native", {1, 21, 19, 5, 6, {1, 1, 1, 1}});
}

TEST(WholeWinogradTest, EveryRestOfTilesAndPadding) {
  for (int64_t size = 1; size <= 9; ++size) {
    Problem p = {1, 8, 16, size, 10 - size, {1, 1, 1, 1}};
    p.zero = 200;
    // Kernels for a single row or column are of one.
    ExpectSame(p, size > 1 && size < 9);
  }
  ExpectSame({1, 16, 16, 7, 6, {0, 0, 0, 0}});
  Problem uneven = {1, 16, 16, 5, 6, {0, 2, 1, 0}};
  uneven.epilogue = true;
  ExpectSame(uneven);
}

// Among them images whose points would lie a power of two apart in memory.
TEST(WholeWinogradTest, ManyRowsOfTilesAndImages) {
  ExpectSame({1, 16, 32, 61, 37, {1, 1, 1, 1}});
  ExpectSame({3, 16, 16, 10, 7, {1, 1, 1, 1}});
  ExpectSame({2, 64, 64, 32, 32, {1, 1, 1, 1}});
}

TEST(WholeWinogradTest, PlanesThatARunTells) {
  for (const auto& [height, width] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {4, 8}, {9, 2}, {30, 27}}) {
    Problem p = {2, 20, 33, height, width, {1, 1, 1, 1}};
    p.zero = 138;
    p.epilogue = height % 2 == 0;
    p.open = true;
    ExpectSame(p);
  }
  Problem uneven = {1, 16, 16, 5, 6, {0, 2, 1, 0}};
  uneven.open = true;
  ExpectSameOn("c_bytes_by_4 -mcpu=native", uneven);
}

TEST(WholeWinogradTest, BytesAndZeroPoints) {
  for (const DataType type : {DataType::UInt(8), DataType::Int(8)}) {
    for (const int64_t above : {0, 1, 128, 255}) {
      for (const bool of_run_time : {false, true}) {
        Problem p = {1, 16, 16, 6, 5, {1, 1, 1, 1}, type};
        p.zero = p.lowest() + above;
        p.zero_of_run_time = of_run_time;
        for (const Form& form : kForms) {
          // Bytes around an image must be known.
          ExpectSameOn(Native(form), p, !(form.on_bytes && of_run_time));
        }
      }
    }
  }
}

// The largest magnitudes, for as many channels as 32 bits hold 4 or 64 times
// the sums of, and one more.
TEST(WholeWinogradTest, LargestSums) {
  for (const Form& form : kForms) {
    for (const Numbers numbers : {Numbers::kLowest, Numbers::kHighest,
                                  Numbers::kOpposite, Numbers::kAll}) {
      for (const int64_t more : {0, 1}) {
        Problem p = {1, form.most_channels + more, 8, 4, 5, {0, 0, 0, 0}};
        p.numbers = numbers;
        // Weights of 127 leave some room.
        const bool fits = more == 0 || numbers == Numbers::kHighest ||
                          numbers == Numbers::kAll;
        ExpectSameOn(Native(form), p, fits);
      }
    }
    Problem small = {
        1, form.most_channels_of_i8, 8, 3, 4, {0, 0, 0, 0}, DataType::Int(8)};
    small.numbers = Numbers::kLowest;
    ExpectSameOn(Native(form), small);
    ++small.in;
    ExpectSameOn(Native(form), small, false);
  }
}

// Numbers of 16 bits that are not bytes could be too large when transformed.
TEST(WholeWinogradTest, OtherNumbersGoByTheDefinition) {
  const auto kinds = TargetsWithTiles();
  ASSERT_TRUE(kinds.ok()) << kinds.status();
  auto module = testing_support::ParseRelay(
      "module { func @main(%x: i16[1, 16, 8, 8]) -> (%y) { %w = const "
      "i16[16, 16, 3, 3] random(5) %y = conv2d(%x, %w) {out_dtype=i32} } }");
  ASSERT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.targets = *ParseTargets("llvm_tiles_of_2");
  const auto set = CompileModule(module->get(), "test", "", *kinds, options);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_FALSE(CallsWinograd(**module));
}

}  // namespace
}  // namespace ingot

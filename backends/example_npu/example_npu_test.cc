#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/artifact_set.h"
#include "backends/example_npu/stream.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using example_npu::Axis;
using example_npu::Command;
using ::testing::HasSubstr;
using testing_support::CompareWithEvaluate;
using testing_support::CompileRelay;
using testing_support::StoreAndLoad;

// All of a function's nodes on the device.
absl::Status Compare(const std::string& inputs, const std::string& nodes) {
  return CompareWithEvaluate(
      "example_npu", absl::StrCat("module { func @main(", inputs, ") -> (%y) {",
                                  nodes, "} }"));
}

// A tensor in text, of small values.
std::string Weights(const std::string& shape, int count) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(absl::StrCat((i * 37 + 11) % 255 - 127));
  }
  return absl::StrCat("%w = const i8[", shape, "] {",
                      absl::StrJoin(values, ", "), "} ");
}

TEST(ExampleNpu, RunsIntegerProducts) {
  // Within a tile, exactly one, and over the edges of several.
  EXPECT_EQ(Compare("%x: i8[3, 4]", Weights("4, 5", 20) +
                                        "%y = matmul(%x, %w) {out_dtype=i32}"),
            absl::OkStatus());
  EXPECT_EQ(
      Compare("%x: u8[16, 16]",
              Weights("16, 16", 256) + "%y = matmul(%x, %w) {out_dtype=i32}"),
      absl::OkStatus());
  EXPECT_EQ(
      Compare("%x: i8[2, 3, 37]",
              Weights("37, 18", 666) + "%y = matmul(%x, %w) {out_dtype=i32}"),
      absl::OkStatus());
}

TEST(ExampleNpu, RunsConvolutions) {
  const struct {
    const char *input, *weights, *attrs;
    int count;
  } cases[] = {
      {"1, 1, 5, 5", "1, 1, 3, 3", "", 9},
      {"1, 3, 7, 20", "18, 3, 3, 3", "pads=[1, 1, 1, 1], ", 486},
      {"2, 17, 6, 19", "3, 17, 2, 2", "strides=[2, 3], ", 204},
      {"1, 2, 9, 9", "4, 2, 3, 3",
       "dilations=[2, 3], pads=[2, 3, 1, 2], strides=[2, 1], ", 72},
      {"1, 1, 3, 3", "2, 1, 1, 5", "pads=[0, 4, 0, 4], ", 10},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Compare(absl::StrCat("%x: i8[", c.input, "]"),
                      absl::StrCat(Weights(c.weights, c.count),
                                   "%y = conv2d(%x, %w) {", c.attrs,
                                   "out_dtype=i32}")),
              absl::OkStatus())
        << c.input << " " << c.weights << " " << c.attrs;
  }
}

// As QLinearMatMul and QLinearConv import: zero points, bias, scales.
constexpr char kQuantized[] =
    "%p = const i32[] {3} %i = cast(%x) {dtype=i32} %d = sub(%i, %p) ";

TEST(ExampleNpu, RunsQuantizedMatmul) {
  for (const char* dtype : {"i8", "u8"}) {
    EXPECT_EQ(
        Compare("%x: u8[5, 20]",
                absl::StrCat(Weights("20, 4", 80), kQuantized,
                             "%s = matmul(%d, %w) {out_dtype=i32} "
                             "%f = cast(%s) {dtype=f32} "
                             "%sc = const f32[1, 4] {0.01, 0.02, 0.03, 0.005} "
                             "%r = mul(%f, %sc) %so = const f32[] {0.37} "
                             "%z = const ",
                             dtype,
                             "[] {7} "
                             "%y = quantize(%r, %so, %z) {dtype=",
                             dtype, "}")),
        absl::OkStatus());
  }
}

TEST(ExampleNpu, RunsQuantizedConvolutionsInARow) {
  // Two composites in one region, with a tensor of the device between them.
  EXPECT_EQ(
      Compare(
          "%x: u8[1, 2, 6, 6]",
          absl::StrCat(Weights("4, 2, 3, 3", 72), kQuantized,
                       "%s = conv2d(%d, %w) {out_dtype=i32, pads=[1, 1, 1, 1]} "
                       "%b = const i32[4, 1, 1] {100, -2000, 3, 40} "
                       "%t = add(%s, %b) %f = cast(%t) {dtype=f32} "
                       "%sc = const f32[] {0.05} %r = mul(%f, %sc) "
                       "%so = const f32[] {0.5} %z = const i8[] {-2} "
                       "%q = quantize(%r, %so, %z) {dtype=i8} "
                       "%w2 = const i8[1, 4, 1, 1] {1, -2, 3, 4} "
                       "%y = conv2d(%q, %w2) {out_dtype=i32}")),
      absl::OkStatus());
}

TEST(ExampleNpu, MakesTwoArtifactsForTwoLoaders) {
  auto set = CompileRelay(
      "example_npu", absl::StrCat("module { func @main(%x: i8[3, 4]) -> (%y) {",
                                  Weights("4, 5", 20),
                                  "%y = matmul(%x, %w) {out_dtype=i32} } }"));
  ASSERT_TRUE(set.ok()) << set.status();
  std::vector<std::string> loaders;
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.codegen_id == "example_npu") {
      loaders.push_back(artifact.loader);
    }
    if (artifact.loader == "native") {
      EXPECT_THAT(std::string(artifact.content.view()),
                  HasSubstr("  SUBMIT(self, 0, (const Buffer[]){{in0, 12}, "
                            "{NULL, 0}, {in1, 20}, {NULL, 0}, {NULL, 0}, "
                            "{NULL, 0}, {NULL, 0}, {out0, 60}, });\n"));
    }
  }
  EXPECT_THAT(loaders,
              ::testing::UnorderedElementsAre("native", "example_npu"));
}

// A matrix without rows, and one with a single channel and scale.
TEST(ExampleNpu, RunsOddSizes) {
  EXPECT_EQ(Compare("%x: i8[0, 4]", Weights("4, 5", 20) +
                                        "%y = matmul(%x, %w) {out_dtype=i32}"),
            absl::OkStatus());
  EXPECT_EQ(Compare("%x: i8[3, 1]",
                    Weights("1, 1", 1) + "%y = matmul(%x, %w) {out_dtype=i32}"),
            absl::OkStatus());
}

// Eight bits wrap around where the device would not.
TEST(ExampleNpu, LeavesSumsOfOtherWidths) {
  for (const char* between :
       {"%c = cast(%x) {dtype=i8}", "%p = const u8[] {3} %c = sub(%x, %p)"}) {
    EXPECT_THAT(
        std::string(Compare("%x: u8[3, 4]",
                            absl::StrCat(Weights("4, 5", 20), between,
                                         "%y = matmul(%c, %w) {out_dtype=i32}"))
                        .message()),
        HasSubstr("took nothing"))
        << between;
  }
  EXPECT_EQ(Compare("%x: u8[3, 4]",
                    absl::StrCat(Weights("4, 5", 20),
                                 "%c = cast(%x) {dtype=i32}"
                                 "%y = matmul(%c, %w) {out_dtype=i32}")),
            absl::OkStatus());
}

TEST(ExampleNpu, LeavesWhatItCannotDo) {
  // Weights that are no constant, groups, a bias that is a vector of pixels.
  EXPECT_EQ(CompareWithEvaluate(
                "example_npu,llvm",
                absl::StrCat("module { func @main(%x: i8[1, 2, 4, 4], "
                             "%v: i8[16, 3]) -> (%y, %z) {",
                             Weights("2, 1, 2, 2", 8),
                             "%y = conv2d(%x, %w) {groups=2, out_dtype=i32} "
                             "%w2 = const i8[4, 4] {1, 2, 3, 4, 5, 6, 7, 8, 9, "
                             "1, 2, 3, 4, 5, 6, 7} "
                             "%z = matmul(%x, %w2) {out_dtype=i32} } }")),
            absl::OkStatus());
}

// What is wrong with the set, on loading it or on running it, when its stream,
// of one command, is changed.
std::string RunChanged(const std::function<void(std::string*)>& edit) {
  static const auto* const set = new absl::StatusOr<ArtifactSet>(CompileRelay(
      "example_npu",
      absl::StrCat("module { func @main(%x: i8[2, 3, 5, 6]) -> (%y) {",
                   Weights("4, 3, 3, 2", 72),
                   "%y = conv2d(%x, %w) {out_dtype=i32, pads=[1, 1, 1, 1]} "
                   "} }")));
  EXPECT_TRUE(set->ok()) << set->status();
  ArtifactSet changed;
  changed.mutable_provenance() = (*set)->provenance();
  for (Artifact artifact : (*set)->artifacts()) {
    if (artifact.loader == "example_npu") {
      std::string stream(artifact.content.view());
      EXPECT_EQ(stream.size(), sizeof(Command));
      edit(&stream);
      artifact.content = Blob::FromString(stream);
    }
    EXPECT_TRUE(changed.Add(std::move(artifact)).ok());
  }
  auto model = StoreAndLoad(changed);
  if (!model.ok()) return std::string(model.status().message());
  Tensor x = *Tensor::Empty(DataType::Int(8), {2, 3, 5, 6});
  std::memset(x.mutable_raw_data(), 1, x.bytes());
  return std::string(testing_support::RunModel(*model, {x}).status().message());
}

std::string RunWithCommand(const std::function<void(Command*)>& edit) {
  return RunChanged([&](std::string* stream) {
    Command command;
    std::memcpy(&command, stream->data(), sizeof(command));
    edit(&command);
    std::memcpy(stream->data(), &command, sizeof(command));
  });
}

TEST(ExampleNpu, HostileStreamsAreErrors) {
  EXPECT_EQ(RunWithCommand([](Command*) {}), "");
  const int64_t huge = int64_t{1} << 62;
  const std::vector<std::function<void(Command*)>> edits = {
      [&](Command* c) { c->images = 3; },
      [&](Command* c) { c->images = 0; },
      [&](Command* c) { c->images = -2; },
      [&](Command* c) { c->images = huge; },
      [&](Command* c) { c->channels = 4; },
      [&](Command* c) { c->channels = INT64_MIN; },
      [&](Command* c) { c->outputs = 5; },
      [&](Command* c) { c->outputs = 1; },
      [&](Command* c) { c->outputs = huge; },
      [&](Command* c) { c->y.input = 6; },
      [&](Command* c) { c->x.input = INT64_MAX; },
      [&](Command* c) { c->y.kernel = 0; },
      [&](Command* c) { c->x.kernel = 3; },
      [&](Command* c) { c->y.output = 0; },
      [&](Command* c) { c->x.output = -1; },
      [&](Command* c) { c->x.output = 8; },
      // The right number of elements in all, and of bytes.
      [&](Command* c) { c->channels = 1 << 20, c->y.kernel = 1 << 20; },
      [&](Command* c) { c->y.kernel = huge, c->x.kernel = huge; },
      [&](Command* c) { c->input = DataType::Int(32); },
      [&](Command* c) { c->weights.lanes = 0; },
      [&](Command* c) { c->output = DataType::Int(8); },
      [&](Command* c) { c->output.bits = 0; },
      [&](Command* c) { c->output.bits = 255, c->output.lanes = 65535; },
  };
  for (size_t i = 0; i < edits.size(); ++i) {
    EXPECT_THAT(RunWithCommand(edits[i]),
                HasSubstr("the stream is not the launcher's"))
        << i;
  }
  EXPECT_THAT(RunChanged([](std::string* s) { s->pop_back(); }),
              HasSubstr("test_example_npu_0.npu: half a command"));
  EXPECT_THAT(RunChanged([](std::string* s) { s->clear(); }),
              HasSubstr("the stream is not the launcher's"));
}

// What is not about sizes makes other results, wherever it would reach.
TEST(ExampleNpu, HostileStepsReadNothingOutside) {
  const std::vector<int64_t> steps = {INT64_MIN, -1, INT64_MAX};
  for (int64_t step : steps) {
    for (int which = 0; which < 6; ++which) {
      EXPECT_EQ(RunWithCommand([&](Command* c) {
                  Axis& axis = which % 2 == 0 ? c->y : c->x;
                  (which < 2   ? axis.stride
                   : which < 4 ? axis.dilation
                               : axis.pad) = step;
                }),
                "")
          << step << " " << which;
    }
  }
  EXPECT_EQ(RunWithCommand([](Command* c) { c->transposed = 77; }), "");
  EXPECT_EQ(RunWithCommand([](Command* c) { c->input.code = 200; }), "");
}

// Any byte of a stream changed: an error or other results.
TEST(ExampleNpu, DamageNeverCrashes) {
  int errors = 0;
  for (size_t i = 0; i < sizeof(Command); i += 5) {
    errors += !RunChanged([&](std::string* s) { (*s)[i] ^= 0x81; }).empty();
  }
  EXPECT_GT(errors, 10);
}

}  // namespace
}  // namespace ingot

// Streams that nobody compiled, with a launcher that hands over operands at the
// ends of their memory: whatever a stream says, the device stays inside.

#include "backends/example_npu/loader.h"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/example_npu/stream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/function.h"
#include "runtime/module.h"

namespace ingot::example_npu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Memory of exactly so many bytes, as sanitizers see it.
struct Memory {
  std::vector<int8_t> input = std::vector<int8_t>(2 * 3 * 5 * 6, 1);
  std::vector<int8_t> weights = std::vector<int8_t>(4 * 3 * 3 * 2, 2);
  std::vector<int32_t> output = std::vector<int32_t>(2 * 4 * 5 * 7, -7);
  Operands operands;

  Memory() {
    const auto buffer = [](auto& v) {
      return Buffer{v.data(), v.size() * sizeof(v[0])};
    };
    operands = {};
    operands.input = buffer(input);
    operands.weights = buffer(weights);
    operands.output = buffer(output);
  }
};

Memory* g_memory = nullptr;  // of the call

// Does what the generated launcher does, without checks.
int Launch(void* self, const TVMFFIAny*, int32_t, TVMFFIAny*) {
  using Submit = int(const void*, int, const Operands*);
  return (**static_cast<Submit* const*>(self))(self, 0, &g_memory->operands);
}

// pads=[1, 1, 1, 1] of a kernel of 3 x 2.
Command Good() {
  return {2,
          3,
          4,
          {5, 3, 5, 1, 1, 1},
          {6, 2, 7, 1, 1, 1},
          DataType::Int(8),
          DataType::Int(8),
          DataType::Int(32),
          0};
}

// The error of loading a stream or of running its first command.
std::string RunStream(const std::string& bytes, Memory* memory) {
  Artifact artifact;
  artifact.file_name = "f.npu";
  artifact.content = Blob::FromString(bytes);
  LoaderRegistry loaders;
  EXPECT_TRUE(RegisterExampleNpuLoader(&loaders).ok());
  const ArtifactSet set;
  LoadContext context{set, Plan(), {}, nullptr};
  auto library = std::make_shared<TableModule>("native");
  EXPECT_TRUE(
      library->Add("f_launch", Function(&Launch, nullptr, nullptr)).ok());
  context.library = library;
  auto module = (**loaders.Find("example_npu"))({&artifact, 1}, context);
  if (!module.ok()) return std::string(module.status().message());
  g_memory = memory;
  TVMFFIAny result;
  return std::string((*module)->GetFunction("f")->Call({}, &result).message());
}

std::string Bytes(const Command& command) {
  return std::string(reinterpret_cast<const char*>(&command), sizeof(command));
}

std::string RunWith(const std::function<void(Command*)>& edit) {
  Command command = Good();
  edit(&command);
  Memory memory;
  return RunStream(Bytes(command), &memory);
}

TEST(ExampleNpuLoader, RunsACommand) {
  Memory memory;
  EXPECT_EQ(RunStream(Bytes(Good()), &memory), "");
  // Two of three rows, one of two columns, three channels, at a corner.
  EXPECT_EQ(memory.output[0], 2 * 2 * 1 * 3);
  EXPECT_EQ(memory.output[7 + 1], 2 * 3 * 2 * 3);
  EXPECT_EQ(memory.output.back(), memory.output[0]);
}

TEST(ExampleNpuLoader, ScalesAndSaturates) {
  Memory memory;
  std::vector<uint8_t> output(2, 1);
  std::vector<int32_t> bias = {100, -100000};
  std::vector<float> scale = {0.5}, step = {2};
  std::vector<uint8_t> zero = {10};
  std::vector<int8_t> input = {3}, weights = {4, 5};
  std::vector<int32_t> input_zero = {1};
  memory.operands = {{input.data(), 1},   {input_zero.data(), 4},
                     {weights.data(), 2}, {bias.data(), 8},
                     {scale.data(), 4},   {step.data(), 4},
                     {zero.data(), 1},    {output.data(), 2}};
  const Axis one = {1, 1, 1, 1, 1, 0};
  const Command command = {
      1, 1, 2, one, one, DataType::Int(8), DataType::Int(8), DataType::UInt(8),
      0};
  EXPECT_EQ(RunStream(Bytes(command), &memory), "");
  // round((2 * 4 + 100) * 0.5 / 2) + 10, and one far below 0.
  EXPECT_THAT(output, ElementsAre(37, 0));
}

TEST(ExampleNpuLoader, HostileStreamsAreErrors) {
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
      [&](Command* c) { c->outputs = 0; },
      [&](Command* c) { c->outputs = huge; },
      [&](Command* c) { c->y.input = 6; },
      [&](Command* c) { c->x.input = INT64_MAX; },
      [&](Command* c) { c->y.kernel = 0; },
      [&](Command* c) { c->x.kernel = 3; },
      [&](Command* c) { c->y.output = 0; },
      [&](Command* c) { c->x.output = -1; },
      [&](Command* c) { c->x.output = 8; },
      [&](Command* c) { c->channels = 1 << 20, c->y.kernel = 1 << 20; },
      [&](Command* c) { c->y.kernel = huge, c->x.kernel = huge; },
      [&](Command* c) { c->input = DataType::Int(32); },
      [&](Command* c) { c->weights.lanes = 0; },
      [&](Command* c) { c->output = DataType::Int(8); },
      [&](Command* c) { c->output.bits = 0; },
      [&](Command* c) { c->output.bits = 255, c->output.lanes = 65535; },
  };
  for (size_t i = 0; i < edits.size(); ++i) {
    EXPECT_THAT(RunWith(edits[i]),
                HasSubstr("the stream is not the launcher's"))
        << i;
  }
  Memory memory;
  EXPECT_THAT(RunStream(Bytes(Good()).substr(1), &memory),
              HasSubstr("f.npu: half a command"));
  EXPECT_THAT(RunStream("", &memory),
              HasSubstr("the stream is not the launcher's"));
}

// Streams whose operands have no elements, where products of sizes overflow.
TEST(ExampleNpuLoader, NothingIsRunWithoutElements) {
  const int64_t huge = int64_t{1} << 62;
  Memory memory;
  memory.operands = {};
  for (const auto& edit : std::vector<std::function<void(Command*)>>{
           [&](Command* c) { c->outputs = c->channels = 0, c->images = huge; },
           [&](Command* c) {
             c->channels = c->images = 0;
             c->y.output = c->x.output = c->y.input = c->x.input = huge;
             c->y.kernel = c->x.kernel = huge;
           }}) {
    Command command = Good();
    edit(&command);
    EXPECT_EQ(RunStream(Bytes(command), &memory), "");
  }
}

// Fields that are not about sizes only change results.
TEST(ExampleNpuLoader, HostileStepsReadNothingOutside) {
  for (int64_t step :
       {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{1} << 20, INT64_MAX}) {
    for (int which = 0; which < 6; ++which) {
      EXPECT_EQ(RunWith([&](Command* c) {
                  Axis& axis = which % 2 == 0 ? c->y : c->x;
                  (which < 2   ? axis.stride
                   : which < 4 ? axis.dilation
                               : axis.pad) = step;
                }),
                "")
          << step << " " << which;
    }
  }
  EXPECT_EQ(RunWith([](Command* c) { c->transposed = 77; }), "");
  EXPECT_EQ(RunWith([](Command* c) { c->input.code = 200; }), "");
}

// Any bit of a stream changed: an error or other results.
TEST(ExampleNpuLoader, DamageNeverCrashes) {
  int errors = 0;
  for (size_t bit = 0; bit < 8 * sizeof(Command); ++bit) {
    std::string bytes = Bytes(Good());
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    Memory memory;
    errors += !RunStream(bytes, &memory).empty();
  }
  EXPECT_GT(errors, 500);
}

}  // namespace
}  // namespace ingot::example_npu

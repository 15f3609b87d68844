// Streams that nobody compiled, with a launcher that hands over arguments at
// the ends of their memory: whatever a stream says, the device stays inside.

#include "backends/example_npu/loader.h"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/example_npu/device.h"
#include "backends/example_npu/stream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/plan/shared_plan.h"

namespace ingot::example_npu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Buffer> g_arguments;  // of the call

// Does what the generated launcher does, without checks.
int LaunchAll(void* self, const TVMFFIAny*, int32_t, TVMFFIAny*) {
  using Launch = int(const void*, const Buffer*, int);
  return (**static_cast<Launch* const*>(self))(
      self, g_arguments.data(), static_cast<int>(g_arguments.size()));
}

Operand Argument(uint32_t index, uint64_t bytes) {
  return {Place::kArgument, index, 0, bytes};
}

// A convolution with pads=[1, 1, 1, 1] and a kernel of 3 x 2.
Stream Good() {
  Stream stream;
  stream.arguments = {2 * 3 * 5 * 6, 4 * 3 * 3 * 2, 2 * 4 * 5 * 7 * 4};
  stream.inputs = 2;
  Command command = {2,
                     3,
                     4,
                     {5, 3, 5, 1, 1, 1},
                     {6, 2, 7, 1, 1, 1},
                     DataType::Int(8),
                     DataType::Int(8),
                     DataType::Int(32),
                     0,
                     {}};
  command.operands[kInput] = Argument(0, stream.arguments[0]);
  command.operands[kWeights] = Argument(1, stream.arguments[1]);
  command.operands[kOutput] = Argument(2, stream.arguments[2]);
  stream.commands = {command};
  return stream;
}

class NpuLoaderTest : public ::testing::Test {
 protected:
  // Memory of exactly as many bytes as each of `arguments`, as sanitizers see
  // it. The last one is what the stream computes.
  template <typename T>
  void Put(const std::vector<T>& values) {
    const size_t bytes = values.size() * sizeof(T);
    void* const memory = *open_.api->Allocate(open_.device, bytes, 16);
    EXPECT_TRUE(
        open_.api->CopyFromCpu(open_.device, memory, values.data(), bytes)
            .ok());
    arguments_.push_back({memory, bytes});
  }
  void PutGood() {
    Put(std::vector<int8_t>(2 * 3 * 5 * 6, 1));
    Put(std::vector<int8_t>(4 * 3 * 3 * 2, 2));
    Put(std::vector<int32_t>(2 * 4 * 5 * 7, -7));
  }

  // The error of loading a stream or of running it.
  std::string Run(const std::string& bytes) {
    Artifact artifact;
    artifact.codegen_id = kName;
    artifact.file_name = "f.npu";
    artifact.target_key = "npu";
    artifact.content = Blob::FromString(bytes);
    LoaderRegistry loaders;
    EXPECT_TRUE(RegisterExampleNpuLoader(&loaders).ok());
    const ArtifactSet set;
    Plan plan;
    plan.add_devices();
    plan.add_devices()->set_target_key("npu");
    LoadContext context{set, SharePlan(std::move(plan)), {}, nullptr};
    context.devices = {OpenDevice::Cpu(), open_};
    auto library = std::make_shared<TableModule>("native");
    EXPECT_TRUE(
        library->Add("f_launch", Function(&LaunchAll, nullptr, nullptr)).ok());
    context.library = library;
    auto module = (**loaders.Find(kName))({&artifact, 1}, context);
    if (!module.ok()) return std::string(module.status().message());
    g_arguments = arguments_;
    TVMFFIAny result;
    absl::Status status = (*module)->GetFunction("f")->Call({}, &result);
    // The copy waits for the commands.
    output_.resize(arguments_.back().bytes);
    status.Update(open_.api->CopyToCpu(open_.device, output_.data(),
                                       arguments_.back().address,
                                       output_.size()));
    return std::string(status.message());
  }

  std::string RunWith(const std::function<void(Command*)>& edit) {
    Stream stream = Good();
    edit(&stream.commands[0]);
    return Run(WriteStream(stream));
  }

  int32_t OutputAt(int i) const {
    int32_t value;
    std::memcpy(&value, output_.data() + i * sizeof(value), sizeof(value));
    return value;
  }

  OpenDevice open_ = NpuDevice::Open(1 << 20);
  std::vector<Buffer> arguments_;
  std::string output_;
};

TEST_F(NpuLoaderTest, RunsACommand) {
  PutGood();
  EXPECT_EQ(Run(WriteStream(Good())), "");
  // Two of three rows, one of two columns, three channels, at a corner.
  EXPECT_EQ(OutputAt(0), 2 * 2 * 1 * 3);
  EXPECT_EQ(OutputAt(7 + 1), 2 * 3 * 2 * 3);
  EXPECT_EQ(OutputAt(2 * 4 * 5 * 7 - 1), OutputAt(0));
}

TEST_F(NpuLoaderTest, ScalesAndSaturates) {
  Put<int8_t>({3});
  Put<int32_t>({1});
  Put<int8_t>({4, 5});
  Put<int32_t>({100, -100000});
  Put<float>({0.5});
  Put<float>({2});
  Put<uint8_t>({10});
  Put<uint8_t>({1, 1});
  const Axis one = {1, 1, 1, 1, 1, 0};
  Stream stream;
  Command command = {
      1, 1, 2, one, one, DataType::Int(8), DataType::Int(8), DataType::UInt(8),
      0, {}};
  for (uint32_t i = 0; i < kNumOperands; ++i) {
    stream.arguments.push_back(arguments_[i].bytes);
    command.operands[i] = Argument(i, arguments_[i].bytes);
  }
  stream.inputs = kNumOperands - 1;
  stream.commands = {command};
  EXPECT_EQ(Run(WriteStream(stream)), "");
  // round((2 * 4 + 100) * 0.5 / 2) + 10, and one far below 0.
  EXPECT_THAT(output_, ElementsAre(37, 0));
}

TEST_F(NpuLoaderTest, HostileCommandsAreRefused) {
  PutGood();
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
      [&](Command* c) { c->y.stride = 0; },
      [&](Command* c) { c->x.stride = -1; },
      [&](Command* c) { c->y.dilation = INT64_MAX; },
      [&](Command* c) { c->x.pad = INT64_MIN; },
      [&](Command* c) { c->input = DataType::Int(32); },
      [&](Command* c) { c->input.code = 200; },
      [&](Command* c) { c->weights.lanes = 0; },
      [&](Command* c) { c->output = DataType::Int(8); },
      [&](Command* c) { c->output.bits = 0; },
      [&](Command* c) { c->output.bits = 255, c->output.lanes = 65535; },
      [&](Command* c) { c->operands[kInput].place = Place::kNone; },
      [&](Command* c) { c->operands[kInput].place = Place::kTemporary; },
      [&](Command* c) { c->operands[kInput].place = Place::kConstant; },
      [&](Command* c) { c->operands[kInput].place = static_cast<Place>(4); },
      [&](Command* c) { c->operands[kInput].argument = 3; },
      [&](Command* c) { c->operands[kInput].offset = 16; },
      [&](Command* c) { c->operands[kInput].offset = UINT64_MAX - 15; },
      [&](Command* c) { c->operands[kInput].bytes = UINT64_MAX; },
      [&](Command* c) {
        c->operands[kBias] = {Place::kArgument, 0, 0, 8};
      },
      [&](Command* c) {
        c->operands[kBias] = {Place::kArgument, 0, 1, 4};
      },
      [&](Command* c) { c->operands[kInputZero] = Argument(0, 2); },
  };
  for (size_t i = 0; i < edits.size(); ++i) {
    EXPECT_THAT(RunWith(edits[i]), HasSubstr("f.npu: command 0: ")) << i;
  }
  // Where it would write to what is only read.
  Stream stream = Good();
  stream.inputs = 3;
  EXPECT_THAT(Run(WriteStream(stream)),
              HasSubstr("f.npu: command 0: it writes to what is only read"));
}

TEST_F(NpuLoaderTest, HostileHeadersAreRefused) {
  PutGood();
  const std::string good = WriteStream(Good());
  EXPECT_THAT(Run(""), HasSubstr("f.npu: it ends before"));
  EXPECT_THAT(Run(good.substr(1)), HasSubstr("does not begin with npu-cmd2"));
  EXPECT_THAT(Run(good.substr(0, good.size() - 1)),
              HasSubstr("it ends before"));
  EXPECT_THAT(Run(good + "x"), HasSubstr("1 bytes of constants, not 0"));
  for (const uint64_t count : {uint64_t{4}, uint64_t{1} << 61, UINT64_MAX}) {
    std::string bytes = good;
    std::memcpy(bytes.data() + offsetof(StreamHeader, arguments), &count,
                sizeof(count));
    EXPECT_NE(Run(bytes), "") << count;
    bytes = good;
    std::memcpy(bytes.data() + offsetof(StreamHeader, commands), &count,
                sizeof(count));
    EXPECT_NE(Run(bytes), "") << count;
  }
}

TEST_F(NpuLoaderTest, TheLauncherMustBeTheStreams) {
  PutGood();
  arguments_[0].bytes -= 1;
  const std::string wrong =
      "npu/example_npu/f.npu: it is for other arguments than its launcher's";
  EXPECT_EQ(Run(WriteStream(Good())), wrong);
  arguments_.erase(arguments_.begin());
  EXPECT_EQ(Run(WriteStream(Good())), wrong);
}

// Addresses are only known when a command runs.
TEST_F(NpuLoaderTest, AddressesAreCheckedBeforeEachCommand) {
  PutGood();
  Stream twice = Good();
  twice.commands.push_back(twice.commands[0]);
  char cpu[256];
  for (void* const address :
       {static_cast<void*>(cpu - reinterpret_cast<uintptr_t>(cpu) % 16 + 16),
        static_cast<void*>(static_cast<char*>(arguments_[0].address) + 16),
        static_cast<void*>(nullptr)}) {
    const Buffer good = arguments_[0];
    arguments_[0].address = address;
    EXPECT_THAT(Run(WriteStream(twice)),
                AllOf(HasSubstr("npu/example_npu/f.npu: command 0: "),
                      HasSubstr("has no 180 bytes at")));
    arguments_[0] = good;
    EXPECT_EQ(Run(WriteStream(twice)), "");
  }
}

TEST_F(NpuLoaderTest, TemporariesTakeMemoryOfTheDevice) {
  PutGood();
  Stream stream = Good();
  stream.temporary_bytes = uint64_t{1} << 63;
  EXPECT_THAT(Run(WriteStream(stream)),
              HasSubstr("npu/example_npu/f.npu: example_npu has no memory for "
                        "9223372036854775808 bytes"));
  stream.temporary_bytes = 1024;
  EXPECT_EQ(Run(WriteStream(stream)), "");
}

// Streams whose operands have no elements, where products of sizes overflow.
TEST_F(NpuLoaderTest, NothingIsRunWithoutElements) {
  for (int i = 0; i < 3; ++i) Put<int8_t>({});
  const int64_t most = int64_t{1} << 30;
  for (const auto& edit : std::vector<std::function<void(Command*)>>{
           [&](Command* c) { c->outputs = c->channels = 0, c->images = most; },
           [&](Command* c) {
             c->channels = c->images = 0;
             c->y.output = c->x.output = c->y.input = c->x.input = most;
             c->y.kernel = c->x.kernel = most;
           }}) {
    Stream stream = Good();
    stream.arguments = {0, 0, 0};
    for (Operand& operand : stream.commands[0].operands) operand.bytes = 0;
    edit(&stream.commands[0]);
    EXPECT_EQ(Run(WriteStream(stream)), "");
  }
}

// Steps only change results.
TEST_F(NpuLoaderTest, LargeStepsReadNothingOutside) {
  PutGood();
  for (int64_t step : {int64_t{1} << 20, int64_t{1} << 30}) {
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
}

// Any bit of a stream changed: an error or other results.
TEST_F(NpuLoaderTest, DamageNeverCrashes) {
  PutGood();
  const std::string good = WriteStream(Good());
  size_t errors = 0;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    errors += !Run(bytes).empty();
  }
  EXPECT_GT(errors, 8 * good.size() / 2);
}

}  // namespace
}  // namespace ingot::example_npu

// Command streams for the example's accelerator, run by a launcher that hands
// over arguments at the ends of their memory. The first byte chooses how large
// they are, and which of them is nowhere.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "backends/example_npu/device.h"
#include "backends/example_npu/loader.h"
#include "backends/example_npu/stream.h"
#include "base/status_macros.h"
#include "loaders/loader_registry.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/plan/shared_plan.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

using example_npu::Buffer;
using example_npu::Command;
using example_npu::NpuDevice;
using example_npu::Place;
using example_npu::Stream;

// So little that no command takes long.
constexpr size_t kMemoryBytes = 4096;

std::vector<Buffer> g_arguments;  // of the call

int Launch(void* self, const TVMFFIAny*, int32_t, TVMFFIAny*) {
  using LaunchStream = int(const void*, const Buffer*, int);
  return (**static_cast<LaunchStream* const*>(self))(
      self, g_arguments.data(), static_cast<int>(g_arguments.size()));
}

std::vector<uint64_t> SizesFor(unsigned choice) {
  return {2 * 3 * 5 * 6 + choice % 4, 4 * 3 * 3 * 2 + choice / 4 % 4,
          2 * 4 * 5 * 7 * 4 + choice / 16 % 4};
}

// A convolution into temporary memory, and one of constants from there.
std::string Seed(unsigned choice, int32_t transposed) {
  Stream stream;
  stream.arguments = SizesFor(choice);
  stream.inputs = 2;
  stream.temporary_bytes = 1120;
  stream.constants = std::string(1120, '\1');
  Command command = {2,
                     3,
                     4,
                     {5, 3, 5, 1, 1, 1},
                     {6, 2, 7, 1, 1, 1},
                     DataType::Int(8),
                     DataType::Int(8),
                     DataType::Int(32),
                     transposed,
                     {}};
  command.operands[example_npu::kInput] = {Place::kArgument, 0, 0, 180};
  command.operands[example_npu::kWeights] = {Place::kArgument, 1, 0, 72};
  command.operands[example_npu::kOutput] = {Place::kTemporary, 0, 0, 1120};
  stream.commands.push_back(command);
  command.operands[example_npu::kWeights].place = Place::kConstant;
  command.operands[example_npu::kBias] = {Place::kConstant, 0, 16, 16};
  command.operands[example_npu::kOutput] = {Place::kArgument, 2, 0, 1120};
  stream.commands.push_back(command);
  // Bytes, scaled, from what lies between commands.
  const example_npu::Axis one = {1, 1, 1, 1, 1, 0};
  command.y = command.x = one;
  command.images = 1;
  command.channels = 280;
  command.output = DataType::UInt(8);
  command.operands[example_npu::kInput] = {Place::kTemporary, 0, 0, 280};
  command.operands[example_npu::kWeights] = {Place::kConstant, 0, 0, 1120};
  command.operands[example_npu::kScale] = {Place::kConstant, 0, 0, 16};
  command.operands[example_npu::kStep] = {Place::kConstant, 0, 0, 4};
  command.operands[example_npu::kZero] = {Place::kConstant, 0, 0, 1};
  command.operands[example_npu::kOutput] = {Place::kTemporary, 0, 512, 4};
  stream.commands.push_back(command);
  return static_cast<char>(choice) + example_npu::WriteStream(stream);
}

// The arguments that the launcher hands over, in memory of exactly so many
// bytes, as sanitizers see it.
absl::StatusOr<std::vector<Buffer>> PlaceArguments(const OpenDevice& on,
                                                   unsigned choice) {
  std::vector<Buffer> arguments;
  for (const uint64_t bytes : SizesFor(choice)) {
    INGOT_ASSIGN_OR_RETURN(void* const memory,
                           on.api->Allocate(on.device, bytes, 16));
    arguments.push_back({memory, bytes});
  }
  if (choice / 64 != 0) arguments[choice / 64 - 1].address = nullptr;
  return arguments;
}

}  // namespace

std::vector<std::string> Seeds() {
  return {Seed(0, 0), Seed(0, 1), Seed(0x15, 0), Seed(0x40, 0), Seed(0xc0, 0)};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  if (bytes.empty()) return false;
  const OpenDevice on = NpuDevice::Open(kMemoryBytes);
  INGOT_ASSIGN_OR_RETURN(
      g_arguments, PlaceArguments(on, static_cast<unsigned char>(bytes[0])));
  Artifact artifact;
  artifact.codegen_id = example_npu::kName;
  artifact.file_name = "f.npu";
  artifact.target_key = "npu";
  artifact.content = Blob::FromString(std::string(bytes.substr(1)));
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterExampleNpuLoader(&loaders));
  const ArtifactSet set;
  Plan plan;
  plan.add_devices();
  plan.add_devices()->set_target_key("npu");
  LoadContext context{set, SharePlan(std::move(plan)), {}, nullptr};
  context.devices = {OpenDevice::Cpu(), on};
  auto library = std::make_shared<TableModule>("native");
  INGOT_RETURN_IF_ERROR(
      library->Add("f_launch", Function(&Launch, nullptr, nullptr)));
  context.library = library;
  INGOT_ASSIGN_OR_RETURN(const LoadBinaryFn* const load,
                         loaders.Find(example_npu::kName));
  const auto module = (*load)({&artifact, 1}, context);
  if (!module.ok()) return false;
  TVMFFIAny result;
  absl::Status status = (*module)->GetFunction("f")->Call({}, &result);
  // The commands run before this copy does.
  std::string output(g_arguments.back().bytes, '\0');
  status.Update(on.api->CopyToCpu(on.device, output.data(),
                                  g_arguments.back().address, output.size()));
  // Whatever failed while commands ran names its artifact.
  if (!status.ok() && status.code() != absl::StatusCode::kOutOfRange &&
      status.message().find("f.npu: ") == absl::string_view::npos) {
    return absl::InternalError(
        absl::StrCat("no artifact is named: ", status.message()));
  }
  return true;
}

}  // namespace ingot::fuzz

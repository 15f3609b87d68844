// Command streams for the example's accelerator, run by a launcher that hands
// over operands at the ends of their memory. The first byte chooses how large
// they are.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "artifact/artifact_set.h"
#include "backends/example_npu/loader.h"
#include "backends/example_npu/stream.h"
#include "base/status_macros.h"
#include "loaders/loader_registry.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

using example_npu::Buffer;
using example_npu::Command;
using example_npu::Operands;

// Memory of exactly so many elements, as sanitizers see it.
struct Memory {
  std::vector<int8_t> input, weights;
  std::vector<int32_t> output, bias;
  std::vector<float> scale = {0.5}, step = {2};
  std::vector<int8_t> zero = {1};
  Operands operands;

  explicit Memory(unsigned size)
      : input(2 * 3 * 5 * 6 + size % 4),
        weights(4 * 3 * 3 * 2 + size / 4 % 4),
        output(2 * 4 * 5 * 7 + size / 16 % 4),
        bias(size / 64 % 4) {
    const auto buffer = [](auto& v) {
      return Buffer{v.data(), v.size() * sizeof(v[0])};
    };
    operands = {buffer(input), {},           buffer(weights), buffer(bias),
                buffer(scale), buffer(step), buffer(zero),    buffer(output)};
  }
};

const Operands* g_operands = nullptr;  // of the call

// Submits the first three commands, as a generated launcher would.
int Launch(void* self, const TVMFFIAny*, int32_t, TVMFFIAny*) {
  using Submit = int(const void*, int, const Operands*);
  Submit* const submit = *static_cast<Submit* const*>(self);
  for (int i = 0; i < 3; ++i) {
    if (submit(self, i, g_operands) != 0) return -1;
  }
  return 0;
}

std::string Bytes(const Command& command) {
  return std::string(reinterpret_cast<const char*>(&command), sizeof(command));
}

}  // namespace

std::vector<std::string> Seeds() {
  const Command command = {2,
                           3,
                           4,
                           {5, 3, 5, 1, 1, 1},
                           {6, 2, 7, 1, 1, 1},
                           DataType::Int(8),
                           DataType::Int(8),
                           DataType::Int(32),
                           0};
  Command transposed = command;
  transposed.transposed = 1;
  return {std::string(1, '\0') + Bytes(command) + Bytes(transposed),
          std::string(1, '\x40') + Bytes(transposed)};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  if (bytes.empty()) return false;
  Memory memory(static_cast<unsigned char>(bytes[0]));
  Artifact artifact;
  artifact.file_name = "f.npu";
  artifact.content = Blob::FromString(std::string(bytes.substr(1)));
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterExampleNpuLoader(&loaders));
  const ArtifactSet set;
  LoadContext context{set, Plan(), {}, nullptr};
  auto library = std::make_shared<TableModule>("native");
  INGOT_RETURN_IF_ERROR(
      library->Add("f_launch", Function(&Launch, nullptr, nullptr)));
  context.library = library;
  INGOT_ASSIGN_OR_RETURN(const LoadBinaryFn* const load,
                         loaders.Find(example_npu::kName));
  const auto module = (*load)({&artifact, 1}, context);
  if (!module.ok()) return false;
  g_operands = &memory.operands;
  TVMFFIAny result;
  (*module)->GetFunction("f")->Call({}, &result).IgnoreError();
  return true;
}

}  // namespace ingot::fuzz

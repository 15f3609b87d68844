#include "backends/example_npu/loader.h"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/example_npu/stream.h"
#include "backends/example_npu/stream.pb.h"
#include "runtime/call_spec.h"
#include "runtime/host_api.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using example_npu::Command;
using example_npu::kTile;
using example_npu::Operation;
using example_npu::Stream;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

int32_t Read(DataType t, const void* data, int64_t i) {
  return t.is_uint() ? static_cast<const uint8_t*>(data)[i]
                     : static_cast<const int8_t*>(data)[i];
}

void Write(DataType t, void* data, int64_t i, float value) {
  const float low = t.is_uint() ? 0 : -128, high = t.is_uint() ? 255 : 127;
  const float v = std::isnan(value) ? 0
                  : value < low     ? low
                  : value > high    ? high
                                    : value;
  if (t.is_uint()) static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(v);
  if (t.is_int()) static_cast<int8_t*>(data)[i] = static_cast<int8_t>(v);
}

// A stream that has been checked, and its weights.
struct Loaded {
  Stream stream;
  std::vector<TensorSpec> types;
  std::vector<Tensor> weights;  // of each operation
  Function launcher;
};

// The commands run on a scratchpad of their own.
void RunOperation(const Operation& op, const Loaded& loaded, int index,
                  void** tensors) {
  int32_t input[kTile][kTile] = {}, weights[kTile][kTile] = {};
  int32_t sums[kTile][kTile] = {};
  const DataType in = loaded.types[op.input()].dtype;
  const DataType out = loaded.types[op.output()].dtype;
  const Tensor& tiles = loaded.weights[index];
  for (size_t at = 0; at < op.commands().size(); at += sizeof(Command)) {
    Command c;
    memcpy(&c, op.commands().data() + at, sizeof(c));
    const auto element = [&](int row, int column) {
      return int64_t{c.offset} + int64_t{row} * c.row_stride +
             int64_t{column} * c.column_stride;
    };
    switch (c.opcode) {
      case example_npu::kClear:
        memset(sums, 0, sizeof(sums));
        break;
      case example_npu::kLoadInput:
        memset(input, 0, sizeof(input));
        for (int i = 0; i < c.rows; ++i) {
          for (int j = 0; j < c.columns; ++j) {
            input[c.first_row + i][j] =
                Read(in, tensors[op.input()], element(i, j)) - op.input_zero();
          }
        }
        break;
      case example_npu::kLoadWeights:
        for (int i = 0; i < kTile * kTile; ++i) {
          weights[i / kTile][i % kTile] =
              Read(tiles.dtype(), tiles.raw_data(),
                   int64_t{c.offset} * kTile * kTile + i);
        }
        break;
      case example_npu::kMultiply:
        for (int i = 0; i < kTile * kTile * kTile; ++i) {
          const int row = i / (kTile * kTile), k = i / kTile % kTile;
          // As the device does, and C does not promise: sums wrap.
          sums[row][i % kTile] = static_cast<int32_t>(
              uint32_t(sums[row][i % kTile]) +
              uint32_t(input[row][k]) * uint32_t(weights[k][i % kTile]));
        }
        break;
      case example_npu::kStore:
        for (int i = 0; i < c.rows; ++i) {
          for (int j = 0; j < c.columns; ++j) {
            const int32_t sum = static_cast<int32_t>(
                uint32_t(sums[i][j]) + uint32_t(op.bias(c.channel + j)));
            if (op.scale_size() == 0) {
              static_cast<int32_t*>(tensors[op.output()])[element(i, j)] = sum;
              continue;
            }
            const float real = float(sum) * op.scale(c.channel + j);
            Write(out, tensors[op.output()], element(i, j),
                  std::nearbyint(real / op.output_scale()) +
                      float(op.output_zero()));
          }
        }
        break;
    }
  }
}

absl::Status CheckCommand(const Operation& op, const Command& c,
                          int64_t in_elements, int64_t out_elements,
                          int64_t tiles) {
  const auto inside = [&](int64_t elements) {
    int64_t low = c.offset, high = c.offset;
    (c.row_stride < 0 ? low : high) += (c.rows - int64_t{1}) * c.row_stride;
    (c.column_stride < 0 ? low : high) +=
        (c.columns - int64_t{1}) * c.column_stride;
    return c.rows >= 1 && c.rows <= kTile && c.columns >= 1 &&
           c.columns <= kTile && low >= 0 && high < elements;
  };
  switch (c.opcode) {
    case example_npu::kClear:
    case example_npu::kMultiply:
      return absl::OkStatus();
    case example_npu::kLoadInput:
      if (inside(in_elements) && c.first_row >= 0 &&
          c.first_row <= kTile - c.rows) {
        return absl::OkStatus();
      }
      return Bad("loads from outside of its input");
    case example_npu::kLoadWeights:
      if (c.offset >= 0 && c.offset < tiles) return absl::OkStatus();
      return Bad("loads from outside of its weights");
    case example_npu::kStore:
      if (inside(out_elements) && c.channel >= 0 &&
          c.channel <= op.bias_size() - c.columns) {
        return absl::OkStatus();
      }
      return Bad("stores outside of its output");
  }
  return Bad("has no opcode, but ", static_cast<int32_t>(c.opcode));
}

absl::Status CheckOperation(const Operation& op, const Tensor& weights,
                            const std::vector<TensorSpec>& types) {
  if (op.input() >= types.size() || op.output() >= types.size()) {
    return Bad("an operation reads or writes no tensor of the stream");
  }
  const TensorSpec &in = types[op.input()], &out = types[op.output()];
  const bool sums = op.scale_size() == 0;
  if (!in.dtype.is_integer() || in.dtype.bits != 8 ||
      !weights.dtype().is_integer() || weights.dtype().bits != 8 ||
      !out.dtype.is_integer() || out.dtype.bits != (sums ? 32 : 8) ||
      (!sums && op.scale_size() != op.bias_size())) {
    return Bad("an operation's types or scales do not fit");
  }
  const int64_t in_elements = *CountElements(in.shape);
  const int64_t out_elements = *CountElements(out.shape);
  if (op.commands().size() % sizeof(Command) != 0) return Bad("half a command");
  for (size_t at = 0; at < op.commands().size(); at += sizeof(Command)) {
    Command c;
    memcpy(&c, op.commands().data() + at, sizeof(c));
    absl::Status s = CheckCommand(op, c, in_elements, out_elements,
                                  weights.NumElements() / (kTile * kTile));
    if (!s.ok()) return Bad("command ", at / sizeof(c), " ", s.message());
  }
  return absl::OkStatus();
}

absl::Status Check(const LoadContext& context, Loaded* loaded) {
  const Stream& stream = loaded->stream;
  for (const example_npu::Tensor& t : stream.tensors()) {
    TensorSpec type{DataType::Int(8), {t.shape().begin(), t.shape().end()}};
    type.dtype.code = static_cast<uint8_t>(t.code());
    type.dtype.bits = static_cast<uint8_t>(t.bits());
    if (t.code() > 1 || (t.bits() != 8 && t.bits() != 32)) {
      return Bad("a tensor that is no integer of 8 or 32 bits");
    }
    auto bytes = CountBytes(type.dtype, type.shape);
    if (!bytes.ok()) return bytes.status();
    loaded->types.push_back(std::move(type));
  }
  if (uint64_t{stream.num_inputs()} + stream.num_outputs() >
      loaded->types.size()) {
    return Bad("more inputs and outputs than tensors");
  }
  for (const Operation& op : stream.operations()) {
    auto it = context.constants.find(op.weights());
    if (it == context.constants.end()) {
      return Bad("the set has no constant '", op.weights(), "'");
    }
    if (op.output() < stream.num_inputs()) return Bad("an input is written");
    if (absl::Status s = CheckOperation(op, it->second, loaded->types);
        !s.ok()) {
      return s;
    }
    loaded->weights.push_back(it->second);
  }
  std::optional<Function> launcher;
  if (context.library != nullptr) {
    launcher = context.library->GetFunction(stream.symbol() + "_launch");
  }
  if (!launcher) return Bad("the set's library has no launcher for it");
  loaded->launcher = *launcher;
  return absl::OkStatus();
}

// What the launcher calls: the driver of one call.
struct DeviceDriver : example_npu::Driver {
  const Loaded* loaded;
};

int Submit(const example_npu::Driver* driver, void** arguments) {
  const Loaded& loaded = *static_cast<const DeviceDriver*>(driver)->loaded;
  const Stream& stream = loaded.stream;
  const size_t count = stream.num_inputs() + stream.num_outputs();
  std::vector<void*> tensors(arguments, arguments + count);
  std::vector<Tensor> memory;
  for (size_t i = count; i < loaded.types.size(); ++i) {
    auto tensor = Tensor::Empty(loaded.types[i].dtype, loaded.types[i].shape);
    if (!tensor.ok()) {
      GetHostApi()->set_error("MemoryError", "the device's memory is full");
      return -1;
    }
    memory.push_back(*std::move(tensor));
    tensors.push_back(memory.back().mutable_raw_data());
  }
  for (int i = 0; i < stream.operations_size(); ++i) {
    RunOperation(stream.operations(i), loaded, i, tensors.data());
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Module>> loadbinary_example_npu(
    absl::Span<const Artifact> group, LoadContext& context) {
  auto module = std::make_shared<TableModule>("example_npu");
  for (const Artifact& artifact : group) {
    auto loaded = std::make_shared<Loaded>();
    const absl::string_view bytes = artifact.content.view();
    absl::Status status = loaded->stream.ParseFromArray(
                              bytes.data(), static_cast<int>(bytes.size()))
                              ? Check(context, loaded.get())
                              : Bad("is no stream of commands");
    if (status.ok()) {
      status = module->Add(
          loaded->stream.symbol(),
          Function::FromLambda([loaded](absl::Span<const TVMFFIAny> args,
                                        TVMFFIAny* result) {
            DeviceDriver driver;
            driver.submit = Submit;
            driver.loaded = loaded.get();
            const Function launch(loaded->launcher.call(), &driver, nullptr);
            return launch.Call(args, result);
          }));
    }
    if (!status.ok()) return Bad(artifact.file_name, ": ", status.message());
  }
  return module;
}

absl::Status RegisterExampleNpuLoader(LoaderRegistry* registry) {
  return registry->Register("example_npu", loadbinary_example_npu);
}

}  // namespace ingot

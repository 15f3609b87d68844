#include "backends/example_npu/read_stream.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/tensor.h"

namespace ingot::example_npu {
namespace {

// Numbers in commands are small enough for their products and sums to be int64.
constexpr int64_t kMostSteps = int64_t{1} << 30;

template <typename... Parts>
absl::Status Malformed(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Takes `count` elements from the front of `bytes`.
template <typename T>
absl::Status Take(absl::string_view* bytes, uint64_t count,
                  std::vector<T>* elements) {
  if (count > bytes->size() / sizeof(T)) {
    return Malformed("it ends before its ", count, " numbers or commands do");
  }
  elements->resize(count);
  if (count == 0) return absl::OkStatus();  // memcpy takes no null
  std::memcpy(elements->data(), bytes->data(), count * sizeof(T));
  bytes->remove_prefix(count * sizeof(T));
  return absl::OkStatus();
}

bool IsByte(DataType type) {
  return type == DataType::Int(8) || type == DataType::UInt(8);
}

bool IsSound(const Axis& a) {
  return std::min({a.input, a.kernel, a.output, a.pad}) >= 0 &&
         std::min(a.stride, a.dilation) >= 1 &&
         std::max({a.input, a.kernel, a.output, a.stride, a.dilation, a.pad}) <=
             kMostSteps;
}

// A command of a stream whose other parts were read.
class CommandChecker {
 public:
  CommandChecker(const Stream& stream, const Command& command)
      : stream_(stream), c_(command) {}

  absl::Status Check() const {
    const int64_t most = std::max({c_.images, c_.channels, c_.outputs});
    if (!IsSound(c_.y) || !IsSound(c_.x) || most > kMostSteps) {
      return Malformed("a size or a step out of range");
    }
    if (!IsByte(c_.input) || !IsByte(c_.weights) ||
        (!IsByte(c_.output) && c_.output != DataType::Int(32))) {
      return Malformed("only products of bytes");
    }
    for (int i = 0; i < kNumOperands; ++i) {
      const absl::Status placed = CheckPlace(c_.operands[i]);
      if (!placed.ok())
        return Malformed(kOperandNames[i], ": ", placed.message());
    }
    return CheckSizes();
  }

 private:
  // Whether there is memory where an operand lies.
  absl::Status CheckPlace(const Operand& o) const {
    uint64_t size = 0;
    switch (o.place) {
      case Place::kNone:
        break;
      case Place::kArgument:
        if (o.argument >= stream_.arguments.size()) {
          return Malformed("there is no argument ", o.argument);
        }
        size = stream_.arguments[o.argument];
        break;
      case Place::kTemporary:
        size = stream_.temporary_bytes;
        break;
      case Place::kConstant:
        size = stream_.constants.size();
        break;
      default:
        return Malformed("it lies nowhere");
    }
    if (o.offset % kTensorAlignment != 0) {
      return Malformed("it begins at ", o.offset, ", no multiple of ",
                       kTensorAlignment);
    }
    if (o.offset > size || o.bytes > size - o.offset) {
      return Malformed("it ends after ", o.offset, " + ", o.bytes,
                       " bytes, and there are ", size);
    }
    return absl::OkStatus();
  }

  // Whether an operand is a tensor of this type and shape.
  absl::Status Has(OperandIndex index, DataType type,
                   const std::vector<int64_t>& shape) const {
    const absl::StatusOr<size_t> bytes = CountBytes(type, shape);
    if (bytes.ok() && *bytes == c_.operands[index].bytes) {
      return absl::OkStatus();
    }
    return Malformed(kOperandNames[index], " has ", c_.operands[index].bytes,
                     " bytes and is to be ", TypeString(type, shape));
  }

  // The same where one element will do for all, and perhaps none.
  absl::Status HasOneOr(OperandIndex index, DataType type, int64_t count,
                        bool may_lack) const {
    const uint64_t bytes = c_.operands[index].bytes;
    if (may_lack && c_.operands[index].place == Place::kNone) {
      return absl::OkStatus();
    }
    if (bytes == type.bytes()) return absl::OkStatus();
    return Has(index, type, {count});
  }

  absl::Status CheckSizes() const {
    const DataType i32 = DataType::Int(32), f32 = DataType::Float(32);
    const bool sums = c_.output == i32;
    const absl::StatusOr<int64_t> words =
        CountElements({c_.channels, c_.y.kernel, c_.x.kernel});
    if (!words.ok() || *words > kScratchpadWords) {
      return Malformed("a kernel larger than the scratchpad");
    }
    INGOT_RETURN_IF_ERROR(Has(
        kInput, c_.input, {c_.images, c_.channels, c_.y.input, c_.x.input}));
    INGOT_RETURN_IF_ERROR(Has(kWeights, c_.weights, {c_.outputs, *words}));
    INGOT_RETURN_IF_ERROR(Has(
        kOutput, c_.output, {c_.images, c_.outputs, c_.y.output, c_.x.output}));
    INGOT_RETURN_IF_ERROR(HasOneOr(kInputZero, i32, 1, true));
    INGOT_RETURN_IF_ERROR(HasOneOr(kBias, i32, c_.outputs, true));
    INGOT_RETURN_IF_ERROR(HasOneOr(kScale, f32, c_.outputs, sums));
    INGOT_RETURN_IF_ERROR(HasOneOr(kStep, f32, 1, sums));
    INGOT_RETURN_IF_ERROR(HasOneOr(kZero, c_.output, 1, sums));
    const Operand& output = c_.operands[kOutput];
    const bool is_written =
        output.place == Place::kTemporary ||
        (output.place == Place::kArgument && output.argument >= stream_.inputs);
    return is_written ? absl::OkStatus()
                      : Malformed("it writes to what is only read");
  }

  const Stream& stream_;
  const Command& c_;
};

}  // namespace

absl::StatusOr<Stream> ReadStream(absl::string_view bytes) {
  std::vector<StreamHeader> header;
  INGOT_RETURN_IF_ERROR(Take(&bytes, 1, &header));
  if (absl::string_view(header[0].magic, sizeof(header[0].magic)) != kMagic) {
    return Malformed("it does not begin with ", kMagic);
  }
  Stream stream;
  stream.inputs = header[0].inputs;
  stream.temporary_bytes = header[0].temporary_bytes;
  INGOT_RETURN_IF_ERROR(Take(&bytes, header[0].arguments, &stream.arguments));
  INGOT_RETURN_IF_ERROR(Take(&bytes, header[0].commands, &stream.commands));
  if (bytes.size() != header[0].constant_bytes) {
    return Malformed("it has ", bytes.size(), " bytes of constants, not ",
                     header[0].constant_bytes);
  }
  stream.constants = std::string(bytes);
  for (size_t i = 0; i < stream.commands.size(); ++i) {
    const absl::Status sound =
        CommandChecker(stream, stream.commands[i]).Check();
    if (!sound.ok()) return Malformed("command ", i, ": ", sound.message());
  }
  return stream;
}

}  // namespace ingot::example_npu

#include "runtime/tensor_sequence.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

constexpr SequenceOpInfo kSequenceOps[] = {
    {SequenceOp::kMake, "sequence_make", "*x", 'L'},
    {SequenceOp::kMissing, "optional_none", "", 'L'},
    {SequenceOp::kCopy, "sequence_copy", "L", 'L'},
    {SequenceOp::kGet, "optional_get", "L", 'L'},
    {SequenceOp::kInsert, "sequence_insert", "Lx?i", 'L'},
    {SequenceOp::kErase, "sequence_erase", "L?i", 'L'},
    {SequenceOp::kAt, "sequence_at", "Li", 'x'},
    {SequenceOp::kLength, "sequence_length", "L", 'i'},
    {SequenceOp::kHas, "optional_has_value", "L", 'b'},
    {SequenceOp::kConcat, "sequence_concat", "L", 'x'},
    {SequenceOp::kSplit, "sequence_split", "x?s", 'L'},
};

// More than any model needs; a run that goes on for ever ends here.
constexpr size_t kMaxTensors = size_t{1} << 20;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status TooMany() {
  return absl::ResourceExhaustedError(
      absl::StrCat("a sequence of more than ", kMaxTensors, " tensors"));
}

template <typename T>
absl::StatusOr<TensorOrSequence> Scalar(DataType dtype, T value) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, {}));
  *tensor.mutable_data<T>() = value;
  return TensorOrSequence(std::move(tensor));
}

// Operand `i`, a position in a sequence of `n`, as one from 0; `otherwise`
// where it is left out. `end_too`: it may be n.
absl::StatusOr<int64_t> Position(absl::Span<const SequenceOperand> operands,
                                 size_t i, size_t n, int64_t otherwise,
                                 bool end_too) {
  const int64_t at =
      i < operands.size() ? operands[i].tensor->data<int64_t>()[0] : otherwise;
  const int64_t count = static_cast<int64_t>(n);
  const int64_t place = at < 0 ? at + count : at;
  if (place >= 0 && place < count + (end_too ? 1 : 0)) return place;
  return Bad("position ", at, " in a sequence of ", count);
}

// The sequence of an operand as one that can be changed.
TensorSequence TakeSequence(const SequenceOperand& operand) {
  if (operand.own == nullptr) return *operand.sequence;
  return std::move(*operand.own);
}

absl::StatusOr<TensorOrSequence> Insert(
    absl::Span<const SequenceOperand> operands) {
  const size_t n = operands[0].sequence->tensors.size();
  if (n >= kMaxTensors) return TooMany();
  INGOT_ASSIGN_OR_RETURN(
      int64_t at, Position(operands, 2, n, static_cast<int64_t>(n), true));
  INGOT_ASSIGN_OR_RETURN(Tensor copy, operands[1].tensor->Clone());
  TensorSequence sequence = TakeSequence(operands[0]);
  sequence.tensors.insert(sequence.tensors.begin() + at, std::move(copy));
  return TensorOrSequence(std::move(sequence));
}

absl::StatusOr<TensorOrSequence> Erase(
    absl::Span<const SequenceOperand> operands) {
  INGOT_ASSIGN_OR_RETURN(
      int64_t at,
      Position(operands, 1, operands[0].sequence->tensors.size(), -1, false));
  TensorSequence sequence = TakeSequence(operands[0]);
  sequence.tensors.erase(sequence.tensors.begin() + at);
  return TensorOrSequence(std::move(sequence));
}

absl::StatusOr<TensorOrSequence> At(
    absl::Span<const SequenceOperand> operands) {
  const std::vector<Tensor>& tensors = operands[0].sequence->tensors;
  INGOT_ASSIGN_OR_RETURN(int64_t at,
                         Position(operands, 1, tensors.size(), 0, false));
  return TensorOrSequence(tensors[at]);
}

// The axis as one from 0, in tensors of `rank` dimensions.
absl::StatusOr<size_t> Axis(int64_t axis, size_t rank) {
  const int64_t n = static_cast<int64_t>(rank);
  const int64_t from_0 = axis < 0 ? axis + n : axis;
  if (from_0 < 0 || from_0 >= n) {
    return Bad("axis ", axis, " of a tensor of ", n, " dimensions");
  }
  return static_cast<size_t>(from_0);
}

int64_t Product(absl::Span<const int64_t> dims) {
  int64_t product = 1;  // of a tensor that is there: it was checked
  for (int64_t dim : dims) product *= dim;
  return product;
}

absl::StatusOr<TensorOrSequence> Concat(const SequenceStep& step,
                                        const TensorSequence& sequence) {
  const std::vector<Tensor>& parts = sequence.tensors;
  if (parts.empty()) return Bad("there is nothing in the sequence");
  std::vector<int64_t> dims(parts[0].shape().begin(), parts[0].shape().end());
  INGOT_ASSIGN_OR_RETURN(size_t axis,
                         Axis(step.axis, dims.size() + (step.flag ? 1 : 0)));
  if (step.flag) dims.insert(dims.begin() + axis, 1);
  int64_t extent = 0;
  for (const Tensor& part : parts) {
    std::vector<int64_t> own(part.shape().begin(), part.shape().end());
    if (step.flag && own.size() + 1 == dims.size()) {
      own.insert(own.begin() + axis, 1);
    }
    const bool fits = own.size() == dims.size();
    if (fits) dims[axis] = own[axis];
    if (!fits || own != dims ||
        __builtin_add_overflow(extent, own[axis], &extent)) {
      return Bad(part.TypeString(), " does not fit ", parts[0].TypeString(),
                 " in front of it");
    }
  }
  dims[axis] = extent;
  INGOT_ASSIGN_OR_RETURN(Tensor whole, Tensor::Empty(sequence.dtype, dims));
  if (whole.bytes() == 0) return TensorOrSequence(std::move(whole));
  const int64_t rows = Product(absl::MakeConstSpan(dims).subspan(0, axis));
  auto* to = static_cast<char*>(whole.mutable_raw_data());
  for (int64_t row = 0; row < rows; ++row) {
    for (const Tensor& part : parts) {
      const size_t bytes = part.bytes() / static_cast<size_t>(rows);
      const auto* from = static_cast<const char*>(part.raw_data());
      std::memcpy(to, from + static_cast<size_t>(row) * bytes, bytes);
      to += bytes;
    }
  }
  return TensorOrSequence(std::move(whole));
}

// The sizes of the parts along a dimension of `extent`.
absl::StatusOr<std::vector<int64_t>> PartSizes(const Tensor* split,
                                               int64_t extent) {
  std::vector<int64_t> sizes;
  if (split != nullptr && !split->shape().empty()) {
    if (split->values<int64_t>().size() > kMaxTensors) return TooMany();
    int64_t left = extent;
    for (int64_t size : split->values<int64_t>()) {
      if (size < 0 || size > left) {
        return Bad("the parts do not add up to ", extent);
      }
      left -= size;
      sizes.push_back(size);
    }
    if (left != 0) return Bad("the parts do not add up to ", extent);
    return sizes;
  }
  const int64_t size = split == nullptr ? 1 : split->data<int64_t>()[0];
  if (size < 1) return Bad("parts of ", size);
  if (extent / size >= static_cast<int64_t>(kMaxTensors)) return TooMany();
  for (int64_t left = extent; left > 0; left -= sizes.back()) {
    sizes.push_back(std::min(size, left));
  }
  return sizes;
}

absl::StatusOr<TensorOrSequence> Split(const SequenceStep& step,
                                       const Tensor& x, const Tensor* split) {
  INGOT_ASSIGN_OR_RETURN(size_t axis, Axis(step.axis, x.shape().size()));
  const int64_t extent = x.shape()[axis];
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, PartSizes(split, extent));
  TensorSequence sequence{x.dtype(), false, {}};
  std::vector<int64_t> dims(x.shape().begin(), x.shape().end());
  size_t at = 0;
  for (int64_t size : sizes) {
    dims[axis] = size;
    INGOT_ASSIGN_OR_RETURN(Tensor part, Tensor::Empty(x.dtype(), dims));
    if (part.bytes() > 0) {
      const size_t rows = Product(x.shape().subspan(0, axis));
      const size_t bytes = part.bytes() / rows;
      const size_t unit = bytes / static_cast<size_t>(size);
      const size_t stride = static_cast<size_t>(extent) * unit;
      auto* to = static_cast<char*>(part.mutable_raw_data());
      const auto* from = static_cast<const char*>(x.raw_data()) + at * unit;
      for (size_t row = 0; row < rows; ++row) {
        std::memcpy(to + row * bytes, from + row * stride, bytes);
      }
    }
    if (split == nullptr && !step.flag) {
      std::vector<int64_t> less = dims;
      less.erase(less.begin() + axis);
      INGOT_ASSIGN_OR_RETURN(part, part.Reshape(less));
    }
    sequence.tensors.push_back(std::move(part));
    at += static_cast<size_t>(size);
  }
  return TensorOrSequence(std::move(sequence));
}

absl::StatusOr<TensorOrSequence> Make(
    const SequenceStep& step, absl::Span<const SequenceOperand> operands) {
  TensorSequence sequence{step.dtype, false, {}};
  for (const SequenceOperand& operand : operands) {
    INGOT_ASSIGN_OR_RETURN(Tensor copy, operand.tensor->Clone());
    sequence.tensors.push_back(std::move(copy));
  }
  return TensorOrSequence(std::move(sequence));
}

absl::Status CheckOperand(const SequenceStep& step, char letter,
                          const SequenceOperand& operand) {
  if (letter == 'L') {
    if (operand.sequence == nullptr)
      return Bad("a tensor where a sequence must be");
    if (operand.sequence->dtype != step.dtype) {
      return Bad("a ", operand.sequence->TypeString(), ", not one of ",
                 step.dtype.ToString());
    }
    const bool may_miss =
        step.op == SequenceOp::kCopy || step.op == SequenceOp::kHas;
    if (operand.sequence->missing && !may_miss) {
      return Bad("the optional value is not there");
    }
    return absl::OkStatus();
  }
  if (operand.tensor == nullptr)
    return Bad("a sequence where a tensor must be");
  const DataType dtype = letter == 'x' ? step.dtype : DataType::Int(64);
  if (!operand.tensor->defined() || operand.tensor->dtype() != dtype ||
      (letter == 'i' && operand.tensor->NumElements() != 1)) {
    return Bad("an operand is not ", letter == 'i' ? "one " : "",
               dtype.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TensorSequence::Check() const {
  if (missing && !tensors.empty()) return Bad("it has tensors but is missing");
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined() || tensors[i].dtype() != dtype ||
        !tensors[i].device().is_cpu()) {
      return Bad("its tensor ", i, " is ",
                 tensors[i].defined() ? tensors[i].TypeString() : "undefined",
                 ", not ", dtype.ToString(), " on a CPU");
    }
  }
  return absl::OkStatus();
}

std::string TensorSequence::TypeString() const {
  const std::string type = absl::StrCat("sequence<", dtype.ToString(), ">");
  return missing ? absl::StrCat("no ", type)
                 : absl::StrCat(type, " of ", tensors.size());
}

const SequenceOpInfo* FindSequenceOp(absl::string_view name) {
  for (const SequenceOpInfo& info : kSequenceOps) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

absl::StatusOr<std::string> OperandsOf(const SequenceOpInfo& info,
                                       size_t count) {
  std::string letters;
  bool optional = false;
  for (char c : info.operands) {
    if (c == '?') {
      optional = true;
    } else if (c == '*') {
      return std::string(count, info.operands.back());
    } else if (!optional || letters.size() < count) {
      letters += c;
    }
  }
  if (letters.size() == count) return letters;
  return Bad(info.name, " does not take ", count, " operands");
}

absl::StatusOr<TensorOrSequence> RunSequenceStep(
    const SequenceStep& step, absl::Span<const SequenceOperand> operands) {
  const SequenceOpInfo* info = std::find_if(
      std::begin(kSequenceOps), std::end(kSequenceOps),
      [&](const SequenceOpInfo& candidate) { return candidate.op == step.op; });
  INGOT_ASSIGN_OR_RETURN(std::string letters,
                         OperandsOf(*info, operands.size()));
  for (size_t i = 0; i < operands.size(); ++i) {
    INGOT_RETURN_IF_ERROR(CheckOperand(step, letters[i], operands[i]));
  }
  switch (step.op) {
    case SequenceOp::kMake:
      return Make(step, operands);
    case SequenceOp::kMissing:
      return TensorOrSequence(TensorSequence{step.dtype, true, {}});
    case SequenceOp::kCopy:
    case SequenceOp::kGet:
      return TensorOrSequence(TakeSequence(operands[0]));
    case SequenceOp::kInsert:
      return Insert(operands);
    case SequenceOp::kErase:
      return Erase(operands);
    case SequenceOp::kAt:
      return At(operands);
    case SequenceOp::kLength:
      return Scalar(DataType::Int(64),
                    static_cast<int64_t>(operands[0].sequence->tensors.size()));
    case SequenceOp::kHas:
      return Scalar(DataType::Bool(), !operands[0].sequence->missing);
    case SequenceOp::kConcat:
      return Concat(step, *operands[0].sequence);
    case SequenceOp::kSplit:
      return Split(step, *operands[0].tensor,
                   operands.size() > 1 ? operands[1].tensor : nullptr);
  }
  return absl::InternalError("a sequence operator of no kind");
}

}  // namespace ingot

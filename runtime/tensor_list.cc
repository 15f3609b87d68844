#include "runtime/tensor_list.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

constexpr ListOpInfo kListOps[] = {
    {ListOp::kMake, "list_make", "*x", 'L'},
    {ListOp::kMissing, "list_missing", "", 'L'},
    {ListOp::kCopy, "list_copy", "L", 'L'},
    {ListOp::kGet, "list_get", "L", 'L'},
    {ListOp::kInsert, "list_insert", "Lx?i", 'L'},
    {ListOp::kErase, "list_erase", "L?i", 'L'},
    {ListOp::kAt, "list_at", "Li", 'x'},
    {ListOp::kLength, "list_length", "L", 'i'},
    {ListOp::kHas, "list_has", "L", 'b'},
    {ListOp::kConcat, "list_concat", "L", 'x'},
    {ListOp::kSplit, "list_split", "x?s", 'L'},
};

// More than any model needs; a run that goes on for ever ends here.
constexpr size_t kMaxTensors = size_t{1} << 20;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status TooMany() {
  return absl::ResourceExhaustedError(
      absl::StrCat("a list of more than ", kMaxTensors, " tensors"));
}

template <typename T>
absl::StatusOr<TensorOrList> Scalar(DataType dtype, T value) {
  absl::StatusOr<Tensor> tensor = Tensor::Empty(dtype, {});
  if (!tensor.ok()) return tensor.status();
  *tensor->template mutable_data<T>() = value;
  return TensorOrList(*std::move(tensor));
}

// Operand `i`, a position in a list of `n`, as one from 0; `otherwise` where it
// is left out. `end_too`: it may be n.
absl::StatusOr<int64_t> Position(absl::Span<const ListOperand> operands,
                                 size_t i, size_t n, int64_t otherwise,
                                 bool end_too) {
  const int64_t at =
      i < operands.size() ? operands[i].tensor->data<int64_t>()[0] : otherwise;
  const int64_t count = static_cast<int64_t>(n);
  const int64_t place = at < 0 ? at + count : at;
  if (place >= 0 && place < count + (end_too ? 1 : 0)) return place;
  return Bad("position ", at, " in a list of ", count);
}

// The list of an operand as one that can be changed.
TensorList TakeList(const ListOperand& operand) {
  if (operand.own == nullptr) return *operand.list;
  return std::move(*operand.own);
}

absl::StatusOr<TensorOrList> Insert(absl::Span<const ListOperand> operands) {
  const size_t n = operands[0].list->tensors.size();
  if (n >= kMaxTensors) return TooMany();
  INGOT_ASSIGN_OR_RETURN(
      int64_t at, Position(operands, 2, n, static_cast<int64_t>(n), true));
  INGOT_ASSIGN_OR_RETURN(Tensor copy, operands[1].tensor->Clone());
  TensorList list = TakeList(operands[0]);
  list.tensors.insert(list.tensors.begin() + at, std::move(copy));
  return TensorOrList(std::move(list));
}

absl::StatusOr<TensorOrList> Erase(absl::Span<const ListOperand> operands) {
  INGOT_ASSIGN_OR_RETURN(
      int64_t at,
      Position(operands, 1, operands[0].list->tensors.size(), -1, false));
  TensorList list = TakeList(operands[0]);
  list.tensors.erase(list.tensors.begin() + at);
  return TensorOrList(std::move(list));
}

absl::StatusOr<TensorOrList> At(absl::Span<const ListOperand> operands) {
  const std::vector<Tensor>& tensors = operands[0].list->tensors;
  INGOT_ASSIGN_OR_RETURN(int64_t at,
                         Position(operands, 1, tensors.size(), 0, false));
  return TensorOrList(tensors[at]);
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

absl::StatusOr<TensorOrList> Concat(const ListStep& step,
                                    const TensorList& list) {
  const std::vector<Tensor>& parts = list.tensors;
  if (parts.empty()) return Bad("there is nothing in the list");
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
  INGOT_ASSIGN_OR_RETURN(Tensor whole, Tensor::Empty(list.dtype, dims));
  if (whole.bytes() == 0) return TensorOrList(std::move(whole));
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
  return TensorOrList(std::move(whole));
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

absl::StatusOr<TensorOrList> Split(const ListStep& step, const Tensor& x,
                                   const Tensor* split) {
  INGOT_ASSIGN_OR_RETURN(size_t axis, Axis(step.axis, x.shape().size()));
  const int64_t extent = x.shape()[axis];
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, PartSizes(split, extent));
  TensorList list{x.dtype(), false, {}};
  std::vector<int64_t> dims(x.shape().begin(), x.shape().end());
  size_t at = 0;
  for (int64_t size : sizes) {
    dims[axis] = size;
    absl::StatusOr<Tensor> part = Tensor::Empty(x.dtype(), dims);
    if (!part.ok()) return part.status();
    if (part->bytes() > 0) {
      const size_t rows = Product(x.shape().subspan(0, axis));
      const size_t bytes = part->bytes() / rows;
      const size_t unit = bytes / static_cast<size_t>(size);
      const size_t stride = static_cast<size_t>(extent) * unit;
      auto* to = static_cast<char*>(part->mutable_raw_data());
      const auto* from = static_cast<const char*>(x.raw_data()) + at * unit;
      for (size_t row = 0; row < rows; ++row) {
        std::memcpy(to + row * bytes, from + row * stride, bytes);
      }
    }
    if (split == nullptr && !step.flag) {
      std::vector<int64_t> less = dims;
      less.erase(less.begin() + axis);
      part = part->Reshape(less);
      if (!part.ok()) return part.status();
    }
    list.tensors.push_back(*std::move(part));
    at += static_cast<size_t>(size);
  }
  return TensorOrList(std::move(list));
}

absl::StatusOr<TensorOrList> Make(const ListStep& step,
                                  absl::Span<const ListOperand> operands) {
  TensorList list{step.dtype, false, {}};
  for (const ListOperand& operand : operands) {
    INGOT_ASSIGN_OR_RETURN(Tensor copy, operand.tensor->Clone());
    list.tensors.push_back(std::move(copy));
  }
  return TensorOrList(std::move(list));
}

absl::Status CheckOperand(const ListStep& step, char letter,
                          const ListOperand& operand) {
  if (letter == 'L') {
    if (operand.list == nullptr) return Bad("a tensor where a list must be");
    if (operand.list->dtype != step.dtype) {
      return Bad("a ", operand.list->TypeString(), ", not one of ",
                 step.dtype.ToString());
    }
    const bool may_miss = step.op == ListOp::kCopy || step.op == ListOp::kHas;
    if (operand.list->missing && !may_miss) {
      return Bad("the optional value is not there");
    }
    return absl::OkStatus();
  }
  if (operand.tensor == nullptr) return Bad("a list where a tensor must be");
  const DataType dtype = letter == 'x' ? step.dtype : DataType::Int(64);
  if (!operand.tensor->defined() || operand.tensor->dtype() != dtype ||
      (letter == 'i' && operand.tensor->NumElements() != 1)) {
    return Bad("an operand is not ", letter == 'i' ? "one " : "",
               dtype.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TensorList::Check() const {
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

std::string TensorList::TypeString() const {
  const std::string type = absl::StrCat("list<", dtype.ToString(), ">");
  return missing ? absl::StrCat("no ", type)
                 : absl::StrCat(type, " of ", tensors.size());
}

const ListOpInfo* FindListOp(absl::string_view name) {
  for (const ListOpInfo& info : kListOps) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

absl::StatusOr<std::string> OperandsOf(const ListOpInfo& info, size_t count) {
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

absl::StatusOr<TensorOrList> RunListStep(
    const ListStep& step, absl::Span<const ListOperand> operands) {
  const ListOpInfo* info = std::find_if(
      std::begin(kListOps), std::end(kListOps),
      [&](const ListOpInfo& candidate) { return candidate.op == step.op; });
  INGOT_ASSIGN_OR_RETURN(std::string letters,
                         OperandsOf(*info, operands.size()));
  for (size_t i = 0; i < operands.size(); ++i) {
    INGOT_RETURN_IF_ERROR(CheckOperand(step, letters[i], operands[i]));
  }
  switch (step.op) {
    case ListOp::kMake:
      return Make(step, operands);
    case ListOp::kMissing:
      return TensorOrList(TensorList{step.dtype, true, {}});
    case ListOp::kCopy:
    case ListOp::kGet:
      return TensorOrList(TakeList(operands[0]));
    case ListOp::kInsert:
      return Insert(operands);
    case ListOp::kErase:
      return Erase(operands);
    case ListOp::kAt:
      return At(operands);
    case ListOp::kLength:
      return Scalar(DataType::Int(64),
                    static_cast<int64_t>(operands[0].list->tensors.size()));
    case ListOp::kHas:
      return Scalar(DataType::Bool(), !operands[0].list->missing);
    case ListOp::kConcat:
      return Concat(step, *operands[0].list);
    case ListOp::kSplit:
      return Split(step, *operands[0].tensor,
                   operands.size() > 1 ? operands[1].tensor : nullptr);
  }
  return absl::InternalError("a list operator of no kind");
}

}  // namespace ingot

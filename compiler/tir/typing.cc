#include "compiler/tir/typing.h"

#include <set>

#include "absl/strings/ascii.h"

namespace ingot::tir {

bool IsValueType(DataType t) {
  if (t.lanes < 1 || t.lanes > kMaxLanes) return false;
  switch (t.code) {
    case DataType::kInt:
    case DataType::kUInt:
      return t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
    case DataType::kFloat:
      return t.bits == 16 || t.bits == 32 || t.bits == 64;
    case DataType::kBFloat:
      return t.bits == 16;
    case DataType::kBool:
      return t.bits == 8;
    default:
      return false;
  }
}

bool IsComparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEq:
    case BinaryOp::kNe:
    case BinaryOp::kLt:
    case BinaryOp::kLe:
    case BinaryOp::kGt:
    case BinaryOp::kGe:
      return true;
    default:
      return false;
  }
}

const char* UnaryTypeError(UnaryOp op, DataType a) {
  switch (op) {
    case UnaryOp::kNeg:
      return a.is_bool() ? "a bool cannot be negated with -" : nullptr;
    case UnaryOp::kNot:
      return a.is_bool() ? nullptr : "! needs a bool";
    case UnaryOp::kBitNot:
      return a.is_integer() ? nullptr : "~ needs an integer";
  }
  return "unknown unary operator";
}

const char* BinaryTypeError(BinaryOp op, DataType a, DataType b) {
  if (a != b) return "the operands' types differ";
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
      return a.is_bool() ? "arithmetic on bool" : nullptr;
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return a.is_integer() ? nullptr : "the operator needs integers";
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitOr:
    case BinaryOp::kBitXor:
      return a.is_float() ? "the operator needs integers or bools" : nullptr;
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
      return a.is_bool() ? nullptr : "the operator needs bools";
    case BinaryOp::kMin:
    case BinaryOp::kMax:
    case BinaryOp::kEq:
    case BinaryOp::kNe:
    case BinaryOp::kLt:
    case BinaryOp::kLe:
    case BinaryOp::kGt:
    case BinaryOp::kGe:
      return nullptr;
  }
  return "unknown binary operator";
}

const char* SelectTypeError(DataType condition, DataType on_true,
                            DataType on_false) {
  if (!condition.is_bool()) return "a select's condition must be a bool";
  if (on_true != on_false) return "a select's two values differ in type";
  if (condition.lanes != on_true.lanes) {
    return "a select's condition and values differ in lanes";
  }
  return nullptr;
}

const char* CastTypeError(DataType to, DataType from) {
  if (!IsValueType(to)) return "not a type that a value can have";
  if (to.lanes != from.lanes) return "a cast cannot change the lanes";
  return nullptr;
}

const char* RampTypeError(DataType base, DataType stride, int lanes) {
  if (base != stride) return "a ramp's base and stride differ in type";
  if (!base.is_integer() || base.lanes != 1) {
    return "a ramp needs a scalar integer base";
  }
  if (lanes < 2 || lanes > kMaxLanes) return "too few or too many lanes";
  return nullptr;
}

const char* BroadcastTypeError(DataType value, int lanes) {
  if (value.lanes != 1) return "broadcast of a vector";
  if (lanes < 2 || lanes > kMaxLanes) return "too few or too many lanes";
  return nullptr;
}

const char* CallTypeError(Intrinsic intrinsic, const std::vector<Expr>& args) {
  if (static_cast<int>(args.size()) != IntrinsicArity(intrinsic)) {
    return "wrong number of arguments";
  }
  for (const Expr& arg : args) {
    if (arg->dtype != args[0]->dtype) return "the arguments' types differ";
  }
  const DataType t = args[0]->dtype;
  if (IsDot(intrinsic)) {
    return t.element() == DataType::Int(32) ? nullptr
                                            : "the function needs i32";
  }
  if (t.is_float()) return nullptr;
  if (intrinsic == Intrinsic::kAbs && t.is_integer()) return nullptr;
  return "the function needs floats";
}

const char* IndexTypeError(const Buffer& buffer,
                           const std::vector<Expr>& indices) {
  if (indices.size() != buffer->shape.size()) {
    return "the number of indices is not the buffer's rank";
  }
  int vectors = 0;
  for (const Expr& index : indices) {
    if (index->dtype.element() != DataType::Int(64)) {
      return "an index must be an i64";
    }
    if (index->dtype.lanes > 1) ++vectors;
  }
  return vectors > 1 ? "more than one index is a vector" : nullptr;
}

const char* StoreTypeError(const Buffer& buffer,
                           const std::vector<Expr>& indices, DataType value) {
  if (value.element() != buffer->dtype) {
    return "the stored value's type is not the buffer's";
  }
  if (value.lanes != IndexLanes(indices)) {
    return "the stored value's lanes are not those of the indices";
  }
  return nullptr;
}

const char* BufferTypeError(const BufferNode& buffer) {
  if (buffer.dtype.lanes != 1) return "a buffer's elements must be scalars";
  if (!IsValueType(buffer.dtype)) return "not a type that a value can have";
  for (const Expr& dim : buffer.shape) {
    if (dim == nullptr || dim->dtype != DataType::Int(64)) {
      return "a buffer's dimensions must be i64";
    }
  }
  return nullptr;
}

const char* CallExternTypeError(absl::string_view symbol,
                                const std::vector<Buffer>& reads,
                                const std::vector<Buffer>& writes,
                                const std::vector<Expr>& scalars) {
  bool identifier = !symbol.empty() && !absl::ascii_isdigit(symbol[0]);
  for (char c : symbol) {
    identifier =
        identifier &&
        (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_');
  }
  if (!identifier) return "the function's name is no C identifier";
  std::set<const BufferNode*> seen;
  for (const std::vector<Buffer>* list : {&writes, &reads}) {
    for (const Buffer& buffer : *list) {
      if (buffer == nullptr) return "a buffer is null";
      if (list == &writes ? !seen.insert(buffer.get()).second
                          : seen.count(buffer.get()) != 0) {
        return "a buffer that is written is passed twice";
      }
    }
  }
  for (const Expr& scalar : scalars) {
    if (scalar == nullptr) return "an expression is null";
    const DataType t = scalar->dtype;
    if (t != DataType::Int(32) && t != DataType::Int(64) &&
        t != DataType::Float(32) && t != DataType::Float(64)) {
      return "scalars must be i32, i64, f32 or f64";
    }
  }
  return nullptr;
}

const char* PartTypeError(const Buffer& buffer, const Buffer& whole,
                          const Expr& offset) {
  if (buffer == nullptr || whole == nullptr) return "a buffer is null";
  if (buffer == whole) return "a buffer cannot be a part of itself";
  if (buffer->scope != Scope::kPart) return "the scope is not a part's";
  if (offset->dtype != DataType::Int(64)) return "the offset must be i64";
  int64_t value;
  if (AsConstInt(offset, &value) &&
      (value < 0 || value % static_cast<int64_t>(buffer->dtype.bytes()) != 0)) {
    return "the offset must be a multiple of the element's size";
  }
  return BufferTypeError(*buffer);
}

const char* PrefetchTypeError(const Buffer& buffer,
                              const std::vector<Expr>& indices, int64_t ahead,
                              int64_t bytes) {
  if (buffer == nullptr) return "a buffer is null";
  if (ahead < 0 || ahead > (1 << 20)) return "it asks too far ahead";
  if (bytes < 1 || bytes > 4096) return "it asks for none or too many bytes";
  if (const char* error = IndexTypeError(buffer, indices)) return error;
  return IndexLanes(indices) > 1 ? "an index is a vector" : nullptr;
}

DataType BinaryResultType(BinaryOp op, DataType a) {
  return IsComparison(op) ? DataType::Bool(a.lanes) : a;
}

DataType CallResultType(Intrinsic intrinsic, DataType a) {
  if (intrinsic == Intrinsic::kIsNan || intrinsic == Intrinsic::kIsInf) {
    return DataType::Bool(a.lanes);
  }
  return a;
}

int IndexLanes(const std::vector<Expr>& indices) {
  for (const Expr& index : indices) {
    if (index->dtype.lanes > 1) return index->dtype.lanes;
  }
  return 1;
}

}  // namespace ingot::tir

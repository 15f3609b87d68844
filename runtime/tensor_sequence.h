#ifndef INGOT_RUNTIME_TENSOR_SEQUENCE_H_
#define INGOT_RUNTIME_TENSOR_SEQUENCE_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot {

// Tensors of one data type, on a CPU; a run decides how many and of which
// shapes. ONNX's sequences are sequences. So are its optional values: of a
// tensor, a sequence of that tensor alone; of a sequence, the sequence; without
// a value, a sequence that is missing.
struct TensorSequence {
  DataType dtype;
  bool missing = false;  // then there are no tensors
  std::vector<Tensor> tensors;

  // InvalidArgument for an undefined tensor, one of another type or on another
  // device, and for tensors in a sequence that is missing.
  absl::Status Check() const;
  // "sequence<f32> of 3", "no sequence<f32>".
  std::string TypeString() const;
};

// An input or an output of a model.
using TensorOrSequence = std::variant<Tensor, TensorSequence>;

// The operations on sequences. A position that is negative counts from the end;
// one that is out of range is an error, and so is a sequence that is missing
// where nothing else is said. Tensors that are put into a sequence are copied.
enum class SequenceOp {
  kMake,     // the operands as a sequence
  kMissing,  // a sequence that is missing
  kCopy,     // the sequence, which may be missing
  kGet,      // the sequence, which may not
  kInsert,   // with a tensor in front of a position; without one, at the end
  kErase,    // without the tensor at a position; without one, the last
  kAt,       // the tensor at a position
  kLength,   // how many tensors there are: i64[]
  kHas,      // whether the sequence is there: bool[]
  kConcat,   // all tensors one after the other along `axis`; with `flag`, each
             // of them with a new dimension of 1 there
  kSplit,    // a tensor in parts along `axis`: of a size, the last one smaller,
             // or of sizes that add up; without either, of 1, and then without
             // that dimension unless `flag` is set
};

// One letter an operand: L a sequence, x a tensor of the sequence's type, i one
// i64, s i64, any number of them; * before the last means any number of it, ?
// that the last may be left out. The result: L or x, i one i64, b one bool.
struct SequenceOpInfo {
  SequenceOp op;
  absl::string_view name;  // in relay and in plans
  absl::string_view operands;
  char result;
};

// Null for a name that no operator has.
const SequenceOpInfo* FindSequenceOp(absl::string_view name);

// One letter for each of `count` operands; nothing when the operation does not
// take that many.
absl::StatusOr<std::string> OperandsOf(const SequenceOpInfo& info,
                                       size_t count);

struct SequenceStep {
  SequenceOp op = SequenceOp::kCopy;
  DataType dtype;  // of the tensors
  int64_t axis = 0;
  bool flag = false;
};

// An operand: one of the two.
struct SequenceOperand {
  const Tensor* tensor = nullptr;
  const TensorSequence* sequence = nullptr;
  // The same sequence, where its tensors may be moved to the result instead of
  // being shared with it. Null: they may not.
  TensorSequence* own = nullptr;
};

// Does it. The operands must be as SequenceOpInfo says. InvalidArgument when
// they are not, when a position or an axis is out of range, and when tensors do
// not fit each other or sizes do not add up.
absl::StatusOr<TensorOrSequence> RunSequenceStep(
    const SequenceStep& step, absl::Span<const SequenceOperand> operands);

}  // namespace ingot

#endif  // INGOT_RUNTIME_TENSOR_SEQUENCE_H_

#ifndef INGOT_COMPILER_TIR_TYPING_H_
#define INGOT_COMPILER_TIR_TYPING_H_

#include <vector>

#include "compiler/tir/ir.h"
#include "runtime/data_type.h"

namespace ingot::tir {

// The typing rules of the loop IR, stated once. The builder asserts them, the
// parser and the verifier report them. Each function returns null when the
// operands are fine and otherwise a phrase that says what is wrong.
// All are pure and may be called from any thread.

const char* UnaryTypeError(UnaryOp op, DataType a);
const char* BinaryTypeError(BinaryOp op, DataType a, DataType b);
const char* SelectTypeError(DataType condition, DataType on_true,
                            DataType on_false);
const char* CastTypeError(DataType to, DataType from);
const char* RampTypeError(DataType base, DataType stride, int lanes);
const char* BroadcastTypeError(DataType value, int lanes);
const char* CallTypeError(Intrinsic intrinsic, const std::vector<Expr>& args);
// The number and the types of the indices of a load or store.
const char* IndexTypeError(const Buffer& buffer,
                           const std::vector<Expr>& indices);
// Beyond IndexTypeError: the stored value's type.
const char* StoreTypeError(const Buffer& buffer,
                           const std::vector<Expr>& indices, DataType value);
const char* BufferTypeError(const BufferNode& buffer);
// The name, the buffers and the scalars' types of a call of other code.
const char* CallExternTypeError(absl::string_view symbol,
                                const std::vector<Buffer>& reads,
                                const std::vector<Buffer>& writes,
                                const std::vector<Expr>& scalars);
// The buffers and the offset of a part.
const char* PartTypeError(const Buffer& buffer, const Buffer& whole,
                          const Expr& offset);
// The place of a prefetch, and its numbers: up to 1 MiB ahead, up to 4096
// bytes.
const char* PrefetchTypeError(const Buffer& buffer,
                              const std::vector<Expr>& indices, int64_t ahead,
                              int64_t bytes);

// The type of the result, for operands that are fine.
DataType BinaryResultType(BinaryOp op, DataType a);
DataType CallResultType(Intrinsic intrinsic, DataType a);
// The lanes that indices give a load or store: those of the vector index.
int IndexLanes(const std::vector<Expr>& indices);

// Whether a value may have this type at all: i8…i64, u8…u64, f16, bf16, f32,
// f64 or bool, of 1 to kMaxLanes lanes.
bool IsValueType(DataType t);

bool IsComparison(BinaryOp op);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_TYPING_H_

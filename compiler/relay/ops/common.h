// Helpers of all operator families: reading shapes, broadcasting, and building
// OpDefs. Internal to compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_COMMON_H_
#define INGOT_COMPILER_RELAY_OPS_COMMON_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "compiler/te/te.h"
#include "compiler/tir/ir.h"
#include "runtime/data_type.h"

namespace ingot::relay::ops {

using te::Indices;
using tir::Expr;
using tir::Intrinsic;
using tir::MakeCall;
using tir::MakeCast;
using tir::MakeConst;
using tir::MakeSelect;
using Tags = std::map<std::string, std::string>;
using Types = std::vector<TensorType>;
using Tensors = std::vector<te::Tensor>;
using InferFn = std::function<absl::StatusOr<Types>(const InferContext&)>;
using ComputeFn = std::function<absl::StatusOr<Tensors>(const ComputeContext&)>;

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// ------------------------------------------------------------------ attributes

// A call must have the attribute, or may leave it out, which `doc` then
// explains.
enum class Presence { kRequired, kOptional };
inline constexpr Presence kRequired = Presence::kRequired;
inline constexpr Presence kOptional = Presence::kOptional;

// Definitions of attributes. The third argument is the value that a call
// without the attribute has, unless it is a Presence.
AttrSpec IntAttr(absl::string_view name, absl::string_view doc, Presence p);
AttrSpec IntAttr(absl::string_view name, absl::string_view doc, int64_t value);
AttrSpec FloatAttr(absl::string_view name, absl::string_view doc, Presence p);
AttrSpec FloatAttr(absl::string_view name, absl::string_view doc, double value);
AttrSpec StringAttr(absl::string_view name, absl::string_view doc, Presence p);
AttrSpec StringAttr(absl::string_view name, absl::string_view doc,
                    absl::string_view value);
AttrSpec IntsAttr(absl::string_view name, absl::string_view doc, Presence p);
AttrSpec IntsAttr(absl::string_view name, absl::string_view doc,
                  std::vector<int64_t> value);
// A list of one value for each dimension or the like, by default `each`.
AttrSpec EachAttr(absl::string_view name, absl::string_view doc, int64_t each);
AttrSpec FloatsAttr(absl::string_view name, absl::string_view doc,
                    std::vector<double> value);
AttrSpec StringsAttr(absl::string_view name, absl::string_view doc,
                     std::vector<std::string> value);
AttrSpec TypeAttr(absl::string_view name, absl::string_view doc, Presence p);
AttrSpec TypeAttr(absl::string_view name, absl::string_view doc,
                  DataType value);
AttrSpec ShapeAttr(absl::string_view name, absl::string_view doc, Presence p);

// -------------------------------------------------------------- dims and axes

// The constant value of `dim`; false when it is symbolic.
inline bool ConstDim(const Dim& dim, int64_t* value) {
  return tir::AsConstInt(dim, value);
}
// Provably equal.
bool SameDim(const Dim& a, const Dim& b);
// 1 where a dimension has elements, else 0.
Dim HasElements(const Dim& dim);

// `axis` in [-rank, rank) made non-negative.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank);
// Each axis made non-negative and sorted; a repeated one is an error. Empty
// stays empty.
absl::StatusOr<std::vector<int>> NormalizeAxes(absl::Span<const int64_t> axes,
                                               int rank);

// The numpy broadcast of all shapes. A symbolic dimension against a constant
// other than 1 gives the constant; two that are not provably equal give their
// maximum; `assumed`, unless it is null, gets both cases. InvalidArgument names
// the dimensions that do not fit.
absl::StatusOr<Shape> BroadcastShapes(absl::Span<const Shape> shapes,
                                      std::vector<DimAssumption>* assumed);

// The element of `t` at point `i` of a shape that t broadcasts to. Dimensions
// that might be 1 at run time are clamped, so no read is out of bounds.
Expr BroadcastLoad(const te::Tensor& t, const Indices& i);
// As above, where `shape` is the shape that `i` runs over.
Expr BroadcastLoad(const te::Tensor& t, const Indices& i, const Shape& shape);

// Index into `t` for a point `i` of its broadcast to `shape`.
Indices BroadcastIndices(const Shape& from, const Indices& i,
                         const Shape& shape);

// The product of dims[begin, end).
Dim Product(const Shape& dims, int begin, int end);

// Floor/ceil division of non-negative dimensions by a positive constant.
Dim CeilDiv(const Dim& a, int64_t b);
Dim FloorDiv(const Dim& a, int64_t b);

// Row-major linear index and its inverse.
Expr Flatten(const Indices& i, const Shape& shape);
Indices Unflatten(const Expr& linear, const Shape& shape);

// ---------------------------------------------------------------- expressions

Expr I64(int64_t value);
// The type that sums and transcendental functions of `t` are computed in:
// float for the 16-bit floats, itself otherwise.
DataType ComputeType(DataType t);
Expr Widen(const Expr& x);  // to ComputeType(x's type)
// Smallest value of a type: -inf for floats.
Expr LowestOf(DataType t);
Expr HighestOf(DataType t);
// All of `conditions`; true for none.
Expr All(const std::vector<Expr>& conditions);

// The attribute words of products and convolutions says that weights are words
// of four signed bytes, which tir's kDot4 multiplies by four bytes of data, or
// of two numbers of 16 bits, which kDot2 multiplies by two of data.
inline constexpr int64_t kBytesOfWord = 4;
AttrSpec WordsAttr();
// InvalidArgument unless x is of u8 or i16, w and `out` of i32.
absl::Status CheckWords(const TensorType& x, const TensorType& w, DataType out);
// The elements of data of this type that a word holds.
int64_t ElementsOfWord(DataType x);
// The elements of `x` from `at` on along the last dimension that a word holds,
// the first in its low bits.
Expr LoadWord(const te::Tensor& x, const Indices& at);
// The same of elements from anywhere.
Expr LoadWord(const te::Tensor& x, absl::FunctionRef<Indices(int64_t)> part_at);
// Multiplies the elements of u8 or i16 that LoadWord gives by those of the
// word, and adds them up.
Expr Dot(const te::Tensor& x, const Indices& at, const Expr& word);
Expr Dot(const te::Tensor& x, absl::FunctionRef<Indices(int64_t)> part_at,
         const Expr& word);

// An index that a tensor's element gave: negative ones count from the end, and
// what lies outside is clamped, because such an index is the caller's data.
Expr SafeIndex(const Expr& index, const Dim& extent);

// --------------------------------------------------------------------- checks

absl::Status ExpectRank(const TensorType& type, int rank,
                        absl::string_view what);
absl::Status ExpectFloat(const TensorType& type, absl::string_view what);
// Not bool: something to calculate with.
absl::Status ExpectNumber(const TensorType& type, absl::string_view what);
absl::Status ExpectSameType(const TensorType& a, const TensorType& b);
absl::Status ExpectInteger(const TensorType& type, absl::string_view what);

// Gives the first operand's type.
absl::StatusOr<Types> SameAsFirst(const InferContext& c);

// `stem_suffix` for the name of an intermediate tensor.
std::string SubName(const ComputeContext& c, absl::string_view suffix);

// `def`, which has `more` traits too.
OpDef With(Trait more, OpDef def);
// `def` with that short cut for known operands.
OpDef With(absl::StatusOr<std::optional<Tensor>> (*known)(const KnownCall&),
           OpDef def);

// Registers each definition in turn, its inferred dimensions simplified.
absl::Status RegisterAllOf(OpRegistry* registry, std::vector<OpDef> defs);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_COMMON_H_

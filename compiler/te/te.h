// Compute definitions: what each element of a tensor is, with no word on how
// loops run. A schedule (schedule.h) says how; Lower (lower.h) makes the loops.
//
//   te::Graph g;
//   Tensor a = g.Placeholder("a", f32, {n, k});
//   Tensor b = g.Placeholder("b", f32, {k, m});
//   Tensor c = g.Reduce("c", {n, m}, {k}, Reducer::Sum(f32),
//       [&](auto& i, auto& r) { return a({i[0], r[0]}) * b({r[0], i[1]}); });
//   Tensor d = g.Compute("d", {n, m},
//       [&](auto& i) { return tir::Max(c({i[0], i[1]}), tir::MakeFloat(0)); });
#ifndef INGOT_COMPILER_TE_TE_H_
#define INGOT_COMPILER_TE_TE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

using tir::Expr;
using Indices = std::vector<Expr>;  // one scalar i64 expression a dimension

// A handle to a tensor of a Graph; cheap to copy. Calling it reads an element.
struct Tensor {
  tir::Buffer buffer;

  Expr operator()(Indices indices) const {
    return tir::MakeLoad(buffer, std::move(indices));
  }
  const std::vector<Expr>& shape() const { return buffer->shape; }
  DataType dtype() const { return buffer->dtype; }
  int rank() const { return static_cast<int>(buffer->shape.size()); }
  bool operator==(const Tensor& o) const { return buffer == o.buffer; }
};

// A reducer joins two values; a reduction starts from its identity.
struct Reducer {
  Expr identity;
  std::function<Expr(const Expr& accumulated, const Expr& term)> combine;
  bool is_sum = false;

  static Reducer Sum(DataType t);
  static Reducer Prod(DataType t);
  static Reducer Max(DataType t);  // identity: lowest value (-inf for floats)
  static Reducer Min(DataType t);
};

enum class OperationKind {
  kPlaceholder,  // an argument of the function
  kCompute,      // value at each point, from other tensors
  kReduce,       // reducer over `reduce_axis` of `value`
  kExtern,       // loops written by hand; never inlined or scheduled
};

// The definition of one tensor (of several for kExtern).
struct Operation {
  OperationKind kind;
  std::string name;
  std::vector<Tensor> outputs;           // one unless kExtern
  std::vector<tir::VarPtr> axis;         // kCompute, kReduce: output indices
  std::vector<tir::VarPtr> reduce_axis;  // kReduce
  std::vector<Expr> reduce_extent;       // kReduce, beside reduce_axis
  Expr value;                            // kCompute, kReduce
  Reducer reducer;                       // kReduce
  tir::Stmt body;                        // kExtern
  std::vector<Tensor> inputs;            // tensors that value or body reads
  // Marks that schedules look for, for example {"anchor": "conv2d_nchwc"}; set
  // by the operator's compute function.
  std::map<std::string, std::string> tags;
};

// The operations of one kernel, in creation order, which is a topological one.
class Graph {
 public:
  using ComputeFn = std::function<Expr(const Indices& i)>;
  using ReduceFn = std::function<Expr(const Indices& i, const Indices& r)>;
  // Builds the body from the output buffers.
  using ExternFn = std::function<tir::Stmt(absl::Span<const Tensor> outputs)>;

  // With `double_sums` sums of f32 are rounded once, at their end: one sum
  // after the other, without a schedule's many accumulators, loses digits.
  explicit Graph(bool double_sums = false) : double_sums_(double_sums) {}

  Tensor Placeholder(absl::string_view name, DataType dtype,
                     std::vector<Expr> shape);
  // The element type is that of the value that `fn` returns.
  Tensor Compute(absl::string_view name, std::vector<Expr> shape,
                 const ComputeFn& fn,
                 std::map<std::string, std::string> tags = {});
  Tensor Reduce(absl::string_view name, std::vector<Expr> shape,
                std::vector<Expr> reduce_extent, Reducer reducer,
                const ReduceFn& fn,
                std::map<std::string, std::string> tags = {});
  std::vector<Tensor> Extern(absl::string_view name,
                             std::vector<std::vector<Expr>> shapes,
                             std::vector<DataType> dtypes,
                             std::vector<Tensor> inputs, const ExternFn& fn,
                             std::map<std::string, std::string> tags = {});

  const std::vector<std::unique_ptr<Operation>>& operations() const {
    return operations_;
  }
  // The operation that defines `t`; null when it is not of this graph.
  const Operation* Find(const Tensor& t) const;
  const Operation* Find(const tir::BufferNode* buffer) const;

 private:
  // Takes an operation with one result, of this type and shape and with its
  // name.
  Tensor Add(std::unique_ptr<Operation> op, DataType dtype,
             std::vector<Expr> shape);

  const bool double_sums_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::map<const tir::BufferNode*, const Operation*> by_buffer_;
};

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_TE_H_

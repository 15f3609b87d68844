#include "compiler/te/te.h"

#include <cassert>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

using tir::As;

// Collects the buffers that are read, each once, in order of first use.
class InputCollector : public tir::StmtVisitor {
 public:
  explicit InputCollector(std::vector<Tensor>* out) : out_(out) {}

 protected:
  void VisitLoad(const tir::Load& node) override {
    if (seen_.insert(node.buffer.get()).second) {
      out_->push_back(Tensor{node.buffer});
    }
    tir::StmtVisitor::VisitLoad(node);
  }

 private:
  std::vector<Tensor>* out_;
  std::set<const tir::BufferNode*> seen_;
};

// The largest value of a type, or with `lowest` the smallest; infinite for
// floats.
Expr Extreme(DataType t, bool lowest) {
  if (t.is_float()) {
    double inf = std::numeric_limits<double>::infinity();
    return tir::MakeFloat(lowest ? -inf : inf, t);
  }
  if (t.is_bool()) return tir::MakeBool(!lowest);
  if (t.is_uint()) {
    int64_t all = t.bits == 64 ? -1 : (int64_t{1} << t.bits) - 1;
    return tir::MakeInt(lowest ? 0 : all, t);
  }
  int64_t min = std::numeric_limits<int64_t>::min() >> (64 - t.bits);
  return tir::MakeInt(lowest ? min : ~min, t);
}

Expr One(DataType t) {
  return t.is_float() ? tir::MakeFloat(1, t) : tir::MakeInt(1, t);
}

Expr Zero(DataType t) {
  return t.is_float() ? tir::MakeFloat(0, t) : tir::MakeInt(0, t);
}

std::vector<tir::VarPtr> MakeAxes(absl::string_view stem, size_t count) {
  std::vector<tir::VarPtr> axes;
  for (size_t i = 0; i < count; ++i) {
    axes.push_back(tir::MakeVar(absl::StrCat(stem, i)));
  }
  return axes;
}

}  // namespace

Reducer Reducer::Sum(DataType t) {
  return Reducer{Zero(t),
                 [](const Expr& accumulated, const Expr& term) {
                   // A product is joined by a multiply-add, which processors
                   // have as one instruction.
                   const auto* mul = As<tir::Binary>(term);
                   if (mul != nullptr && mul->op == tir::BinaryOp::kMul &&
                       term->dtype.is_float()) {
                     return tir::MakeCall(tir::Intrinsic::kMulAdd,
                                          {mul->a, mul->b, accumulated});
                   }
                   // So are the products of the parts of words.
                   const auto* call = As<tir::Call>(term);
                   if (call != nullptr && tir::IsDot(call->intrinsic) &&
                       tir::IsConstInt(call->args[2], 0)) {
                     return tir::MakeCall(
                         call->intrinsic,
                         {call->args[0], call->args[1], accumulated});
                   }
                   return accumulated + term;
                 },
                 /*is_sum=*/true};
}

Reducer Reducer::Prod(DataType t) {
  return Reducer{One(t), [](const Expr& a, const Expr& b) { return a * b; }};
}

Reducer Reducer::Max(DataType t) {
  return Reducer{Extreme(t, /*lowest=*/true),
                 [](const Expr& a, const Expr& b) { return tir::Max(a, b); }};
}

Reducer Reducer::Min(DataType t) {
  return Reducer{Extreme(t, /*lowest=*/false),
                 [](const Expr& a, const Expr& b) { return tir::Min(a, b); }};
}

Tensor Graph::Add(std::unique_ptr<Operation> op, DataType dtype,
                  std::vector<Expr> shape) {
  Tensor t{tir::MakeBuffer(op->name, dtype, std::move(shape))};
  op->outputs.push_back(t);
  by_buffer_[t.buffer.get()] = op.get();
  operations_.push_back(std::move(op));
  return t;
}

Tensor Graph::Placeholder(absl::string_view name, DataType dtype,
                          std::vector<Expr> shape) {
  auto op = std::make_unique<Operation>();
  op->kind = OperationKind::kPlaceholder;
  op->name = std::string(name);
  return Add(std::move(op), dtype, std::move(shape));
}

Tensor Graph::Compute(absl::string_view name, std::vector<Expr> shape,
                      const ComputeFn& fn,
                      std::map<std::string, std::string> tags) {
  auto op = std::make_unique<Operation>();
  op->kind = OperationKind::kCompute;
  op->name = std::string(name);
  op->axis = MakeAxes("i", shape.size());
  op->value = fn(Indices(op->axis.begin(), op->axis.end()));
  op->tags = std::move(tags);
  InputCollector(&op->inputs).Visit(op->value);
  const DataType dtype = op->value->dtype;
  return Add(std::move(op), dtype, std::move(shape));
}

Tensor Graph::Reduce(absl::string_view name, std::vector<Expr> shape,
                     std::vector<Expr> reduce_extent, Reducer reducer,
                     const ReduceFn& fn,
                     std::map<std::string, std::string> tags) {
  if (double_sums_ && reducer.is_sum &&
      reducer.identity->dtype == DataType::Float(32)) {
    const DataType f64 = DataType::Float(64);
    const Tensor sum =
        Reduce(absl::StrCat(name, "_f64"), shape, std::move(reduce_extent),
               Reducer::Sum(f64), [&](const Indices& i, const Indices& r) {
                 return tir::MakeCast(f64, fn(i, r));
               });
    return Compute(
        name, std::move(shape),
        [&](const Indices& i) {
          return tir::MakeCast(DataType::Float(32), sum(i));
        },
        std::move(tags));
  }
  auto op = std::make_unique<Operation>();
  op->kind = OperationKind::kReduce;
  op->name = std::string(name);
  op->axis = MakeAxes("i", shape.size());
  op->reduce_axis = MakeAxes("r", reduce_extent.size());
  op->reduce_extent = std::move(reduce_extent);
  op->value = fn(Indices(op->axis.begin(), op->axis.end()),
                 Indices(op->reduce_axis.begin(), op->reduce_axis.end()));
  assert(reducer.identity->dtype == op->value->dtype);
  op->reducer = std::move(reducer);
  op->tags = std::move(tags);
  InputCollector(&op->inputs).Visit(op->value);
  const DataType dtype = op->value->dtype;
  return Add(std::move(op), dtype, std::move(shape));
}

std::vector<Tensor> Graph::Extern(absl::string_view name,
                                  std::vector<std::vector<Expr>> shapes,
                                  std::vector<DataType> dtypes,
                                  std::vector<Tensor> inputs,
                                  const ExternFn& fn,
                                  std::map<std::string, std::string> tags) {
  assert(shapes.size() == dtypes.size());
  auto op = std::make_unique<Operation>();
  op->kind = OperationKind::kExtern;
  op->name = std::string(name);
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::string output_name =
        shapes.size() == 1 ? op->name : absl::StrCat(name, ".", i);
    op->outputs.push_back(
        Tensor{tir::MakeBuffer(output_name, dtypes[i], std::move(shapes[i]))});
  }
  op->inputs = std::move(inputs);
  op->body = fn(op->outputs);
  op->tags = std::move(tags);
  for (const Tensor& t : op->outputs) by_buffer_[t.buffer.get()] = op.get();
  std::vector<Tensor> outputs = op->outputs;
  operations_.push_back(std::move(op));
  return outputs;
}

const Operation* Graph::Find(const Tensor& t) const {
  return Find(t.buffer.get());
}

const Operation* Graph::Find(const tir::BufferNode* buffer) const {
  auto it = by_buffer_.find(buffer);
  return it == by_buffer_.end() ? nullptr : it->second;
}

}  // namespace ingot::te

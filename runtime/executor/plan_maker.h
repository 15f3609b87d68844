// Plans for tests, made call by call.
#ifndef INGOT_RUNTIME_EXECUTOR_PLAN_MAKER_H_
#define INGOT_RUNTIME_EXECUTOR_PLAN_MAKER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/data_type.h"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// Dimensions from here on are symbols: kSymbol + 1 is symbol 1.
inline constexpr int64_t kSymbol = 1000;

inline DimExpr Dim(int64_t dim) {
  DimExpr expr;
  if (dim >= kSymbol) expr.set_op(DimExpr::SYMBOL);
  expr.set_value(dim >= kSymbol ? dim - kSymbol : dim);
  return expr;
}

// Makes a plan tensor by tensor; tensor i has type i, and each in storage has
// its own.
class PlanMaker {
 public:
  explicit PlanMaker(int symbols = 0) {
    plan_.set_version(kPlanVersion);
    plan_.add_devices()->set_kind(kCpuDeviceKind);
    for (int i = 0; i < symbols; ++i) {
      plan_.add_symbols()->set_name(std::string(1, static_cast<char>('A' + i)));
    }
  }

  uint32_t Tensor(DataType type, const std::vector<int64_t>& dims) {
    const uint32_t id = Add(type, dims);
    DimExpr bytes = Dim(static_cast<int64_t>(type.bytes()));
    for (int64_t dim : dims) {
      DimExpr product;
      product.set_op(DimExpr::MUL);
      *product.add_operands() = bytes;
      *product.add_operands() = Dim(dim);
      bytes = product;
    }
    plan_.mutable_tensors(id)->set_storage(plan_.storage_size());
    *plan_.add_storage()->add_bytes() = bytes;
    return id;
  }
  uint32_t Input(DataType type, const std::vector<int64_t>& dims) {
    const uint32_t id = Add(type, dims);
    plan_.mutable_tensors(id)->set_input(plan_.inputs_size());
    plan_.add_inputs(id);
    return id;
  }
  uint32_t View(uint32_t of, const std::vector<int64_t>& dims) {
    const DataTypeProto type = plan_.types(of).dtype();
    const uint32_t id = Add(DataType(), dims);
    *plan_.mutable_types(id)->mutable_dtype() = type;
    plan_.mutable_tensors(id)->set_view_of(of);
    return id;
  }

  // A call of a function; with no name, one whose step is set afterwards.
  PlanCall* Call(const std::string& function, std::vector<uint32_t> reads,
                 const std::vector<uint32_t>& writes) {
    PlanCall* call = plan_.add_calls();
    if (!function.empty()) call->set_function(function);
    for (uint32_t t : reads) call->add_args(t);
    for (uint32_t t : writes) call->add_args(t);
    call->set_num_outputs(writes.size());
    return call;
  }
  // A call that binds symbol `symbol` to the first element of `from`.
  void BindDims(uint32_t from, uint32_t result, int symbol) {
    PlanCall* call = Call("", {from}, {result});
    call->mutable_bind_dims();
    Bind(call, symbol, 0);
  }
  static void Bind(PlanCall* call, int symbol, int index, int output = 0) {
    PlanBind* bind = call->add_binds();
    bind->set_symbol(symbol);
    bind->set_index(index);
    bind->set_output(output);
  }
  void Output(uint32_t id) { plan_.add_outputs(id); }

  Plan* plan() { return &plan_; }

  // The plan with its phases filled in.
  Plan Finish() {
    AssignPhases(&plan_);
    return plan_;
  }
  // The same as a body.
  Plan FinishBody() {
    plan_.clear_version();
    plan_.clear_devices();
    return Finish();
  }

 private:
  uint32_t Add(DataType type, const std::vector<int64_t>& dims) {
    PlanTensor* tensor = plan_.add_tensors();
    const int id = plan_.tensors_size() - 1;
    tensor->set_name("t" + std::to_string(id));
    tensor->set_type(static_cast<uint32_t>(id));
    PlanType* plan_type = plan_.add_types();
    plan_type->mutable_dtype()->set_code(type.code);
    plan_type->mutable_dtype()->set_bits(type.bits);
    for (int64_t dim : dims) *plan_type->add_shape() = Dim(dim);
    return id;
  }

  Plan plan_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_PLAN_MAKER_H_

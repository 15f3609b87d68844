#include "compiler/tir/interpreter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/tir/bytecode.h"
#include "compiler/tir/numeric.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/visitor.h"
#include "runtime/data_type.h"

namespace ingot::tir {
namespace {

// Systems that promise more memory than they have would stop the program.
constexpr size_t kMaxBufferBytes = size_t{1} << 34;

using Dims = std::map<const Var*, int64_t>;

// The value of a dimension; false if it is not defined.
bool EvaluateDim(const Expr& e, const Dims& dims, int64_t* value) {
  if (AsConstInt(e, value)) return true;
  if (const auto* var = As<Var>(e)) {
    auto it = dims.find(var);
    if (it == dims.end()) return false;
    *value = it->second;
    return true;
  }
  int64_t a, b;
  if (const auto* unary = As<Unary>(e)) {
    if (unary->op != UnaryOp::kNeg || !EvaluateDim(unary->a, dims, &a)) {
      return false;
    }
    return EvalIntBinary(BinaryOp::kSub, e->dtype, 0, a, value);
  }
  if (const auto* select = As<Select>(e)) {
    return EvaluateDim(select->condition, dims, &a) &&
           EvaluateDim(a != 0 ? select->on_true : select->on_false, dims,
                       value);
  }
  if (const auto* binary = As<Binary>(e)) {
    return !binary->a->dtype.is_float() && EvaluateDim(binary->a, dims, &a) &&
           EvaluateDim(binary->b, dims, &b) &&
           EvalIntBinary(binary->op, binary->a->dtype, a, b, value);
  }
  return false;
}

// Says what a function has that no kernel of the interpreter's may have.
class ForeignFinder final : public StmtVisitor {
 public:
  std::string found;  // empty: nothing

 private:
  void VisitCallExtern(const CallExtern& node) override {
    found = absl::StrCat("calls @", node.symbol, ", other code");
  }
  void VisitPart(const Part& node) override {
    found = absl::StrCat("has %", node.buffer->name, ", a part of a buffer");
    StmtVisitor::VisitPart(node);
  }
};

class Caller {
 public:
  Caller(const PrimFunc& func, absl::Span<DLTensor* const> args)
      : func_(func), args_(args) {}

  absl::Status Run(const InterpretOptions& options) {
    const size_t all = func_.params.size();
    const size_t least = all - static_cast<size_t>(func_.num_workspaces);
    if (args_.size() != all && args_.size() != least) {
      return Bad(absl::StrCat("takes ", least, " arguments and ",
                              func_.num_workspaces, " workspaces, not ",
                              args_.size()));
    }
    for (size_t i = 0; i < args_.size(); ++i) {
      INGOT_RETURN_IF_ERROR(BindDims(i));
    }
    ForeignFinder foreign;
    foreign.Visit(func_.body);
    if (!foreign.found.empty()) {
      return absl::UnimplementedError(
          absl::StrCat("func @", func_.name, " ", foreign.found,
                       ", which the interpreter does not have"));
    }
    Program program = CompileToBytecode(func_);
    Machine machine;
    machine.registers = std::move(program.registers);
    machine.accesses = &program.accesses;
    machine.messages = &program.messages;
    if (options.max_iterations > 0)
      machine.iterations_left = options.max_iterations;
    for (const Program::Dim& dim : program.dims) {
      auto it = dims_.find(dim.var);
      if (it == dims_.end()) {
        return Bad(absl::StrCat("dimension '", dim.var->name,
                                "' stands alone in no argument"));
      }
      machine.registers[dim.reg].i = it->second;
    }
    machine.buffers.resize(program.buffers.size());
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      BufferState& buffer = machine.buffers[i];
      buffer.node = program.buffers[i];
      buffer.tracked = program.has_blocks &&
                       buffer.node->scope != Scope::kStack &&
                       i >= static_cast<size_t>(func_.num_inputs());
      if (i >= all) continue;
      INGOT_RETURN_IF_ERROR(BindBuffer(i, &buffer));
    }
    for (const Instruction* in = program.code.data(); in != nullptr;) {
      in = in->run(in, &machine);
    }
    if (machine.status.ok()) return machine.status;
    return absl::Status(
        machine.status.code(),
        absl::StrCat("@", func_.name, ": ", machine.status.message()));
  }

 private:
  absl::Status Bad(absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("@", func_.name, " ", what));
  }

  absl::Status BadArgument(size_t i, absl::string_view what) {
    const BufferNode& param = *func_.params[i];
    std::string type = param.dtype.ToString();
    const char* separator = "[";
    for (const Expr& dim : param.shape) {
      absl::StrAppend(&type, separator, Print(dim));
      separator = ", ";
    }
    if (param.shape.empty()) type += "[";
    return Bad(absl::StrCat("argument ", i, " for %", param.name, ": ", type,
                            "]: ", what));
  }

  absl::Status BindDims(size_t i) {
    const BufferNode& param = *func_.params[i];
    const DLTensor* tensor = args_[i];
    if (tensor == nullptr) return BadArgument(i, "is null");
    const DataType t = param.dtype;
    if (tensor->dtype.code != t.code || tensor->dtype.bits != t.bits ||
        tensor->dtype.lanes != 1) {
      return BadArgument(i, "has another element type");
    }
    if (tensor->device.device_type != kDLCPU) {
      return BadArgument(i, "is not on the CPU");
    }
    if (tensor->ndim != static_cast<int32_t>(param.shape.size())) {
      return BadArgument(i, absl::StrCat("has rank ", tensor->ndim));
    }
    // Strides of a tensor without elements say nothing.
    const int64_t* strides = tensor->strides;
    for (int32_t d = 0; d < tensor->ndim; ++d) {
      if (tensor->shape[d] == 0) strides = nullptr;
    }
    int64_t dense = 1;
    for (int d = tensor->ndim - 1; d >= 0; --d) {
      if (strides != nullptr && tensor->shape[d] > 1 && strides[d] != dense) {
        return BadArgument(i, "is not dense");
      }
      // As tensors without elements have it, too.
      dense *= std::max<int64_t>(tensor->shape[d], 1);
    }
    for (size_t d = 0; d < param.shape.size(); ++d) {
      if (const auto* var = As<Var>(param.shape[d])) {
        dims_.emplace(var, tensor->shape[d]);
      }
    }
    return absl::OkStatus();
  }

  absl::Status BindBuffer(size_t i, BufferState* buffer) {
    const BufferNode& param = *func_.params[i];
    std::vector<int64_t> dims;
    for (const Expr& dim : param.shape) {
      int64_t value;
      if (!EvaluateDim(dim, dims_, &value)) {
        return Bad(absl::StrCat("cannot tell dimension ", Print(dim)));
      }
      dims.push_back(value);
    }
    if (i >= args_.size()) return SetUpBuffer(std::move(dims), nullptr, buffer);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (args_[i]->shape[d] != dims[d]) {
        return BadArgument(i,
                           absl::StrCat("has ", args_[i]->shape[d], " for ",
                                        Print(param.shape[d]), " = ", dims[d]));
      }
    }
    // Not null, since that asks for new memory: an empty tensor may be.
    static char empty;
    char* data = static_cast<char*>(args_[i]->data);
    data = data == nullptr ? &empty : data + args_[i]->byte_offset;
    return SetUpBuffer(std::move(dims), data, buffer);
  }

  const PrimFunc& func_;
  const absl::Span<DLTensor* const> args_;
  Dims dims_;
};

}  // namespace

absl::Status SetUpBuffer(std::vector<int64_t> dims, char* data,
                         BufferState* buffer) {
  INGOT_ASSIGN_OR_RETURN(const size_t bytes,
                         CountBytes(buffer->node->dtype, dims));
  buffer->strides.assign(dims.size(), 1);
  for (size_t d = dims.size(); d > 1; --d) {
    buffer->strides[d - 2] = buffer->strides[d - 1] * dims[d - 1];
  }
  buffer->dims = std::move(dims);
  if (buffer->tracked) {
    buffer->uses.assign(bytes / buffer->node->dtype.bytes(), ElementUses());
  }
  buffer->data = data;
  if (data != nullptr) return absl::OkStatus();
  if (buffer->memory == nullptr || buffer->capacity < bytes) {
    buffer->memory.reset(
        bytes <= kMaxBufferBytes ? new (std::nothrow) char[bytes] : nullptr);
    if (buffer->memory == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "no memory for the ", bytes, " bytes of %", buffer->node->name));
    }
    buffer->capacity = bytes;
  }
  buffer->data = buffer->memory.get();
  std::memset(buffer->data, 0xff, bytes);
  return absl::OkStatus();
}

absl::Status Interpret(const PrimFunc& func, absl::Span<DLTensor* const> args,
                       const InterpretOptions& options) {
  return Caller(func, args).Run(options);
}

absl::Status Interpret(const PrimFunc& func, absl::Span<const Tensor> args,
                       const InterpretOptions& options) {
  std::vector<DLTensor*> pointers;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].defined() ||
        (args[i].read_only() && static_cast<int>(i) >= func.num_inputs())) {
      return absl::InvalidArgumentError(
          absl::StrCat("@", func.name, " argument ", i, " is ",
                       args[i].defined() ? "read-only" : "undefined"));
    }
    pointers.push_back(args[i].dl());
  }
  return Interpret(func, absl::MakeConstSpan(pointers), options);
}

}  // namespace ingot::tir

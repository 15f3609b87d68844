#include "compiler/tir/verifier.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/text.h"
#include "compiler/tir/typing.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

class Verifier final : public StmtVisitor {
 public:
  explicit Verifier(const PrimFunc& func) : func_(func) {}

  absl::Status Run() {
    Signature();
    if (error_.empty()) {
      if (func_.body == nullptr) {
        Fail("the function has no body");
      } else {
        Visit(func_.body);
      }
    }
    if (error_.empty()) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("func @", func_.name, ": ", error_));
  }

  void Visit(const Stmt& s) override {
    if (!error_.empty()) return;
    if (s == nullptr) return Fail("a statement is null");
    const Stmt outer = current_;
    current_ = s;
    StmtVisitor::Visit(s);
    current_ = outer;
  }

  void Visit(const Expr& e) override {
    if (!error_.empty()) return;
    if (e == nullptr) return Fail("an expression is null");
    if (!IsValueType(e->dtype)) {
      return Fail(absl::StrCat("an expression has type ", e->dtype.ToString()));
    }
    if (vector_loop_ && e->dtype.lanes > 1) {
      return Fail("a vector inside a vectorized loop");
    }
    StmtVisitor::Visit(e);
  }

 private:
  void Fail(absl::string_view what) {
    if (!error_.empty()) return;
    error_ = std::string(what);
    if (current_ != nullptr) {
      absl::StrAppend(&error_, ", in: ", PrintHead(current_));
    }
  }

  void Check(const char* error) {
    if (error != nullptr) Fail(error);
  }

  void Signature() {
    const int n = static_cast<int>(func_.params.size());
    if (func_.num_outputs < 0 || func_.num_workspaces < 0 ||
        func_.num_inputs() < 0) {
      return Fail("more outputs and workspaces than parameters");
    }
    std::set<const Var*> alone;
    for (int i = 0; i < n; ++i) {
      const Buffer& param = func_.params[i];
      if (param == nullptr) return Fail("a parameter is null");
      const bool workspace = i >= n - func_.num_workspaces;
      const std::string name = absl::StrCat("parameter %", param->name);
      if (const char* error = BufferTypeError(*param)) {
        return Fail(absl::StrCat(name, ": ", error));
      }
      if ((param->scope == Scope::kWorkspace) != workspace ||
          (param->scope != Scope::kWorkspace &&
           param->scope != Scope::kParam)) {
        return Fail(absl::StrCat(name, ": the scope is not a ",
                                 workspace ? "workspace's" : "parameter's"));
      }
      if (!buffers_.insert(param.get()).second) {
        return Fail(absl::StrCat(name, " occurs twice"));
      }
      if (i < func_.num_inputs()) inputs_.insert(param.get());
      if (workspace) continue;
      for (const Expr& dim : param->shape) {
        if (const auto* var = As<Var>(dim)) alone.insert(var);
      }
    }
    for (const Var* dim : SymbolicDims(func_)) {
      if (alone.count(dim) == 0) {
        return Fail(absl::StrCat("dimension '", dim->name,
                                 "' stands alone in no input or output"));
      }
      dims_.insert(dim);
    }
    vars_ = dims_;
    for (const Buffer& param : func_.params) {
      for (const Expr& dim : param->shape) {
        Visit(dim);
        int64_t value;
        if (AsConstInt(dim, &value) && value < 0) {
          Fail(absl::StrCat("parameter %", param->name,
                            " has a negative dimension"));
        }
      }
    }
  }

  // ------------------------------------------------------------- expressions

  void VisitVar(const Var& node) override {
    if (vars_.count(&node) == 0) {
      Fail(absl::StrCat("variable '", node.name, "' is not defined here"));
    }
  }

  void VisitUnary(const Unary& node) override {
    StmtVisitor::VisitUnary(node);
    if (error_.empty()) Check(UnaryTypeError(node.op, node.a->dtype));
  }

  void VisitBinary(const Binary& node) override {
    StmtVisitor::VisitBinary(node);
    if (!error_.empty()) return;
    Check(BinaryTypeError(node.op, node.a->dtype, node.b->dtype));
    CheckType(node, BinaryResultType(node.op, node.a->dtype));
  }

  void VisitSelect(const Select& node) override {
    StmtVisitor::VisitSelect(node);
    if (!error_.empty()) return;
    Check(SelectTypeError(node.condition->dtype, node.on_true->dtype,
                          node.on_false->dtype));
  }

  void VisitCast(const Cast& node) override {
    StmtVisitor::VisitCast(node);
    if (error_.empty()) Check(CastTypeError(node.dtype, node.value->dtype));
  }

  void VisitRamp(const Ramp& node) override {
    StmtVisitor::VisitRamp(node);
    if (!error_.empty()) return;
    Check(
        RampTypeError(node.base->dtype, node.stride->dtype, node.dtype.lanes));
  }

  void VisitBroadcast(const Broadcast& node) override {
    StmtVisitor::VisitBroadcast(node);
    if (!error_.empty()) return;
    Check(BroadcastTypeError(node.value->dtype, node.dtype.lanes));
  }

  void VisitCall(const Call& node) override {
    StmtVisitor::VisitCall(node);
    if (!error_.empty()) return;
    Check(CallTypeError(node.intrinsic, node.args));
    if (error_.empty()) {
      CheckType(node, CallResultType(node.intrinsic, node.args[0]->dtype));
    }
  }

  void VisitLoad(const Load& node) override {
    if (!Defined(node.buffer)) return;
    StmtVisitor::VisitLoad(node);
    if (!error_.empty()) return;
    Check(IndexTypeError(node.buffer, node.indices));
    CheckType(node, node.buffer->dtype.with_lanes(IndexLanes(node.indices)));
  }

  void CheckType(const ExprNode& node, DataType wanted) {
    if (error_.empty() && node.dtype != wanted) {
      Fail(absl::StrCat("an expression of type ", wanted.ToString(),
                        " claims to be ", node.dtype.ToString()));
    }
  }

  bool Defined(const Buffer& buffer) {
    if (buffer == nullptr) {
      Fail("a buffer is null");
    } else if (buffers_.count(buffer.get()) == 0) {
      Fail(absl::StrCat("buffer %", buffer->name, " is not defined here"));
    }
    return error_.empty();
  }

  // -------------------------------------------------------------- statements

  // Runs `body` with `var` in scope.
  void Bind(const VarPtr& var, const Stmt& body) {
    if (!error_.empty()) return;
    if (!vars_.insert(var.get()).second) {
      return Fail(
          absl::StrCat("variable '", var->name, "' is already defined here"));
    }
    Visit(body);
    vars_.erase(var.get());
  }

  void VisitFor(const For& node) override {
    Visit(node.min);
    Visit(node.extent);
    if (!error_.empty()) return;
    if (node.var == nullptr || node.var->dtype != DataType::Int(64) ||
        node.min->dtype != DataType::Int(64) ||
        node.extent->dtype != DataType::Int(64)) {
      return Fail("a loop's variable and bounds must be i64");
    }
    const bool vectorized = node.for_kind == ForKind::kVectorized;
    const bool block = node.for_kind == ForKind::kBlock;
    const bool thread = node.for_kind == ForKind::kThread;
    const bool parallel = block || node.for_kind == ForKind::kParallel;
    if (vectorized || thread || node.for_kind == ForKind::kUnrolled) {
      int64_t extent;
      if (!AsConstInt(node.extent, &extent) || extent < 1) {
        return Fail("the extent must be a positive constant");
      }
      if (vectorized && extent > kMaxLanes) {
        return Fail(absl::StrCat("more than ", kMaxLanes, " lanes"));
      }
    }
    if (vector_loop_ && (vectorized || parallel || thread)) {
      return Fail("the loop is inside a vectorized loop");
    }
    if (parallel_loop_ && parallel) {
      return Fail("the loop is inside a parallel loop");
    }
    if (thread && !threads_wanted_) {
      return Fail("a thread loop is inside of no block loop, or of another");
    }
    if (thread && !IsConstInt(node.min, 0)) {
      return Fail("a thread loop does not begin at 0");
    }
    const bool outer_vector = vector_loop_, outer_parallel = parallel_loop_;
    const bool outer_wanted = threads_wanted_;
    std::set<const BufferNode*> outer_private;
    vector_loop_ |= vectorized;
    threads_wanted_ = block || (threads_wanted_ && !thread);
    // Others do not store to it, as each iteration has it for itself.
    if (parallel || thread) outer_private.swap(private_);
    parallel_loop_ |= parallel;
    Bind(node.var, node.body);
    vector_loop_ = outer_vector;
    threads_wanted_ = outer_wanted;
    parallel_loop_ = outer_parallel;
    if (parallel || thread) private_.swap(outer_private);
  }

  void VisitStore(const Store& node) override {
    if (!Defined(node.buffer)) return;
    StmtVisitor::VisitStore(node);
    if (!error_.empty()) return;
    Check(IndexTypeError(node.buffer, node.indices));
    Check(StoreTypeError(node.buffer, node.indices, node.value->dtype));
    if (inputs_.count(node.buffer.get()) != 0) {
      Fail(absl::StrCat("the input %", node.buffer->name, " is written"));
    }
    if (threads_wanted_) {
      Fail("a block stores outside of its thread loops");
    }
    if (node.buffer->scope == Scope::kStack &&
        private_.count(node.buffer.get()) == 0) {
      Fail(absl::StrCat("a parallel loop stores to the stack buffer %",
                        node.buffer->name, " from outside of it"));
    }
  }

  void VisitPrefetch(const Prefetch& node) override {
    if (!Defined(node.buffer)) return;
    StmtVisitor::VisitPrefetch(node);
    if (!error_.empty()) return;
    Check(PrefetchTypeError(node.buffer, node.indices, node.ahead, node.bytes));
  }

  void VisitCallExtern(const CallExtern& node) override {
    for (const auto* list : {&node.reads, &node.writes}) {
      for (const Buffer& buffer : *list) {
        if (!Defined(buffer)) return;
      }
    }
    StmtVisitor::VisitCallExtern(node);
    if (!error_.empty()) return;
    Check(CallExternTypeError(node.symbol, node.reads, node.writes,
                              node.scalars));
    if (vector_loop_ || parallel_loop_) {
      Fail("other code is called inside a parallel or vectorized loop");
    }
    for (const Buffer& buffer : node.writes) {
      if (inputs_.count(buffer.get()) != 0) {
        Fail(absl::StrCat("the input %", buffer->name, " is written"));
      }
    }
  }

  void VisitAllocate(const Allocate& node) override {
    if (node.buffer == nullptr) return Fail("a buffer is null");
    Check(BufferTypeError(*node.buffer));
    if (!error_.empty()) return;
    const BufferNode* buffer = node.buffer.get();
    int64_t bytes = 0;
    const bool of_block =
        buffer->scope == Scope::kShared || buffer->scope == Scope::kRegisters;
    if (buffer->scope == Scope::kStack || of_block) {
      bytes = ConstantBytes(*buffer);
      if (bytes > kMaxStackBytes - stack_bytes_) {
        return Fail(absl::StrCat("more than ", kMaxStackBytes, " bytes of ",
                                 SpellingOf(buffer->scope), " buffers"));
      }
      if (of_block && !threads_wanted_) {
        return Fail(absl::StrCat("a ", SpellingOf(buffer->scope),
                                 " buffer is allocated inside of no block, or "
                                 "of its thread loops"));
      }
      if (buffer->scope == Scope::kRegisters && buffer->shape.size() % 2 != 0) {
        return Fail(
            "registers have as many dimensions for threads as for "
            "the part of one");
      }
      private_.insert(buffer);
    } else if (buffer->scope == Scope::kWorkspace) {
      if (parallel_loop_ || vector_loop_) {
        return Fail(
            "a workspace is allocated inside a parallel or vectorized loop");
      }
      // Sizes are known before the call, so only dimensions are in scope.
      std::set<const Var*> scope = dims_;
      scope.swap(vars_);
      for (const Expr& dim : buffer->shape) {
        Visit(dim);
        if (error_.empty() && HasLoad(dim)) {
          Fail("a workspace's size depends on data");
        }
      }
      scope.swap(vars_);
    } else {
      return Fail("a parameter or a part cannot be allocated");
    }
    if (!error_.empty()) return;
    if (!buffers_.insert(buffer).second) {
      return Fail(
          absl::StrCat("buffer %", buffer->name, " is already defined here"));
    }
    stack_bytes_ += bytes;
    Visit(node.body);
    stack_bytes_ -= bytes;
    buffers_.erase(buffer);
    private_.erase(buffer);
  }

  // Fails where the size is no constant.
  int64_t ConstantBytes(const BufferNode& buffer) {
    int64_t bytes = static_cast<int64_t>(buffer.dtype.bytes());
    for (const Expr& dim : buffer.shape) {
      int64_t extent;
      if (!AsConstInt(dim, &extent) || extent < 0) {
        Fail(absl::StrCat("a ", SpellingOf(buffer.scope),
                          " buffer's size must be constant"));
      } else if (__builtin_mul_overflow(bytes, extent, &bytes)) {
        Fail(absl::StrCat("the ", SpellingOf(buffer.scope),
                          " buffer's size overflows"));
        return 0;
      }
    }
    return bytes;
  }

  void VisitPart(const Part& node) override {
    if (!Defined(node.whole)) return;
    if (node.offset == nullptr) return Fail("an expression is null");
    Check(PartTypeError(node.buffer, node.whole, node.offset));
    for (size_t i = 0; error_.empty() && i < node.buffer->shape.size(); ++i) {
      Visit(node.buffer->shape[i]);
    }
    Visit(node.offset);
    if (!error_.empty()) return;
    const BufferNode* buffer = node.buffer.get();
    if (!buffers_.insert(buffer).second) {
      return Fail(
          absl::StrCat("buffer %", buffer->name, " is already defined here"));
    }
    // The part inherits the whole's promises about its elements.
    const bool is_input = inputs_.count(node.whole.get()) != 0;
    if (*SpellingOf(node.whole->scope) != '\0') {
      return Fail(absl::StrCat("a ", SpellingOf(node.whole->scope),
                               " buffer has no parts"));
    }
    if (is_input) inputs_.insert(buffer);
    Visit(node.body);
    buffers_.erase(buffer);
    inputs_.erase(buffer);
  }

  void VisitAssert(const Assert& node) override {
    Condition(node.condition);
    if (vector_loop_ || parallel_loop_) {
      Fail("an assert is inside a parallel or vectorized loop");
    }
  }

  void VisitLetStmt(const LetStmt& node) override {
    Visit(node.value);
    if (!error_.empty()) return;
    if (node.var == nullptr || node.var->dtype != node.value->dtype) {
      return Fail("the variable's type is not the value's");
    }
    Bind(node.var, node.body);
  }

  void Condition(const Expr& condition) {
    Visit(condition);
    if (error_.empty() && condition->dtype != DataType::Bool()) {
      Fail("the condition must be a scalar bool");
    }
  }

  void VisitIfThenElse(const IfThenElse& node) override {
    Condition(node.condition);
    Visit(node.then_body);
    if (node.else_body != nullptr) Visit(node.else_body);
  }

  void VisitWhile(const While& node) override {
    Condition(node.condition);
    Visit(node.body);
  }

  const PrimFunc& func_;
  std::string error_;
  Stmt current_;  // the statement that an error names

  std::set<const Var*> dims_;
  std::set<const Var*> vars_;            // in scope
  std::set<const BufferNode*> buffers_;  // in scope
  std::set<const BufferNode*> inputs_;
  std::set<const BufferNode*> private_;  // stack buffers of this thread
  int64_t stack_bytes_ = 0;
  bool vector_loop_ = false;
  bool parallel_loop_ = false;
  bool threads_wanted_ = false;  // in a block loop, outside of its thread loops
};

}  // namespace

absl::Status Verify(const PrimFunc& func) { return Verifier(func).Run(); }

}  // namespace ingot::tir

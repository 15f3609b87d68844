// From a function to instructions.
#include "compiler/tir/bytecode.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "compiler/tir/run_facts.h"
#include "compiler/tir/typing.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// Temporaries are numbered from here on until all others are known.
constexpr int32_t kFirstTemporary = 1 << 30;

// The register of a value, and the number of loops inside which it was
// computed.
struct Value {
  int32_t reg;
  int level;
};

class Compiler {
 public:
  explicit Compiler(const PrimFunc& func) : func_(func) {}

  Program Run() {
    program_.has_blocks = HasBlocks(func_.body);
    for (const Buffer& param : func_.params) BufferIndex(param);
    for (const Var* dim : SymbolicDims(func_)) {
      const int32_t reg = Permanent(1);
      vars_[dim] = {reg, 0};
      program_.dims.push_back({dim, reg});
    }
    Statement(func_.body);
    Emit(EndOperation(), -1, 1);
    program_.code = std::move(code_);
    PlaceTemporaries();
    return std::move(program_);
  }

 private:
  // A loop being compiled: what is computed before it, once for all iterations.
  struct Loop {
    std::vector<Instruction> before;
    std::vector<const ExprNode*> known;
  };

  // --------------------------------------------------------------- registers

  int32_t Permanent(int lanes) {
    const int32_t reg = static_cast<int32_t>(program_.registers.size());
    program_.registers.resize(program_.registers.size() + lanes, Register{0});
    return reg;
  }

  int32_t Temporary(int lanes) {
    const int32_t reg = kFirstTemporary + temporaries_;
    temporaries_ += lanes;
    most_temporaries_ = std::max(most_temporaries_, temporaries_);
    return reg;
  }

  void PlaceTemporaries() {
    const int32_t base = static_cast<int32_t>(program_.registers.size());
    program_.registers.resize(program_.registers.size() + most_temporaries_,
                              Register{0});
    auto place = [base](int32_t* reg) {
      if (*reg >= kFirstTemporary) *reg += base - kFirstTemporary;
    };
    for (Instruction& in : program_.code) {
      for (int32_t* reg : {&in.dst, &in.a, &in.b, &in.c}) place(reg);
    }
    for (Access& access : program_.accesses) {
      for (int32_t& reg : access.indices) place(&reg);
      place(&access.mask);
    }
  }

  int level() const { return static_cast<int>(loops_.size()); }

  // Adds an instruction at a level: the current one, or before a loop.
  Instruction& Emit(Operation run, int at_level, int lanes) {
    std::vector<Instruction>& code =
        at_level < 0 || at_level == level() ? code_ : loops_[at_level].before;
    code.emplace_back();
    code.back().run = run;
    code.back().lanes = static_cast<uint16_t>(lanes);
    return code.back();
  }

  // The register of a value at a level: kept for the loops inside of it.
  int32_t ResultAt(int at_level, int lanes) {
    return at_level == level() ? Temporary(lanes) : Permanent(lanes);
  }

  int BufferIndex(const Buffer& buffer) {
    auto [it, added] = buffers_.emplace(
        buffer.get(), static_cast<int>(program_.buffers.size()));
    if (added) program_.buffers.push_back(buffer.get());
    return it->second;
  }

  // ------------------------------------------------------------- expressions

  Value Expression(const Expr& e) {
    auto it = known_.find(e.get());
    if (it != known_.end()) return it->second;
    const Value value = Compute(e);
    // A value computed outside of this loop is there for all of it.
    if (value.level < level()) {
      known_.emplace(e.get(), value);
      loops_[value.level].known.push_back(e.get());
    }
    return value;
  }

  Value Constant(Register bits) {
    auto [it, added] = constants_.emplace(bits.i, 0);
    if (added) {
      it->second = Permanent(1);
      program_.registers.back() = bits;
    }
    return {it->second, 0};
  }

  Value Compute(const Expr& e) {
    const int lanes = e->dtype.lanes;
    switch (e->kind) {
      case ExprKind::kIntImm: {
        Register r;
        r.i = static_cast<const IntImm&>(*e).value;
        return Constant(r);
      }
      case ExprKind::kFloatImm: {
        Register r;
        r.f = static_cast<const FloatImm&>(*e).value;
        return Constant(r);
      }
      case ExprKind::kVar:
        return vars_.at(static_cast<const Var*>(e.get()));
      case ExprKind::kUnary: {
        const auto& node = static_cast<const Unary&>(*e);
        return Apply(UnaryOperation(node.op, node.a->dtype),
                     static_cast<uint8_t>(node.op), e->dtype, {node.a});
      }
      case ExprKind::kBinary:
        return ComputeBinary(static_cast<const Binary&>(*e));
      case ExprKind::kSelect:
        return ComputeSelect(static_cast<const Select&>(*e));
      case ExprKind::kCast: {
        const auto& node = static_cast<const Cast&>(*e);
        return Apply(CastOperation(e->dtype, node.value->dtype), 0, e->dtype,
                     {node.value});
      }
      case ExprKind::kLoad: {
        const auto& node = static_cast<const Load&>(*e);
        const int32_t access = MakeAccess(node.buffer, node.indices);
        const int32_t reg = Temporary(lanes);
        Instruction& in =
            Emit(LoadOperation(node.buffer->dtype), level(), lanes);
        in.dst = reg;
        in.a = access;
        return {reg, level()};
      }
      case ExprKind::kRamp: {
        const auto& node = static_cast<const Ramp&>(*e);
        return Apply(RampOperation(), 0, e->dtype, {node.base, node.stride});
      }
      case ExprKind::kBroadcast:
        return Apply(BroadcastOperation(), 0, e->dtype,
                     {static_cast<const Broadcast&>(*e).value});
      case ExprKind::kCall: {
        const auto& node = static_cast<const Call&>(*e);
        return Apply(CallOperation(node.intrinsic, node.args[0]->dtype),
                     static_cast<uint8_t>(node.intrinsic), e->dtype, node.args);
      }
    }
    return {0, 0};
  }

  // An operation without side effects: as far out as its operands are.
  Value Apply(Operation run, uint8_t op, DataType result,
              const std::vector<Expr>& args) {
    std::vector<Value> values;
    int at = 0;
    for (const Expr& arg : args) {
      values.push_back(Expression(arg));
      at = std::max(at, values.back().level);
    }
    const int32_t reg = ResultAt(at, result.lanes);
    Instruction& in = Emit(run, at, result.lanes);
    in.dst = reg;
    in.op = op;
    in.type = args[0]->dtype.element();
    in.to = result.element();
    // Unused operands must be readable, for all lanes.
    in.a = values[0].reg;
    in.b = values.size() > 1 ? values[1].reg : in.a;
    in.c = values.size() > 2 ? values[2].reg : in.a;
    return {reg, at};
  }

  Value ComputeBinary(const Binary& node) {
    const Value a = Expression(node.a);
    const Value b = Expression(node.b);
    // An operation that may fail is computed where the program has it.
    const int at = MayBeUndefined(node) ? level() : std::max(a.level, b.level);
    const int lanes = node.dtype.lanes;
    const int32_t reg = ResultAt(at, lanes);
    const int32_t mask = MayBeUndefined(node) ? MaskFor(lanes) : -1;
    Instruction& in =
        Emit(BinaryOperation(node.op, node.a->dtype.element()), at, lanes);
    in.dst = reg;
    in.a = a.reg;
    in.b = b.reg;
    in.c = mask;
    in.op = static_cast<uint8_t>(node.op);
    in.type = node.a->dtype.element();
    return {reg, at};
  }

  Value ComputeSelect(const Select& node) {
    if (!CanFail(node.on_true) && !CanFail(node.on_false)) {
      return Apply(SelectOperation(), 0, node.dtype,
                   {node.condition, node.on_true, node.on_false});
    }
    const int lanes = node.dtype.lanes;
    const int32_t condition = Expression(node.condition).reg;
    if (lanes > 1) return MaskedSelect(node, condition);
    const int32_t reg = Temporary(1);
    // A branch: only the side that is taken is evaluated.
    const size_t branch = code_.size();
    Emit(JumpIfZeroOperation(), -1, 1).a = condition;
    Move(Expression(node.on_true).reg, reg);
    const size_t jump = code_.size();
    Emit(JumpOperation(), -1, 1);
    code_[branch].c = static_cast<int32_t>(code_.size() - branch);
    Move(Expression(node.on_false).reg, reg);
    code_[jump].c = static_cast<int32_t>(code_.size() - jump);
    return {reg, level()};
  }

  void Move(int32_t from, int32_t to) {
    Instruction& in = Emit(MoveOperation(), -1, 1);
    in.a = from;
    in.dst = to;
  }

  // Both sides for all lanes, with accesses only in those that count.
  Value MaskedSelect(const Select& node, int32_t condition) {
    const int lanes = node.dtype.lanes;
    const int32_t outer = mask_;
    mask_lanes_ = lanes;  // those of the whole expression
    auto both = [&](int32_t mask) {
      if (outer < 0) return mask;
      const int32_t reg = Temporary(lanes);
      Instruction& in =
          Emit(BinaryOperation(BinaryOp::kAnd, DataType::Bool()), -1, lanes);
      in.dst = reg;
      in.a = mask;
      in.b = outer;
      return reg;
    };
    const int32_t negated = Temporary(lanes);
    Instruction& in =
        Emit(UnaryOperation(UnaryOp::kNot, DataType::Bool()), -1, lanes);
    in.dst = negated;
    in.a = condition;
    in.op = static_cast<uint8_t>(UnaryOp::kNot);
    in.type = DataType::Bool();
    mask_ = both(condition);
    const int32_t on_true = Expression(node.on_true).reg;
    mask_ = both(negated);
    const int32_t on_false = Expression(node.on_false).reg;
    mask_ = outer;
    const int32_t reg = Temporary(lanes);
    Instruction& select = Emit(SelectOperation(), -1, lanes);
    select.dst = reg;
    select.a = condition;
    select.b = on_true;
    select.c = on_false;
    return {reg, level()};
  }

  // The register that says which of so many lanes count; -1: all.
  int32_t MaskFor(int lanes) {
    if (mask_ < 0 || lanes > 1) return mask_;
    // A scalar counts if any lane does.
    const int32_t reg = Temporary(1);
    Instruction& in = Emit(AnyLaneOperation(), -1, mask_lanes_);
    in.dst = reg;
    in.a = mask_;
    return reg;
  }

  int32_t MakeAccess(const Buffer& buffer, const std::vector<Expr>& indices) {
    Access access;
    access.buffer = BufferIndex(buffer);
    access.mask = MaskFor(IndexLanes(indices));
    for (size_t d = 0; d < indices.size(); ++d) {
      access.indices.push_back(Expression(indices[d]).reg);
      if (indices[d]->dtype.lanes > 1) access.vector_dim = static_cast<int>(d);
    }
    program_.accesses.push_back(std::move(access));
    return static_cast<int32_t>(program_.accesses.size()) - 1;
  }

  // -------------------------------------------------------------- statements

  void Statement(const Stmt& s) {
    temporaries_ = 0;  // none outlives its statement
    switch (s->kind) {
      case StmtKind::kSeq:
        for (const Stmt& stmt : static_cast<const Seq&>(*s).stmts) {
          Statement(stmt);
        }
        return;
      case StmtKind::kFor:
        return LoopStatement(static_cast<const For&>(*s));
      case StmtKind::kStore: {
        const auto& node = static_cast<const Store&>(*s);
        const int32_t value = Expression(node.value).reg;
        const int32_t access = MakeAccess(node.buffer, node.indices);
        Instruction& in = Emit(StoreOperation(node.buffer->dtype), -1,
                               node.value->dtype.lanes);
        in.a = access;
        in.b = value;
        return;
      }
      case StmtKind::kAllocate:
        return AllocateStatement(static_cast<const Allocate&>(*s));
      case StmtKind::kIfThenElse:
        return IfStatement(static_cast<const IfThenElse&>(*s));
      case StmtKind::kLetStmt:
        return LetStatement(static_cast<const LetStmt&>(*s));
      case StmtKind::kWhile:
        return WhileStatement(static_cast<const While&>(*s));
      case StmtKind::kEvaluate:
        Expression(static_cast<const Evaluate&>(*s).value);
        return;
      case StmtKind::kAssert:
        return AssertStatement(static_cast<const Assert&>(*s));
      case StmtKind::kPrefetch:
        return;  // has no effect
      case StmtKind::kCallExtern:
      case StmtKind::kPart:
        return;  // Interpret has refused it
    }
  }

  void AllocateStatement(const Allocate& node) {
    const size_t rank = node.buffer->shape.size();
    const int32_t dims = Permanent(static_cast<int>(std::max<size_t>(rank, 1)));
    for (size_t d = 0; d < rank; ++d) {
      Move(Expression(node.buffer->shape[d]).reg,
           dims + static_cast<int32_t>(d));
    }
    const int buffer = BufferIndex(node.buffer);
    Instruction& in = Emit(AllocateOperation(), -1, 1);
    in.a = buffer;
    in.b = dims;
    Statement(node.body);
  }

  void AssertStatement(const Assert& node) {
    const int32_t condition = Expression(node.condition).reg;
    Instruction& in = Emit(AssertOperation(), -1, 1);
    in.a = condition;
    in.b = static_cast<int32_t>(program_.messages.size());
    program_.messages.push_back(&node.message);
  }

  void IfStatement(const IfThenElse& node) {
    const int32_t condition = Expression(node.condition).reg;
    const size_t branch = code_.size();
    Emit(JumpIfZeroOperation(), -1, 1).a = condition;
    Statement(node.then_body);
    if (node.else_body != nullptr) {
      const size_t jump = code_.size();
      Emit(JumpOperation(), -1, 1);
      code_[branch].c = static_cast<int32_t>(code_.size() - branch);
      Statement(node.else_body);
      code_[jump].c = static_cast<int32_t>(code_.size() - jump);
    } else {
      code_[branch].c = static_cast<int32_t>(code_.size() - branch);
    }
  }

  void LetStatement(const LetStmt& node) {
    const int lanes = node.var->dtype.lanes;
    const Value value = Expression(node.value);
    // In a register that outlasts the statement.
    const int32_t reg = Permanent(lanes);
    Instruction& in = Emit(MoveOperation(), -1, lanes);
    in.a = value.reg;
    in.dst = reg;
    vars_[node.var.get()] = {reg, level()};
    Statement(node.body);
  }

  void WhileStatement(const While& node) {
    const size_t start = code_.size();
    Emit(IterationOperation(), -1, 1);
    const int32_t condition = Expression(node.condition).reg;
    const size_t branch = code_.size();
    Emit(JumpIfZeroOperation(), -1, 1).a = condition;
    Statement(node.body);
    const size_t back = code_.size();
    Emit(JumpOperation(), -1, 1).c = -static_cast<int32_t>(back - start);
    code_[branch].c = static_cast<int32_t>(code_.size() - branch);
  }

  void LoopStatement(const For& node) {
    const int32_t min = Expression(node.min).reg;
    const int32_t extent = Expression(node.extent).reg;
    const int32_t variable = Permanent(2);  // and how many iterations are left
    std::vector<Instruction> outside = std::move(code_);
    code_.clear();
    loops_.emplace_back();
    vars_[node.var.get()] = {variable, level()};
    const bool is_thread = node.for_kind == ForKind::kThread;
    const bool is_kernel =
        node.for_kind == ForKind::kBlock || node.for_kind == ForKind::kParallel;
    const bool has_place = program_.has_blocks && (is_thread || is_kernel);
    if (has_place) {
      AddPlace(is_thread ? PlaceStep::kThread : PlaceStep::kBlock, variable);
    }
    Statement(node.body);
    std::vector<Instruction> body = std::move(code_);
    Loop loop = std::move(loops_.back());
    loops_.pop_back();
    for (const ExprNode* e : loop.known) known_.erase(e);

    code_ = std::move(outside);
    if (has_place) {
      AddPlace(is_thread ? PlaceStep::kThreadsBegin : PlaceStep::kKernelBegin,
               variable);
    }
    const int32_t length = static_cast<int32_t>(body.size());
    Instruction& begin = Emit(LoopBeginOperation(), -1, 1);
    begin.dst = variable;
    begin.a = min;
    begin.b = extent;
    begin.c = length + static_cast<int32_t>(loop.before.size()) + 2;
    code_.insert(code_.end(), loop.before.begin(), loop.before.end());
    code_.insert(code_.end(), body.begin(), body.end());
    Instruction& next = Emit(LoopNextOperation(), -1, 1);
    next.dst = variable;
    next.c = -length;
    if (has_place) {
      AddPlace(is_thread ? PlaceStep::kThreadsEnd : PlaceStep::kKernelEnd,
               variable);
    }
  }

  void AddPlace(PlaceStep step, int32_t variable) {
    Instruction& in = Emit(PlaceOperation(), -1, 1);
    in.op = static_cast<uint8_t>(step);
    in.a = variable;
  }

  const PrimFunc& func_;
  Program program_;
  std::vector<Instruction> code_;  // of the current loop's body
  std::vector<Loop> loops_;
  std::map<const Var*, Value> vars_;
  std::map<const BufferNode*, int> buffers_;
  std::map<int64_t, int32_t> constants_;  // by their bits
  // Values of outer levels, by node: they are computed once.
  std::unordered_map<const ExprNode*, Value> known_;
  int32_t temporaries_ = 0;  // in use
  int32_t most_temporaries_ = 0;
  int32_t mask_ = -1;  // of the lanes that count; -1: all
  int mask_lanes_ = 1;
};

}  // namespace

Program CompileToBytecode(const PrimFunc& func) { return Compiler(func).Run(); }

}  // namespace ingot::tir

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/captures.h"
#include "compiler/codegen/llvm/compile_module.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/tir/visitor.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"

namespace ingot::codegen {
namespace {

using llvm::Value;
using tir::As;
using tir::ForKind;
using tir::StmtKind;

// Unrolling by hand beyond this is left to LLVM's judgement.
constexpr int64_t kMaxUnroll = 1024;

// A loop of a device's thread becomes copies of so many statements together: it
// has many registers, and what it loads for one copy comes while it computes
// others.
constexpr int64_t kDeviceUnroll = 1024;

// Attaches !llvm.loop with one property to a loop's back edge.
void SetLoopProperty(llvm::BranchInst* back_edge, const char* property,
                     llvm::Constant* value) {
  llvm::LLVMContext& context = back_edge->getContext();
  llvm::MDNode* flag =
      llvm::MDNode::get(context, {llvm::MDString::get(context, property),
                                  llvm::ConstantAsMetadata::get(value)});
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, flag});
  loop->replaceOperandWith(0, loop);
  back_edge->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

void SetLoopProperty(llvm::BranchInst* back_edge, const char* property) {
  SetLoopProperty(back_edge, property,
                  llvm::ConstantInt::getTrue(back_edge->getContext()));
}

// Counts the statements of a loop's body; 0 where it is not straight code.
int64_t StraightStatements(const tir::Stmt& body) {
  if (As<tir::Store>(body) != nullptr) return 1;
  const auto* seq = As<tir::Seq>(body);
  if (seq == nullptr) return 0;
  for (const tir::Stmt& stmt : seq->stmts) {
    if (As<tir::Store>(stmt) == nullptr) return 0;
  }
  return static_cast<int64_t>(seq->stmts.size());
}

// Whether a loop's body is straight code that stores so many vectors, whatever
// it asks for ahead.
bool StoresVectors(const tir::Stmt& body, int64_t count) {
  const auto* seq = As<tir::Seq>(body);
  if (seq == nullptr) return false;
  for (const tir::Stmt& stmt : seq->stmts) {
    if (As<tir::Prefetch>(stmt) != nullptr) continue;
    const auto* store = As<tir::Store>(stmt);
    if (store == nullptr) return false;
    count -= store->value->dtype.lanes > 1;
  }
  return count <= 0;
}

}  // namespace

KernelEmitter::KernelEmitter(ModuleEmitter* module, llvm::Function* function,
                             tir::Bounds bounds, bool in_parallel)
    : module_(module),
      m_(module->machine()),
      function_(function),
      b_(module->context()),
      bounds_(std::move(bounds)),
      in_parallel_(in_parallel) {
  b_.SetInsertPoint(
      llvm::BasicBlock::Create(module->context(), "entry", function));
  llvm::FastMathFlags flags;
  flags.setAllowContract(!m_.reproducible);
  b_.setFastMathFlags(flags);
}

KernelEmitter::KernelEmitter(ModuleEmitter* module, llvm::BasicBlock* at)
    : module_(module),
      m_(module->machine()),
      function_(at->getParent()),
      b_(at),
      in_parallel_(true) {}

void KernelEmitter::BindBuffer(const tir::BufferNode* buffer, Value* data) {
  buffers_[buffer] = data;
}

void KernelEmitter::BindVar(const tir::Var* var, Value* value) {
  vars_[var] = value;
}

llvm::BasicBlock* KernelEmitter::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(b_.getContext(), name, function_);
}

void KernelEmitter::Finish() {
  // A thread whose tiles are in use takes longer to switch to and from.
  if (uses_tiles_) {
    b_.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
  }
  if (function_->getReturnType()->isVoidTy()) {
    b_.CreateRetVoid();
  } else {
    b_.CreateRet(b_.getInt32(0));
  }
}

void KernelEmitter::EmitStmt(const tir::Stmt& s) {
  if (s == nullptr || !status_.ok()) return;
  cache_.clear();  // the statement before may have changed what was loaded
  switch (s->kind) {
    case StmtKind::kFor:
      return EmitFor(*As<tir::For>(s));
    case StmtKind::kStore:
      return EmitStore(*As<tir::Store>(s));
    case StmtKind::kAllocate:
      return EmitAllocate(*As<tir::Allocate>(s));
    case StmtKind::kIfThenElse:
      return EmitIf(*As<tir::IfThenElse>(s));
    case StmtKind::kSeq:
      return EmitSeq(*As<tir::Seq>(s));
    case StmtKind::kLetStmt: {
      const auto& let = *As<tir::LetStmt>(s);
      BindVar(let.var.get(), EmitExpr(let.value));
      if (!IsIndexArithmetic(let.value)) data_vars_.insert(let.var.get());
      if (let.var->dtype == DataType::Int(64)) {
        bounds_.SetValue(let.var.get(), let.value);
      }
      EmitStmt(let.body);
      bounds_.Forget(let.var.get());
      return;
    }
    case StmtKind::kWhile:
      return EmitWhile(*As<tir::While>(s));
    case StmtKind::kEvaluate:
      return;  // expressions have no effects
    case StmtKind::kCallExtern:
      return EmitCallExtern(*As<tir::CallExtern>(s));
    case StmtKind::kPart:
      return EmitPart(*As<tir::Part>(s));
    case StmtKind::kPrefetch:
      return EmitPrefetch(*As<tir::Prefetch>(s));
    case StmtKind::kAssert:
      return FailUnless(EmitExpr(As<tir::Assert>(s)->condition), "ValueError",
                        As<tir::Assert>(s)->message);
  }
}

void KernelEmitter::EmitSeq(const tir::Seq& s) {
  for (size_t i = 0; i < s.stmts.size();) {
    if (i + 1 < s.stmts.size() &&
        EmitTilesFromZero(s.stmts[i], s.stmts[i + 1])) {
      i += 2;
    } else if (As<tir::Store>(s.stmts[i]) != nullptr) {
      i += EmitStores(s, i);
    } else {
      EmitStmt(s.stmts[i++]);
    }
  }
}

void KernelEmitter::EmitFor(const tir::For& loop) {
  int64_t extent = 0;
  const bool constant = tir::AsConstInt(loop.extent, &extent);
  if (constant && extent <= 0) return;
  const bool parallel =
      loop.for_kind == ForKind::kParallel || loop.for_kind == ForKind::kBlock;
  if (parallel && !in_parallel_ && !(constant && extent == 1)) {
    return EmitParallel(loop);
  }
  if (group_.has_value()) {
    if (loop.for_kind == ForKind::kThread) return EmitThreads(loop);
    const auto pipeline = group_->pipelines->find(&loop);
    if (pipeline != group_->pipelines->end()) {
      return EmitPipeline(loop, pipeline->second);
    }
  }
  if (loop.for_kind == ForKind::kUnrolled && constant && extent <= kMaxUnroll) {
    return EmitUnrolled(loop, extent);
  }
  if (loop.for_kind == ForKind::kTensorized && !group_.has_value()) {
    return EmitTensorized(loop);
  }
  EmitSerial(loop);
}

// Copies of the body, made here and not by LLVM, so that what the copies keep
// in stack buffers lands in registers whatever LLVM thinks of the size.
void KernelEmitter::EmitUnrolled(const tir::For& loop, int64_t extent) {
  const tir::Var* var = loop.var.get();
  int64_t min = 0;
  const bool constant = tir::AsConstInt(loop.min, &min);
  for (int64_t i = 0; i < extent; ++i) {
    cache_.clear();
    BindVar(var, b_.CreateNSWAdd(EmitExpr(loop.min), b_.getInt64(i)));
    if (constant) {
      bounds_.Set(var, min + i, min + i);
    } else {
      bounds_.SetLoop(var, loop.min, loop.extent);
    }
    EmitStmt(loop.body);
  }
  bounds_.Forget(var);
}

void KernelEmitter::EmitSerial(const tir::For& loop) {
  Value* min = EmitExpr(loop.min);
  Value* end = EmitExpr(loop.extent);
  if (!tir::IsConstInt(loop.min, 0)) end = b_.CreateNSWAdd(min, end);
  EmitSerial(loop, min, end);
}

void KernelEmitter::EmitSerial(const tir::For& loop, Value* min, Value* end) {
  EmitSerial(loop, min, end, [&] { EmitStmt(loop.body); });
}

void KernelEmitter::EmitSerial(const tir::For& loop, Value* min, Value* end,
                               absl::FunctionRef<void()> body_of) {
  const bool configures = ConfigureTilesAround(loop);
  const tir::Var* var = loop.var.get();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* body = NewBlock("loop");
  llvm::BasicBlock* done = NewBlock("done");
  Value* runs = b_.CreateICmpSLT(min, end);
  if (runs == b_.getTrue()) {
    b_.CreateBr(body);
  } else {
    b_.CreateCondBr(runs, body, done);
  }
  b_.SetInsertPoint(body);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2, var->name);
  index->addIncoming(min, before);
  BindVar(var, index);
  bounds_.SetLoop(var, loop.min, loop.extent);
  body_of();
  bounds_.Forget(var);
  Value* next = b_.CreateNSWAdd(index, b_.getInt64(1));
  index->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* back_edge =
      b_.CreateCondBr(b_.CreateICmpSLT(next, end), body, done);
  if (loop.for_kind == ForKind::kVectorized) {
    SetLoopProperty(back_edge, "llvm.loop.vectorize.enable");
  } else if (loop.for_kind == ForKind::kUnrolled) {
    SetLoopProperty(back_edge, "llvm.loop.unroll.enable");
  } else if (const int64_t statements = StraightStatements(loop.body);
             group_.has_value() && statements > 0) {
    const int64_t copies = std::max<int64_t>(1, kDeviceUnroll / statements);
    SetLoopProperty(back_edge, "llvm.loop.unroll.count",
                    b_.getInt32(static_cast<uint32_t>(copies)));
  } else if (StoresVectors(loop.body, m_.vector_registers / 2)) {
    // A tile of a product fills the registers. Of several iterations at once
    // LLVM would keep what more than one of them reads, and spill.
    SetLoopProperty(back_edge, "llvm.loop.unroll.disable");
  }
  b_.SetInsertPoint(done);
  if (configures) tiles_.reset();
}

void KernelEmitter::EmitRange(const tir::For& loop, Value* begin, Value* end) {
  if (!tir::IsConstInt(loop.min, 0)) {
    Value* min = EmitExpr(loop.min);
    begin = b_.CreateNSWAdd(min, begin);
    end = b_.CreateNSWAdd(min, end);
  }
  EmitSerial(loop, begin, end);
}

void KernelEmitter::EmitIteration(const tir::For& loop, Value* index) {
  const tir::Var* var = loop.var.get();
  BindVar(var, b_.CreateNSWAdd(EmitExpr(loop.min), index));
  bounds_.SetLoop(var, loop.min, loop.extent);
  EmitStmt(loop.body);
  bounds_.Forget(var);
}

// The body becomes two functions: one with the C signature that the host's
// threads call, which unpacks what the loop captured, and one with the loop,
// which gets that as parameters, because only those can promise LLVM that
// buffers do not overlap.
void KernelEmitter::EmitParallel(const tir::For& loop) {
  const Captures captures = FindCaptures(loop);
  llvm::LLVMContext& context = module_->context();
  std::vector<llvm::Type*> types;
  std::vector<Value*> values;
  for (const tir::BufferNode* buffer : captures.buffers) {
    types.push_back(b_.getPtrTy());
    values.push_back(Address(*buffer, b_.getInt64(0), true));
  }
  for (const tir::Var* var : captures.vars) {
    types.push_back(module_->ValueType(var->dtype));
    auto it = vars_.find(var);
    values.push_back(
        it != vars_.end()
            ? it->second
            : Fail(absl::StrCat("variable ", var->name, " is not bound"),
                   var->dtype));
  }
  const size_t num_captures = types.size();
  llvm::StructType* context_type = llvm::StructType::get(context, types);
  types.push_back(b_.getInt64Ty());
  types.push_back(b_.getInt64Ty());

  const std::string name =
      absl::StrCat(function_->getName().str(), ".parallel.", parallel_count_++);
  llvm::Function* kernel = module_->NewFunction(
      llvm::FunctionType::get(b_.getInt32Ty(), types, false), name, false);
  kernel->addFnAttr(llvm::Attribute::NoInline);
  KernelEmitter inner(module_, kernel, bounds_, true);
  unsigned arg = 0;
  for (const tir::BufferNode* buffer : captures.buffers) {
    SetBufferAttributes(kernel, arg, *buffer, false);
    kernel->getArg(arg)->setName(buffer->name);
    inner.BindBuffer(buffer, kernel->getArg(arg++));
  }
  for (const tir::Var* var : captures.vars) {
    kernel->getArg(arg)->setName(var->name);
    inner.BindVar(var, kernel->getArg(arg++));
    if (data_vars_.count(var) != 0) inner.MarkData(var);
  }
  inner.EmitRange(loop, kernel->getArg(arg), kernel->getArg(arg + 1));
  inner.Finish();
  if (status_.ok()) status_ = inner.status();

  llvm::Function* body =
      module_->NewFunction(module_->BodyType(), name + ".body", false);
  body->addFnAttr(kStaysAsEmitted);
  llvm::IRBuilder<> in_body(llvm::BasicBlock::Create(context, "entry", body));
  std::vector<Value*> args;
  for (unsigned i = 0; i < num_captures; ++i) {
    Value* field = in_body.CreateStructGEP(context_type, body->getArg(0), i);
    args.push_back(in_body.CreateLoad(types[i], field));
  }
  args.push_back(body->getArg(1));
  args.push_back(body->getArg(2));
  in_body.CreateRet(in_body.CreateCall(kernel, args));

  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  Value* packed = at_entry.CreateAlloca(context_type, nullptr, "captures");
  for (unsigned i = 0; i < num_captures; ++i) {
    b_.CreateStore(values[i], b_.CreateStructGEP(context_type, packed, i));
  }
  Value* error = b_.CreateCall(module_->ParallelHelper(),
                               {body, packed, EmitExpr(loop.extent)});
  llvm::BasicBlock* failed = NewBlock("failed");
  llvm::BasicBlock* done = NewBlock("joined");
  b_.CreateCondBr(b_.CreateICmpEQ(error, b_.getInt32(0)), done, failed,
                  llvm::MDBuilder(context).createLikelyBranchWeights());
  b_.SetInsertPoint(failed);
  b_.CreateRet(error);
  b_.SetInsertPoint(done);
}

void KernelEmitter::EmitCallExtern(const tir::CallExtern& s) {
  std::vector<llvm::Type*> types;
  std::vector<Value*> args;
  for (const auto* buffers : {&s.reads, &s.writes}) {
    for (const tir::Buffer& buffer : *buffers) {
      args.push_back(Address(*buffer, b_.getInt64(0), true));
    }
  }
  for (const tir::Expr& scalar : s.scalars) args.push_back(EmitExpr(scalar));
  for (const Value* arg : args) types.push_back(arg->getType());
  llvm::FunctionType* type =
      llvm::FunctionType::get(b_.getInt32Ty(), types, false);
  llvm::Function* callee = module_->module().getFunction(s.symbol);
  if (callee == nullptr) {
    callee = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                    s.symbol, &module_->module());
  } else if (callee->getFunctionType() != type ||
             (!callee->isDeclaration() && !module_->CallsKernels())) {
    Fail(absl::StrCat("@", s.symbol, " is called in two ways, or is a kernel"),
         DataType::Int(32));
    return;
  }
  Value* answer = b_.CreateCall(callee, args);
  FailUnless(b_.CreateICmpEQ(answer, b_.getInt32(0)), "RuntimeError",
             absl::StrCat(s.symbol, " failed"));
}

void KernelEmitter::FailUnless(Value* holds, const char* kind,
                               const std::string& message) {
  llvm::BasicBlock* failed = NewBlock("failed");
  llvm::BasicBlock* done = NewBlock("called");
  b_.CreateCondBr(holds, done, failed,
                  llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights());
  b_.SetInsertPoint(failed);
  b_.CreateRet(b_.CreateCall(
      module_->FailHelper(),
      {b_.CreateGlobalStringPtr(kind), b_.CreateGlobalStringPtr(message)}));
  b_.SetInsertPoint(done);
}

void KernelEmitter::EmitPart(const tir::Part& s) {
  Value* whole = Address(*s.whole, b_.getInt64(0), true);
  BindBuffer(s.buffer.get(),
             b_.CreateInBoundsGEP(b_.getInt8Ty(), whole, EmitExpr(s.offset)));
  EmitStmt(s.body);
}

void KernelEmitter::EmitIf(const tir::IfThenElse& s) {
  llvm::BasicBlock* then_block = NewBlock("if");
  llvm::BasicBlock* done = NewBlock("endif");
  llvm::BasicBlock* else_block =
      s.else_body != nullptr ? NewBlock("ifnot") : done;
  b_.CreateCondBr(EmitExpr(s.condition), then_block, else_block);
  const size_t facts = bounds_.num_facts();
  b_.SetInsertPoint(then_block);
  // A fact about memory would not survive a store.
  const bool is_fact = !tir::HasLoad(s.condition);
  if (is_fact) bounds_.PushFact(s.condition);
  EmitStmt(s.then_body);
  bounds_.PopFacts(facts);
  b_.CreateBr(done);
  if (s.else_body != nullptr) {
    b_.SetInsertPoint(else_block);
    if (is_fact) bounds_.PushFactNot(s.condition);
    EmitStmt(s.else_body);
    bounds_.PopFacts(facts);
    b_.CreateBr(done);
  }
  b_.SetInsertPoint(done);
}

void KernelEmitter::EmitWhile(const tir::While& s) {
  llvm::BasicBlock* head = NewBlock("while");
  llvm::BasicBlock* body = NewBlock("do");
  llvm::BasicBlock* done = NewBlock("endwhile");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  cache_.clear();
  b_.CreateCondBr(EmitExpr(s.condition), body, done);
  b_.SetInsertPoint(body);
  EmitStmt(s.body);
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
}

}  // namespace ingot::codegen

#include <algorithm>

#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/tile_setup.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

bool IsSameTile(const TileNest::Operand& x, const TileNest::Operand& y) {
  return x.buffer == y.buffer &&
         tir::ToAffine(x.offset) == tir::ToAffine(y.offset);
}

llvm::Intrinsic::ID ProductOf(const TileNest& nest) {
  if (!nest.is_of_bytes) return llvm::Intrinsic::x86_tdpbf16ps;
  return nest.is_a_signed ? llvm::Intrinsic::x86_tdpbsud
                          : llvm::Intrinsic::x86_tdpbusd;
}

// Calls arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) (the kernel's
// Documentation/arch/x86/xstate.rst), without a C library.
Value* AskLinux(llvm::IRBuilder<>& b) {
  constexpr uint64_t kArchPrctl = 158, kRequestPermission = 0x1023,
                     kTileData = 18;
  llvm::Type* i64 = b.getInt64Ty();
  llvm::InlineAsm* syscall = llvm::InlineAsm::get(
      llvm::FunctionType::get(i64, {i64, i64, i64}, false), "syscall",
      "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}", true);
  return b.CreateCall(syscall,
                      {b.getInt64(kArchPrctl), b.getInt64(kRequestPermission),
                       b.getInt64(kTileData)});
}

}  // namespace

llvm::Function* ModuleEmitter::TilesHelper() {
  const char* name = "ingot.tiles";
  if (llvm::Function* found = module_->getFunction(name)) return found;
  llvm::IRBuilder<> b(context());
  llvm::Function* f =
      NewFunction(llvm::FunctionType::get(b.getInt1Ty(), false), name, false);
  b.SetInsertPoint(llvm::BasicBlock::Create(context(), "entry", f));
  if (!llvm::Triple(machine_.triple).isOSLinux()) {
    b.CreateRet(b.getTrue());
    return f;
  }
  auto* allowed = new llvm::GlobalVariable(*module_, b.getInt8Ty(), false,
                                           llvm::GlobalValue::InternalLinkage,
                                           b.getInt8(0), "ingot.tiles.allowed");
  llvm::BasicBlock* ask = llvm::BasicBlock::Create(context(), "ask", f);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context(), "done", f);
  // Several threads may ask: they get the same answer.
  llvm::LoadInst* before = b.CreateLoad(b.getInt8Ty(), allowed);
  before->setAtomic(llvm::AtomicOrdering::Monotonic);
  before->setAlignment(llvm::Align(1));
  b.CreateCondBr(b.CreateICmpNE(before, b.getInt8(0)), done, ask,
                 llvm::MDBuilder(context()).createLikelyBranchWeights());
  b.SetInsertPoint(ask);
  Value* given = b.CreateICmpEQ(AskLinux(b), b.getInt64(0));
  llvm::StoreInst* store =
      b.CreateStore(b.CreateZExt(given, b.getInt8Ty()), allowed);
  store->setAtomic(llvm::AtomicOrdering::Monotonic);
  store->setAlignment(llvm::Align(1));
  b.CreateRet(given);
  b.SetInsertPoint(done);
  b.CreateRet(b.getTrue());
  return f;
}

void KernelEmitter::ConfigureTiles(const TileConfiguration& configuration) {
  FailUnless(b_.CreateCall(module_->TilesHelper()), "RuntimeError",
             "the system does not give this process the registers of AMX");
  llvm::Constant* bytes = llvm::ConstantDataArray::get(
      b_.getContext(), llvm::ArrayRef<uint8_t>(configuration));
  auto* global = new llvm::GlobalVariable(
      module_->module(), bytes->getType(), true,
      llvm::GlobalValue::PrivateLinkage, bytes, "tiles");
  global->setAlignment(llvm::Align(64));
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  b_.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {global});
  uses_tiles_ = true;
}

bool KernelEmitter::ConfigureTilesAround(const tir::For& loop) {
  if (tiles_.has_value() || (!m_.Has("amx-int8") && !m_.Has("amx-bf16"))) {
    return false;
  }
  tiles_ = CommonConfiguration(loop, bounds_, in_parallel_);
  if (tiles_.has_value()) ConfigureTiles(*tiles_);
  return tiles_.has_value();
}

std::pair<Value*, Value*> KernelEmitter::TileAt(
    const TileNest::Operand& operand, int64_t elements, int64_t row_stride) {
  Value* offset =
      b_.CreateNSWAdd(EmitExpr(operand.offset), b_.getInt64(elements));
  return {Address(*operand.buffer, offset, true),
          b_.getInt64(row_stride * operand.buffer->dtype.bytes())};
}

void KernelEmitter::ZeroSums(const TileNest& nest) {
  for (int64_t i = 0; i < nest.row_tiles(); ++i) {
    for (int64_t j = 0; j < nest.column_tiles(); ++j) {
      b_.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {},
                         {b_.getInt8(static_cast<uint8_t>(SumTile(i, j)))});
    }
  }
}

void KernelEmitter::MoveSums(const TileNest& nest, llvm::Intrinsic::ID move) {
  for (int64_t i = 0; i < nest.row_tiles(); ++i) {
    for (int64_t j = 0; j < nest.column_tiles(); ++j) {
      auto [address, bytes] = TileAt(nest.sum,
                                     i * TileNest::kRows * nest.sum.row_stride +
                                         j * nest.sum.column_stride,
                                     nest.sum.row_stride);
      b_.CreateIntrinsic(
          move, {},
          {b_.getInt8(static_cast<uint8_t>(SumTile(i, j))), address, bytes});
    }
  }
}

// One step of the sums: of a factor that several terms share, and that comes
// next again, the tiles are loaded once.
void KernelEmitter::EmitTileTerms(const TileNest& nest) {
  const auto load = [&](int tile, const TileNest::Operand& operand,
                        int64_t elements, int64_t row_stride) {
    auto [address, bytes] = TileAt(operand, elements, row_stride);
    b_.CreateIntrinsic(
        llvm::Intrinsic::x86_tileloadd64, {},
        {b_.getInt8(static_cast<uint8_t>(tile)), address, bytes});
  };
  const TileNest::Operand* a = nullptr;
  const TileNest::Operand* b = nullptr;
  for (const TileNest::Term& term : nest.terms) {
    const bool new_a = a == nullptr || !IsSameTile(*a, term.a);
    const bool new_b = b == nullptr || !IsSameTile(*b, term.b);
    a = &term.a;
    b = &term.b;
    for (int64_t i = 0; i < nest.row_tiles(); ++i) {
      const int tile_a = kTilesOfA + static_cast<int>(i);
      if (new_a) {
        load(tile_a, *a, i * TileNest::kRows * a->row_stride, a->row_stride);
      }
      for (int64_t j = 0; j < nest.column_tiles(); ++j) {
        const int tile_b = kTilesOfB + static_cast<int>(j);
        if (new_b && i == 0) {
          load(tile_b, *b, j * b->column_stride, b->row_stride);
        }
        b_.CreateIntrinsic(ProductOf(nest), {},
                           {b_.getInt8(static_cast<uint8_t>(SumTile(i, j))),
                            b_.getInt8(static_cast<uint8_t>(tile_a)),
                            b_.getInt8(static_cast<uint8_t>(tile_b))});
      }
    }
  }
}

void KernelEmitter::EmitTileSteps(const TileNest& nest, size_t step) {
  cache_.clear();
  if (step == nest.steps.size()) return EmitTileTerms(nest);
  const tir::For& loop = *nest.steps[step];
  Value* min = EmitExpr(loop.min);
  Value* end = b_.CreateNSWAdd(min, EmitExpr(loop.extent));
  EmitSerial(loop, min, end, [&] { EmitTileSteps(nest, step + 1); });
}

bool KernelEmitter::HasTilesFor(const TileNest& nest) const {
  return m_.Has(nest.is_of_bytes ? "amx-int8" : "amx-bf16");
}

void KernelEmitter::EmitTensorized(const tir::For& loop) {
  const absl::StatusOr<TileNest> nest = ReadTileNest(loop, bounds_);
  if (!nest.ok()) {
    Fail(nest.status().message(), DataType::Int(32));
  } else if (HasTilesFor(*nest)) {
    EmitTiles(*nest, /*from_zero=*/false);
  } else {
    EmitSerial(loop);
  }
}

bool KernelEmitter::EmitTilesFromZero(const tir::Stmt& before,
                                      const tir::Stmt& stmt) {
  const auto* loop = tir::As<tir::For>(stmt);
  if (loop == nullptr || loop->for_kind != tir::ForKind::kTensorized) {
    return false;
  }
  const absl::StatusOr<TileNest> nest = ReadTileNest(*loop, bounds_);
  if (!nest.ok() || !HasTilesFor(*nest) ||
      !ZeroesSums(before, *nest, bounds_)) {
    return false;
  }
  EmitTiles(*nest, /*from_zero=*/true);
  return true;
}

void KernelEmitter::EmitTiles(const TileNest& nest, bool from_zero) {
  cache_.clear();
  const TileConfiguration configuration = ConfigurationOf(nest);
  if (!tiles_.has_value()) {
    ConfigureTiles(configuration);
  } else if (*tiles_ != configuration) {
    Fail("a loop configures other tiles than it multiplies", DataType::Int(32));
  }
  if (from_zero) {
    ZeroSums(nest);
  } else {
    MoveSums(nest, llvm::Intrinsic::x86_tileloadd64);
  }
  EmitTileSteps(nest, 0);
  MoveSums(nest, llvm::Intrinsic::x86_tilestored64);
}

}  // namespace ingot::codegen

#include <algorithm>
#include <array>

#include "compiler/codegen/llvm/kernel_emitter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// Registers: up to four tiles of sums, then two each of `a` and of `b`.
constexpr int kTilesOfA = 4, kTilesOfB = 6;
constexpr int64_t kBytesOfRow = 64;

int SumTile(int64_t row, int64_t column) {
  return static_cast<int>(row * 2 + column);
}

// The rows or columns in the tile `index` of `count` of them.
int64_t InTile(int64_t count, int64_t index) {
  return std::min<int64_t>(16, count - index * 16);
}

// ldtilecfg reads the palette, then for each register the bytes of a row
// from byte 16 on, and the rows from byte 48 on (Intel's manual, volume 1,
// chapter 18).
std::array<uint8_t, 64> Configuration(const TileNest& nest) {
  std::array<uint8_t, 64> bytes = {};
  bytes[0] = 1;
  const auto set = [&bytes](int tile, int64_t rows, int64_t row_bytes) {
    bytes[16 + 2 * tile] = static_cast<uint8_t>(row_bytes);
    bytes[48 + tile] = static_cast<uint8_t>(rows);
  };
  constexpr int64_t kBytesOfSum = 4;
  for (int64_t i = 0; i < nest.row_tiles(); ++i) {
    const int64_t rows = InTile(nest.rows, i);
    set(kTilesOfA + static_cast<int>(i), rows, kBytesOfRow);
    for (int64_t j = 0; j < nest.column_tiles(); ++j) {
      set(SumTile(i, j), rows, InTile(nest.columns, j) * kBytesOfSum);
    }
  }
  for (int64_t j = 0; j < nest.column_tiles(); ++j) {
    set(kTilesOfB + static_cast<int>(j), TileNest::kRows,
        InTile(nest.columns, j) * kBytesOfSum);
  }
  return bytes;
}

bool IsSameTile(const TileNest::Operand& x, const TileNest::Operand& y) {
  return x.buffer == y.buffer &&
         tir::ToAffine(x.offset) == tir::ToAffine(y.offset);
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

void KernelEmitter::ConfigureTiles(const TileNest& nest) {
  llvm::Constant* bytes = llvm::ConstantDataArray::get(
      b_.getContext(), llvm::ArrayRef<uint8_t>(Configuration(nest)));
  auto* configuration = new llvm::GlobalVariable(
      module_->module(), bytes->getType(), true,
      llvm::GlobalValue::PrivateLinkage, bytes, "tiles");
  configuration->setAlignment(llvm::Align(64));
  configuration->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  b_.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {configuration});
  uses_tiles_ = true;
}

std::pair<Value*, Value*> KernelEmitter::TileAt(
    const TileNest::Operand& operand, int64_t elements, int64_t row_stride) {
  Value* offset =
      b_.CreateNSWAdd(EmitExpr(operand.offset), b_.getInt64(elements));
  return {Address(*operand.buffer, offset, true),
          b_.getInt64(row_stride * operand.buffer->dtype.bytes())};
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
          load(tile_b, *b, j * b->column_stride,
               kBytesOfRow / b->buffer->dtype.bytes());
        }
        b_.CreateIntrinsic(nest.is_of_bytes ? llvm::Intrinsic::x86_tdpbusd
                                            : llvm::Intrinsic::x86_tdpbf16ps,
                           {},
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

void KernelEmitter::EmitTensorized(const tir::For& loop) {
  absl::StatusOr<TileNest> nest = ReadTileNest(loop, bounds_);
  if (nest.ok() && !m_.Has(nest->is_of_bytes ? "amx-int8" : "amx-bf16")) {
    nest = absl::InvalidArgumentError(
        "a tensorized loop is for a processor with AMX");
  }
  if (!nest.ok()) {
    Fail(nest.status().message(), DataType::Int(32));
    return;
  }
  FailUnless(b_.CreateCall(module_->TilesHelper()), "RuntimeError",
             "the system does not give this process the registers of AMX");
  ConfigureTiles(*nest);
  MoveSums(*nest, llvm::Intrinsic::x86_tileloadd64);
  EmitTileSteps(*nest, 0);
  MoveSums(*nest, llvm::Intrinsic::x86_tilestored64);
}

}  // namespace ingot::codegen

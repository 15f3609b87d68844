// The body of one function: statements and expressions as LLVM IR.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_KERNEL_EMITTER_H_
#define INGOT_COMPILER_CODEGEN_LLVM_KERNEL_EMITTER_H_

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/codegen/access.h"
#include "compiler/codegen/device_pipelines.h"
#include "compiler/codegen/llvm/module_emitter.h"
#include "compiler/codegen/llvm/tile_nest.h"
#include "compiler/codegen/llvm/tile_setup.h"
#include "compiler/codegen/llvm/warp_nest.h"
#include "compiler/codegen/load_blocks.h"
#include "compiler/codegen/quantization.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace ingot::codegen {

// The space of memory that a group of work items shares, for both families.
inline constexpr unsigned kSharedMemory = 3;

// The work items of a group, in code for a device: this one's number and how
// many there are, the thread loops after which they wait for one another, and
// the loops that copy ahead.
struct GroupOfItems {
  llvm::Value* item;
  int64_t items;
  const std::set<const tir::For*>* barriers;
  const Pipelines* pipelines;
  // The memory that they share, of which `used` bytes are taken; null: each
  // buffer is an array of the code's.
  llvm::GlobalVariable* shared = nullptr;
  // The kernel's parameters for DeviceKernel::maps.
  std::vector<llvm::Value*> maps;
  int64_t used = 0;
};

// A pipeline, and the arrays that have all slots of its buffers.
struct PipelineArrays {
  const Pipeline& pipeline;
  std::vector<llvm::Value*> whole;
};

// Emits into one llvm::Function. After an error, which status() keeps, what it
// emits has no meaning but stays well formed.
class KernelEmitter {
 public:
  // `function` has no body yet. Inside of a parallel body, loops marked
  // parallel run serially: the threads are busy already.
  KernelEmitter(ModuleEmitter* module, llvm::Function* function,
                tir::Bounds bounds, bool in_parallel);

  // For expressions alone, at the end of a block that another builder fills.
  KernelEmitter(ModuleEmitter* module, llvm::BasicBlock* at);

  void BindBuffer(const tir::BufferNode* buffer, llvm::Value* data);
  void BindVar(const tir::Var* var, llvm::Value* value);
  // `var` holds a loaded value, so that arithmetic on it may overflow.
  void MarkData(const tir::Var* var) { data_vars_.insert(var); }

  // Thread loops are from now on for the items of a group.
  void SetGroup(const GroupOfItems& group) { group_ = group; }

  void EmitStmt(const tir::Stmt& s);
  // Emits `for i in [begin, end): body`, where body sees var = min + i.
  void EmitRange(const tir::For& loop, llvm::Value* begin, llvm::Value* end);
  // Emits the body of the iteration of a loop that is number `index` of them.
  void EmitIteration(const tir::For& loop, llvm::Value* index);
  // Ends the function with `return 0`, or `return` where it returns nothing.
  void Finish();

  llvm::Value* EmitExpr(const tir::Expr& e);
  llvm::IRBuilder<>& builder() { return b_; }
  const absl::Status& status() const { return status_; }

 private:
  // Expressions (emit_expr.cc).
  llvm::Value* EmitUncached(const tir::Expr& e);
  llvm::Value* EmitBinary(const tir::Binary& e);
  llvm::Value* EmitFloatBinary(const tir::Binary& e, llvm::Value* x,
                               llvm::Value* y);
  llvm::Value* EmitIntBinary(const tir::Binary& e, llvm::Value* x,
                             llvm::Value* y);
  llvm::Value* EmitDivision(const tir::Binary& e, llvm::Value* x,
                            llvm::Value* y);
  llvm::Value* EmitUnary(const tir::Unary& e);
  llvm::Value* EmitCall(const tir::Call& e);
  // kDot4 with all whose result it is added to.
  llvm::Value* EmitByteProducts(const tir::Call& last);
  // The loads of u8 that the bytes of a word are; null: that one is 0.
  static constexpr int kBytesOfWord = 4;
  using BytesOfWord = std::array<const tir::Load*, kBytesOfWord>;
  // False where the word is made of something else.
  bool FindBytes(const tir::Expr& e, BytesOfWord* bytes);
  // A vector of words whose bytes are those of neighbouring vectors, each from
  // one; null where it is anything else (emit_words.cc).
  llvm::Value* EmitWordOfNeighbours(const tir::Expr& e);
  // So many vectors of bytes, four at most, as words of four neighbours; zeros
  // behind them.
  llvm::Value* EmitNeighbours(const tir::BufferNode& buffer,
                              const tir::Expr& first, int lanes, int vectors);
  llvm::Value* EmitRamp(const tir::Ramp& e);
  llvm::Value* EmitConstant(DataType t, double value);
  // Whether an i64 expression cannot overflow: it is made of loop variables,
  // dimensions and constants.
  bool IsIndexArithmetic(const tir::Expr& e) const;

  // Conversions (emit_cast.cc). The "wide" form of a 16-bit float is f32.
  llvm::Value* EmitCast(const tir::Cast& e);
  // A float to an integer of at most 16 bits.
  llvm::Value* EmitNarrowSaturatingCast(llvm::Value* v, DataType to);
  // A vector of floats to one of 32 or 64 bits, where there are instructions.
  llvm::Value* EmitSaturatingCast(llvm::Value* v, DataType to);
  // A vector of floats to one of i64. New blocks begin.
  llvm::Value* EmitWideSaturatingCast(llvm::Value* v, DataType to);
  llvm::Value* Widen(DataType t, llvm::Value* v);
  // The same for what is compared, f32 too, so that LLVM does not compare
  // vectors of halves where floats come from them.
  llvm::Value* WidenToCompare(DataType t, llvm::Value* v);
  llvm::Value* Narrow(DataType t, llvm::Value* v);

  // Rounding to bytes (emit_quantize.cc).
  // A number with the rounded quotient in its last digits, and where x was NaN
  // if that is something else; null: it is not.
  struct RoundedByte {
    llvm::Value* sum = nullptr;
    llvm::Value* is_nan = nullptr;
  };
  RoundedByte EmitRounded(const Quantization& q);
  // `v` divided by the scale, so that it rounds as the quotient does.
  llvm::Value* EmitQuotient(const Quantization& q, llvm::Value* v);
  // The rounded quotient of AVX-512's 16 floats: with the zero added it is the
  // byte, or lies on that side of the bytes' range whose end is.
  llvm::Value* EmitWholeQuotient(const Quantization& q);
  // Each is null where `e` is something else.
  llvm::Value* EmitQuantized(const tir::Cast& e);
  llvm::Value* EmitDequantized(const tir::Cast& e);

  // Stores of rounded bytes that lie side by side (emit_byte_groups.cc).
  struct RoundedStore {
    Quantization rounded;
    // In which the byte is looked up, the first one last.
    std::vector<const tir::BufferNode*> tables;
  };
  std::optional<RoundedStore> FindRoundedStore(const tir::Store& s);
  // Those of the first few stores that may become one. Less than two: none may.
  std::vector<RoundedStore> FindByteGroup(
      absl::Span<const tir::Store* const> stores);
  void EmitByteGroup(const tir::Store& first,
                     const std::vector<RoundedStore>& group);

  // Memory and what guards it (emit_memory.cc).
  llvm::Value* EmitLoad(const tir::Load& e);
  // Tables (emit_look_up.cc). Both are null but where the index is a byte, the
  // table of 256 bytes and the machine has an instruction for it.
  llvm::Value* EmitLookUp(const tir::Load& e);
  tir::Expr IndexOfLookUp(const tir::Load& e) const;
  // The table's elements at up to 64 bytes, and others up to so many.
  llvm::Value* EmitLookUp(const tir::BufferNode& table, llvm::Value* index);
  llvm::Value* EmitMaskedLoad(const tir::Load& e, const Access& access);
  llvm::Value* EmitSelect(const tir::Select& e);
  llvm::Value* EmitBranches(llvm::Value* condition, const tir::Expr& on_true,
                            const tir::Expr& on_false);
  void EmitStore(const tir::Store& s);
  void EmitPrefetch(const tir::Prefetch& s);
  void EmitAllocate(const tir::Allocate& s);
  // The bytes at a multiple of which so many neighbours from `base` on lie, as
  // far as is known.
  llvm::Align AlignOf(const tir::BufferNode& buffer, const Access& access,
                      DataType t) const;
  llvm::Value* Address(const tir::BufferNode& buffer, llvm::Value* offset,
                       bool in_bounds);
  std::vector<llvm::Value*> LaneAddresses(const tir::BufferNode& buffer,
                                          const Access& access);
  // From memory's form to a value, and back.
  llvm::Value* FromMemory(DataType t, llvm::Value* v);
  llvm::Value* ToMemory(DataType t, llvm::Value* v);
  llvm::Value* Splat(int lanes, llvm::Value* v);

  // Vectors of neighbours that are shuffled (emit_shuffles.cc).
  // Loads elements that are so few apart.
  llvm::Value* EmitSpacedLoad(const tir::Load& e, const Access& access,
                              int64_t stride);
  // Loads a block of a transposition, and keeps what its loads give.
  void EmitLoadBlock(const LoadBlock& block);
  // Emits the stores that begin with statement `first`, up to one that is
  // something else. Returns how many these are.
  size_t EmitStores(const tir::Seq& s, size_t first);

  // Control flow (emit_stmt.cc).
  void EmitSeq(const tir::Seq& s);
  void EmitFor(const tir::For& loop);
  void EmitSerial(const tir::For& loop);
  void EmitSerial(const tir::For& loop, llvm::Value* min, llvm::Value* end);
  // The same around what `body` emits.
  void EmitSerial(const tir::For& loop, llvm::Value* min, llvm::Value* end,
                  absl::FunctionRef<void()> body);
  void EmitUnrolled(const tir::For& loop, int64_t extent);
  void EmitParallel(const tir::For& loop);
  void EmitIf(const tir::IfThenElse& s);
  void EmitWhile(const tir::While& s);
  void EmitCallExtern(const tir::CallExtern& s);
  void EmitPart(const tir::Part& s);
  // Goes on where `holds` is true, and elsewhere ends the function with an
  // error.
  void FailUnless(llvm::Value* holds, const char* kind,
                  const std::string& message);
  llvm::BasicBlock* NewBlock(const char* name);

  // Groups of work items (emit_threads.cc).
  void EmitThreads(const tir::For& loop, bool may_wait = true);
  void EmitBarrier();
  // Multiplications that warps make together (emit_warp_tiles.cc), and their
  // sums, in the order of WarpNest::SumAt.
  void EmitWarpTiles(const tir::For& threads);
  std::vector<llvm::Value*> SumPlaces(const WarpNest& nest);
  std::vector<llvm::Value*> LoadSums(const WarpNest& nest);
  void StoreSums(const WarpNest& nest, const std::vector<llvm::Value*>& sums);
  // Whether four warps of the block make it together, and all of its threads
  // do.
  bool MultipliesInGroups(const WarpNest& nest) const;
  // Those of four warps (emit_group_tiles.cc), which go on while the next
  // iteration of a pipeline begins.
  void EmitGroupTiles(const WarpNest& nest);
  // Waits for all multiplications but those of the last EmitGroupTiles.
  void EmitGroupWaitForOthers();
  // Waits for all, whose sums may be used then.
  void EmitGroupWait(const WarpNest& nest);
  // Memory that the items of a group share: so many elements, at a multiple of
  // so many bytes.
  llvm::Value* SharedArray(const std::string& name, llvm::Type* element,
                           int64_t elements, int64_t alignment);

  // Copies ahead of use (emit_pipeline.cc).
  void EmitPipeline(const tir::For& loop, const Pipeline& pipeline);
  PipelineArrays ArraysOf(const Pipeline& pipeline);
  // The first number of a pipeline's loop, and the one after the last.
  std::pair<llvm::Value*, llvm::Value*> RangeOf(const tir::For& loop);
  // The rest of iteration `index`, of which a multiplication may go on.
  void EmitStep(const tir::For& loop, const Pipeline& pipeline,
                llvm::Value* index, bool multiplies_on);
  // Begins the copies of iteration `index`, into buffers of that slot.
  void EmitCopies(const tir::For& loop, const PipelineArrays& arrays,
                  llvm::Value* index, llvm::Value* slot);
  // Binds the variables of iteration `index` of a pipeline's loop, or forgets
  // what is known of them.
  void EnterIteration(const tir::For& loop, const Pipeline& pipeline,
                      llvm::Value* index);
  void LeaveIteration(const tir::For& loop, const Pipeline& pipeline);
  // Binds the pipeline's buffers to those of a slot.
  void UseSlot(const PipelineArrays& arrays, llvm::Value* slot);
  // Begins to copy what a store would. Returns false, and emits nothing, where
  // no instruction does that.
  bool EmitAsyncCopy(const tir::Store& s);

  // Copies of boxes ahead of use (emit_box_pipeline.cc).
  // The only multiplication of an iteration, if units of four warps make it of
  // boxes.
  std::optional<WarpNest> GroupNestOf(const tir::For& loop,
                                      const Pipeline& pipeline);
  void EmitBoxPipeline(const tir::For& loop, const Pipeline& pipeline,
                       const WarpNest& nest);
  // Begins the copies of iteration `index` into that slot, which `barrier`
  // counts.
  void EmitBoxCopies(const tir::For& loop, const PipelineArrays& arrays,
                     llvm::Value* index, llvm::Value* slot,
                     llvm::Value* barrier);
  // Waits until what `barrier` counts has come for the time that `phase`, 0 or
  // 1 in turns, says.
  void EmitBoxWait(llvm::Value* barrier, llvm::Value* phase);
  // Emits what the first work item of the group does alone.
  void EmitFirstItem(llvm::Value* condition, absl::FunctionRef<void()> emit);

  // Tiles (emit_tiles.cc).
  void EmitTensorized(const tir::For& loop);
  // Emits both statements and returns true where the first makes zeros of the
  // sums that the second, a tensorized loop, adds to: no memory is needed for
  // that.
  bool EmitTilesFromZero(const tir::Stmt& before, const tir::Stmt& stmt);
  bool HasTilesFor(const TileNest& nest) const;
  void EmitTiles(const TileNest& nest, bool from_zero);
  void EmitTileSteps(const TileNest& nest, size_t step);
  void EmitTileTerms(const TileNest& nest);
  void ConfigureTiles(const TileConfiguration& configuration);
  // Configures tiles before the loop where all multiplications in it need the
  // same, and no loop around it has done so. Returns whether it did.
  bool ConfigureTilesAround(const tir::For& loop);
  void ZeroSums(const TileNest& nest);
  // Loads or stores all tiles of sums.
  void MoveSums(const TileNest& nest, llvm::Intrinsic::ID move);
  // Returns the address of the tile so many strides from an operand's first,
  // and the bytes from one of its rows to the next.
  std::pair<llvm::Value*, llvm::Value*> TileAt(const TileNest::Operand& operand,
                                               int64_t elements,
                                               int64_t row_stride);

  // Runs `emit` where values computed before may be used, and forgets those
  // that it computes: they need not be reached elsewhere.
  void Scoped(absl::FunctionRef<void()> emit);
  llvm::Value* Fail(absl::string_view what, DataType t);

  ModuleEmitter* const module_;
  const Machine& m_;
  llvm::Function* const function_;
  llvm::IRBuilder<> b_;
  tir::Bounds bounds_;
  const bool in_parallel_;
  int parallel_count_ = 0;
  bool uses_tiles_ = false;
  std::optional<TileConfiguration> tiles_;  // of a loop around
  std::optional<GroupOfItems> group_;
  // Whether stores may be copies that are done later.
  bool copies_ahead_ = false;
  // Whether multiplications of four warps may go on after their loop.
  bool multiplies_on_ = false;
  absl::Status status_;

  std::unordered_map<const tir::BufferNode*, llvm::Value*> buffers_;
  std::unordered_map<const tir::Var*, llvm::Value*> vars_;
  std::unordered_set<const tir::Var*> data_vars_;
  // Values of nodes that the statement at hand has evaluated already, so that
  // a shared node is computed once. Keeps the nodes: an address must not be
  // used again while it is a key.
  std::unordered_map<tir::Expr, llvm::Value*> cache_;
  // Values that loads of blocks gave, for the stores at hand.
  std::unordered_map<const tir::Load*, llvm::Value*> loaded_;
  QuantizationFinder quantizations_;
  // Lanes whose loads may run; null: all.
  llvm::Value* mask_ = nullptr;
};

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_KERNEL_EMITTER_H_

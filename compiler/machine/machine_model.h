// A processor or accelerator as schedules see it. A plain value: a target says
// what it is (TargetKind::machine), templates of schedules and preferences of
// layouts read it. It names no instruction set and no product, so that a model
// of a machine that does not exist yet can be written down and scheduled for.
#ifndef INGOT_COMPILER_MACHINE_MACHINE_MODEL_H_
#define INGOT_COMPILER_MACHINE_MACHINE_MODEL_H_

#include <cstdint>
#include <set>

namespace ingot {

// Units that compute on more than vectors of one element type.
enum class MachineUnit {
  // Adds the products of four unsigned and four signed bytes to each i32 lane
  // of a vector (tir::Intrinsic::kDot4): AVX-VNNI, AVX-512 VNNI, Arm's I8MM.
  // WebAssembly, too, whose model leaves registers for what kInt8Pairs needs.
  kInt8Dot,
  // The same by several instructions: bytes are made 16 bits wide, multiplied
  // and added up in pairs, for which operands take two registers each; so what
  // is stored 16 bits wide (kDot2) needs fewer. SSSE3, AVX2, AVX-512.
  kInt8Pairs,
  // The same by a few instructions, where the unsigned bytes are less than 128:
  // Arm's dot product.
  kInt7Dot,
  // Multiply tiles of a matrix, a tile register at a time: AMX.
  kInt8Tiles,
  kBFloat16Tiles,
  // Multiply tiles of 16-bit floats, whose sums of f32 are spread over the
  // threads of a warp: tensor cores.
  kWarpTiles,
  // The same of f32, of which they multiply fewer digits, where that is
  // allowed:
  // TF32.
  kTf32WarpTiles,
  // Multiply larger tiles of 16-bit floats in shared memory, whose sums are
  // spread over the threads of four warps, while these go on: NVIDIA's Hopper.
  kWarpGroupTiles,
};

struct MachineModel {
  // The vector registers of one core: the bits of the widest useful ones (0:
  // scalar code) and how many there are.
  int vector_bits = 128;
  int vector_registers = 16;
  // Code may have vectors wider than a register: their parts are worked on side
  // by side, and no part waits for the end of a step of its own alone.
  bool wide_vectors = false;
  // Multiplies and adds in one instruction, with one rounding.
  bool fma = false;
  // Bytes of one core's data caches.
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;
  // Where a device runs threads in groups: how many groups run at once, and
  // the bytes that the threads of one share. 0: there are no such groups, and
  // loops have no blocks.
  int group_cores = 0;
  int64_t shared_bytes = 0;
  // Groups that copy ahead of what they compute may have so many bytes for all
  // that is on its way, where a core then runs one group, and half for two; 0:
  // none does.
  int64_t ahead_bytes = 0;
  std::set<MachineUnit> units;
  // Products of f32 with constant weights are made of so many bf16 parts of
  // each number, by tiles; 0: of the numbers themselves.
  int product_parts = 0;
  // Results must have the same bits as on any other machine with this set.
  bool reproducible = false;

  // The machine whose sizes may decide in which order terms are added, and by
  // which algorithm: this one, or one that all reproducible ones share.
  MachineModel ForSums() const {
    if (!reproducible) return *this;
    MachineModel shared;
    shared.vector_bits = 512;
    shared.vector_registers = 32;
    shared.l2_bytes = 1 << 20;
    shared.reproducible = true;
    return shared;
  }

  // Elements of `bits` bits in a vector register; 1 for scalar code.
  int lanes(int bits) const {
    return vector_bits == 0 ? 1 : vector_bits / bits;
  }
  bool Has(MachineUnit unit) const { return units.count(unit) > 0; }
  bool MultipliesBytes() const {
    return Has(MachineUnit::kInt8Dot) || Has(MachineUnit::kInt8Pairs);
  }
};

}  // namespace ingot

#endif  // INGOT_COMPILER_MACHINE_MACHINE_MODEL_H_

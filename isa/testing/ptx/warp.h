// The machine as handlers of instructions see it.
#ifndef INGOT_ISA_TESTING_PTX_WARP_H_
#define INGOT_ISA_TESTING_PTX_WARP_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/testing/ptx/machine.h"
#include "isa/testing/ptx/module.h"

namespace ingot::isa::ptx {

// Generic addresses of shared and local memory and parameters begin here.
inline constexpr uint64_t kSharedWindow = uint64_t{0xfe} << 56;
inline constexpr uint64_t kLocalWindow = uint64_t{0xfd} << 56;
inline constexpr uint64_t kParameterWindow = uint64_t{0xfc} << 56;
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 32;

// Who used each place of a block's shared memory since the last barrier. Warps
// run one after the other and their lanes together, which would hide that they
// do not wait.
struct Uses {
  uint64_t phase = 1;  // counts barriers
  // A place has 1 << place_shift bytes: a word, or what is less and the least
  // that an instruction of the kernel uses.
  int place_shift = 2;
  // For each place a tag of races.cc.
  std::vector<uint64_t> writers, readers;
  // Each warp's number of fences between what it wrote and what units read. For
  // each place its writer's number then, with the writer in the high bits; 0:
  // no thread wrote it.
  uint32_t fences[32] = {};
  std::vector<uint32_t> unfenced;
};

// The writer of places that are of no array.
inline constexpr uint64_t kNobody = ~uint64_t{0};

// Who wrote to global memory since the launch.
struct GlobalUses {
  // By the number of a page, for each byte a tag of global_races.cc.
  std::unordered_map<uint64_t, std::vector<uint64_t>> pages;
  std::vector<bool> marks;  // that some pages may be there
};

// An object in shared memory that counts arrivals, and bytes that come.
struct Mbarrier {
  uint32_t count = 0;      // the arrivals of each phase
  uint32_t pending = 0;    // those that this phase waits for
  int64_t bytes = 0;       // that it waits for; they may come before
  uint32_t phases = 0;     // that are complete
  uint32_t seen[32] = {};  // how many of them each warp knows of
};

// A box of a tensor that comes to shared memory while threads go on.
struct BulkCopy {
  const Instruction* instruction = nullptr;
  uint32_t to = 0;  // in shared memory, without the swizzle
  bool is_swizzled = false;
  std::vector<uint8_t> data;  // empty once it has arrived
  uint32_t barrier_at = 0;
  Mbarrier* barrier = nullptr;
  uint32_t phase = 0;  // of the barrier, that counted its bytes
  bool has_arrived = false;
};

// Everything that the warps of a block have in common.
struct Block {
  const Kernel* kernel = nullptr;
  std::vector<Range> memory;
  // For each instruction the range that its last access was in.
  std::vector<uint32_t> last_range;
  std::vector<uint8_t> parameters;
  std::vector<uint8_t> shared;
  uint32_t number = 0;
  Uses uses;
  GlobalUses global;
  // Descriptors of the products that four warps began, by their first.
  std::map<uint32_t, std::vector<std::pair<uint64_t, uint64_t>>> group_products;
  std::map<uint32_t, Mbarrier> mbarriers;  // by their places in `shared`
  std::vector<BulkCopy> bulk_copies;
  std::vector<uint32_t> coming;  // the numbers of those that have not arrived
  uint64_t moves = 0;            // counts what may let a warp go on that waits
  Failure failure;
};

// A copy that a thread began with cp.async.
struct Copy {
  uint32_t to = 0;  // in shared memory
  uint32_t group = 0;
  uint8_t bytes = 0;
  uint8_t lane = 0;
  uint8_t data[16] = {};
};

// A warp's part of a product that four warps make until they wait for it.
struct GroupProduct {
  const Instruction* instruction = nullptr;
  uint32_t group = 0;
  std::vector<uint32_t> lines;    // of shared memory that it reads
  std::vector<uint8_t> operands;  // what they were
  std::vector<double> products;
  bool adds = true;
  // The values that its registers had. Empty where another product for the same
  // registers comes before it.
  std::vector<float> sums;
};

struct Warp {
  Block* block = nullptr;
  uint32_t number = 0;  // in the block
  std::vector<uint8_t> storage;
  uint8_t* registers = nullptr;  // aligned to 64 bytes, of `storage`
  std::vector<uint8_t> local;    // of each lane one after the other
  uint32_t all = 0;              // the threads that there are
  uint32_t live = 0;             // those that have not ended
  uint32_t held = 0;    // those that wait for others of the warp at `pc`
  uint32_t active = 0;  // those that do the current instruction
  bool is_at_barrier = false;
  uint64_t meetings = 0;  // at bar.warp.sync
  // The threads whose last try of an mbarrier was in vain, until others of the
  // block have run; the try and its mbarrier.
  uint32_t trying = 0;
  const Instruction* tried = nullptr;
  uint32_t tried_at = 0;
  uint32_t pc[kLanes] = {};
  std::vector<Copy> copies;
  uint32_t groups[kLanes] = {};  // of copies, that each thread committed
  std::vector<GroupProduct> products;
  size_t products_begun = 0;
  uint32_t product_groups = 0;  // committed
  bool products_are_fenced = false;

  template <typename T>
  T* Lanes(uint32_t at) {
    return reinterpret_cast<T*>(registers + at);
  }
  // Reads an operand whose lanes have 4 or 8 bytes.
  uint64_t Unsigned(const Instruction& i, int operand, int lane) {
    return i.width[operand] == 8 ? Lanes<uint64_t>(i.at[operand])[lane]
                                 : Lanes<uint32_t>(i.at[operand])[lane];
  }
  bool IsActive(int lane) const { return (active >> lane & 1) != 0; }

  // Says that the instruction failed; false.
  bool Fail(const Instruction& i, int code, const std::string& why);
};

// Keeps the values of active lanes.
template <typename T>
void Keep(Warp& warp, uint32_t at, const T (&values)[kLanes]) {
  T* const to = warp.Lanes<T>(at);
  if (warp.active == kAllLanes) {
    std::memcpy(to, values, sizeof values);
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if (warp.IsActive(lane)) to[lane] = values[lane];
  }
}

inline void KeepPredicate(Warp& warp, uint32_t at, uint32_t values) {
  uint32_t& to = *warp.Lanes<uint32_t>(at);
  to = (to & ~warp.active) | (values & warp.active);
}

template <typename T>
constexpr char kLetterOf = sizeof(T) == 2   ? 'h'
                           : sizeof(T) == 4 ? 'w'
                                            : 'd';

// The form of an instruction that makes a D of each lane's S...: Op::Do.
template <typename Op, typename D, typename... S>
struct Lanewise {
  template <size_t... k>
  static void RunOn(Warp& warp, const Instruction& i,
                    std::index_sequence<k...>) {
    const auto from = std::make_tuple(warp.Lanes<const S>(i.at[k + 1])...);
    D to[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      to[lane] = Op::Do(std::get<k>(from)[lane]...);
    }
    Keep(warp, i.at[0], to);
  }
  static bool Run(Warp& warp, const Instruction& i) {
    RunOn(warp, i, std::make_index_sequence<sizeof...(S)>());
    return true;
  }
  static Form MakeForm() {
    Form form;
    form.operands = {kLetterOf<D>, kLetterOf<S>...};
    form.run = Run;
    return form;
  }
};

// The form of a comparison, which makes a predicate.
template <typename Op, typename T>
struct Comparison {
  static bool Run(Warp& warp, const Instruction& i) {
    const T* const a = warp.Lanes<const T>(i.at[1]);
    const T* const b = warp.Lanes<const T>(i.at[2]);
    uint32_t values = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      values |= uint32_t{Op::Do(a[lane], b[lane])} << lane;
    }
    KeepPredicate(warp, i.at[0], values);
    return true;
  }
  static Form MakeForm() {
    Form form;
    form.operands = {'p', kLetterOf<T>, kLetterOf<T>};
    form.run = Run;
    return form;
  }
};

// Finds the bytes that the active lanes' addresses mean: the operand's, in this
// space. Each access is aligned to its bytes. Inactive lanes get a place that
// may be read.
bool Resolve(Warp& warp, const Instruction& i, int operand, Space space,
             uint32_t bytes, uint8_t* (&found)[kLanes]);

// Fails where another thread wrote what the active lanes read, or has read what
// they write, and nothing orders the two: a barrier, or bar.warp.sync for those
// of a warp. `at` is of shared memory, or of any.
bool NoteReads(Warp& warp, const Instruction& i, uint32_t bytes,
               uint8_t* const (&at)[kLanes]);
bool NoteWrites(Warp& warp, const Instruction& i, uint32_t bytes,
                uint8_t* const (&at)[kLanes]);
// The same of one lane's place, by its offset in shared memory. Fails also
// where another thread wrote something else there; null: what is written is not
// known yet.
bool NoteWrite(Warp& warp, const Instruction& i, uint64_t lane, uint32_t bytes,
               size_t offset, const uint8_t* data);
// Fails where a thread wrote what units read, and no fence came after.
bool CheckFences(Warp& warp, const Instruction& i, uint32_t bytes,
                 size_t offset);

// Fails where others than the lane use what a bulk copy will write, or have not
// waited for it. The copy has this number.
bool NoteBulkCopy(Warp& warp, const Instruction& i, uint32_t bytes,
                  size_t offset, int lane, uint32_t number);
// Units see from now on what the warp wrote there.
void FenceWords(const Warp& warp, uint32_t bytes, size_t offset);
// All warps know from now on what one of them knows.
void NoteBarrier(Block* block);
// Begins a block, whose shared memory is unused.
void ForgetUses(Block* block);

// Whether a place that an address means is in no memory of threads or blocks.
bool IsGlobal(const Warp& warp, const uint8_t* at);
// Fails where another thread of the launch wrote what is read or, if it is to
// be constant, any; or where it wrote something else. `at` of reads is of
// global memory or of any.
bool NoteGlobalReads(Warp& warp, const Instruction& i, uint32_t bytes,
                     uint8_t* const (&at)[kLanes], bool is_constant);
bool NoteGlobalRead(Warp& warp, const Instruction& i, int lane, uint32_t bytes,
                    const uint8_t* at, bool is_constant);
bool NoteGlobalWrite(Warp& warp, const Instruction& i, int lane, uint32_t bytes,
                     const uint8_t* at, const uint8_t* data);

// Finds the mbarrier that a lane's address means; null: it failed.
Mbarrier* FindMbarrier(Warp& warp, const Instruction& i, int operand, int lane,
                       uint32_t* offset);
// Begins the next phase where this one has all that it waits for.
void CompletePhase(Block* block, Mbarrier* barrier);

// Lets one bulk copy arrive that a warp tries to wait for, else another; false:
// there is none.
bool ArriveLate(std::vector<Warp>* warps);

// Whether warps have waited for all products, of which those of four have made
// the same; else it failed.
bool HasAllProducts(std::vector<Warp>* warps);

// Whether a lane's address is a multiple of so many bytes; else it failed.
bool IsAligned(Warp& warp, const Instruction& i, int operand, int lane,
               uint32_t alignment);
// As Resolve, of one lane and with another alignment; null: it failed.
uint8_t* FindOfLane(Warp& warp, const Instruction& i, int operand, Space space,
                    int lane, uint32_t alignment, uint32_t bytes);
// Bytes of global memory; null: it failed.
uint8_t* FindOfGlobal(Warp& warp, const Instruction& i, uint64_t address,
                      uint32_t bytes);

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_WARP_H_

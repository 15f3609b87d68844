// Barriers, branches, and what the threads of a warp tell each other.
#include <cstdint>
#include <string>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

// The lane that another reads, and whether it is in the segment; else the lane
// reads its own. `clamp` has the segment's mask above its lowest 5 bits.
using Source = bool (*)(int lane, int by, uint32_t clamp, int* from);

int SegmentOf(int lane, uint32_t clamp) {
  return lane & static_cast<int>(clamp >> 8 & 31);
}
int LastOf(int lane, uint32_t clamp) {
  const int mask = static_cast<int>(clamp >> 8 & 31);
  return SegmentOf(lane, clamp) | (static_cast<int>(clamp & 31) & ~mask);
}
bool Up(int lane, int by, uint32_t clamp, int* from) {
  *from = lane - by;
  return *from >= LastOf(lane, clamp);
}
bool Down(int lane, int by, uint32_t clamp, int* from) {
  *from = lane + by;
  return *from <= LastOf(lane, clamp);
}
bool Butterfly(int lane, int by, uint32_t clamp, int* from) {
  *from = lane ^ by;
  return *from <= LastOf(lane, clamp);
}
bool Index(int lane, int by, uint32_t clamp, int* from) {
  const int mask = static_cast<int>(clamp >> 8 & 31);
  *from = SegmentOf(lane, clamp) | (by & ~mask);
  return *from <= LastOf(lane, clamp);
}

// Whether the mask of each lane names all threads of the warp: the machine
// knows no other.
bool IsOfAll(Warp& warp, const Instruction& i, int operand) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint32_t mask = warp.Lanes<uint32_t>(i.at[operand])[lane];
    if (warp.IsActive(lane) && (mask & warp.all) != warp.all) {
      return warp.Fail(i, kIllegalInstruction, "it is for a part of the warp");
    }
  }
  return true;
}

// The operands are d {| p}, a, b, c, mask.
template <Source kSource>
bool Shuffle(Warp& warp, const Instruction& i) {
  const bool has_predicate = i.form.operands[1] == 'p';
  const int first = has_predicate ? 2 : 1;
  if (!IsOfAll(warp, i, first + 3)) return false;
  const uint32_t* const values = warp.Lanes<uint32_t>(i.at[first]);
  uint32_t to[kLanes], is_in = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int by =
        static_cast<int>(warp.Lanes<uint32_t>(i.at[first + 1])[lane] & 31);
    const uint32_t clamp = warp.Lanes<uint32_t>(i.at[first + 2])[lane];
    int from = lane;
    if (kSource(lane, by, clamp, &from)) {
      is_in |= uint32_t{1} << lane;
    } else {
      from = lane;
    }
    to[lane] = values[from];
  }
  Keep(warp, i.at[0], to);
  if (has_predicate) KeepPredicate(warp, i.at[1], is_in);
  return true;
}

enum Vote { kAll, kAny, kUniform };

template <Vote kVote>
bool VoteOf(Warp& warp, const Instruction& i) {
  if (!IsOfAll(warp, i, 2)) return false;
  const uint32_t votes = *warp.Lanes<uint32_t>(i.at[1]) & warp.active;
  const bool all = votes == warp.active;
  const bool result = kVote == kAll   ? all
                      : kVote == kAny ? votes != 0
                                      : all || votes == 0;
  KeepPredicate(warp, i.at[0], result ? kAllLanes : 0);
  return true;
}

bool Ballot(Warp& warp, const Instruction& i) {
  if (!IsOfAll(warp, i, 2)) return false;
  uint32_t to[kLanes];
  for (uint32_t& word : to) {
    word = *warp.Lanes<uint32_t>(i.at[1]) & warp.active;
  }
  Keep(warp, i.at[0], to);
  return true;
}

bool ActiveMask(Warp& warp, const Instruction& i) {
  uint32_t to[kLanes];
  for (uint32_t& word : to) word = warp.active;
  Keep(warp, i.at[0], to);
  return true;
}

bool Trap(Warp& warp, const Instruction& i) {
  return warp.Fail(i, kIllegalInstruction, "the kernel gave up");
}

// Orders what the threads of a warp do to memory.
bool Meet(Warp& warp, const Instruction& i) {
  ++warp.meetings;
  return IsOfAll(warp, i, 0);
}

bool DoNothing(Warp&, const Instruction&) { return true; }

// The machine's barrier has the number 0.
bool IsBarrierOfAll(Warp& warp, const Instruction& i) {
  if (*warp.Lanes<uint32_t>(i.at[0]) == 0) return true;
  return warp.Fail(i, kIllegalInstruction, "it is another barrier");
}

Form Of(const char* operands, Handler run, Control control) {
  Form form;
  form.operands = operands;
  form.run = run;
  form.control = control;
  return form;
}

template <Source kSource>
void AddShuffle(Forms* forms, const std::string& opcode) {
  (*forms)[opcode] = Of("wwwww", Shuffle<kSource>, Control::kTogether);
  (*forms)[opcode + "|"] = Of("wpwwww", Shuffle<kSource>, Control::kTogether);
}

}  // namespace

void AddTogether(Forms* forms) {
  Forms& f = *forms;
  f["bra"] = f["bra.uni"] = Of("l", DoNothing, Control::kBranch);
  f["ret"] = f["ret.uni"] = f["exit"] = Of("", DoNothing, Control::kEnd);
  for (const char* const opcode :
       {"bar.sync", "barrier.sync.aligned", "barrier.cta.sync.aligned"}) {
    f[opcode] = Of("w", IsBarrierOfAll, Control::kBarrier);
  }
  f["trap"] = Of("", Trap, Control::kNext);
  f["bar.warp.sync"] = Of("w", Meet, Control::kTogether);
  for (const char* const opcode :
       {"membar.cta", "membar.gl", "fence.acq_rel.cta", "fence.acq_rel.gpu"}) {
    f[opcode] = Of("", DoNothing, Control::kNext);
  }
  AddShuffle<Up>(forms, "shfl.sync.up.b32");
  AddShuffle<Down>(forms, "shfl.sync.down.b32");
  AddShuffle<Butterfly>(forms, "shfl.sync.bfly.b32");
  AddShuffle<Index>(forms, "shfl.sync.idx.b32");
  f["vote.sync.all.pred"] = Of("ppw", VoteOf<kAll>, Control::kTogether);
  f["vote.sync.any.pred"] = Of("ppw", VoteOf<kAny>, Control::kTogether);
  f["vote.sync.uni.pred"] = Of("ppw", VoteOf<kUniform>, Control::kTogether);
  f["vote.sync.ballot.b32"] = Of("wpw", Ballot, Control::kTogether);
  f["activemask.b32"] = Of("w", ActiveMask, Control::kNext);
}

}  // namespace ingot::isa::ptx

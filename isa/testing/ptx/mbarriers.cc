// Barriers in shared memory (mbarrier), whose phases wait for arrivals and for
// the bytes of bulk copies.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

// The place of an mbarrier has this: who writes there ends it.
constexpr uint64_t kMark = 0xba11e4ba11e4ba11;
constexpr uint32_t kBytes = sizeof kMark;

// GPUs do not count further.
constexpr uint32_t kMost = (1u << 20) - 1;

// The operands are [address], arrivals of each phase.
bool Init(Warp& warp, const Instruction& i) {
  uint8_t* at[kLanes];
  if (!Resolve(warp, i, 0, Space::kShared, kBytes, at) ||
      !NoteWrites(warp, i, kBytes, at)) {
    return false;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) continue;
    const uint32_t count = warp.Lanes<uint32_t>(i.at[1])[lane];
    if (count == 0 || count > kMost) {
      return warp.Fail(i, kIllegalInstruction,
                       "it waits for " + std::to_string(count) + " arrivals");
    }
    Mbarrier made;
    made.count = made.pending = count;
    const auto offset =
        static_cast<uint32_t>(at[lane] - warp.block->shared.data());
    if (!warp.block->mbarriers.insert({offset, made}).second) {
      return warp.Fail(i, kIllegalInstruction, "an mbarrier is there already");
    }
    std::memcpy(at[lane], &kMark, kBytes);
  }
  ++warp.block->moves;
  return true;
}

// The operands are a state, which is not kept, [address], bytes to wait for.
bool ArriveAndExpect(Warp& warp, const Instruction& i) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) continue;
    uint32_t offset = 0;
    Mbarrier* const barrier = FindMbarrier(warp, i, 1, lane, &offset);
    if (barrier == nullptr) return false;
    const uint32_t bytes = warp.Lanes<uint32_t>(i.at[2])[lane];
    if (bytes > kMost || barrier->bytes + bytes > kMost) {
      return warp.Fail(i, kIllegalInstruction, "it waits for too many bytes");
    }
    if (barrier->pending == 0) {
      return warp.Fail(i, kIllegalInstruction,
                       "the phase has all its arrivals, and waits for " +
                           std::to_string(barrier->bytes) + " bytes");
    }
    barrier->bytes += bytes;
    --barrier->pending;
    ++warp.block->moves;
    CompletePhase(warp.block, barrier);
  }
  return true;
}

// The operands are a predicate, [address], the parity of a phase.
bool TryWait(Warp& warp, const Instruction& i) {
  uint32_t is_complete = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) continue;
    uint32_t offset = 0;
    Mbarrier* const barrier = FindMbarrier(warp, i, 1, lane, &offset);
    if (barrier == nullptr) return false;
    const uint32_t parity = warp.Lanes<uint32_t>(i.at[2])[lane];
    if (parity > 1) {
      return warp.Fail(i, kIllegalInstruction, "its parity is no bit");
    }
    if ((barrier->phases & 1) != parity) {
      is_complete |= uint32_t{1} << lane;
      barrier->seen[warp.number] = barrier->phases;
    } else {
      warp.trying |= uint32_t{1} << lane;
      warp.tried = &i;
      warp.tried_at = offset;
    }
  }
  KeepPredicate(warp, i.at[0], is_complete);
  return true;
}

// Bulk copies see the mbarriers that the warp made.
bool FenceInit(Warp& warp, const Instruction&) {
  for (const auto& [offset, barrier] : warp.block->mbarriers) {
    FenceWords(warp, kBytes, offset);
  }
  return true;
}

Form Of(const char* operands, Handler run) {
  Form form;
  form.operands = operands;
  form.run = run;
  return form;
}

}  // namespace

// Who uses an mbarrier has waited for the warp that made it.
Mbarrier* FindMbarrier(Warp& warp, const Instruction& i, int operand, int lane,
                       uint32_t* offset) {
  uint8_t* const found =
      FindOfLane(warp, i, operand, Space::kShared, lane, kBytes, kBytes);
  if (found == nullptr) return nullptr;
  *offset = static_cast<uint32_t>(found - warp.block->shared.data());
  uint8_t* at[kLanes];
  std::fill(at, at + kLanes, found);
  if (!NoteReads(warp, i, kBytes, at)) return nullptr;
  const auto barrier = warp.block->mbarriers.find(*offset);
  if (barrier == warp.block->mbarriers.end() ||
      std::memcmp(found, &kMark, kBytes) != 0) {
    warp.Fail(i, kIllegalInstruction, "no mbarrier is there");
    return nullptr;
  }
  return &barrier->second;
}

void CompletePhase(Block* block, Mbarrier* barrier) {
  if (barrier->pending != 0 || barrier->bytes != 0) return;
  ++barrier->phases;
  barrier->pending = barrier->count;
  ++block->moves;
}

void AddMbarriers(Forms* forms) {
  Forms& f = *forms;
  f["mbarrier.init.shared::cta.b64"] = Of("mw", Init);
  f["fence.mbarrier_init.release.cluster"] = Of("", FenceInit);
  f["mbarrier.arrive.expect_tx.shared::cta.b64"] = Of("dmw", ArriveAndExpect);
  Form form = Of("pmw", TryWait);
  form.control = Control::kTry;
  f["mbarrier.try_wait.parity.shared::cta.b64"] = form;
}

}  // namespace ingot::isa::ptx

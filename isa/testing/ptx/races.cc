// Uses of shared memory by threads that do not wait for each other.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>

#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

// A tag has, from its low bits on, a lane, how often its warp has met, the warp
// and a phase.
constexpr int kMeetingBits = 24, kWarpBit = 32, kPhaseBit = 40;
constexpr uint64_t kAllOfByte = 0xff;

// In the place of a lane: several of a warp read, or wrote the same.
constexpr uint64_t kReaders = 0xff, kWriters = 0xfe;
constexpr uint64_t kSeveralWarps = kAllOfByte << kWarpBit;

// A place's writer and how many fences it had made.
constexpr uint32_t kFenceBits = 24;
constexpr uint32_t kFences = (1u << kFenceBits) - 1;

// The writer of what a bulk copy writes is this and its number. Phases do not
// come so far.
constexpr uint64_t kIsBulkCopy = uint64_t{1} << 63;

uint64_t TagOf(const Warp& warp, uint64_t lane) {
  constexpr uint64_t kMeetings = (uint64_t{1} << kMeetingBits) - 1;
  return warp.block->uses.phase << kPhaseBit |
         uint64_t{warp.number + 1} << kWarpBit |
         (warp.meetings & kMeetings) << 8 | lane;
}

// Whether nothing orders it and another thread's: there was no barrier since,
// and if the warp is the same, it has not met.
bool IsOfOther(uint64_t tag, uint64_t mine) {
  const uint64_t differs = tag ^ mine;
  return differs >> kPhaseBit == 0 && differs != 0 &&
         (differs >> kWarpBit != 0 || differs >> 8 == 0);
}

// The tag of both, the second of which is not of several threads.
uint64_t OfBoth(uint64_t tag, uint64_t mine, uint64_t several_lanes) {
  return (tag ^ mine) >> kWarpBit != 0 ? tag | kSeveralWarps
                                       : (tag & ~kAllOfByte) | several_lanes;
}

std::string NameOf(const Warp& warp, uint64_t tag) {
  const uint64_t number = tag >> kWarpBit & kAllOfByte;
  const uint64_t lane = tag & kAllOfByte;
  if (number == kAllOfByte) return "several warps";
  if (number != warp.number + 1) return "warp " + std::to_string(number - 1);
  return lane >= kLanes ? "several lanes of the warp"
                        : "lane " + std::to_string(lane) + " of the warp";
}

// Calls use(offset, lane) for each place in shared memory that the active lanes
// use, until it is false. What many lanes use is mostly their neighbour's, or
// that of the lane 8 before: the first of them then stands for `several`.
template <typename Use>
bool ForPlaces(Warp& warp, uint8_t* const (&at)[kLanes], uint64_t several,
               const Use& use) {
  const std::vector<uint8_t>& shared = warp.block->shared;
  if (shared.empty()) return true;
  const auto is_same = [&](int lane, int other) {
    return other >= 0 && other < kLanes && at[lane] == at[other] &&
           warp.IsActive(other);
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane) || is_same(lane, lane - 1) ||
        is_same(lane, lane - 8)) {
      continue;
    }
    const size_t offset = at[lane] - shared.data();
    if (offset >= shared.size()) continue;
    const bool is_of_several =
        is_same(lane, lane + 1) || is_same(lane, lane + 8);
    if (!use(offset, is_of_several ? several : static_cast<uint64_t>(lane))) {
      return false;
    }
  }
  return true;
}

// Calls use(place) for each place there, until it is false.
template <typename Use>
bool EachPlace(const Uses& uses, uint32_t bytes, size_t offset,
               const Use& use) {
  const size_t end = (offset + bytes) >> uses.place_shift;
  for (size_t place = offset >> uses.place_shift; place < end; ++place) {
    if (!use(place)) return false;
  }
  return true;
}

std::string WordOf(const Warp& warp, size_t place) {
  return "word " + std::to_string((place << warp.block->uses.place_shift) / 4) +
         " of shared memory";
}

bool FailsFor(Warp& warp, const Instruction& i, size_t place, uint64_t tag,
              const char* did) {
  return warp.Fail(i, kIllegalInstruction,
                   NameOf(warp, tag) + did + WordOf(warp, place) +
                       " since the last barrier");
}

// Fails where a place is of no array, or its writer a bulk copy that the warp
// has not waited for.
bool HasWaited(Warp& warp, const Instruction& i, size_t place,
               uint64_t writer) {
  if (writer < kIsBulkCopy) return true;
  if (writer == kNobody) {
    return warp.Fail(i, kIllegalAddress, "no array has " + WordOf(warp, place));
  }
  const BulkCopy& copy = warp.block->bulk_copies[writer - kIsBulkCopy];
  return (copy.has_arrived && copy.barrier->seen[warp.number] > copy.phase) ||
         warp.Fail(i, kIllegalInstruction,
                   "the warp has not waited for the bulk copy of line " +
                       std::to_string(copy.instruction->line) + " to " +
                       WordOf(warp, place));
}

// Fails, and is true, where another thread has read a place that is written.
bool IsRead(Warp& warp, const Instruction& i, size_t place, uint64_t mine) {
  const uint64_t reader = warp.block->uses.readers[place];
  return IsOfOther(reader, mine) && !FailsFor(warp, i, place, reader, " read ");
}

}  // namespace

bool NoteReads(Warp& warp, const Instruction& i, uint32_t bytes,
               uint8_t* const (&at)[kLanes]) {
  Uses& uses = warp.block->uses;
  // An instruction of the whole warp is for all of its lanes.
  const bool is_of_all = i.form.control == Control::kTogether;
  return ForPlaces(warp, at, kReaders, [&](size_t offset, uint64_t lane) {
    const uint64_t mine = TagOf(warp, is_of_all ? kReaders : lane);
    return EachPlace(uses, bytes, offset, [&](size_t place) {
      const uint64_t writer = uses.writers[place];
      if (IsOfOther(writer, mine)) {
        return FailsFor(warp, i, place, writer, " wrote ");
      }
      if (!HasWaited(warp, i, place, writer)) return false;
      uint64_t& reader = uses.readers[place];
      reader = IsOfOther(reader, mine) ? OfBoth(reader, mine, kReaders) : mine;
      return true;
    });
  });
}

bool NoteWrites(Warp& warp, const Instruction& i, uint32_t bytes,
                uint8_t* const (&at)[kLanes]) {
  return ForPlaces(warp, at, kWriters, [&](size_t offset, uint64_t lane) {
    return NoteWrite(warp, i, lane, bytes, offset, nullptr);
  });
}

bool NoteWrite(Warp& warp, const Instruction& i, uint64_t lane, uint32_t bytes,
               size_t offset, const uint8_t* data) {
  Uses& uses = warp.block->uses;
  const uint64_t mine = TagOf(warp, lane);
  return EachPlace(uses, bytes, offset, [&](size_t place) {
    if (IsRead(warp, i, place, mine)) return false;
    uint64_t& writer = uses.writers[place];
    if (!HasWaited(warp, i, place, writer)) return false;
    const bool has_other = IsOfOther(writer, mine);
    const size_t at = place << uses.place_shift;
    if (has_other && data != nullptr &&
        std::memcmp(warp.block->shared.data() + at, data + (at - offset),
                    size_t{1} << uses.place_shift) != 0) {
      return FailsFor(warp, i, place, writer, " wrote something else to ");
    }
    writer = has_other ? OfBoth(writer, mine, kWriters) : mine;
    uses.unfenced[place] =
        (warp.number + 1) << kFenceBits | (uses.fences[warp.number] & kFences);
    return true;
  });
}

bool CheckFences(Warp& warp, const Instruction& i, uint32_t bytes,
                 size_t offset) {
  const Uses& uses = warp.block->uses;
  return EachPlace(uses, bytes, offset, [&](size_t place) {
    const uint32_t tag = uses.unfenced[place];
    const uint32_t writer = (tag >> kFenceBits) - 1;
    return tag == 0 || (uses.fences[writer] & kFences) != (tag & kFences) ||
           warp.Fail(i, kIllegalInstruction,
                     "warp " + std::to_string(writer) + " wrote " +
                         WordOf(warp, place) + ", and no fence.proxy.async");
  });
}

bool NoteBulkCopy(Warp& warp, const Instruction& i, uint32_t bytes,
                  size_t offset, int lane, uint32_t number) {
  Uses& uses = warp.block->uses;
  const uint64_t mine = TagOf(warp, static_cast<uint64_t>(lane));
  const auto note = [&](size_t place) {
    if (IsRead(warp, i, place, mine)) return false;
    uint64_t& writer = uses.writers[place];
    if (IsOfOther(writer, mine)) {
      return FailsFor(warp, i, place, writer, " wrote ");
    }
    if (!HasWaited(warp, i, place, writer)) return false;
    writer = kIsBulkCopy | number;
    return true;
  };
  if (!EachPlace(uses, bytes, offset, note) ||
      !CheckFences(warp, i, bytes, offset)) {
    return false;
  }
  return EachPlace(uses, bytes, offset, [&](size_t place) {
    uses.unfenced[place] = 0;
    return true;
  });
}

void FenceWords(const Warp& warp, uint32_t bytes, size_t offset) {
  Uses& uses = warp.block->uses;
  EachPlace(uses, bytes, offset, [&](size_t place) {
    uint32_t& tag = uses.unfenced[place];
    if (tag >> kFenceBits == warp.number + 1) tag = 0;
    return true;
  });
}

void NoteBarrier(Block* block) {
  ++block->uses.phase;
  for (auto& [offset, barrier] : block->mbarriers) {
    std::fill(
        std::begin(barrier.seen), std::end(barrier.seen),
        *std::max_element(std::begin(barrier.seen), std::end(barrier.seen)));
  }
}

void ForgetUses(Block* block) {
  Uses& uses = block->uses;
  const Kernel& kernel = *block->kernel;
  // Several threads may have parts of a word.
  uses.place_shift = 2;
  for (const Instruction& i : kernel.code) {
    const bool may_be_shared =
        i.form.space == Space::kShared || i.form.space == Space::kGeneric;
    const int bytes = i.form.size * i.form.count;
    if (!may_be_shared || bytes == 0) continue;
    while (bytes < 1 << uses.place_shift) --uses.place_shift;
  }
  const size_t last = (size_t{1} << uses.place_shift) - 1;
  const size_t places = (block->shared.size() + last) >> uses.place_shift;
  uses.phase = 1;
  uses.writers.assign(places, 0);
  uses.readers.assign(places, 0);
  uses.unfenced.assign(places, 0);
  for (const Gap& gap : kernel.shared_gaps) {
    std::fill(uses.writers.begin() + ((gap.begin + last) >> uses.place_shift),
              uses.writers.begin() + (gap.end >> uses.place_shift), kNobody);
  }
}

}  // namespace ingot::isa::ptx

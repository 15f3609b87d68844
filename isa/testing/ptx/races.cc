// Uses of shared memory by several warps that do not wait for each other.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

// A tag is a phase and, in its low bits, a warp.
constexpr uint32_t kWarpBits = 8;
constexpr uint32_t kSeveral = (1u << kWarpBits) - 1;

// A word's writer and how many fences it had made.
constexpr uint32_t kFenceBits = 24;
constexpr uint32_t kFences = (1u << kFenceBits) - 1;

// The writer of what a bulk copy writes is this and its number. Phases do not
// come so far.
constexpr uint32_t kIsBulkCopy = 1u << 31;

uint32_t TagOf(const Warp& warp) {
  return warp.block->uses.phase << kWarpBits | (warp.number + 1);
}

// Whether it is another warp's, of the same phase.
bool IsOfOther(uint32_t tag, uint32_t mine) {
  return (tag ^ mine) - 1 < kSeveral;
}

std::string WarpOf(uint32_t tag) {
  const uint32_t warp = tag & kSeveral;
  return warp == kSeveral ? "several warps"
                          : "warp " + std::to_string(warp - 1);
}

// Calls use(offset) for each place in shared memory that the active lanes use,
// until it is false. Bytes and halves of words are left out: several warps may
// have parts of one. What many lanes use is mostly their neighbour's, or that
// of the lane 8 before.
template <typename Use>
bool ForPlaces(Warp& warp, uint32_t bytes, uint8_t* const (&at)[kLanes],
               const Use& use) {
  const std::vector<uint8_t>& shared = warp.block->shared;
  if (bytes < 4 || shared.empty()) return true;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) continue;
    if (lane > 0 && at[lane] == at[lane - 1] && warp.IsActive(lane - 1)) {
      continue;
    }
    if (lane > 7 && at[lane] == at[lane - 8] && warp.IsActive(lane - 8)) {
      continue;
    }
    const size_t offset = at[lane] - shared.data();
    if (offset < shared.size() && !use(offset)) return false;
  }
  return true;
}

bool FailsFor(Warp& warp, const Instruction& i, size_t word, uint32_t tag,
              const char* did) {
  return warp.Fail(i, kIllegalInstruction,
                   WarpOf(tag) + did + " word " + std::to_string(word) +
                       " of shared memory since the last barrier");
}

// Fails where a word's writer is a bulk copy that the warp has not waited for.
bool HasWaited(Warp& warp, const Instruction& i, size_t word, uint32_t writer) {
  if (writer < kIsBulkCopy) return true;
  const BulkCopy& copy = warp.block->bulk_copies[writer - kIsBulkCopy];
  return (copy.has_arrived && copy.barrier->seen[warp.number] > copy.phase) ||
         warp.Fail(i, kIllegalInstruction,
                   "the warp has not waited for the bulk copy of line " +
                       std::to_string(copy.instruction->line) + " to word " +
                       std::to_string(word) + " of shared memory");
}

// Fails, and is true, where another warp has read a word that is written.
bool IsRead(Warp& warp, const Instruction& i, size_t word) {
  const uint32_t reader = warp.block->uses.readers[word];
  return IsOfOther(reader, TagOf(warp)) &&
         !FailsFor(warp, i, word, reader, " read");
}

}  // namespace

bool NoteReads(Warp& warp, const Instruction& i, uint32_t bytes,
               uint8_t* const (&at)[kLanes]) {
  Uses& uses = warp.block->uses;
  const uint32_t mine = TagOf(warp);
  return ForPlaces(warp, bytes, at, [&](size_t offset) {
    for (size_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
      const uint32_t writer = uses.writers[word];
      if (IsOfOther(writer, mine)) {
        return FailsFor(warp, i, word, writer, " wrote");
      }
      if (!HasWaited(warp, i, word, writer)) return false;
      uint32_t& reader = uses.readers[word];
      reader = IsOfOther(reader, mine) ? reader | kSeveral : mine;
    }
    return true;
  });
}

bool NoteWrites(Warp& warp, const Instruction& i, uint32_t bytes,
                uint8_t* const (&at)[kLanes]) {
  return ForPlaces(warp, bytes, at, [&](size_t offset) {
    return NoteWrite(warp, i, bytes, offset);
  });
}

// Two warps may write the same: what is then there is somebody's.
bool NoteWrite(Warp& warp, const Instruction& i, uint32_t bytes,
               size_t offset) {
  Uses& uses = warp.block->uses;
  const uint32_t mine = TagOf(warp);
  for (size_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    if (IsRead(warp, i, word)) return false;
    uint32_t& writer = uses.writers[word];
    if (!HasWaited(warp, i, word, writer)) return false;
    writer = IsOfOther(writer, mine) ? writer | kSeveral : mine;
    uses.unfenced[word] =
        (warp.number + 1) << kFenceBits | (uses.fences[warp.number] & kFences);
  }
  return true;
}

bool CheckFences(Warp& warp, const Instruction& i, uint32_t bytes,
                 size_t offset) {
  const Uses& uses = warp.block->uses;
  for (size_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    const uint32_t tag = uses.unfenced[word];
    if (tag == 0) continue;
    const uint32_t writer = (tag >> kFenceBits) - 1;
    if ((uses.fences[writer] & kFences) == (tag & kFences)) {
      return warp.Fail(i, kIllegalInstruction,
                       "warp " + std::to_string(writer) + " wrote word " +
                           std::to_string(word) +
                           " of shared memory, and no fence.proxy.async");
    }
  }
  return true;
}

bool NoteBulkCopy(Warp& warp, const Instruction& i, uint32_t bytes,
                  size_t offset, uint32_t number) {
  Uses& uses = warp.block->uses;
  const uint32_t mine = TagOf(warp);
  for (size_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    if (IsRead(warp, i, word)) return false;
    uint32_t& writer = uses.writers[word];
    if (IsOfOther(writer, mine)) {
      return FailsFor(warp, i, word, writer, " wrote");
    }
    if (!HasWaited(warp, i, word, writer)) return false;
    writer = kIsBulkCopy | number;
  }
  if (!CheckFences(warp, i, bytes, offset)) return false;
  std::fill_n(uses.unfenced.begin() + offset / 4, bytes / 4, 0);
  return true;
}

void FenceWords(const Warp& warp, uint32_t bytes, size_t offset) {
  for (size_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    uint32_t& tag = warp.block->uses.unfenced[word];
    if (tag >> kFenceBits == warp.number + 1) tag = 0;
  }
}

void NoteBarrier(Block* block) {
  ++block->uses.phase;
  for (auto& [offset, barrier] : block->mbarriers) {
    std::fill(
        std::begin(barrier.seen), std::end(barrier.seen),
        *std::max_element(std::begin(barrier.seen), std::end(barrier.seen)));
  }
}

}  // namespace ingot::isa::ptx

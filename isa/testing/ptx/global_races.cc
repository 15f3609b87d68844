// Uses of global memory by threads of a launch that nothing orders: those of
// other blocks, and of the same one since its last barrier. Blocks run the last
// one first, so that a block that reads what a later one writes is found, too.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

constexpr int kPageBits = 12;
constexpr uint64_t kPageBytes = uint64_t{1} << kPageBits;
constexpr uint64_t kMarks = 1 << 16;

// A tag has, from its low bits on, a thread, a phase of its block, and the
// block's number and one: 0 is no thread's.
constexpr int kPhaseBit = 10, kBlockBit = 32;

uint64_t TagOf(const Warp& warp, int lane) {
  constexpr uint64_t kPhases = (uint64_t{1} << (kBlockBit - kPhaseBit)) - 1;
  return uint64_t{warp.block->number + 1} << kBlockBit |
         (warp.block->uses.phase & kPhases) << kPhaseBit |
         (warp.number * kLanes + static_cast<uint32_t>(lane));
}

bool IsOfOther(uint64_t tag, uint64_t mine) {
  const uint64_t differs = tag ^ mine;
  return tag != 0 && differs != 0 &&
         (differs >> kBlockBit != 0 || differs >> kPhaseBit == 0);
}

bool FailsFor(Warp& warp, const Instruction& i, uint64_t tag, const char* did) {
  constexpr uint64_t kThreads = (1 << kPhaseBit) - 1;
  return warp.Fail(i, kIllegalInstruction,
                   "thread " + std::to_string(tag & kThreads) + " of block " +
                       std::to_string((tag >> kBlockBit) - 1) + did);
}

// The tags of a page; null: no thread wrote there.
std::vector<uint64_t>* TagsOf(GlobalUses* uses, uint64_t page) {
  if (uses->marks.empty() || !uses->marks[page % kMarks]) return nullptr;
  const auto found = uses->pages.find(page);
  return found == uses->pages.end() ? nullptr : &found->second;
}

std::vector<uint64_t>& NewTagsOf(GlobalUses* uses, uint64_t page) {
  uses->marks.resize(kMarks);
  uses->marks[page % kMarks] = true;
  std::vector<uint64_t>& tags = uses->pages[page];
  tags.resize(kPageBytes);
  return tags;
}

}  // namespace

bool NoteGlobalRead(Warp& warp, const Instruction& i, int lane, uint32_t bytes,
                    const uint8_t* at, bool is_constant) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  const uint64_t mine = TagOf(warp, lane);
  // Pages are aligned to more than an access of a thread has.
  for (uint64_t begin = address; begin < address + bytes;) {
    const uint64_t end = std::min<uint64_t>(
        address + bytes, (begin / kPageBytes + 1) * kPageBytes);
    const std::vector<uint64_t>* const tags =
        TagsOf(&warp.block->global, begin / kPageBytes);
    for (; tags != nullptr && begin < end; ++begin) {
      const uint64_t writer = (*tags)[begin % kPageBytes];
      if (IsOfOther(writer, mine)) {
        return FailsFor(warp, i, writer,
                        " wrote there, and no barrier follows");
      }
      if (is_constant && writer != 0) {
        return FailsFor(warp, i, writer,
                        " wrote there, which no thread may in this launch");
      }
    }
    begin = end;
  }
  return true;
}

bool NoteGlobalReads(Warp& warp, const Instruction& i, uint32_t bytes,
                     uint8_t* const (&at)[kLanes], bool is_constant) {
  const std::vector<bool>& marks = warp.block->global.marks;
  if (marks.empty()) return true;
  uint64_t unwritten = 0;  // a page
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint64_t page = reinterpret_cast<uintptr_t>(at[lane]) / kPageBytes;
    if (page == unwritten) continue;
    if (!marks[page % kMarks]) {
      unwritten = page;
      continue;
    }
    if (warp.IsActive(lane) && IsGlobal(warp, at[lane]) &&
        !NoteGlobalRead(warp, i, lane, bytes, at[lane], is_constant)) {
      return false;
    }
  }
  return true;
}

bool NoteGlobalWrite(Warp& warp, const Instruction& i, int lane, uint32_t bytes,
                     const uint8_t* at, const uint8_t* data) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  const uint64_t mine = TagOf(warp, lane);
  std::vector<uint64_t>& tags =
      NewTagsOf(&warp.block->global, address / kPageBytes);
  uint64_t* const of_bytes = tags.data() + address % kPageBytes;
  for (uint32_t k = 0; k < bytes; ++k) {
    if (IsOfOther(of_bytes[k], mine) && at[k] != data[k]) {
      return FailsFor(warp, i, of_bytes[k],
                      " wrote something else there, and no barrier follows");
    }
    of_bytes[k] = mine;
  }
  return true;
}

}  // namespace ingot::isa::ptx

// Copies from global to shared memory that threads do not wait for at once.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

// [to], [from], bytes {, bytes that are not zeros}. What is there until the
// thread waits is not what anybody wants.
bool Begin(Warp& warp, const Instruction& i) {
  const uint32_t bytes = i.form.size;
  const bool has_source_bytes = i.form.operands.size() == 4;
  uint8_t* to[kLanes];
  if (!Resolve(warp, i, 0, Space::kShared, bytes, to)) return false;
  if (!NoteWrites(warp, i, bytes, to)) return false;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) continue;
    if (warp.Lanes<uint32_t>(i.at[2])[lane] != bytes) {
      return warp.Fail(i, kIllegalInstruction, "it copies other bytes");
    }
    Copy copy;
    copy.to = static_cast<uint32_t>(to[lane] - warp.block->shared.data());
    copy.bytes = static_cast<uint8_t>(bytes);
    copy.lane = static_cast<uint8_t>(lane);
    copy.group = warp.groups[lane];
    std::memset(to[lane], 0xff, bytes);
    const uint32_t real =
        has_source_bytes ? warp.Lanes<uint32_t>(i.at[3])[lane] : bytes;
    if (real > bytes) {
      return warp.Fail(i, kIllegalInstruction, "it reads more than it copies");
    }
    // An address of which nothing is read is aligned, too.
    const uint8_t* const from =
        real > 0 ? FindOfLane(warp, i, 1, Space::kGlobal, lane, bytes, real)
                 : copy.data;
    if (from == nullptr || !IsAligned(warp, i, 1, lane, bytes)) return false;
    if (!NoteGlobalRead(warp, i, lane, real, from, /*is_constant=*/false)) {
      return false;
    }
    std::memcpy(copy.data, from, real);
    warp.copies.push_back(copy);
  }
  return true;
}

bool Commit(Warp& warp, const Instruction&) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (warp.IsActive(lane)) ++warp.groups[lane];
  }
  return true;
}

// Ends those copies of the active lanes of which `is_due` is true.
template <typename IsDue>
bool End(Warp& warp, const Instruction& i, const IsDue& is_due) {
  std::vector<Copy>& copies = warp.copies;
  size_t kept = 0;
  for (const Copy& copy : copies) {
    if (!warp.IsActive(copy.lane) || !is_due(copy)) {
      copies[kept++] = copy;
    } else {
      if (!NoteWrite(warp, i, copy.lane, copy.bytes, copy.to, nullptr)) {
        return false;
      }
      std::memcpy(warp.block->shared.data() + copy.to, copy.data, copy.bytes);
    }
  }
  copies.resize(kept);
  return true;
}

// All groups but the last N.
bool WaitForGroups(Warp& warp, const Instruction& i) {
  const uint32_t* const pending = warp.Lanes<uint32_t>(i.at[0]);
  return End(warp, i, [&](const Copy& copy) {
    return copy.group + pending[copy.lane] < warp.groups[copy.lane];
  });
}

bool WaitForAll(Warp& warp, const Instruction& i) {
  return End(warp, i, [](const Copy&) { return true; });
}

void AddCopy(Forms* forms, const std::string& opcode, const char* operands,
             uint8_t bytes) {
  Form form;
  form.operands = operands;
  form.run = Begin;
  form.size = bytes;
  (*forms)[opcode] = form;
}

}  // namespace

void AddCopies(Forms* forms) {
  // The number of bytes is an operand, which the parser adds to the name.
  for (const uint8_t bytes : {4, 8, 16}) {
    for (const std::string shared : {".shared.global", ".shared::cta.global"}) {
      const std::string suffix = shared + "," + std::to_string(bytes);
      AddCopy(forms, "cp.async.ca" + suffix, "mmw", bytes);
      AddCopy(forms, "cp.async.ca" + suffix + ",", "mmww", bytes);
      if (bytes != 16) continue;
      AddCopy(forms, "cp.async.cg" + suffix, "mmw", bytes);
      AddCopy(forms, "cp.async.cg" + suffix + ",", "mmww", bytes);
    }
  }
  Form form;
  form.run = Commit;
  (*forms)["cp.async.commit_group"] = form;
  form.run = WaitForAll;
  (*forms)["cp.async.wait_all"] = form;
  form.run = WaitForGroups;
  form.operands = "w";
  (*forms)["cp.async.wait_group"] = form;
}

}  // namespace ingot::isa::ptx

// Addresses, loads and stores.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

bool IsIn(const Range& range, uint64_t address, uint32_t bytes) {
  const uint64_t offset = address - reinterpret_cast<uintptr_t>(range.begin);
  return offset < range.bytes && bytes <= range.bytes - offset;
}

// The range that the instruction's last access was in.
uint32_t& LastRange(Block& block, const Instruction& i) {
  return block.last_range[&i - block.kernel->code.data()];
}

// Looks first where this instruction's last access was.
uint8_t* FindGlobal(Block& block, const Instruction& i, uint64_t address,
                    uint32_t bytes) {
  uint32_t& last = LastRange(block, i);
  if (last < block.memory.size() && IsIn(block.memory[last], address, bytes)) {
    return reinterpret_cast<uint8_t*>(address);
  }
  for (uint32_t k = 0; k < block.memory.size(); ++k) {
    if (!IsIn(block.memory[k], address, bytes)) continue;
    last = k;
    return reinterpret_cast<uint8_t*>(address);
  }
  return nullptr;
}

uint8_t* FindIn(std::vector<uint8_t>& bytes, uint64_t begin, uint64_t size,
                uint64_t address, uint32_t wanted) {
  if (address >= size || wanted > size - address) return nullptr;
  return bytes.data() + begin + address;
}

// Null where the address is of nothing.
uint8_t* Find(Warp& warp, const Instruction& i, Space space, uint64_t address,
              int lane, uint32_t bytes) {
  Block& block = *warp.block;
  const uint64_t local_bytes = block.kernel->local_bytes;
  switch (space) {
    case Space::kGlobal:
      return FindGlobal(block, i, address, bytes);
    case Space::kShared:
      return FindIn(block.shared, 0, block.shared.size(), address, bytes);
    case Space::kLocal:
      return FindIn(warp.local, lane * local_bytes, local_bytes, address,
                    bytes);
    case Space::kParameter:
      return FindIn(block.parameters, 0, block.parameters.size(), address,
                    bytes);
    case Space::kGeneric:
      break;
  }
  if (address - kSharedWindow < kWindowBytes) {
    return Find(warp, i, Space::kShared, address - kSharedWindow, lane, bytes);
  }
  if (address - kLocalWindow < kWindowBytes) {
    return Find(warp, i, Space::kLocal, address - kLocalWindow, lane, bytes);
  }
  return FindGlobal(block, i, address, bytes);
}

std::string Hexadecimal(uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(number));
  return text;
}

bool FailsAt(Warp& warp, const Instruction& i, uint64_t address) {
  return warp.Fail(i, kIllegalAddress,
                   "nothing is at address " + Hexadecimal(address));
}

// The range that usually has the addresses of all lanes.
Range UsualRange(Warp& warp, const Instruction& i, Space space) {
  Block& block = *warp.block;
  switch (space) {
    case Space::kShared:
      return {block.shared.data(), block.shared.size()};
    case Space::kParameter:
      return {block.parameters.data(), block.parameters.size()};
    case Space::kGlobal: {
      const uint32_t last = LastRange(block, i);
      if (last < block.memory.size()) return block.memory[last];
      break;
    }
    default:
      break;
  }
  return {};
}

// The fast way of Resolve: all lanes are aligned, and in the usual range.
// False: some are not, of which nothing is known.
bool ResolveTogether(Warp& warp, const Instruction& i, int operand, Space space,
                     uint32_t bytes, uint8_t* (&found)[kLanes]) {
  const Range range = UsualRange(warp, i, space);
  if (range.bytes < bytes) return false;
  const auto begin = reinterpret_cast<uintptr_t>(range.begin);
  uint64_t offsets[kLanes];
  const uint64_t add = static_cast<uint64_t>(i.offset[operand]) -
                       (space == Space::kGlobal ? begin : 0);
  for (int lane = 0; lane < kLanes; ++lane) {
    offsets[lane] = warp.Unsigned(i, operand, lane) + add;
  }
  if (warp.active != kAllLanes) {
    const uint64_t one = offsets[__builtin_ctz(warp.active)];
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!warp.IsActive(lane)) offsets[lane] = one;
    }
  }
  // The slow way decides where a range is less aligned than the access.
  uint64_t low_bits = space == Space::kGlobal ? begin : 0;
  bool is_beyond = false;
  const uint64_t last = range.bytes - bytes;
  for (int lane = 0; lane < kLanes; ++lane) {
    low_bits |= offsets[lane];
    is_beyond |= offsets[lane] > last;
    found[lane] = reinterpret_cast<uint8_t*>(begin + offsets[lane]);
  }
  return !is_beyond && (low_bits & (bytes - 1)) == 0;
}

// Gives the inactive lanes a place that may be read.
void FillInactive(const Warp& warp, uint8_t* (&found)[kLanes]) {
  uint8_t* const one = found[__builtin_ctz(warp.active)];
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) found[lane] = one;
  }
}

bool MayBeShared(Space space) {
  return space == Space::kShared || space == Space::kGeneric;
}

bool MayBeGlobal(Space space) {
  return space == Space::kGlobal || space == Space::kGeneric;
}

template <typename S, typename D>
void LoadLanes(Warp& warp, const Instruction& i, int k,
               uint8_t* const (&from)[kLanes]) {
  D to[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    S value;
    std::memcpy(&value, from[lane] + k * sizeof(S), sizeof value);
    to[lane] = static_cast<D>(value);
  }
  Keep(warp, i.at[k], to);
}

template <typename S>
void LoadAs(Warp& warp, const Instruction& i, int k,
            uint8_t* const (&from)[kLanes]) {
  switch (i.width[k]) {
    case 2:
      return LoadLanes<S, uint16_t>(warp, i, k, from);
    case 4:
      return LoadLanes<S, uint32_t>(warp, i, k, from);
    default:
      return LoadLanes<S, uint64_t>(warp, i, k, from);
  }
}

bool Load(Warp& warp, const Instruction& i) {
  uint8_t* from[kLanes];
  const Form& form = i.form;
  const uint32_t bytes = form.size * form.count;
  if (!Resolve(warp, i, form.count, form.space, bytes, from)) return false;
  if (MayBeShared(form.space) && !NoteReads(warp, i, bytes, from)) return false;
  if (MayBeGlobal(form.space) &&
      !NoteGlobalReads(warp, i, bytes, from, form.is_constant)) {
    return false;
  }
  for (int k = 0; k < form.count; ++k) {
    switch (form.size * (form.is_signed ? -1 : 1)) {
      case 1:
        LoadAs<uint8_t>(warp, i, k, from);
        break;
      case -1:
        LoadAs<int8_t>(warp, i, k, from);
        break;
      case 2:
        LoadAs<uint16_t>(warp, i, k, from);
        break;
      case -2:
        LoadAs<int16_t>(warp, i, k, from);
        break;
      case 4:
        LoadAs<uint32_t>(warp, i, k, from);
        break;
      case -4:
        LoadAs<int32_t>(warp, i, k, from);
        break;
      default:
        LoadAs<uint64_t>(warp, i, k, from);
    }
  }
  return true;
}

// Stores the low bytes of the lane's registers.
void StoreLane(const Warp& warp, const Instruction& i, int lane, uint8_t* to) {
  const int size = i.form.size;
  for (int k = 0; k < i.form.count; ++k) {
    const int width = i.width[k + 1];
    std::memcpy(to + k * size, warp.registers + i.at[k + 1] + width * lane,
                size);
  }
}

// Lane by lane: each sees what those before it wrote to its place.
bool Store(Warp& warp, const Instruction& i) {
  uint8_t* to[kLanes];
  const Form& form = i.form;
  const uint32_t bytes = form.size * form.count;
  if (!Resolve(warp, i, 0, form.space, bytes, to)) return false;
  const std::vector<uint8_t>& shared = warp.block->shared;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) continue;
    uint8_t data[16];
    StoreLane(warp, i, lane, data);
    const size_t offset = to[lane] - shared.data();
    if (offset < shared.size()) {
      if (!NoteWrite(warp, i, lane, bytes, offset, data)) return false;
    } else if (IsGlobal(warp, to[lane]) &&
               !NoteGlobalWrite(warp, i, lane, bytes, to[lane], data)) {
      return false;
    }
    std::memcpy(to[lane], data, bytes);
  }
  return true;
}

struct ElementType {
  const char* name;
  uint8_t size;
  bool is_signed;
};
constexpr ElementType kElementTypes[] = {
    {".b8", 1, false},  {".u8", 1, false},   {".s8", 1, true},
    {".b16", 2, false}, {".u16", 2, false},  {".s16", 2, true},
    {".f16", 2, false}, {".bf16", 2, false}, {".b32", 4, false},
    {".u32", 4, false}, {".s32", 4, true},   {".f32", 4, false},
    {".b64", 8, false}, {".u64", 8, false},  {".s64", 8, false},
    {".f64", 8, false}};

// Adds the loads of a space, whose name is in `opcode`; or the stores.
void AddOfSpace(Forms* forms, const std::string& opcode, Space space,
                bool is_load, bool is_constant = false) {
  for (const ElementType& type : kElementTypes) {
    for (const int count : {1, 2, 4}) {
      if (count * type.size > 16) continue;
      Form form;
      const std::string values(count, 'x');
      form.operands = is_load ? values + 'm' : 'm' + values;
      form.run = is_load ? Load : Store;
      form.space = space;
      form.size = type.size;
      form.count = static_cast<uint8_t>(count);
      form.is_signed = type.is_signed;
      form.is_constant = is_constant;
      const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
      (*forms)[opcode + vector + type.name] = form;
    }
  }
}

}  // namespace

bool IsGlobal(const Warp& warp, const uint8_t* at) {
  const auto has = [at](const std::vector<uint8_t>& bytes) {
    return static_cast<size_t>(at - bytes.data()) < bytes.size();
  };
  return !has(warp.block->shared) && !has(warp.local) &&
         !has(warp.block->parameters);
}

bool IsAligned(Warp& warp, const Instruction& i, int operand, int lane,
               uint32_t alignment) {
  const uint64_t address = warp.Unsigned(i, operand, lane) + i.offset[operand];
  return (address & (alignment - 1)) == 0 ||
         warp.Fail(i, kMisaligned,
                   "address " + Hexadecimal(address) + " is not of " +
                       std::to_string(alignment) + " bytes");
}

uint8_t* FindOfLane(Warp& warp, const Instruction& i, int operand, Space space,
                    int lane, uint32_t alignment, uint32_t bytes) {
  const uint64_t address = warp.Unsigned(i, operand, lane) + i.offset[operand];
  if (!IsAligned(warp, i, operand, lane, alignment)) return nullptr;
  uint8_t* const found = Find(warp, i, space, address, lane, bytes);
  if (found == nullptr) FailsAt(warp, i, address);
  return found;
}

uint8_t* FindOfGlobal(Warp& warp, const Instruction& i, uint64_t address,
                      uint32_t bytes) {
  uint8_t* const found = FindGlobal(*warp.block, i, address, bytes);
  if (found == nullptr) FailsAt(warp, i, address);
  return found;
}

bool Resolve(Warp& warp, const Instruction& i, int operand, Space space,
             uint32_t bytes, uint8_t* (&found)[kLanes]) {
  if (ResolveTogether(warp, i, operand, space, bytes, found)) return true;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!warp.IsActive(lane)) continue;
    found[lane] = FindOfLane(warp, i, operand, space, lane, bytes, bytes);
    if (found[lane] == nullptr) return false;
  }
  FillInactive(warp, found);
  return true;
}

void AddAccesses(Forms* forms) {
  for (const bool is_load : {true, false}) {
    const std::string name = is_load ? "ld" : "st";
    for (const std::string volatility : {"", ".volatile"}) {
      const std::string opcode = name + volatility;
      AddOfSpace(forms, opcode, Space::kGeneric, is_load);
      AddOfSpace(forms, opcode + ".global", Space::kGlobal, is_load);
      AddOfSpace(forms, opcode + ".shared", Space::kShared, is_load);
      AddOfSpace(forms, opcode + ".local", Space::kLocal, is_load);
    }
  }
  AddOfSpace(forms, "ld.global.nc", Space::kGlobal, true,
             /*is_constant=*/true);
  AddOfSpace(forms, "ld.const", Space::kGlobal, true, /*is_constant=*/true);
  AddOfSpace(forms, "ld.param", Space::kParameter, true);
}

}  // namespace ingot::isa::ptx

// Copies of boxes of tensors to shared memory (cp.async.bulk.tensor), which
// mbarriers count. They arrive as late as they may: when no warp can go on
// without them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/tensor_map.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

constexpr uint32_t kLine = 16;  // bytes that stay together
constexpr uint32_t kRow = 128;  // bytes in which lines change their places

// Destinations are aligned to these.
constexpr uint32_t kAlignment = 128;
constexpr uint32_t kSwizzledAlignment = 1024;

// A destination has this until the copy arrives.
constexpr uint8_t kPoison = 0xff;

// The operands are [to], [map, {coordinates}], [mbarrier].
constexpr int kTo = 0, kMap = 1, kCoordinates = 2;

// The place of the line that the copy has at this offset.
uint32_t PlaceOf(const BulkCopy& copy, uint32_t offset) {
  const uint32_t place = copy.to + offset;
  return copy.is_swizzled ? Swizzled128(place) : place;
}

// Maps are parameters of kernels, or in global memory.
bool ReadMap(Warp& warp, const Instruction& i, int lane, TensorMap* map) {
  const uint64_t address = warp.Lanes<uint64_t>(i.at[kMap])[lane];
  if (address % kTensorMapAlignment != 0) {
    return warp.Fail(i, kMisaligned, "its map is not at 64 bytes");
  }
  const std::vector<uint8_t>& parameters = warp.block->parameters;
  const uint64_t offset = address - kParameterWindow;
  const uint8_t* from = nullptr;
  if (offset >= kWindowBytes) {
    from = FindOfGlobal(warp, i, address, kTensorMapBytes);
    if (from == nullptr) return false;
  } else if (offset + kTensorMapBytes <= parameters.size()) {
    from = parameters.data() + offset;
  } else {
    return warp.Fail(i, kIllegalAddress, "its map is not all there");
  }
  std::memcpy(map, from, sizeof *map);
  const std::string fault = FaultOf(*map);
  if (!fault.empty()) return warp.Fail(i, kIllegalInstruction, fault);
  return map->rank == i.form.count ||
         warp.Fail(i, kIllegalInstruction,
                   "its map has " + std::to_string(map->rank) + " dimensions");
}

// Reads those elements of a row of the box that the tensor has. `address` is of
// the tensor's element 0 in this row.
bool ReadRow(Warp& warp, const Instruction& i, int lane, const TensorMap& map,
             uint64_t address, int64_t coordinate, uint8_t* to) {
  const int64_t first = std::max<int64_t>(coordinate, 0);
  const int64_t end =
      std::min(coordinate + map.box[0], static_cast<int64_t>(map.extents[0]));
  if (first >= end) return true;
  const auto bytes = static_cast<uint32_t>(end - first) * map.element_bytes;
  const uint8_t* const from =
      FindOfGlobal(warp, i, address + first * map.element_bytes, bytes);
  if (from == nullptr || !NoteGlobalRead(warp, i, lane, bytes, from,
                                         /*is_constant=*/true)) {
    return false;
  }
  std::memcpy(to + (first - coordinate) * map.element_bytes, from, bytes);
  return true;
}

// Elements outside of the tensor are zeros.
bool ReadBox(Warp& warp, const Instruction& i, int lane, const TensorMap& map,
             std::vector<uint8_t>* box) {
  const auto coordinate = [&](uint32_t k) {
    return int64_t{warp.Lanes<int32_t>(i.at[kCoordinates + k])[lane]};
  };
  box->assign(map.BoxBytes(), 0);
  const size_t row_bytes = size_t{map.box[0]} * map.element_bytes;
  uint32_t in_box[kMostDimensions] = {};
  for (size_t at = 0; at < box->size(); at += row_bytes) {
    uint64_t address = map.address;
    bool is_inside = true;
    for (uint32_t k = 1; k < map.rank; ++k) {
      const int64_t index = coordinate(k) + in_box[k];
      is_inside &= index >= 0 && index < static_cast<int64_t>(map.extents[k]);
      address += static_cast<uint64_t>(index) * map.strides[k - 1];
    }
    if (is_inside && !ReadRow(warp, i, lane, map, address, coordinate(0),
                              box->data() + at)) {
      return false;
    }
    for (uint32_t k = 1; k < map.rank; ++k) {
      if (++in_box[k] < map.box[k]) break;
      in_box[k] = 0;
    }
  }
  return true;
}

// Finds the destination, all of which must be there.
bool FindDestination(Warp& warp, const Instruction& i, int lane,
                     const TensorMap& map, BulkCopy* copy) {
  copy->is_swizzled = map.swizzle == kSwizzle128;
  const std::vector<uint8_t>& shared = warp.block->shared;
  const uint64_t box_bytes = map.BoxBytes();
  if (box_bytes > shared.size()) {
    return warp.Fail(i, kIllegalAddress,
                     "its box has " + std::to_string(box_bytes) + " bytes");
  }
  const auto bytes = static_cast<uint32_t>(
      copy->is_swizzled ? (box_bytes + kRow - 1) / kRow * kRow : box_bytes);
  const uint8_t* const to =
      FindOfLane(warp, i, kTo, Space::kShared, lane,
                 copy->is_swizzled ? kSwizzledAlignment : kAlignment, bytes);
  if (to == nullptr) return false;
  copy->to = static_cast<uint32_t>(to - shared.data());
  return true;
}

bool BeginOfLane(Warp& warp, const Instruction& i, int lane) {
  Block& block = *warp.block;
  const int barrier_operand = kCoordinates + i.form.count;
  TensorMap map;
  BulkCopy copy;
  if (!ReadMap(warp, i, lane, &map) ||
      !FindDestination(warp, i, lane, map, &copy)) {
    return false;
  }
  copy.instruction = &i;
  copy.barrier = FindMbarrier(warp, i, barrier_operand, lane, &copy.barrier_at);
  if (copy.barrier == nullptr ||
      !CheckFences(warp, i, sizeof(uint64_t), copy.barrier_at) ||
      !ReadBox(warp, i, lane, map, &copy.data)) {
    return false;
  }
  const auto number = static_cast<uint32_t>(block.bulk_copies.size());
  for (uint32_t at = 0; at < copy.data.size(); at += kLine) {
    const uint32_t place = PlaceOf(copy, at);
    if (!NoteBulkCopy(warp, i, kLine, place, lane, number)) return false;
    std::memset(block.shared.data() + place, kPoison, kLine);
  }
  block.bulk_copies.push_back(std::move(copy));
  block.coming.push_back(number);
  ++block.moves;
  return true;
}

bool Begin(Warp& warp, const Instruction& i) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (warp.IsActive(lane) && !BeginOfLane(warp, i, lane)) return false;
  }
  return true;
}

// Writes what was read, and counts its bytes.
void Arrive(Block* block, BulkCopy* copy) {
  for (uint32_t at = 0; at < copy->data.size(); at += kLine) {
    std::memcpy(block->shared.data() + PlaceOf(*copy, at),
                copy->data.data() + at, kLine);
  }
  copy->phase = copy->barrier->phases;
  copy->has_arrived = true;
  copy->barrier->bytes -= static_cast<int64_t>(copy->data.size());
  copy->data = {};
  ++block->moves;
  CompletePhase(block, copy->barrier);
}

}  // namespace

bool ArriveLate(std::vector<Warp>* warps) {
  Block& block = *warps->front().block;
  if (block.coming.empty()) return false;
  const auto is_tried = [&](uint32_t number) {
    return std::any_of(warps->begin(), warps->end(), [&](const Warp& warp) {
      return warp.trying != 0 &&
             warp.tried_at == block.bulk_copies[number].barrier_at;
    });
  };
  auto due = std::find_if(block.coming.begin(), block.coming.end(), is_tried);
  if (due == block.coming.end()) due = block.coming.begin();
  BulkCopy* const copy = &block.bulk_copies[*due];
  block.coming.erase(due);
  Arrive(&block, copy);
  return true;
}

void AddBulkCopies(Forms* forms) {
  Form form;
  form.run = Begin;
  for (uint8_t rank = 1; rank <= kMostDimensions; ++rank) {
    form.count = rank;
    form.operands = "md" + std::string(rank, 'w') + "m";
    (*forms)["cp.async.bulk.tensor." + std::to_string(rank) +
             "d.shared::cluster.global.mbarrier::complete_tx::bytes"] = form;
  }
}

}  // namespace ingot::isa::ptx

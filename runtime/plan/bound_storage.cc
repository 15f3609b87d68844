// Places tensors in storage, and checks that each fits in its place.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/alignment.h"
#include "base/status_macros.h"
#include "runtime/plan/bound_plan.h"
#include "runtime/plan/dim_expr.h"

namespace ingot {

absl::Status BoundPlan::LayOutStorage(const Phase& phase) {
  arena_sizes_.assign(phase.arenas.size(), 0);
  uint64_t total = 0;
  // No sum below can overflow: each term is under 2^63 and the total is kept
  // under the limit, itself cut to 2^62.
  const uint64_t others = storage_bytes() - phase.arena_bytes();
  uint64_t limit = std::min(max_storage_bytes_, uint64_t{1} << 62);
  limit -= std::min(limit, others);
  for (int i : phase.storages) {
    int64_t size = 0;
    for (const DimExpr& expr : plan_->storage(i).bytes()) {
      absl::StatusOr<int64_t> bytes = EvaluateDimExpr(expr, symbols_);
      if (!bytes.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("plan: storage ", i, ": ", bytes.status().message()));
      }
      size = std::max(size, *bytes);
    }
    if (static_cast<uint64_t>(size) > limit - std::min(limit, total)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("plan: storage 0 to ", i, " needs ",
                       others + total + static_cast<uint64_t>(size),
                       " bytes, more than the limit of ", max_storage_bytes_));
    }
    uint64_t& arena = arena_sizes_[plan_->storage(i).device()];
    offsets_[i] = arena;
    arena += AlignUp(static_cast<uint64_t>(size));
    total += AlignUp(static_cast<uint64_t>(size));
    sizes_[i] = static_cast<uint64_t>(size);
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::CheckPlaces(const Phase& phase) {
  for (int i : phase.settled) {
    const PlanTensor& tensor = plan_->tensors(i);
    if (tensor.has_view_of()) {
      const int viewed = static_cast<int>(tensor.view_of());
      if (bytes(i) == bytes(viewed)) continue;
      return AtTensor(
          i, absl::InvalidArgumentError(absl::StrCat(
                 "'", plan_->tensors(viewed).name(), "', which is ",
                 TypeString(dtype(viewed), Shape(viewed)),
                 ", cannot be seen as ", TypeString(dtype(i), Shape(i)))));
    }
    if (tensor.has_part_of()) {
      const int whole = static_cast<int>(tensor.part_of());
      const uint64_t size = bytes(whole);
      if (tensor.offset() <= size && bytes(i) <= size - tensor.offset()) {
        continue;
      }
      return AtTensor(
          i, absl::InvalidArgumentError(absl::StrCat(
                 TypeString(dtype(i), Shape(i)), " at offset ", tensor.offset(),
                 " is no part of '", plan_->tensors(whole).name(), "', ",
                 TypeString(dtype(whole), Shape(whole)))));
    }
    if (!tensor.has_storage()) continue;
    const uint64_t size = sizes_[tensor.storage()];
    if (tensor.offset() > size || bytes(i) > size - tensor.offset()) {
      return AtTensor(i, absl::InvalidArgumentError(absl::StrCat(
                             TypeString(dtype(i), Shape(i)), " at offset ",
                             tensor.offset(), " does not fit in storage ",
                             tensor.storage(), " of ", size, " bytes")));
    }
  }
  return absl::OkStatus();
}

// Whether a result of the call is in the same storage as another argument.
bool BoundPlan::SharesStorage(const PlanCall& call) const {
  absl::InlinedVector<uint32_t, 8> read, written;
  for (int k = 0; k < call.args_size(); ++k) {
    const PlanTensor& tensor = Root(static_cast<int>(call.args(k)));
    if (!tensor.has_storage()) continue;
    const bool is_result =
        k >= call.args_size() - static_cast<int>(call.num_outputs());
    (is_result ? written : read).push_back(tensor.storage());
  }
  std::sort(written.begin(), written.end());
  return std::adjacent_find(written.begin(), written.end()) != written.end() ||
         std::any_of(read.begin(), read.end(), [&written](uint32_t storage) {
           return std::binary_search(written.begin(), written.end(), storage);
         });
}

// No call writes where it reads, or twice to the same place: code is compiled
// on that promise, indices that it has checked included. The exception are
// updates in place that the plan states, none of them of a function: those may
// share a place, but must have it as a whole.
absl::Status BoundPlan::CheckApart(const Phase& phase) {
  for (int i : phase.apart) INGOT_RETURN_IF_ERROR(CheckApart(i));
  return absl::OkStatus();
}

absl::Status BoundPlan::CheckApart(int call_index) {
  const PlanCall& call = plan_->calls(call_index);
  const int reads = call.args_size() - static_cast<int>(call.num_outputs());
  updated_.assign(reads, false);  // operands
  for (const PlanInPlace& pair : call.in_place()) {
    const uint32_t from = call.args(static_cast<int>(pair.operand()));
    const uint32_t to = call.args(reads + static_cast<int>(pair.result()));
    if (bytes(from) != bytes(to)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "plan: call ", call_index, ": '",
          plan_->tensors(static_cast<int>(to)).name(), "' is in the place of '",
          plan_->tensors(static_cast<int>(from)).name(),
          "', which is of another size"));
    }
    updated_[pair.operand()] = true;
  }
  pieces_.clear();
  for (int k = 0; k < call.args_size(); ++k) {
    const uint32_t t = call.args(k);
    const PlanTensor& tensor = Root(static_cast<int>(t));
    const bool is_result = k >= reads;
    if (!tensor.has_storage() || bytes(t) == 0) continue;
    if (!is_result && updated_[k]) continue;
    const uint64_t begin = tensor.offset() + offsets_in_roots_[t];
    pieces_.push_back(
        {tensor.storage(), begin, begin + bytes(t), is_result, t});
  }
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.storage, a.begin, a.tensor) <
           std::tie(b.storage, b.begin, b.tensor);
  });
  // The pieces before a piece that reach farthest: of all, and of results.
  const Piece *any = nullptr, *result = nullptr;
  for (const Piece& piece : pieces_) {
    const Piece* before = piece.is_result ? any : result;
    if (before != nullptr && before->storage == piece.storage &&
        before->end > piece.begin) {
      return absl::InvalidArgumentError(absl::StrCat(
          "plan: call ", call_index, " (", call.function(), "): '",
          plan_->tensors(static_cast<int>(piece.tensor)).name(), "' and '",
          plan_->tensors(static_cast<int>(before->tensor)).name(),
          "' overlap, and it writes one of them"));
    }
    const auto reach = [&piece](const Piece*& farthest) {
      if (farthest == nullptr || farthest->storage != piece.storage ||
          farthest->end < piece.end) {
        farthest = &piece;
      }
    };
    reach(any);
    if (piece.is_result) reach(result);
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::BindStorage(Phase* phase) {
  INGOT_RETURN_IF_ERROR(LayOutStorage(*phase));
  INGOT_RETURN_IF_ERROR(CheckPlaces(*phase));
  INGOT_RETURN_IF_ERROR(CheckApart(*phase));
  if (phase != phases_.data() && phase->storages.empty()) {
    return absl::OkStatus();
  }
  Arena& cpu = phase->arenas[0];
  if (!cpu.Fits(arena_sizes_[0])) {
    // Views of the old one go first, and so do those of later phases, which may
    // be in it. The values bound before have lost their views as well.
    outputs_.assign(outputs_.size(), Tensor());
    // One that grows from run to run, as what a model has seen does, grows by a
    // part of its size, so that few runs allocate.
    const uint64_t more = cpu.bytes() + cpu.bytes() / 4;
    const uint64_t room =
        std::min(max_storage_bytes_,
                 std::numeric_limits<int64_t>::max() / uint64_t{2}) -
        std::min(max_storage_bytes_, storage_bytes() - cpu.bytes());
    INGOT_RETURN_IF_ERROR(cpu.Reserve(
        std::max(arena_sizes_[0], more <= room ? more : uint64_t{0})));
    for (Phase* earlier = phases_.data(); earlier < phase; ++earlier) {
      INGOT_RETURN_IF_ERROR(BindOutputs(earlier));
    }
  }
  device_is_used_.assign(arena_sizes_.size(), false);
  for (int i : phase->storages) {
    device_is_used_[plan_->storage(i).device()] = true;
  }
  for (size_t d = 1; d < arena_sizes_.size(); ++d) {
    if (!device_is_used_[d]) continue;
    INGOT_RETURN_IF_ERROR(phase->arenas[d].Reserve(arena_sizes_[d]));
  }
  for (int i : phase->placed) {
    const PlanTensor& tensor = plan_->tensors(i);
    const uint32_t storage = tensor.storage();
    char* const arena =
        phase->arenas[plan_->storage(static_cast<int>(storage)).device()]
            .data();
    SetData(static_cast<uint32_t>(i),
            arena + offsets_[storage] + tensor.offset());
  }
  return absl::OkStatus();
}

absl::StatusOr<int> BoundPlan::GiveTwoBuffers(uint32_t tensor) {
  two_buffers_.emplace_back();
  TwoBuffers& two = two_buffers_.back();
  two.tensor = tensor;
  const uint32_t phase = plan_->tensors(static_cast<int>(tensor)).phase();
  if (phases_[phase].bound) {
    INGOT_RETURN_IF_ERROR(PlaceInBuffer(&two));
  }
  return static_cast<int>(two_buffers_.size()) - 1;
}

absl::Status BoundPlan::SwitchBuffers(int buffers) {
  TwoBuffers& two = two_buffers_[buffers];
  two.current ^= 1;
  return PlaceInBuffer(&two);
}

absl::Status BoundPlan::BindBuffers(const Phase& phase) {
  for (TwoBuffers& two : two_buffers_) {
    const uint32_t p = plan_->tensors(static_cast<int>(two.tensor)).phase();
    if (&phases_[p] != &phase) continue;
    INGOT_RETURN_IF_ERROR(PlaceInBuffer(&two));
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::PlaceInBuffer(TwoBuffers* two) {
  Arena& buffer = two->buffers[two->current];
  const uint64_t bytes = this->bytes(two->tensor);
  if (!buffer.Fits(bytes)) {
    const uint64_t others = storage_bytes() - buffer.bytes();
    if (bytes > max_storage_bytes_ - std::min(max_storage_bytes_, others)) {
      return AtTensor(static_cast<int>(two->tensor),
                      absl::ResourceExhaustedError(absl::StrCat(
                          "it needs ", bytes, " bytes beside ", others,
                          ", more than the limit of ", max_storage_bytes_)));
    }
    INGOT_RETURN_IF_ERROR(buffer.Reserve(bytes));
  }
  SetData(two->tensor, buffer.data());
  return absl::OkStatus();
}

absl::Status BoundPlan::BindOutputs(Phase* phase) {
  uint64_t copied = 0;  // bytes of outputs that have memory of their own
  for (int i : phase->outputs) {
    const int t = static_cast<int>(plan_->outputs(i));
    const PlanTensor& root = Root(t);
    const Tensor& view = outputs_[i];
    if (root.has_storage() && view.defined() && view.shape() == Shape(t) &&
        view.raw_data() == tensors_[t].data) {
      continue;
    }
    if (!root.has_storage()) {
      if (bytes(t) > max_storage_bytes_ - copied) {
        return AtTensor(t, absl::ResourceExhaustedError(absl::StrCat(
                               "outputs up to this one need more than ",
                               max_storage_bytes_, " bytes, the limit")));
      }
      copied += bytes(t);
    }
    absl::StatusOr<Tensor> output =
        root.has_storage() ? Tensor::FromBorrowed(tensors_[t].data, dtype(t),
                                                  Shape(t), ArenaOf(root))
                           : Tensor::Empty(dtype(t), Shape(t));
    if (!output.ok()) return AtTensor(t, output.status());
    outputs_[i] = *std::move(output);
  }
  return absl::OkStatus();
}

}  // namespace ingot

// Where tensors lie: storage, and the checks that each fits in its place.
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/alignment.h"
#include "runtime/bound_plan.h"
#include "runtime/device.h"
#include "runtime/dim_expr.h"

namespace ingot {
namespace {

// Memory for all storage. Large ones are on large pages where the system has
// them, which saves most of the page faults and TLB misses.
absl::StatusOr<std::shared_ptr<void>> AllocateArena(uint64_t bytes) {
  constexpr size_t kLargePage = size_t{2} << 20;
  const bool large = bytes >= 2 * kLargePage;
  const std::shared_ptr<DeviceApi> cpu = CpuDeviceApi();
  absl::StatusOr<void*> memory =
      cpu->Allocate(Device::Cpu(), bytes, large ? kLargePage : kAlignment);
  if (!memory.ok()) return memory.status();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Only a hint: a system that cannot follow it loses nothing.
  if (large) madvise(*memory, bytes, MADV_HUGEPAGE);
#endif
  return std::shared_ptr<void>(*memory,
                               [cpu](void* p) { cpu->Free(Device::Cpu(), p); });
}

}  // namespace

absl::StatusOr<std::vector<uint64_t>> BoundPlan::LayOutStorage(
    const Phase& phase, uint64_t* total) {
  std::vector<uint64_t> offsets;
  *total = 0;
  // No sum below can overflow: each term is under 2^63 and the total is kept
  // under the limit, itself cut to 2^62.
  const uint64_t others = storage_bytes() - phase.arena_bytes;
  uint64_t limit = std::min(max_storage_bytes_, uint64_t{1} << 62);
  limit -= std::min(limit, others);
  for (int i : phase.storages) {
    int64_t size = 0;
    for (const DimExpr& expr : plan_.storage(i).bytes()) {
      absl::StatusOr<int64_t> bytes = EvaluateDimExpr(expr, symbols_);
      if (!bytes.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("plan: storage ", i, ": ", bytes.status().message()));
      }
      size = std::max(size, *bytes);
    }
    if (static_cast<uint64_t>(size) > limit - std::min(limit, *total)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("plan: storage 0 to ", i, " needs ",
                       others + *total + static_cast<uint64_t>(size),
                       " bytes, more than the limit of ", max_storage_bytes_));
    }
    offsets.push_back(*total);
    *total += (static_cast<uint64_t>(size) + kAlignment - 1) / kAlignment *
              kAlignment;
    sizes_[i] = static_cast<uint64_t>(size);
  }
  return offsets;
}

absl::Status BoundPlan::CheckPlaces(const Phase& phase) {
  for (int i : phase.settled) {
    const PlanTensor& tensor = plan_.tensors(i);
    if (tensor.place_case() == PlanTensor::kInput) {
      const uint32_t whole = plan_.inputs(tensor.input());
      if (bytes_[i] != bytes_[whole]) {
        return Annotate(
            i, absl::InvalidArgumentError(absl::StrCat(
                   "it is ", TypeString(dtypes_[i], Shape(i)),
                   ", a view of input '", plan_.tensors(whole).name(),
                   "', which is ", TypeString(dtypes_[whole], Shape(whole)))));
      }
    }
    if (tensor.place_case() != PlanTensor::kStorage) continue;
    const uint64_t size = sizes_[tensor.storage()];
    if (tensor.offset() > size || bytes_[i] > size - tensor.offset()) {
      return Annotate(i, absl::InvalidArgumentError(absl::StrCat(
                             TypeString(dtypes_[i], Shape(i)), " at offset ",
                             tensor.offset(), " does not fit in storage ",
                             tensor.storage(), " of ", size, " bytes")));
    }
  }
  for (int i : phase.sized_like) {
    const int other = static_cast<int>(plan_.tensors(i).same_bytes_as() - 1);
    if (bytes_[i] == bytes_[other]) continue;
    return Annotate(
        i, absl::InvalidArgumentError(absl::StrCat(
               TypeString(dtypes_[other], Shape(other)), " cannot be seen as ",
               TypeString(dtypes_[i], Shape(i)))));
  }
  return absl::OkStatus();
}

// Whether a result of the call is in the same storage as another argument.
bool BoundPlan::SharesStorage(const PlanCall& call) const {
  std::vector<uint32_t> read, written;
  for (int k = 0; k < call.args_size(); ++k) {
    const PlanTensor& tensor = plan_.tensors(call.args(k));
    if (tensor.place_case() != PlanTensor::kStorage) continue;
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
// on that promise, indices that it has checked included.
absl::Status BoundPlan::CheckApart(const Phase& phase) const {
  struct Piece {
    uint32_t storage;
    uint64_t begin, end;
    bool is_result;
    uint32_t tensor;
  };
  for (int i : phase.in_place) {
    const PlanCall& call = plan_.calls(i);
    std::vector<Piece> pieces;
    for (int k = 0; k < call.args_size(); ++k) {
      const uint32_t t = call.args(k);
      const PlanTensor& tensor = plan_.tensors(t);
      if (tensor.place_case() != PlanTensor::kStorage || bytes_[t] == 0)
        continue;
      const bool is_result =
          k >= call.args_size() - static_cast<int>(call.num_outputs());
      pieces.push_back({tensor.storage(), tensor.offset(),
                        tensor.offset() + bytes_[t], is_result, t});
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return std::tie(a.storage, a.begin, a.tensor) <
             std::tie(b.storage, b.begin, b.tensor);
    });
    // Those before a piece that reach farthest: of all, and of results.
    const Piece *any = nullptr, *result = nullptr;
    for (const Piece& piece : pieces) {
      const Piece* before = piece.is_result ? any : result;
      if (before != nullptr && before->storage == piece.storage &&
          before->end > piece.begin) {
        return absl::InvalidArgumentError(absl::StrCat(
            "plan: call ", i, " (", call.function(), "): '",
            plan_.tensors(static_cast<int>(piece.tensor)).name(), "' and '",
            plan_.tensors(static_cast<int>(before->tensor)).name(),
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
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::BindStorage(Phase* phase) {
  uint64_t total = 0;
  absl::StatusOr<std::vector<uint64_t>> offsets = LayOutStorage(*phase, &total);
  if (!offsets.ok()) return offsets.status();
  absl::Status status = CheckPlaces(*phase);
  if (status.ok()) status = CheckApart(*phase);
  if (!status.ok()) return status;
  const bool needed = phase == phases_.data() || !phase->storages.empty();
  if (needed && (phase->arena == nullptr || total > phase->arena_bytes)) {
    // The old one goes first, unless a user holds a view of it. So do views
    // of later phases, which may lie in it.
    outputs_.assign(outputs_.size(), Tensor());
    phase->arena = nullptr;
    phase->arena_bytes = 0;
    absl::StatusOr<std::shared_ptr<void>> arena = AllocateArena(total);
    if (!arena.ok()) return arena.status();
    phase->arena = *std::move(arena);
    phase->arena_bytes = total;
    // The values bound before have lost their views as well.
    for (Phase* earlier = phases_.data(); earlier < phase; ++earlier) {
      status = BindOutputs(earlier);
      if (!status.ok()) return status;
    }
  }
  if (!needed) return absl::OkStatus();
  std::vector<char*> begin(plan_.storage_size());
  for (size_t i = 0; i < phase->storages.size(); ++i) {
    begin[phase->storages[i]] =
        static_cast<char*>(phase->arena.get()) + (*offsets)[i];
  }
  for (int i : phase->placed) {
    const PlanTensor& tensor = plan_.tensors(i);
    tensors_[i].data = begin[tensor.storage()] + tensor.offset();
  }
  return absl::OkStatus();
}

absl::Status BoundPlan::BindOutputs(Phase* phase) {
  uint64_t copied = 0;  // bytes of outputs that have memory of their own
  for (int i : phase->outputs) {
    const int t = static_cast<int>(plan_.outputs(i));
    const PlanTensor& tensor = plan_.tensors(t);
    if (tensor.place_case() != PlanTensor::kStorage) {
      if (bytes_[t] > max_storage_bytes_ - copied) {
        return Annotate(t, absl::ResourceExhaustedError(absl::StrCat(
                               "outputs up to this one need more than ",
                               max_storage_bytes_, " bytes, the limit")));
      }
      copied += bytes_[t];
    }
    absl::StatusOr<Tensor> output =
        tensor.place_case() == PlanTensor::kStorage
            ? Tensor::FromBorrowed(
                  tensors_[t].data, dtypes_[t], Shape(t),
                  phases_[when_.storages[tensor.storage()]].arena)
            : Tensor::Empty(dtypes_[t], Shape(t));
    if (!output.ok()) return Annotate(t, output.status());
    outputs_[i] = *std::move(output);
  }
  return absl::OkStatus();
}

}  // namespace ingot

#include "runtime/plan/copies_to_wait_for.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>

#include "absl/status/statusor.h"
#include "runtime/plan/check.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"
#include "runtime/plan/views.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

// The most copies under way that are told apart in a storage, so that plans
// with many copies are looked at in linear time.
constexpr size_t kMostApart = 64;

// Bytes of a storage that a call works on.
struct Piece {
  uint64_t begin, end;
  bool written;
  int call;
  uint32_t device;  // of a copy, or 0

  bool Meets(const Piece& other) const {
    return begin < other.end && other.begin < end && (written || other.written);
  }
};

// The size of a tensor of the type, or the largest number where only a run
// knows it.
uint64_t BytesOf(const PlanType& type) {
  constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  const absl::StatusOr<DataType> dtype = PlanDataType(type.dtype());
  if (!dtype.ok()) return kAny;
  std::vector<int64_t> shape;
  for (const DimExpr& dim : type.shape()) {
    if (HasSymbols(dim)) return kAny;
    const absl::StatusOr<int64_t> value = EvaluateDimExpr(dim, {});
    if (!value.ok()) return kAny;
    shape.push_back(*value);
  }
  const absl::StatusOr<size_t> bytes = CountBytes(*dtype, shape);
  return bytes.ok() ? *bytes : kAny;
}

// Adds the copies in `under_way` that `piece` has to wait for to `waits`.
void Meet(Piece piece, std::deque<Piece>* under_way, std::vector<int>* waits) {
  const auto wait_for = [&](const Piece& copy) {
    if (copy.device != piece.device) waits->push_back(copy.call);
  };
  for (const Piece& copy : *under_way) {
    if (copy.Meets(piece)) wait_for(copy);
  }
  if (piece.device == 0) {
    // The CPU has waited.
    under_way->erase(
        std::remove_if(under_way->begin(), under_way->end(),
                       [&](const Piece& copy) { return copy.Meets(piece); }),
        under_way->end());
    return;
  }
  if (under_way->size() == kMostApart) {
    // The oldest is from now on a part of this one.
    const Piece oldest = under_way->front();
    under_way->pop_front();
    wait_for(oldest);
    piece.begin = std::min(piece.begin, oldest.begin);
    piece.end = std::max(piece.end, oldest.end);
    piece.written = piece.written || oldest.written;
  }
  under_way->push_back(piece);
}

}  // namespace

std::vector<std::vector<int>> CopiesToWaitFor(const Plan& plan) {
  std::vector<std::vector<int>> waits(plan.calls_size());
  const bool any =
      std::any_of(plan.calls().begin(), plan.calls().end(),
                  [](const PlanCall& call) { return call.has_copy(); });
  if (!any) return waits;
  const std::vector<uint32_t> roots = RootsOf(plan);
  const auto storages = static_cast<uint32_t>(plan.storage_size());
  std::map<uint32_t, std::deque<Piece>> under_way;  // by storage, then states
  for (int i = 0; i < plan.calls_size(); ++i) {
    const PlanCall& call = plan.calls(i);
    if (call.device() != 0 && !call.has_copy()) continue;
    const int reads = call.args_size() - static_cast<int>(call.num_outputs());
    for (int k = 0; k < call.args_size(); ++k) {
      const PlanTensor& root =
          plan.tensors(static_cast<int>(roots[call.args(k)]));
      // Nothing writes to inputs and constants.
      if (!root.has_storage() && !root.has_state()) continue;
      if (DeviceOf(plan, root) != 0) continue;
      const uint64_t bytes = BytesOf(PlanTypeOf(plan, root)),
                     begin = root.offset();
      const uint64_t end =
          begin + std::min(bytes, std::numeric_limits<uint64_t>::max() - begin);
      Meet({begin, end, k >= reads, i, call.device()},
           &under_way[root.has_state() ? storages + root.state()
                                       : root.storage()],
           &waits[i]);
    }
  }
  return waits;
}

}  // namespace ingot

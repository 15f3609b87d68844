#include "compiler/schedules/inlining.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/schedules/inlined_size.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/tags.h"

namespace ingot::te {
namespace {

// A value larger than this is put where it is read only once. Winograd's
// results are choices among several sums, with places in a list of tiles, of
// which code that is written out keeps little.
constexpr int64_t kMaxCopied = 3000;

// All copies of a value together have at most so many nodes. A code of a float
// of 8 bits has two thousand, and decoding it reads it 30 times: in one loop
// with a transposition, whose body has each point four times, that took LLVM a
// minute.
constexpr int64_t kMaxCopies = 20000;

// A step of an algorithm, whose results are made once and read often.
bool IsStep(const Stage* stage) {
  return !TagOf(stage, kWinograd).empty() || !TagOf(stage, kParts).empty() ||
         !TagOf(stage, kAttention).empty();
}

// Reads each element of its operands many times, so that they should be in
// memory and not be computed again and again.
bool ReadsOften(const Stage* stage) {
  absl::string_view anchor = TagOf(stage, kAnchor);
  return anchor == kConv2dNchwc || anchor == kConv2dNchw ||
         anchor == kDepthwiseNchwc || anchor == kMatmul ||
         anchor == kDensePacked || anchor == kPool2d || anchor == kDenseParts ||
         anchor == kConv2dParts || IsStep(stage) || anchor == kWinograd;
}

int64_t CountReads(const Stage* stage, const std::vector<Stage*>& readers) {
  int64_t reads = 0;
  for (const Stage* reader : readers) {
    for (const tir::Load* load : LoadsOf(reader->op().value)) {
      if (load->buffer == stage->output().buffer) ++reads;
    }
  }
  return reads;
}

// The places where the value of a stage ends up once stages are inlined.
struct Uses {
  bool inlined = false;
  // The stages with loops that evaluate the value or read it.
  std::set<const Stage*> readers;
  // Each of them does so at its own points only, so that several uses of the
  // value in one of them are one evaluation.
  bool at_own_points = true;
};

class Inliner {
 public:
  Inliner(Schedule* schedule, const MachineModel& machine)
      : schedule_(schedule), machine_(machine) {}

  void Run() {
    // Whether a stage may be inlined follows from its readers, how large its
    // value is from the stages that it reads.
    const std::vector<Stage*> stages = schedule_->stages();
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) Decide(*it);
    InlinedSizes sizes;
    for (Stage* stage : stages) {
      if (!uses_[stage].inlined) continue;
      const InlinedSizes::Size size = sizes.Of(stage);
      const int64_t reads = CountReads(stage, schedule_->Readers(stage));
      if (reads > 1 &&
          (size.nodes > kMaxCopied || size.nodes > kMaxCopies / reads)) {
        continue;
      }
      sizes.Inline(stage, size);
      stage->ComputeInline();
    }
    schedule_->ApplyInlining();
  }

 private:
  void Decide(const Stage* stage) {
    Uses& uses = uses_[stage];
    bool keep = stage->op().kind != OperationKind::kCompute ||
                stage->is_output() || IsStep(stage);
    for (const Stage* reader : schedule_->Readers(stage)) {
      if (reader->op().kind == OperationKind::kExtern) keep = true;
      const Uses& later = uses_.at(reader);
      uses.at_own_points =
          uses.at_own_points && ReadsAtOwnPoints(reader, stage);
      if (later.inlined) {
        uses.readers.insert(later.readers.begin(), later.readers.end());
        uses.at_own_points = uses.at_own_points && later.at_own_points;
      } else {
        uses.readers.insert(reader);
      }
    }
    if (keep || IsTable(stage, uses)) return;
    const Expr& value = stage->op().value;
    const bool copies = ValueCost(value) <= 2 && TagOf(stage, kPad).empty();
    if (!copies &&
        std::any_of(uses.readers.begin(), uses.readers.end(), ReadsOften)) {
      return;
    }
    const bool repeated =
        uses.readers.size() > 1 ||
        (schedule_->Readers(stage).size() > 1 && !uses.at_own_points);
    if (repeated && IsExpensive(value)) return;
    uses.inlined = true;
  }

  // A table is worth making where its readers read most of it, and where that
  // is not a pass of its own over all of a device's memory.
  bool IsTable(const Stage* stage, const Uses& uses) const {
    constexpr int64_t kMostUnread = 4;
    if (TagOf(stage, kTable).empty() || machine_.group_cores != 0) return false;
    int64_t points = 0;
    for (const Stage* reader : uses.readers) points += GuessWork(reader);
    return OutputElements(stage) <= kMostUnread * points;
  }

  Schedule* schedule_;
  const MachineModel& machine_;
  std::map<const Stage*, Uses> uses_;
};

}  // namespace

void InlineCheap(Schedule* schedule, const MachineModel& machine) {
  Inliner(schedule, machine).Run();
}

}  // namespace ingot::te

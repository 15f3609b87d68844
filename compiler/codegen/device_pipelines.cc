#include "compiler/codegen/device_pipelines.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/codegen/device_kernels.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Scope;

// More iterations ahead than hide how long memory takes are room taken from
// other blocks.
constexpr int64_t kMostSlots = 4;

int64_t BytesOf(const tir::BufferNode& buffer) {
  int64_t bytes = buffer.dtype.bytes();
  for (const tir::Expr& dim : buffer.shape) {
    int64_t extent = 0;
    tir::AsConstInt(dim, &extent);
    bytes *= extent;  // the verifier has limits
  }
  return bytes;
}

// Counts what statements do with buffers.
class BufferUses final : public tir::StmtVisitor {
 public:
  std::map<const tir::BufferNode*, int> loads, stores;
  // Nothing but loops, conditions and stores.
  bool is_plain = true;
  int thread_loops = 0;
  int64_t shared_bytes = 0;

  int CountOf(const tir::BufferNode* buffer) const {
    const auto count = [buffer](const auto& uses) {
      const auto it = uses.find(buffer);
      return it == uses.end() ? 0 : it->second;
    };
    return count(loads) + count(stores);
  }

 private:
  void VisitLoad(const tir::Load& node) override {
    ++loads[node.buffer.get()];
    StmtVisitor::VisitLoad(node);
  }
  void VisitStore(const tir::Store& node) override {
    ++stores[node.buffer.get()];
    StmtVisitor::VisitStore(node);
  }
  void VisitFor(const tir::For& node) override {
    thread_loops += node.for_kind == tir::ForKind::kThread;
    StmtVisitor::VisitFor(node);
  }
  void VisitAllocate(const tir::Allocate& node) override {
    is_plain = false;
    if (node.buffer->scope == Scope::kShared) {
      shared_bytes += BytesOf(*node.buffer);
    }
    StmtVisitor::VisitAllocate(node);
  }
  void VisitWhile(const tir::While& node) override {
    is_plain = false;
    StmtVisitor::VisitWhile(node);
  }
  void VisitCallExtern(const tir::CallExtern& node) override {
    is_plain = false;
    StmtVisitor::VisitCallExtern(node);
  }
  void VisitPart(const tir::Part& node) override {
    is_plain = false;
    StmtVisitor::VisitPart(node);
  }
};

template <typename Node>
BufferUses UsesOf(const Node& node) {
  BufferUses uses;
  uses.Visit(node);
  return uses;
}

class Finder final : public tir::StmtVisitor {
 public:
  Finder(const tir::For& block, int64_t room, const tir::PrimFunc* boxes_of)
      : block_(UsesOf(block.body)), boxes_of_(boxes_of) {
    room_ = room - block_.shared_bytes;
    Visit(block.body);
  }

  Pipelines found;

 private:
  void VisitFor(const tir::For& node) override {
    if (auto pipeline = PipelineOf(node)) {
      found[&node] = *std::move(pipeline);
      return;
    }
    ++loops_;
    StmtVisitor::VisitFor(node);
    --loops_;
  }

  std::optional<Pipeline> PipelineOf(const tir::For& loop) {
    int64_t extent = 0;
    Pipeline pipeline;
    const tir::Stmt* inner = &loop.body;
    while (const auto* let = As<tir::LetStmt>(*inner)) {
      // Loaded once, it would be what an earlier iteration stored.
      if (!UsesOf(let->value).loads.empty()) return std::nullopt;
      pipeline.lets.push_back(let);
      inner = &let->body;
    }
    const auto* body = As<tir::Seq>(*inner);
    if (loop.for_kind != tir::ForKind::kSerial || body == nullptr ||
        !tir::AsConstInt(loop.extent, &extent)) {
      return std::nullopt;
    }
    const BufferUses all = UsesOf(loop.body);
    std::set<const tir::BufferNode*> filled;
    size_t next = 0;
    for (; next < body->stmts.size(); ++next) {
      const auto* copy = As<tir::For>(body->stmts[next]);
      if (copy == nullptr || !IsCopy(*copy, all, &filled)) break;
      pipeline.copies.push_back(copy);
    }
    pipeline.rest.assign(body->stmts.begin() + static_cast<int64_t>(next),
                         body->stmts.end());
    pipeline.buffers.assign(filled.begin(), filled.end());
    int64_t bytes = 0, unpadded = 0;
    for (const tir::BufferNode* buffer : filled) {
      unpadded += BytesOf(*buffer);
      bytes += SlotBytes(*buffer);
      // The rest reads it, and nothing outside does.
      if (block_.CountOf(buffer) != all.CountOf(buffer)) return std::nullopt;
      for (const tir::Stmt& s : pipeline.rest) {
        if (UsesOf(s).stores.count(buffer) != 0) return std::nullopt;
      }
    }
    if (bytes == 0 || pipeline.rest.empty()) return std::nullopt;
    // The barriers of boxes count each round of the slots once.
    if (boxes_of_ != nullptr && loops_ == 0) pipeline.boxes = BoxesOf(pipeline);
    const int64_t besides = pipeline.IsOfBoxes()
                                ? kBoxAlignment + kMostSlots * kBoxBarrierBytes
                                : 0;
    pipeline.slots =
        std::min({kMostSlots, extent, (room_ + unpadded - besides) / bytes});
    if (pipeline.slots < 2) return std::nullopt;
    for (BoxCopy& copy : pipeline.boxes) copy.number = box_copies_++;
    room_ -= pipeline.slots * bytes + besides - unpadded;
    return pipeline;
  }

  // Empty: not all copies are of boxes.
  std::vector<BoxCopy> BoxesOf(const Pipeline& pipeline) const {
    std::vector<BoxCopy> boxes;
    for (const tir::For* copy : pipeline.copies) {
      std::optional<BoxCopy> box = ReadBoxCopy(*copy, *boxes_of_);
      if (!box.has_value()) return {};
      boxes.push_back(*std::move(box));
    }
    return boxes;
  }

  // Whether a thread loop only copies into shared memory, from what `all` that
  // the loop does leaves alone. Adds the buffers that it fills.
  static bool IsCopy(const tir::For& loop, const BufferUses& all,
                     std::set<const tir::BufferNode*>* filled) {
    if (loop.for_kind != tir::ForKind::kThread) return false;
    const BufferUses uses = UsesOf(loop.body);
    if (!uses.is_plain || uses.thread_loops > 0) return false;
    for (const auto& [buffer, count] : uses.loads) {
      if (buffer->scope == Scope::kShared || buffer->scope == Scope::kStack ||
          all.stores.count(buffer) != 0) {
        return false;
      }
    }
    for (const auto& [buffer, count] : uses.stores) {
      if (buffer->scope != Scope::kShared) return false;
    }
    for (const auto& [buffer, count] : uses.stores) filled->insert(buffer);
    return true;
  }

  const BufferUses block_;
  const tir::PrimFunc* const boxes_of_;
  int64_t room_ = 0;
  int loops_ = 0;  // around the node
  size_t box_copies_ = 0;
};

// Adds up the memory that a block's threads share.
class SharedMemory final : public tir::StmtVisitor {
 public:
  explicit SharedMemory(const Pipelines& pipelines) : pipelines_(pipelines) {}

  int64_t bytes = 0;
  bool has_warp_loops = false;

 private:
  void VisitAllocate(const tir::Allocate& node) override {
    if (node.buffer->scope == Scope::kShared) {
      bytes = RoundUp(bytes, AlignmentOf(pipelines_, *node.buffer)) +
              SlotsOf(pipelines_, *node.buffer) * SlotBytes(*node.buffer);
    }
    StmtVisitor::VisitAllocate(node);
  }
  void VisitFor(const tir::For& node) override {
    has_warp_loops |= node.for_kind == tir::ForKind::kTensorized;
    StmtVisitor::VisitFor(node);
  }

  const Pipelines& pipelines_;
};

// 1: nothing is copied ahead.
int64_t FewestSlots(const Pipelines& pipelines) {
  if (pipelines.empty()) return 1;
  int64_t fewest = kMostSlots;
  for (const auto& [loop, pipeline] : pipelines) {
    fewest = std::min(fewest, pipeline.slots);
  }
  return fewest;
}

SharedMemory SharedMemoryOf(const tir::For& block, const Pipelines& pipelines) {
  SharedMemory memory(pipelines);
  memory.Visit(block.body);
  for (const auto& [loop, pipeline] : pipelines) {
    if (!pipeline.IsOfBoxes()) continue;
    memory.bytes +=
        RoundUp(pipeline.slots * kBoxBarrierBytes, kSharedAlignment);
  }
  return memory;
}

}  // namespace

Pipelines FindPipelines(const tir::For& block, int64_t room,
                        const tir::PrimFunc* boxes_of) {
  return Finder(block, room, boxes_of).found;
}

void CopyAhead(int64_t room, const tir::PrimFunc* boxes_of,
               DeviceKernel* kernel) {
  if (!kernel->IsBlocks()) return;
  const tir::For& block = *kernel->loop;
  // A core keeps a KiB for each group.
  const int64_t half = (room + 1024) / 2 - 1024;
  if (!SharedMemoryOf(block, {}).has_warp_loops) {
    // Blocks whose threads multiply each for itself are many at once: one
    // computes while another waits.
    kernel->pipelines = FindPipelines(block, std::min(half, kMaxSharedBytes));
  } else {
    kernel->pipelines =
        FindPipelines(block, std::max(half, kMaxSharedBytes), boxes_of);
    if (FewestSlots(kernel->pipelines) < 3) {
      kernel->pipelines = FindPipelines(block, room, boxes_of);
    }
  }
  const int64_t bytes = SharedBytesOf(block, kernel->pipelines);
  if (bytes > kMaxSharedBytes) kernel->launch_bytes = bytes;
  for (const auto& [loop, pipeline] : kernel->pipelines) {
    for (const BoxCopy& copy : pipeline.boxes) {
      kernel->maps.resize(std::max(kernel->maps.size(), copy.number + 1));
      kernel->maps[copy.number] = copy.map;
    }
  }
}

int64_t SharedBytesOf(const tir::For& block, const Pipelines& pipelines) {
  return SharedMemoryOf(block, pipelines).bytes;
}

int64_t SlotBytes(const tir::BufferNode& buffer) {
  return RoundUp(BytesOf(buffer), kSharedAlignment);
}

int64_t AlignmentOf(const Pipelines& pipelines, const tir::BufferNode& buffer) {
  for (const auto& [loop, pipeline] : pipelines) {
    for (const BoxCopy& copy : pipeline.boxes) {
      if (copy.to.get() == &buffer) return kBoxAlignment;
    }
  }
  return kSharedAlignment;
}

int64_t SlotsOf(const Pipelines& pipelines, const tir::BufferNode& buffer) {
  for (const auto& [loop, pipeline] : pipelines) {
    for (const tir::BufferNode* filled : pipeline.buffers) {
      if (filled == &buffer) return pipeline.slots;
    }
  }
  return 1;
}

}  // namespace ingot::codegen

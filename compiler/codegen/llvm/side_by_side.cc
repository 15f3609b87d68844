#include "compiler/codegen/llvm/side_by_side.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

// A processor sees several statements of fewer instructions at once.
constexpr size_t kLong = 12;
constexpr size_t kVeryLong = 64;
// The statements that take turns: each needs a register or two beside those
// that hold sums. Very long ones are worth storing some of these.
constexpr size_t kTurns = 4;
constexpr size_t kTurnsOfVeryLong = 8;

class ReadFinder final : public tir::ExprVisitor {
 public:
  std::set<const tir::BufferNode*> read;

 protected:
  void VisitLoad(const tir::Load& load) override {
    read.insert(load.buffer.get());
    tir::ExprVisitor::VisitLoad(load);
  }
};

}  // namespace

bool MayTakeTurns(absl::Span<const tir::Store* const> stores) {
  ReadFinder finder;
  for (const tir::Store* store : stores) {
    if (store->value->dtype.lanes == 1) return false;
    finder.Visit(store->value);
  }
  return std::none_of(stores.begin(), stores.end(), [&](const auto* store) {
    return finder.read.count(store->buffer.get()) > 0;
  });
}

void SideBySide::Begin() {
  before_ = block_->empty() ? nullptr : &block_->back();
}

void SideBySide::Next() {
  Chain chain;
  auto at =
      before_ == nullptr ? block_->begin() : std::next(before_->getIterator());
  for (; at != block_->end(); ++at) chain.push_back(&*at);
  chains_.push_back(std::move(chain));
  Begin();
}

bool SideBySide::AreApart(absl::Span<const Chain> chains) {
  std::map<const llvm::Value*, size_t> chain_of;
  for (size_t i = 0; i < chains.size(); ++i) {
    for (const llvm::Instruction* made : chains[i]) chain_of[made] = i;
  }
  for (const auto& [made, i] : chain_of) {
    for (const llvm::Value* operand :
         llvm::cast<llvm::User>(made)->operands()) {
      const auto found = chain_of.find(operand);
      if (found != chain_of.end() && found->second != i) return false;
    }
  }
  return true;
}

void SideBySide::TakeTurns() {
  if (b_.GetInsertBlock() != block_ || block_->getTerminator() != nullptr) {
    return;
  }
  size_t longest = 0;
  for (const Chain& chain : chains_) longest = std::max(longest, chain.size());
  const size_t step = longest >= kVeryLong ? kTurnsOfVeryLong : kTurns;
  for (size_t first = 0; first < chains_.size(); first += step) {
    const auto chains = absl::MakeSpan(chains_).subspan(first, step);
    const bool turns = longest >= kLong && AreApart(chains);
    for (size_t i = 0; turns && i < longest; ++i) {
      for (const Chain& chain : chains) {
        if (i < chain.size()) chain[i]->moveBefore(*block_, block_->end());
      }
    }
    if (turns) continue;
    for (const Chain& chain : chains) {
      for (llvm::Instruction* made : chain) {
        made->moveBefore(*block_, block_->end());
      }
    }
  }
}

}  // namespace ingot::codegen

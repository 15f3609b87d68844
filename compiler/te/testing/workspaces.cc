#include "compiler/te/testing/workspaces.h"

#include <set>
#include <utility>

#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

// The pairs (written, read) of buffers such that some store to the first has a
// value or an index that loads the second.
class StoreFinder : public tir::StmtVisitor {
 public:
  std::set<std::pair<const tir::BufferNode*, const tir::BufferNode*>> found;

 protected:
  void VisitStore(const tir::Store& node) override {
    written_ = node.buffer.get();
    tir::StmtVisitor::VisitStore(node);
    written_ = nullptr;
  }
  void VisitLoad(const tir::Load& node) override {
    if (written_ != nullptr) found.insert({written_, node.buffer.get()});
    tir::StmtVisitor::VisitLoad(node);
  }

 private:
  const tir::BufferNode* written_ = nullptr;
};

}  // namespace

std::vector<tir::Buffer> WorkspacesOfSums(const tir::PrimFunc& func) {
  StoreFinder stores;
  stores.Visit(func.body);
  // A reduction updates its result in place.
  std::set<const tir::BufferNode*> sums;
  for (const auto& [written, read] : stores.found) {
    if (written == read) sums.insert(written);
  }
  for (size_t before = 0; before != sums.size();) {
    before = sums.size();
    for (const auto& [written, read] : stores.found) {
      if (sums.count(read) > 0) sums.insert(written);
    }
  }
  std::vector<tir::Buffer> workspaces;
  for (size_t i = func.params.size() - func.num_workspaces;
       i < func.params.size(); ++i) {
    if (sums.count(func.params[i].get()) > 0) {
      workspaces.push_back(func.params[i]);
    }
  }
  return workspaces;
}

}  // namespace ingot::te

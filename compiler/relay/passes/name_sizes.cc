// name_sizes: kernels have symbols of their own for the sizes of their operands
// that are made of the model's symbols.
//
//   @f(%x: f32[1, (h + 15) // 16, w // 2], %input: f32[1, h, w])
//      -> f32[1, (h + 15) // 16 - 2, w // 2]
//   %y = @f(%x, %input)
//
//   ->  @f(%x: f32[1, size, size_1]) -> f32[1, size - 2, size_1]
//       %y = @f(%x)
//
// A kernel that works such an expression out wherever it finds an element is
// hard to read and takes long to compile, and less can be proven of its loops.
// The plan works it out once. And kernels on planes of several scales are alike
// (share_kernels).
//
// Operands that only say what the model's symbols are go where nothing needs
// them any more.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/relay/dim.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/kernel_symbols.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/run_time_symbols.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {
namespace {

using tir::Affine;

class NodeCounter final : public tir::ExprVisitor {
 public:
  using tir::ExprVisitor::Visit;
  void Visit(const tir::Expr& e) override {
    ++nodes;
    tir::ExprVisitor::Visit(e);
  }
  int64_t nodes = 0;
};

int64_t CountNodes(const Shape& shape) {
  NodeCounter counter;
  for (const Dim& dim : shape) counter.Visit(dim);
  return counter.nodes;
}

// Replaces the largest parts of an expression that `find` knows.
class SizeReplacer final : public tir::ExprMutator {
 public:
  using FindFn = std::function<std::optional<Dim>(const Dim&)>;
  explicit SizeReplacer(FindFn find) : find_(std::move(find)) {}

  Dim Mutate(const Dim& dim) override {
    const std::optional<Dim> found = find_(dim);
    return found.has_value() ? *found : tir::ExprMutator::Mutate(dim);
  }

 private:
  FindFn find_;
};

// A size as those who call the kernel know it, and the kernel's own symbol.
struct Size {
  Affine of_caller;
  Dim of_kernel;
};

class SizeNames {
 public:
  explicit SizeNames(Function* kernel) : kernel_(*kernel), maker_(*kernel) {}

  // Changes the kernel; false, and nothing changed, where it has no such sizes
  // or needs to know what they are made of.
  bool Apply();

 private:
  // The dimensions of inputs that are read.
  std::vector<Dim> Dims() const;
  void FindSizes();
  // The kernel's form of a size that one of its own makes up.
  std::optional<Dim> Find(const Affine& size) const;
  std::optional<Dim> Find(const Dim& dim) const;
  // Names the sizes in a node whose operands' are named. False: it cannot be.
  bool NameIn(Node* node) const;
  // Whether the type means what it meant, and says so in no more words.
  bool Keeps(const TensorType& before, const TensorType& after) const;

  Shape OfKernel(Shape shape) const;
  Shape OfCaller(Shape shape) const;

  Function& kernel_;
  SymbolMaker maker_;
  std::vector<Size> sizes_;
  std::map<const tir::Var*, tir::Expr> own_;  // what callers know them as
};

std::vector<Dim> SizeNames::Dims() const {
  const std::set<const Node*> not_read = InputsNotRead(kernel_);
  std::vector<Dim> dims;
  for (const Node* input : kernel_.inputs) {
    if (not_read.count(input) > 0) continue;
    const Shape& shape = input->outputs[0].shape;
    dims.insert(dims.end(), shape.begin(), shape.end());
  }
  return dims;
}

// Sizes that are made of symbols that the kernel reads from its operands stay,
// since it may need to know how they belong together.
void SizeNames::FindSizes() {
  const std::vector<Dim> dims = Dims();
  std::set<const tir::Var*> read;
  for (const Dim& dim : dims) {
    if (const auto* var = tir::As<tir::Var>(dim)) read.insert(var);
  }
  // Others may be multiples of those with the smallest factors.
  std::multimap<int64_t, Affine> sizes;
  for (const Dim& dim : dims) {
    const std::vector<const tir::Var*> made_of = tir::VarsOf(dim);
    if (std::any_of(made_of.begin(), made_of.end(), [&](const tir::Var* var) {
          return read.count(var) == 0;
        })) {
      const Affine size = tir::ToAffine(SimplifyDim(dim));
      if (!size.IsConstant()) sizes.emplace(CoefficientGcd(size), size);
    }
  }
  for (const auto& [factor, size] : sizes) {
    if (Find(size).has_value()) continue;
    const tir::VarPtr symbol = maker_.Make("size");
    own_[symbol.get()] = size.ToExpr();
    sizes_.push_back({size, symbol});
  }
}

std::optional<Dim> SizeNames::Find(const Affine& size) const {
  for (const Size& known : sizes_) {
    const int64_t times =
        CoefficientGcd(size) / CoefficientGcd(known.of_caller);
    const Affine rest = size - known.of_caller * times;
    if (rest.IsConstant()) {
      return SimplifyDim(known.of_kernel * times + rest.constant);
    }
  }
  return std::nullopt;
}

std::optional<Dim> SizeNames::Find(const Dim& dim) const {
  if (tir::VarsOf(dim).empty()) return std::nullopt;
  return Find(tir::ToAffine(SimplifyDim(dim)));
}

Shape SizeNames::OfKernel(Shape shape) const {
  SizeReplacer replacer([this](const Dim& dim) { return Find(dim); });
  for (Dim& dim : shape) dim = replacer.Mutate(dim);
  return shape;
}

Shape SizeNames::OfCaller(Shape shape) const {
  for (Dim& dim : shape) dim = SimplifyDim(tir::Substitute(dim, own_));
  return shape;
}

bool SizeNames::Keeps(const TensorType& before, const TensorType& after) const {
  return before.dtype == after.dtype &&
         before.is_sequence == after.is_sequence &&
         SameShape(before.shape, OfCaller(after.shape)) &&
         CountNodes(after.shape) <= CountNodes(before.shape);
}

bool SizeNames::NameIn(Node* node) const {
  if (node->kind == NodeKind::kInput) {
    node->outputs[0].shape = OfKernel(node->outputs[0].shape);
  }
  if (node->kind != NodeKind::kOp) return true;
  const Attrs attrs = node->attrs;
  for (const auto& [name, value] : attrs.values()) {
    if (const auto* shape = std::get_if<Shape>(&value)) {
      node->attrs.Set(name, OfKernel(*shape));
    }
  }
  const auto types = InferTypes(*node->op, node->inputs, node->attrs);
  if (!types.ok() || types->size() != node->outputs.size()) return false;
  for (size_t i = 0; i < types->size(); ++i) {
    if (!Keeps(node->outputs[i], (*types)[i])) return false;
  }
  node->outputs = *types;
  return SymbolWithoutValue(*node) == nullptr;
}

bool SizeNames::Apply() {
  FindSizes();
  if (sizes_.empty()) return false;
  const std::set<const Node*> not_read = InputsNotRead(kernel_);
  std::vector<std::pair<Attrs, std::vector<TensorType>>> before;
  for (const auto& node : kernel_.nodes()) {
    before.emplace_back(node->attrs, node->outputs);
  }
  const bool done = std::all_of(
      kernel_.nodes().begin(), kernel_.nodes().end(), [&](const auto& node) {
        return not_read.count(node.get()) > 0 || NameIn(node.get());
      });
  if (done && ReadsSymbols(kernel_)) return true;
  size_t i = 0;
  for (const auto& node : kernel_.nodes()) {
    std::tie(node->attrs, node->outputs) = std::move(before[i++]);
  }
  return false;
}

// Drops the inputs at the end whose symbols are known, or not needed, without
// them. Returns how many are left.
size_t DropInputs(Function* kernel) {
  const std::set<const Node*> not_read = InputsNotRead(*kernel);
  while (!kernel->inputs.empty()) {
    const Node* last = kernel->inputs.back();
    if (not_read.count(last) == 0 || !ReadsSymbols(*kernel, last)) break;
    kernel->inputs.pop_back();
    kernel->RemoveDead();  // it asks for its own symbols no more
  }
  return kernel->inputs.size();
}

}  // namespace

absl::StatusOr<bool> NameSizes(Module* module, PassContext*) {
  std::map<std::string, size_t> operands;  // by the name of the kernel
  for (const auto& function : module->functions()) {
    if (function->attrs.Has("primitive") && SizeNames(function.get()).Apply()) {
      operands[function->name] = DropInputs(function.get());
    }
  }
  for (const auto& function : module->functions()) {
    for (const auto& node : function->nodes()) {
      const auto it = operands.find(node->callee);
      if (it != operands.end()) node->inputs.resize(it->second);
    }
  }
  return !operands.empty();
}

}  // namespace ingot::relay

// share_kernels: kernels that differ in the names of their symbols only are
// one, whose symbols each call binds by its operands.
//
//   %a = @relu(%x)   : f32["?count", 4]         %a = @relu(%x)
//   %b = @relu_1(%y) : f32["?count_1", 4]  ->   %b = @relu(%y)
//
// A detector that does the same for each of ninety classes, whose numbers of
// boxes are as many symbols, has a kernel for each operator and not for each
// class. It runs after all passes that look into kernels, which may take the
// symbols of a call's operands to be the kernel's.
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/parameter_names.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/printer.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {
namespace {

// Writes what a kernel does, without the names of its values and with its
// symbols numbered by their order of appearance.
class StructureWriter {
 public:
  // `symbols` are those that stand for a kernel's; it grows as needed.
  explicit StructureWriter(std::vector<tir::VarPtr>* symbols)
      : symbols_(*symbols) {}

  std::string Write(const Function& kernel) {
    text_ = Print(Renamed(kernel.attrs));
    for (const auto& node : kernel.nodes()) WriteNode(*node);
    for (const Value& output : kernel.outputs) WriteValue(output);
    return std::move(text_);
  }

 private:
  void WriteNode(const Node& node) {
    absl::StrAppend(&text_, "\n", static_cast<int>(node.kind), " ",
                    node.op == nullptr ? "" : node.op->name, " ", node.callee,
                    Print(Renamed(node.attrs)));
    for (const Value& input : node.inputs) WriteValue(input);
    for (const TensorType& type : node.outputs) {
      absl::StrAppend(
          &text_, ":",
          ToString({type.dtype, Renamed(type.shape), type.is_sequence}));
    }
    if (node.constant.has_value()) {
      const Tensor& tensor = *node.constant;
      text_.append(static_cast<const char*>(tensor.raw_data()), tensor.bytes());
    }
    index_[&node] = index_.size();
  }

  void WriteValue(const Value& value) {
    if (value.node == nullptr) {
      text_ += " none";
    } else {
      absl::StrAppend(&text_, " ", index_.at(value.node), ".", value.index);
    }
  }

  Shape Renamed(const Shape& shape) {
    Shape renamed;
    for (const Dim& dim : shape) {
      for (const tir::Var* var : tir::VarsOf(dim)) Rename(var);
      renamed.push_back(tir::Substitute(dim, names_));
    }
    return renamed;
  }

  Attrs Renamed(const Attrs& attrs) {
    Attrs renamed = attrs;
    for (const auto& [name, value] : attrs.values()) {
      if (const auto* shape = std::get_if<Shape>(&value)) {
        renamed.Set(name, Renamed(*shape));
      }
    }
    return renamed;
  }

  void Rename(const tir::Var* var) {
    if (names_.count(var) > 0) return;
    const size_t number = names_.size();
    if (number == symbols_.size()) {
      symbols_.push_back(tir::MakeVar(absl::StrCat("$", number)));
    }
    names_[var] = symbols_[number];
  }

  std::vector<tir::VarPtr>& symbols_;
  std::map<const tir::Var*, tir::Expr> names_;
  absl::flat_hash_map<const Node*, size_t> index_;
  std::string text_;
};

// The parameters of `kernel` become what they and those of `other`, which is
// to be the same, are called in common.
void ShareNames(const Function& other, Function* kernel) {
  for (size_t i = 0; i < kernel->inputs.size(); ++i) {
    std::string& name = kernel->inputs[i]->name;
    const std::string common = CommonName(name, other.inputs[i]->name);
    if (common == name) continue;
    name = kernel->UniqueName(common.empty() ? absl::StrCat("p", i) : common);
  }
}

}  // namespace

absl::StatusOr<bool> ShareKernels(Module* module, PassContext*) {
  std::vector<tir::VarPtr> symbols;
  absl::flat_hash_map<std::string, Function*> kernels;  // by structure
  std::map<std::string, std::string> shared;            // name -> name
  for (const auto& function : module->functions()) {
    if (!function->attrs.Has("primitive")) continue;
    auto [it, is_new] = kernels.try_emplace(
        StructureWriter(&symbols).Write(*function), function.get());
    if (is_new) continue;
    ShareNames(*function, it->second);
    shared[function->name] = it->second->name;
  }
  if (shared.empty()) return false;
  for (const auto& [name, kernel] : shared) module->RemoveFunction(name);
  for (const auto& caller : module->functions()) {
    for (const auto& node : caller->nodes()) {
      const auto it = shared.find(node->callee);
      if (it != shared.end()) node->callee = it->second;
    }
  }
  return true;
}

}  // namespace ingot::relay

#include "compiler/codegen/signature.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

// The first variable of `e` that is not in `bound`; null if there is none.
class UnboundFinder : public tir::ExprVisitor {
 public:
  explicit UnboundFinder(const std::set<const tir::Var*>& bound)
      : bound_(bound) {}
  const tir::Var* found() const { return found_; }

 protected:
  void VisitVar(const tir::Var& var) override {
    if (found_ == nullptr && bound_.count(&var) == 0) found_ = &var;
  }

 private:
  const std::set<const tir::Var*>& bound_;
  const tir::Var* found_ = nullptr;
};

std::string ParamText(const tir::PrimFunc& func, int param, int argument) {
  return absl::StrCat(func.name, ": argument ", argument, " (",
                      func.params[param]->name, ") must be a ");
}

}  // namespace

absl::StatusOr<Signature> MakeSignature(const tir::PrimFunc& func) {
  if (func.num_outputs < 0 || func.num_workspaces < 0 ||
      func.num_inputs() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel ", func.name, ": more outputs and workspaces than parameters"));
  }
  Signature signature;
  std::set<const tir::Var*> bound;
  const int params = static_cast<int>(func.params.size());
  for (int p = 0; p < params; ++p) {
    const tir::BufferNode& buffer = *func.params[p];
    const bool is_workspace = p >= params - func.num_workspaces;
    for (size_t d = 0; d < buffer.shape.size(); ++d) {
      const int dim = static_cast<int>(d);
      const auto* var = tir::As<tir::Var>(buffer.shape[d]);
      if (!is_workspace && var != nullptr && bound.insert(var).second) {
        signature.symbols.push_back({var, p, dim});
      } else {
        signature.checks.push_back({p, dim, buffer.shape[d]});
      }
    }
  }
  for (const tir::Buffer& buffer : func.params) {
    for (const tir::Expr& dim : buffer->shape) {
      UnboundFinder finder(bound);
      finder.Visit(dim);
      if (finder.found() != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("kernel ", func.name,
                         ": no argument's shape gives the symbolic "
                         "dimension ",
                         finder.found()->name, " of ", buffer->name));
      }
    }
  }
  return signature;
}

std::string TypeText(const tir::BufferNode& buffer) {
  std::string out = absl::StrCat(buffer.dtype.ToString(), "[");
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    absl::StrAppend(&out, d == 0 ? "" : ", ", tir::Print(buffer.shape[d]));
  }
  return out + "]";
}

std::string ArgumentCountError(const tir::PrimFunc& func, int count) {
  return absl::StrCat(func.name, ": expected ", count, " arguments");
}

std::string ArgumentTypeError(const tir::PrimFunc& func, int param,
                              int argument) {
  const tir::BufferNode& buffer = *func.params[param];
  return absl::StrCat(ParamText(func, param, argument), "CPU tensor of type ",
                      buffer.dtype.ToString(), " with ", buffer.shape.size(),
                      " dimensions");
}

std::string ArgumentShapeError(const tir::PrimFunc& func, int param,
                               int argument) {
  return absl::StrCat(ParamText(func, param, argument),
                      TypeText(*func.params[param]));
}

std::string ArgumentDenseError(const tir::PrimFunc& func, int param,
                               int argument) {
  return absl::StrCat(ParamText(func, param, argument),
                      "dense, row-major tensor");
}

}  // namespace ingot::codegen

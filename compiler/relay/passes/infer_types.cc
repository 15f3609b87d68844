// infer_types: types again from the inputs on, so that what earlier passes
// learned (constant dimensions, mostly) reaches everything after it.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::relay {
namespace {

// A type as it was stays, so that "changed" means something; simplified, since
// inference builds long expressions.
bool Update(const TensorType& inferred, TensorType* type) {
  if (type->dtype == inferred.dtype &&
      type->is_sequence == inferred.is_sequence &&
      SameShape(type->shape, inferred.shape)) {
    // The same for every run, but perhaps known only now.
    if (ConstShape(type->shape).has_value() ||
        !ConstShape(inferred.shape).has_value()) {
      return false;
    }
  }
  type->dtype = inferred.dtype;
  type->shape = inferred.shape;
  type->is_sequence = inferred.is_sequence;
  for (Dim& dim : type->shape) dim = tir::Simplify(dim);
  return true;
}

}  // namespace

absl::StatusOr<bool> InferTypesPass(Module* module, PassContext*) {
  bool changed = false;
  for (const auto& function : module->functions()) {
    for (const auto& node : function->nodes()) {
      if (node->kind != NodeKind::kOp) continue;
      absl::StatusOr<std::vector<TensorType>> types =
          InferTypes(*node->op, node->inputs, node->attrs);
      if (!types.ok()) {
        return absl::Status(
            types.status().code(),
            absl::StrCat("function @", QuoteName(function->name), ": node %",
                         QuoteName(node->name), ": ",
                         types.status().message()));
      }
      if (types->size() != node->outputs.size()) {
        node->outputs = *std::move(types);
        changed = true;
        continue;
      }
      for (size_t i = 0; i < types->size(); ++i) {
        changed |= Update((*types)[i], &node->outputs[i]);
      }
    }
  }
  return changed;
}

}  // namespace ingot::relay

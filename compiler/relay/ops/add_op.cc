// Function::AddOp. It is here because it knows operators by their names: a
// program that builds functions has the operators, too.
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

absl::StatusOr<Node*> Function::AddOp(absl::string_view op,
                                      absl::string_view name,
                                      std::vector<Value> inputs, Attrs attrs) {
  const OpDef* def = StandardOps().Find(op);
  if (def == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        "node ", QuoteName(name), ": there is no operator '", op, "'"));
  }
  attrs.BindTo(*def);
  absl::StatusOr<std::vector<TensorType>> types =
      InferTypes(*def, inputs, attrs);
  if (!types.ok()) {
    return absl::Status(
        types.status().code(),
        absl::StrCat("node ", QuoteName(name), ": ", types.status().message()));
  }
  Node* node = Append(NodeKind::kOp, name.empty() ? op : name);
  node->op = def;
  node->attrs = std::move(attrs);
  node->inputs = std::move(inputs);
  node->outputs = *std::move(types);
  return node;
}

}  // namespace ingot::relay

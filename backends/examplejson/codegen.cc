#include "backends/examplejson/codegen.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/op.h"
#include "compiler/status_macros.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

// The number of elements of a value. An error says why the format cannot hold
// it.
absl::StatusOr<int64_t> Count(const relay::TensorType& type) {
  const auto shape = relay::ConstShape(type.shape);
  if (type.dtype != DataType::Float(32) || !shape) {
    return absl::UnimplementedError(
        absl::StrCat("only f32 of known size, not ", relay::ToString(type)));
  }
  return CountElements(*shape);
}

// OkStatus, or why a node is left to another target.
absl::Status Supports(const Target&, const relay::Node& node) {
  const std::string& op = node.op->name;
  if (op != "add" && op != "sub" && op != "mul") {
    return absl::UnimplementedError("only add, sub and mul");
  }
  INGOT_ASSIGN_OR_RETURN(const int64_t count, Count(node.outputs[0]));
  for (const relay::Value& input : node.inputs) {
    INGOT_ASSIGN_OR_RETURN(const int64_t elements, Count(input.type()));
    if (elements != count && elements != 1) {
      return absl::UnimplementedError(
          absl::StrCat("an operand ", relay::ToString(input.type()),
                       " would have to be repeated"));
    }
  }
  return absl::OkStatus();
}

std::string Dims(const relay::TensorType& type) {
  return absl::StrJoin(*relay::ConstShape(type.shape), " ");
}

absl::StatusOr<CodegenResult> Generate(const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  std::string text = absl::StrCat(symbol, "\n");
  std::map<relay::Value, int> ids;
  const auto id_of = [&](std::string* out, const relay::Value& value) {
    absl::StrAppend(out, out->empty() ? "" : " ", ids.at(value));
  };
  for (relay::Node* input : region.inputs) {
    const int id = static_cast<int>(ids.size());
    ids[relay::Value{input}] = id;
    absl::StrAppend(&text, "  input ", id, " ", Dims(input->outputs[0]), "\n");
  }
  for (const auto& node : region.nodes()) {
    if (node->kind == relay::NodeKind::kInput) continue;
    std::string operands;
    for (const relay::Value& input : node->inputs) id_of(&operands, input);
    const int id = static_cast<int>(ids.size());
    ids[relay::Value{node.get()}] = id;
    const std::string dims = Dims(node->outputs[0]);
    if (node->kind == relay::NodeKind::kConstant) {
      const auto values = node->constant->values<float>();
      absl::StrAppend(&text, "  const ", id, " shape: ", dims, " values: ",
                      absl::StrJoin(values, " ",
                                    [](std::string* out, float v) {
                                      absl::StrAppendFormat(out, "%.9g", v);
                                    }),
                      "\n");
      continue;
    }
    absl::StrAppend(&text, "  ", node->op->name, " ", id, " inputs: ", operands,
                    " shape: ", dims, "\n");
  }
  std::string outputs;
  for (const relay::Value& output : region.outputs) id_of(&outputs, output);
  absl::StrAppend(&text, "  outputs ", outputs, "\n");

  Artifact artifact;
  artifact.codegen_id = "examplejson";
  artifact.loader = "examplejson";
  artifact.file_name = absl::StrCat(symbol, ".examplejson");
  artifact.content = Blob::FromString(std::move(text));
  CodegenResult result;
  result.artifacts.push_back(std::move(artifact));
  return result;
}

}  // namespace

absl::Status RegisterExamplejsonTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = "examplejson";
  kind.doc = "example: element-wise arithmetic as text for its own loader";
  kind.loaders = {"examplejson"};
  kind.supports = Supports;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot

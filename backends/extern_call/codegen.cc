#include "backends/extern_call/codegen.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"
#include "compiler/tir/ir.h"

namespace ingot {
namespace {

using relay::NodeKind;
using relay::Value;

absl::Status Check(const Target& target) {
  for (const char* option : {"op", "symbol", "source"}) {
    if (target.Option(option, "").empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("target extern_call needs the option -", option));
    }
  }
  if (relay::StandardOps().Find(target.Option("op", "")) != nullptr) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("target extern_call: no operator is called '",
                   target.Option("op", ""), "'"));
}

// OkStatus, or why a node is left to another target.
absl::Status Supports(const Target& target, const relay::Node& node) {
  const std::string op = target.Option("op", "");
  if (!node.Is(op)) return absl::UnimplementedError("only " + op);
  for (const Value& input : node.inputs) {
    if (!input) return absl::UnimplementedError("an operand is left out");
    // Such a constant has no memory.
    if (codegen::IsHeldByRegion(input)) {
      return absl::UnimplementedError(
          "an operand is a constant of one element");
    }
  }
  return absl::OkStatus();
}

// The calls of the region's nodes, in order, with workspaces between them.
absl::StatusOr<tir::PrimFunc> Lower(const Target& target,
                                    const relay::Function& region,
                                    absl::string_view symbol) {
  tir::PrimFunc func;
  func.name = std::string(symbol);
  func.num_outputs = static_cast<int>(region.outputs.size());
  std::map<Value, tir::Buffer> buffers;
  const auto make = [](absl::string_view name, const Value& value,
                       tir::Scope scope) {
    const relay::TensorType& type = value.type();
    return tir::MakeBuffer(name, type.dtype, type.shape, scope);
  };
  for (relay::Node* input : region.inputs) {
    func.params.push_back(make(input->name, {input}, tir::Scope::kParam));
    buffers[{input}] = func.params.back();
  }
  for (const Value& output : region.outputs) {
    func.params.push_back(make(output.node->name, output, tir::Scope::kParam));
    if (output.node->kind != NodeKind::kOp ||
        !buffers.emplace(output, func.params.back()).second) {
      return absl::UnimplementedError(
          "an output of the region that is no result, or twice");
    }
  }
  std::vector<tir::Stmt> calls;
  std::vector<tir::Buffer> workspaces;
  for (const auto& node : region.nodes()) {
    if (node->kind != NodeKind::kOp) continue;
    std::vector<tir::Buffer> reads, writes;
    std::vector<tir::Expr> extents;
    for (const Value& input : node->inputs) reads.push_back(buffers.at(input));
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      tir::Buffer& buffer = buffers[{node.get(), static_cast<int>(i)}];
      if (buffer == nullptr) {
        buffer = make(node->name, {node.get(), static_cast<int>(i)},
                      tir::Scope::kWorkspace);
        workspaces.push_back(buffer);
      }
      writes.push_back(buffer);
    }
    for (const auto* list : {&reads, &writes}) {
      for (const tir::Buffer& buffer : *list) {
        extents.insert(extents.end(), buffer->shape.begin(),
                       buffer->shape.end());
      }
    }
    calls.push_back(tir::MakeCallExtern(target.Option("symbol", ""), reads,
                                        writes, std::move(extents)));
  }
  func.body = tir::MakeSeq(std::move(calls));
  for (const tir::Buffer& buffer : workspaces) {
    func.body = tir::MakeAllocate(buffer, func.body);
  }
  return func;
}

absl::StatusOr<LoweredRegion> Generate(const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  LoweredRegion result;
  INGOT_ASSIGN_OR_RETURN(tir::PrimFunc func, Lower(target, region, symbol));
  result.functions.push_back(std::move(func));
  // The same artifact for each region: the set holds it once.
  const std::string path = target.Option("source", "");
  absl::StatusOr<Blob> source = Blob::MapFile(path);
  if (!source.ok()) {
    return Annotate(source.status(), "target extern_call: -source");
  }
  codegen::AddArtifact("extern_call", kNativeLoader,
                       path.substr(path.rfind('/') + 1),
                       std::string(source->view()), &result.code);
  return result;
}

}  // namespace

absl::Status RegisterExternCallTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = "extern_call";
  kind.doc = "one operator as a call of your own C function";
  kind.options = {{"op", {"the operator, such as relu", "must be given"}},
                  {"symbol", {"the function's name", "must be given"}},
                  {"source", {"the C file that has it", "must be given"}}};
  kind.loaders = {kNativeLoader};
  kind.check = Check;
  kind.supports = Supports;
  kind.relay_to_tir = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot

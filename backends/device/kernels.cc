#include "backends/device/kernels.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/te/te.h"
#include "compiler/tir/visitor.h"

namespace ingot::device {
namespace {

constexpr size_t kAddressBytes = 8;
// Arguments of a kernel that are left for others than the operator that has the
// most.
constexpr size_t kOfFused = 28;

absl::Status No(absl::string_view why) { return absl::UnimplementedError(why); }

// Other types than these need an extension of some devices.
bool HasType(DataType t, const LoopCode& code) {
  if (t.is_float() && t.bits == 16) return code.narrow_floats;
  return t == DataType::Float(32) || t.is_bool() ||
         (t.is_integer() && t.bits >= 8 && t.bits <= 64);
}

absl::Status CheckTypes(const relay::Node& node, const LoopCode& code) {
  std::vector<relay::TensorType> types = node.outputs;
  for (const relay::Value& v : node.inputs) {
    if (v.node != nullptr) types.push_back(v.type());
  }
  for (const relay::TensorType& type : types) {
    if (type.is_sequence) return No("sequences stay on the CPU");
    if (!HasType(type.dtype, code)) {
      return No(absl::StrCat("elements of ", type.dtype.ToString()));
    }
    if (!relay::ConstShape(type.shape)) return No("symbolic dimensions");
  }
  return absl::OkStatus();
}

// Finds a function of floats that there is no code for.
class FunctionFinder final : public tir::StmtVisitor {
 public:
  explicit FunctionFinder(bool (*wanted)(const tir::Call& call))
      : wanted_(wanted) {}

  std::string found;  // empty: none

 private:
  void VisitCall(const tir::Call& call) override {
    if (wanted_(call)) {
      found = absl::StrCat(tir::IntrinsicName(call.intrinsic), " of ",
                           call.dtype.element().ToString());
    }
    StmtVisitor::VisitCall(call);
  }

  bool (*const wanted_)(const tir::Call& call);
};

// The functions are those of the operator's definition.
absl::Status CheckFunctions(const relay::Node& node,
                            bool (*lacks)(const tir::Call& call)) {
  te::Graph graph;
  std::vector<te::Tensor> operands;
  for (const relay::Value& v : node.inputs) {
    operands.push_back(
        v.node == nullptr
            ? te::Tensor{}
            : graph.Placeholder("x", v.type().dtype, v.type().shape));
  }
  const auto defined = node.op->compute(relay::ComputeContext{
      graph, operands, node.attrs, node.outputs, node.name});
  if (!defined.ok()) return defined.status();
  FunctionFinder finder(lacks);
  for (const auto& operation : graph.operations()) {
    if (operation->value != nullptr) finder.Visit(operation->value);
    if (operation->body != nullptr) finder.Visit(operation->body);
  }
  return finder.found.empty()
             ? absl::OkStatus()
             : No(absl::StrCat("there is no code for ", finder.found));
}

TensorSpec SpecOf(const tir::BufferNode& buffer) {
  TensorSpec spec{buffer.dtype, {}};
  for (const tir::Expr& dim : buffer.shape) {
    tir::AsConstInt(dim, &spec.shape.emplace_back());
  }
  return spec;
}

}  // namespace

absl::Status TakesLoops(const relay::Node& node, const LoopCode& code) {
  if (node.op->BackendOnly()) return No("it has no definition in loops");
  if (node.op->fusion == relay::FusionKind::kOpaque) {
    return No("its loops run one after the other");
  }
  // Operators that are fused with it have operands, too.
  const size_t taken = node.inputs.size() + node.outputs.size() + kOfFused;
  const size_t most = code.argument_bytes / kAddressBytes;
  if (most != 0 && taken > most) {
    return No(
        absl::StrCat("more than ", most - kOfFused, " operands and results"));
  }
  const absl::Status types = CheckTypes(node, code);
  if (!types.ok() || code.lacks == nullptr || node.op->compute == nullptr) {
    return types;
  }
  return CheckFunctions(node, code.lacks);
}

TableFunction EntryOf(const tir::PrimFunc& function,
                      absl::Span<const codegen::DeviceKernel> kernels) {
  TableFunction entry;
  entry.name = function.name;
  entry.nodes = codegen::NodesOf(function);
  for (size_t p = 0; p < function.params.size(); ++p) {
    (static_cast<int>(p) < function.num_inputs() ? entry.spec.inputs
                                                 : entry.spec.outputs)
        .push_back(SpecOf(*function.params[p]));
  }
  for (const codegen::DeviceKernel& kernel : kernels) {
    Launch launch{
        kernel.name, kernel.WorkItems(), kernel.group, kernel.launch_bytes, {}};
    for (const codegen::TensorMap& map : kernel.maps) {
      const TensorSpec spec = SpecOf(*function.params[map.argument]);
      launch.maps.push_back({map.argument, spec.dtype, spec.shape, map.box});
    }
    entry.launches.push_back(std::move(launch));
  }
  return entry;
}

void AddArtifact(const Target& target, absl::string_view file,
                 std::string content, CodegenResult* result) {
  Artifact artifact;
  artifact.codegen_id = target.kind;
  artifact.loader = target.kind;
  artifact.file_name = std::string(file);
  artifact.content = Blob::FromString(std::move(content));
  result->artifacts.push_back(std::move(artifact));
}

}  // namespace ingot::device

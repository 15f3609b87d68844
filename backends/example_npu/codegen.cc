#include "backends/example_npu/codegen.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/example_npu/stream.h"
#include "base/status_macros.h"
#include "compiler/codegen/c_region.h"
#include "compiler/codegen/region.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using example_npu::Axis;
using example_npu::Command;
using example_npu::kName;
using example_npu::Operand;
using example_npu::Place;
using example_npu::Stream;
using relay::Node;
using relay::Pattern;
using relay::Value;
using Dims = std::vector<int64_t>;

// The part of stream.h, and of what `self` is, that the launcher needs.
constexpr char kDriver[] = R"(
typedef struct { void* address; uint64_t bytes; } Buffer;
typedef int Launch(const void* self, const Buffer* arguments, int count);
#define LAUNCH(self, arguments, count) \
  (*(Launch* const*)self)(self, arguments, count)
)";

absl::Status No(absl::string_view why) { return absl::UnimplementedError(why); }

// A command, and the values of its operands; a null one is left out.
struct Product {
  Command command;
  std::array<Value, example_npu::kNumOperands> operands;
};

// Reads what the operators of a composite compute. Unimplemented says why the
// device does not.
absl::StatusOr<Product> ReadProduct(const codegen::RegionCall& call) {
  const Node& node = *call.Find({"conv2d", "matmul"});
  const bool is_matmul = node.Is("matmul");
  const Value input = call.nodes[0]->inputs[0], weights = node.inputs[1];
  const Value input_zero = call.Operand("sub"), bias = call.Operand("add");
  const Value scale = call.Operand("mul"), step = call.Operand("quantize");
  const Value zero = call.Operand("quantize", 1), output{call.nodes.back()};
  INGOT_ASSIGN_OR_RETURN(Dims x, codegen::KnownShape(input.type()));
  INGOT_ASSIGN_OR_RETURN(Dims w, codegen::KnownShape(weights.type()));
  INGOT_ASSIGN_OR_RETURN(Dims y, codegen::KnownShape(node.outputs[0]));
  for (const Value& v : {input, weights, step ? output : input}) {
    const DataType type = v.type().dtype;
    if (!type.is_integer() || type.bits != 8) return No("only 8-bit integers");
  }
  // The values between the input, its product and the sums.
  for (const Value& v : {node.inputs[0], Value{const_cast<Node*>(&node)}}) {
    if (v == input || v.type().dtype == DataType::Int(32)) continue;
    return No("only sums of 32 bits");
  }
  if (scale && scale.type().dtype != DataType::Float(32)) {
    return No("scales that are not f32");
  }
  for (const Value& v : {input_zero, bias, scale, step, zero}) {
    if (!v) continue;
    INGOT_ASSIGN_OR_RETURN(const Dims shape, codegen::KnownShape(v.type()));
    const bool one = CountElements(shape).value() == 1;
    const bool one_each =
        codegen::RunsAlong(shape, y, is_matmul ? y.size() - 1 : 1);
    if (!one && !(one_each && (v == bias || v == scale))) {
      return No("a scale, bias or zero point that is not one for each channel");
    }
  }
  Dims strides = {1, 1}, dilations = {1, 1}, pads = {0, 0, 0, 0};
  if (is_matmul) {
    if (w.size() != 2) return No("weights that are no matrix");
    x.pop_back();
    INGOT_ASSIGN_OR_RETURN(const int64_t rows, CountElements(x));
    x = {rows, w[0], 1, 1};
    y = {rows, w[1], 1, 1};
    w = {w[1], w[0], 1, 1};
  } else {
    if (node.attrs.Get<int64_t>("groups") != 1) return No("channel groups");
    if (node.attrs.Get<int64_t>("pad_value") != 0) {
      return No("padding that is not 0");
    }
    if (x.size() != 4 || w.size() != 4) return No("blocks of channels");
    strides = node.attrs.GetEach("strides", 2);
    dilations = node.attrs.GetEach("dilations", 2);
    pads = node.attrs.GetEach("pads", 4);
  }
  if (w[1] * w[2] * w[3] > example_npu::kScratchpadWords) {
    return No("a kernel larger than the scratchpad");
  }
  const Axis rows = {x[2], w[2], y[2], strides[0], dilations[0], pads[0]};
  const Axis columns = {x[3], w[3], y[3], strides[1], dilations[1], pads[1]};
  return Product{{x[0],
                  x[1],
                  w[0],
                  rows,
                  columns,
                  input.type().dtype,
                  weights.type().dtype,
                  output.type().dtype,
                  is_matmul,
                  {}},
                 {input, input_zero, weights, bias, scale, step, zero, output}};
}

absl::Status CheckNodes(const Target&, absl::Span<Node* const> nodes) {
  return ReadProduct({{nodes.begin(), nodes.end()}, {}}).status();
}

// Makes the command stream of a region: a command for each composite, in memory
// that the region's arguments and the stream say.
class StreamBuilder {
 public:
  StreamBuilder(const relay::Module& module, const relay::Function& region)
      : module_(module), region_(region) {}

  absl::StatusOr<Stream> Build() {
    stream_.inputs = region_.inputs.size();
    for (const Node* input : region_.inputs) {
      INGOT_RETURN_IF_ERROR(AddArgument(Value{const_cast<Node*>(input)}));
    }
    for (const Value& output : region_.outputs) {
      INGOT_RETURN_IF_ERROR(AddArgument(output));
    }
    for (const auto& node : region_.nodes()) {
      if (node->kind == relay::NodeKind::kConstant) AddConstant(node.get());
      if (node->kind != relay::NodeKind::kCallFunction) continue;
      INGOT_RETURN_IF_ERROR(AddCommand(node.get()));
    }
    return std::move(stream_);
  }

 private:
  absl::Status AddArgument(const Value& value) {
    INGOT_ASSIGN_OR_RETURN(const size_t bytes, codegen::KnownBytes(value));
    const auto argument = static_cast<uint32_t>(stream_.arguments.size());
    stream_.arguments.push_back(bytes);
    const bool is_new =
        places_.emplace(value, Operand{Place::kArgument, argument, 0, bytes})
            .second;
    return is_new ? absl::OkStatus()
                  : No("a result that is an argument in two places");
  }

  // Constants of one element, which the region holds.
  void AddConstant(Node* node) {
    const Tensor& tensor = *node->constant;
    std::string& all = stream_.constants;
    all.resize(RoundUp(all.size()));
    places_[Value{node}] = {Place::kConstant, 0, all.size(), tensor.bytes()};
    all.append(static_cast<const char*>(tensor.raw_data()), tensor.bytes());
  }

  absl::Status AddCommand(Node* node) {
    const codegen::RegionCall call = codegen::ReadCall(module_, *node);
    INGOT_ASSIGN_OR_RETURN(Product product, ReadProduct(call));
    const Value result{node};
    INGOT_ASSIGN_OR_RETURN(const size_t bytes, codegen::KnownBytes(result));
    const Operand temporary = {Place::kTemporary, 0, stream_.temporary_bytes,
                               bytes};
    if (places_.emplace(result, temporary).second) {
      stream_.temporary_bytes = RoundUp(stream_.temporary_bytes + bytes);
    }
    for (int i = 0; i < example_npu::kNumOperands; ++i) {
      const Value& value = product.operands[i];
      if (!value) continue;
      const bool is_result = value.node == call.nodes.back();
      product.command.operands[i] =
          places_.at(is_result ? result : call.Outside(value));
    }
    stream_.commands.push_back(product.command);
    return absl::OkStatus();
  }

  static uint64_t RoundUp(uint64_t bytes) {
    return (bytes + example_npu::kTensorAlignment - 1) /
           example_npu::kTensorAlignment * example_npu::kTensorAlignment;
  }

  const relay::Module& module_;
  const relay::Function& region_;
  Stream stream_;
  std::map<Value, Operand> places_;
};

// Two artifacts: a stream for the device, and a launcher for the host, which
// hands over the addresses of a call's arguments. A target with a key of its
// own, such as `npu: example_npu`, has the stream under that key; the launcher
// is always code of the host's.
absl::StatusOr<CodegenResult> Generate(const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  INGOT_ASSIGN_OR_RETURN(const Stream stream,
                         StreamBuilder(module, region).Build());
  INGOT_ASSIGN_OR_RETURN(
      CodegenResult result,
      codegen::MakeCLauncher(region, kName, absl::StrCat(symbol, "_launch"),
                             {"-std=c99 -O2", kDriver}, kDLExtDev));
  result.artifacts.back().target_key = kDefaultTargetKey;
  codegen::AddArtifact(kName, kName, absl::StrCat(symbol, ".npu"),
                       example_npu::WriteStream(stream), &result);
  result.artifacts.back().target_key = target.key;
  return result;
}

}  // namespace

absl::Status RegisterExampleNpuTarget(TargetRegistry* registry) {
  const Pattern constant = Pattern::Constant();
  const Pattern input = Pattern::Maybe(
      {"sub"}, Pattern::Maybe({"cast"}, Pattern::Any()), {constant});
  const Pattern sums = Pattern::Op({"conv2d", "matmul"}, {input, constant});
  const Pattern biased = Pattern::Maybe({"add"}, sums, {constant});
  const Pattern real =
      Pattern::Op({"mul"}, {Pattern::Op({"cast"}, {biased}), constant});
  const Pattern quantized = Pattern::Op({"quantize"}, {real, constant});
  TargetKind kind;
  kind.name = kName;
  kind.doc = "example: products of 8-bit integers on a simulated accelerator";
  kind.loaders = {kNativeLoader, kName};
  kind.device = kName;
  kind.patterns = {{"quantized", quantized, CheckNodes},
                   {"integer", sums, CheckNodes}};
  kind.operators.emplace();  // composites alone
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot

#include "backends/example_npu/codegen.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/example_npu/stream.h"
#include "backends/example_npu/stream.pb.h"
#include "compiler/codegen/c_region.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"
#include "compiler/status_macros.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using example_npu::Command;
using example_npu::kTile;
using relay::Node;
using relay::Pattern;
using relay::Value;
using Dims = std::vector<int64_t>;

// A stream of more commands than this is not worth its memory.
constexpr int64_t kMaxCommands = 1 << 20;

constexpr char kLauncher[] = R"(typedef struct Driver {
  int (*submit)(const struct Driver* driver, void** tensors);
} Driver;
#define SUBMIT(...) \
  ((const Driver*)self)->submit(self, (void*[]){__VA_ARGS__})
)";

int64_t Tiles(int64_t n) { return (n + kTile - 1) / kTile; }

// The roles of a composite's operators and operands; null: there is none.
struct Product {
  const Node* op = nullptr;  // conv2d or matmul
  Value input, weights, input_zero, bias, scale, output_scale, output_zero;
  // A matmul is a convolution of one row: pixels are rows, channels columns.
  int64_t batch = 1, c = 0, h = 1, w = 0, o = 0, kh = 1, kw = 1, oh = 1, ow = 0;
  Dims strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};
  int64_t in_c, in_w, out_c, out_w;  // from one to the next in memory
};

absl::Status No(absl::string_view why) { return absl::UnimplementedError(why); }

// Reads the operators of a composite, or those that a pattern matched.
absl::StatusOr<Product> ReadProduct(absl::Span<Node* const> nodes) {
  Product p;
  const auto made_here = [&](const Value& v) {
    return std::find(nodes.begin(), nodes.end(), v.node) != nodes.end();
  };
  const auto other = [&](const Node& node) {
    return node.inputs[made_here(node.inputs[0]) ? 1 : 0];
  };
  for (Node* node : nodes) {
    if (node->Is("conv2d") || node->Is("matmul")) p.op = node;
    if (node->Is("add")) p.bias = other(*node);
    if (node->Is("mul")) p.scale = other(*node);
    if (!node->Is("quantize")) continue;
    p.output_scale = node->inputs[1];
    if (node->inputs.size() > 2) p.output_zero = node->inputs[2];
  }
  p.input = p.op->inputs[0];
  p.weights = p.op->inputs[1];
  if (made_here(p.input)) {  // sub(cast(input), zero)
    p.input_zero = p.input.node->inputs[1];
    p.input = p.input.node->inputs[0].node->inputs[0];
  }
  INGOT_ASSIGN_OR_RETURN(Dims x, codegen::KnownShape(p.input.type()));
  INGOT_ASSIGN_OR_RETURN(Dims w, codegen::KnownShape(p.weights.type()));
  INGOT_ASSIGN_OR_RETURN(Dims y, codegen::KnownShape(p.op->outputs[0]));
  for (const Value& v : {p.input, p.weights}) {
    const DataType t = v.type().dtype;
    if (!t.is_integer() || t.bits != 8) return No("only 8-bit integers");
  }
  if (p.op->Is("matmul")) {
    if (w.size() != 2) return No("weights that are no matrix");
    p.c = w[0];
    p.o = w[1];
    p.w = p.ow = 1;
    for (size_t i = 0; i + 1 < x.size(); ++i) p.w = p.ow *= x[i];
    p.in_c = p.out_c = 1;
    p.in_w = p.c;
    p.out_w = p.o;
  } else {
    const relay::Attrs& attrs = p.op->attrs;
    if (attrs.GetOr<int64_t>("groups", 1) != 1) return No("groups");
    if (attrs.Has("data_layout")) return No("a blocked layout");
    p.strides = attrs.GetOr<Dims>("strides", p.strides);
    p.pads = attrs.GetOr<Dims>("pads", p.pads);
    p.dilations = attrs.GetOr<Dims>("dilations", p.dilations);
    p.batch = x[0], p.c = x[1], p.h = x[2], p.w = x[3];
    p.o = w[0], p.kh = w[2], p.kw = w[3], p.oh = y[2], p.ow = y[3];
    p.in_c = p.h * p.w;
    p.out_c = p.oh * p.ow;
    p.in_w = p.out_w = 1;
  }
  return p;
}

// What a pattern cannot say: whether constants run along the channels, and
// whether all of it is of a size for the device.
absl::Status CheckNodes(const Target&, absl::Span<Node* const> nodes) {
  INGOT_ASSIGN_OR_RETURN(const Product p, ReadProduct(nodes));
  if (p.input.node->constant.has_value()) return No("a constant input");
  const size_t from_end = p.op->Is("conv2d") ? 3 : 1;
  for (const Value& v :
       {p.input_zero, p.bias, p.scale, p.output_scale, p.output_zero}) {
    if (!v || v.node->constant->NumElements() == 1) continue;
    const auto shape = v.node->constant->shape();
    const bool channels = v == p.bias || v == p.scale;
    if (!channels || shape.size() < from_end ||
        v.node->constant->NumElements() != p.o ||
        shape[shape.size() - from_end] != p.o) {
      return No("a scale, bias or zero point that is not one for each channel");
    }
  }
  if (p.scale && p.scale.type().dtype != DataType::Float(32)) {
    return No("scales that are not f32");
  }
  const double commands = 1.0 * p.batch * p.oh * Tiles(p.ow) * Tiles(p.o) *
                          (2 + 3.0 * p.kh * p.kw * Tiles(p.c));
  const double elements = std::max(1.0 * p.batch * p.c * p.h * p.w,
                                   1.0 * p.batch * p.o * p.oh * p.ow);
  if (commands <= kMaxCommands && elements < (1 << 30)) return absl::OkStatus();
  return No("more commands than a stream may have");
}

// The weights of a region, those of its constants that are small integers with
// two or four dimensions, become tiles [kTile inputs, kTile channels]: for each
// place in the kernel, for each tile of inputs, for each tile of channels.
absl::Status UpdateConstants(const Target&, relay::Function* region) {
  for (const auto& node : region->nodes()) {
    if (node->kind != relay::NodeKind::kConstant) continue;
    const Tensor& w = *node->constant;
    const auto d = w.shape();
    if (w.dtype().bits != 8 || (d.size() != 2 && d.size() != 4)) continue;
    const bool conv = d.size() == 4;
    const int64_t c = conv ? d[1] : d[0], o = conv ? d[0] : d[1];
    const int64_t places = conv ? d[2] * d[3] : 1;
    INGOT_ASSIGN_OR_RETURN(
        Tensor tiles,
        Tensor::Empty(w.dtype(), {places, Tiles(c), Tiles(o), kTile, kTile}));
    int8_t* out = tiles.mutable_data<int8_t>();
    memset(out, 0, tiles.bytes());
    for (int64_t k = 0; k < places; ++k) {
      for (int64_t i = 0; i < c; ++i) {
        for (int64_t j = 0; j < o; ++j) {
          const int64_t tile =
              (k * Tiles(c) + i / kTile) * Tiles(o) + j / kTile;
          out[(tile * kTile + i % kTile) * kTile + j % kTile] =
              w.data<int8_t>()[conv ? (j * c + i) * places + k : i * o + j];
        }
      }
    }
    node->constant = std::move(tiles);
    node->outputs[0].shape = relay::MakeShape(node->constant->shape());
  }
  return absl::OkStatus();
}

std::string Commands(const Product& p) {
  std::string bytes;
  const auto add = [&](const Command& command) {
    bytes.append(reinterpret_cast<const char*>(&command), sizeof(command));
  };
  const auto i32 = [](int64_t v) { return static_cast<int32_t>(v); };
  const auto part = [&](int64_t n, int64_t from) {
    return i32(std::min<int64_t>(kTile, n - from));
  };
  // Output tiles of up to kTile pixels of a row by kTile channels.
  for (int64_t row = 0; row < p.batch * p.oh; ++row) {
    const int64_t n = row / p.oh, y = row % p.oh;
    for (int64_t x = 0; x < p.ow; x += kTile) {
      for (int64_t o = 0; o < p.o; o += kTile) {
        add({example_npu::kClear, 0, 0, 0, 0, 0, 0, 0});
        for (int64_t k = 0; k < p.kh * p.kw; ++k) {
          const int64_t in_y =
              y * p.strides[0] + k / p.kw * p.dilations[0] - p.pads[0];
          if (in_y < 0 || in_y >= p.h) continue;
          // The pixels whose input is not padding.
          const auto in_x = [&](int64_t r) {
            return (x + r) * p.strides[1] + k % p.kw * p.dilations[1] -
                   p.pads[1];
          };
          int64_t first = 0, end = part(p.ow, x);
          while (first < end && in_x(first) < 0) ++first;
          while (end > first && in_x(end - 1) >= p.w) --end;
          for (int64_t c = 0; c < p.c && first < end; c += kTile) {
            add({example_npu::kLoadInput,
                 i32((n * p.c + c) * p.in_c +
                     (in_y * p.w + in_x(first)) * p.in_w),
                 i32(end - first), part(p.c, c), i32(p.strides[1] * p.in_w),
                 i32(p.in_c), i32(first), 0});
            add({example_npu::kLoadWeights,
                 i32((k * Tiles(p.c) + c / kTile) * Tiles(p.o) + o / kTile), 0,
                 0, 0, 0, 0, 0});
            add({example_npu::kMultiply, 0, 0, 0, 0, 0, 0, 0});
          }
        }
        add({example_npu::kStore,
             i32((n * p.o + o) * p.out_c + (y * p.ow + x) * p.out_w),
             part(p.ow, x), part(p.o, o), i32(p.out_w), i32(p.out_c), 0,
             i32(o)});
      }
    }
  }
  return bytes;
}

double At(const Tensor& t, int64_t i) {
  if (t.NumElements() == 1) i = 0;
  if (t.dtype() == DataType::Float(32)) return t.data<float>()[i];
  if (t.dtype() == DataType::Int(32)) return t.data<int32_t>()[i];
  return t.dtype().is_uint() ? t.data<uint8_t>()[i] : t.data<int8_t>()[i];
}

// Two artifacts: a launcher for the host, which checks the arguments of a call,
// and the commands for the device.
absl::StatusOr<CodegenResult> Generate(const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  example_npu::Stream stream;
  stream.set_symbol(std::string(symbol));
  std::map<Value, uint32_t> tensors;
  const auto tensor = [&](const Value& v) {
    const auto [it, added] = tensors.emplace(v, stream.tensors_size());
    if (added) {
      example_npu::Tensor* t = stream.add_tensors();
      t->set_code(v.type().dtype.code);
      t->set_bits(v.type().dtype.bits);
      const auto shape = relay::ConstShape(v.type().shape);
      for (int64_t d : *shape) t->add_shape(d);
    }
    return it->second;
  };
  for (Node* input : region.inputs) tensor({input});
  for (const Value& output : region.outputs) tensor(output);
  stream.set_num_inputs(static_cast<uint32_t>(region.inputs.size()));
  stream.set_num_outputs(static_cast<uint32_t>(region.outputs.size()));
  for (const auto& call : region.nodes()) {
    if (call->kind != relay::NodeKind::kCallFunction) continue;
    const relay::Function& composite = *module.Find(call->callee);
    std::vector<Node*> nodes;
    for (const auto& node : composite.nodes()) {
      if (node->kind == relay::NodeKind::kOp) nodes.push_back(node.get());
    }
    INGOT_ASSIGN_OR_RETURN(const Product p, ReadProduct(nodes));
    // What the region passes for a parameter of the composite.
    const auto passed = [&](const Value& parameter) {
      const auto& inputs = composite.inputs;
      return call
          ->inputs[std::find(inputs.begin(), inputs.end(), parameter.node) -
                   inputs.begin()];
    };
    const auto number = [&](const Value& v, int64_t i, double otherwise) {
      return v ? At(*passed(v).node->constant, i) : otherwise;
    };
    example_npu::Operation* op = stream.add_operations();
    op->set_input(tensor(passed(p.input)));
    op->set_output(tensor({call.get()}));
    op->set_weights(
        passed(p.weights).node->attrs.GetOr<std::string>("constant", ""));
    op->set_input_zero(static_cast<int32_t>(number(p.input_zero, 0, 0)));
    for (int64_t i = 0; i < p.o; ++i) {
      op->add_bias(static_cast<int32_t>(number(p.bias, i, 0)));
      if (p.scale) op->add_scale(static_cast<float>(number(p.scale, i, 1)));
    }
    op->set_output_scale(static_cast<float>(number(p.output_scale, 0, 1)));
    op->set_output_zero(static_cast<int32_t>(number(p.output_zero, 0, 0)));
    op->set_commands(Commands(p));
  }

  std::string launcher =
      absl::StrCat(codegen::CFileHead("-std=c99 -O2"), kLauncher);
  INGOT_ASSIGN_OR_RETURN(
      const std::string exported,
      codegen::PrintCExport(region, absl::StrCat(symbol, "_launch"),
                            "SUBMIT("));
  absl::StrAppend(&launcher, exported);
  CodegenResult result;
  for (const auto& [loader, file, text] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"native", "_launch.c", launcher},
           {"example_npu", ".npu", stream.SerializeAsString()}}) {
    Artifact artifact;
    artifact.codegen_id = "example_npu";
    artifact.loader = loader;
    artifact.file_name = absl::StrCat(symbol, file);
    artifact.content = Blob::FromString(text);
    result.artifacts.push_back(std::move(artifact));
  }
  return result;
}

}  // namespace

absl::Status RegisterExampleNpuTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = "example_npu";
  kind.doc = "example: products of 8-bit integers on a simulated accelerator";
  kind.loaders = {"native", "example_npu"};
  const Pattern any = Pattern::Any(), constant = Pattern::Constant();
  const Pattern centred =
      Pattern::Op({"sub"}, {Pattern::Op({"cast"}, {any}), constant});
  for (const auto& [name, input] : std::vector<std::pair<std::string, Pattern>>{
           {"centred", centred}, {"plain", any}}) {
    const Pattern sums = Pattern::Op({"conv2d", "matmul"}, {input, constant});
    const Pattern biased = Pattern::Maybe({"add"}, sums, {constant});
    const Pattern real =
        Pattern::Op({"mul"}, {Pattern::Op({"cast"}, {biased}), constant});
    kind.patterns.push_back({"quantized_" + name,
                             Pattern::Op({"quantize"}, {real, constant}),
                             CheckNodes});
    kind.patterns.push_back({"integer_" + name, sums, CheckNodes});
  }
  kind.supports = [](const Target&, const Node&) {
    return No("only products of 8-bit integers with constants");
  };
  kind.constant_updater = UpdateConstants;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot

#include "backends/cmsis_nn/codegen.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "backends/cmsis_nn/layer.h"
#include "backends/cmsis_nn/lower.h"
#include "backends/cmsis_nn/workspace.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"

namespace ingot {
namespace {

using relay::Node;
using relay::Pattern;

constexpr char kName[] = "cmsis_nn";

constexpr char kApiSource[] =
#include "backends/cmsis_nn/cmsis_nn_api.h.literal"
    ;
constexpr char kCallsSource[] =
#include "backends/cmsis_nn/cmsis_nn_calls.c.literal"
    ;
constexpr char kReferenceSource[] =
#include "backends/cmsis_nn/cmsis_nn_reference.c.literal"
    ;

bool RoundsOnce(const Target& target) {
  return target.Option("rounding", "") == "single";
}

absl::Status Check(const Target& target) {
  INGOT_RETURN_IF_ERROR(
      cmsis_nn::ExtensionOf(target.Option("mcpu", "cortex-m7")).status());
  const std::string rounding = target.Option("rounding", "");
  if (rounding == "double" || rounding == "single") return absl::OkStatus();
  return absl::InvalidArgumentError(
      "target cmsis_nn needs -rounding=double or, for a library that was built "
      "with CMSIS_NN_USE_SINGLE_ROUNDING, -rounding=single: CMSIS-NN rounds "
      "otherwise than ONNX says, and its bytes may differ by 1");
}

absl::Status CheckNodes(const Target&, absl::Span<Node* const> nodes) {
  return cmsis_nn::ReadLayer({{nodes.begin(), nodes.end()}, {}}).status();
}

absl::Status Supports(const Target&, const Node& node) {
  return cmsis_nn::ReadLayer({{const_cast<Node*>(&node)}, {}}).status();
}

std::string WithRequest(const Target& target, absl::string_view source) {
  return absl::StrCat(
      "/* ingot: cflags=-std=c99 -O2 -fwrapv",
      RoundsOnce(target) ? " -DCMSIS_NN_USE_SINGLE_ROUNDING" : "", " */\n",
      source);
}

// The library, for those who link the set on this machine.
absl::Status AddLibrary(const Target& target, CodegenResult* code) {
  const std::string library = target.Option("library", "");
  if (library.empty()) return absl::OkStatus();
  if (library == "reference") {
    codegen::AddArtifact(kName, kNativeLoader, "cmsis_nn_reference.c",
                         WithRequest(target, kReferenceSource), code);
    return absl::OkStatus();
  }
  if (!absl::EndsWith(library, ".c") && !absl::EndsWith(library, ".o")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "target cmsis_nn: -library=", library,
        " is neither C (.c) nor an object (.o), which `ld -r --whole-archive` "
        "makes of an archive"));
  }
  absl::StatusOr<Blob> file = Blob::MapFile(library);
  if (!file.ok()) {
    return absl::Status(
        file.status().code(),
        absl::StrCat("target cmsis_nn: -library: ", file.status().message()));
  }
  codegen::AddArtifact(kName, kNativeLoader,
                       library.substr(library.rfind('/') + 1),
                       std::string(file->view()), code);
  return absl::OkStatus();
}

absl::StatusOr<LoweredRegion> Generate(const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  INGOT_ASSIGN_OR_RETURN(
      const cmsis_nn::Extension extension,
      cmsis_nn::ExtensionOf(target.Option("mcpu", "cortex-m7")));
  INGOT_ASSIGN_OR_RETURN(
      LoweredRegion lowered,
      cmsis_nn::LowerRegion(module, region, symbol, extension));
  // The same artifacts for each region: the set holds them once.
  codegen::AddArtifact(kName, kNativeLoader, "cmsis_nn_api.h", kApiSource,
                       &lowered.code);
  codegen::AddArtifact(kName, kNativeLoader, "cmsis_nn_calls.c",
                       WithRequest(target, kCallsSource), &lowered.code);
  INGOT_RETURN_IF_ERROR(AddLibrary(target, &lowered.code));
  return lowered;
}

std::vector<CompositePattern> Patterns() {
  const Pattern constant = Pattern::Constant();
  const auto quantized = [&](const Pattern& x) {
    return Pattern::Op({"quantize"}, {x, constant});
  };
  const auto activated = [](const Pattern& x) {
    return Pattern::Maybe({"relu", "clip"}, x);
  };
  const auto biased = [&](const Pattern& x) {
    return Pattern::Maybe({"add"}, x, {constant});
  };
  const Pattern bytes = Pattern::Op({"dequantize"}, {Pattern::Any(), constant});
  const Pattern weights = Pattern::Op({"dequantize"}, {constant, constant});
  const Pattern convolution = Pattern::Op({"conv2d"}, {bytes, weights});
  const Pattern matrix = Pattern::Op({"dense", "matmul"},
                                     {Pattern::Maybe({"reshape"}, bytes),
                                      Pattern::Maybe({"transpose"}, weights)});
  // QLinearConv and QLinearMatMul import like this.
  const Pattern centred = Pattern::Maybe(
      {"sub"}, Pattern::Maybe({"cast"}, Pattern::Any()), {constant});
  const Pattern sums =
      biased(Pattern::Op({"conv2d", "matmul"}, {centred, constant}));
  const Pattern scaled =
      Pattern::Op({"mul"}, {Pattern::Op({"cast"}, {sums}), constant});
  const Pattern pool = Pattern::Op(
      {"avg_pool2d", "global_avg_pool2d", "reduce_mean", "max_pool2d"},
      {bytes});
  const Pattern sum = Pattern::Op({"add"}, {bytes, bytes});
  const Pattern softmax = Pattern::Op({"softmax"}, {bytes});
  return {
      {"convolution", quantized(activated(biased(convolution))), CheckNodes},
      {"fully_connected", quantized(activated(biased(matrix))), CheckNodes},
      {"integer_product", quantized(scaled), CheckNodes},
      {"pool", quantized(Pattern::Maybe({"reshape"}, pool)), CheckNodes},
      {"softmax", quantized(softmax), CheckNodes},
      {"sum", quantized(activated(sum)), CheckNodes},
  };
}

}  // namespace

absl::Status RegisterCmsisNnTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = kName;
  kind.doc = "quantised layers as calls of Arm's CMSIS-NN, for Cortex-M";
  kind.options = {
      {"mcpu", {"the processor, which workspaces are sized for", "cortex-m7"}},
      {"rounding",
       {"how the library rounds: double, or single if built so",
        "must be given"}},
      {"library",
       {"what linking on this machine uses: reference, or a C file or object "
        "with the functions",
        "none; the firmware's build links Arm's"}}};
  kind.loaders = {kNativeLoader};
  kind.check = Check;
  kind.patterns = Patterns();
  kind.takes_dequantized = true;
  kind.operators = {"max_pool2d"};
  kind.supports = Supports;
  // Weights stay in the regions, where they are laid out for the library.
  kind.constant_updater = [](const Target&, relay::Function*) {
    return absl::OkStatus();
  };
  kind.relay_to_tir = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot

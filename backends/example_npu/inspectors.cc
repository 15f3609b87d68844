#include "backends/example_npu/inspectors.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/example_npu/read_stream.h"
#include "backends/example_npu/stream.h"
#include "base/status_macros.h"
#include "runtime/tensor.h"

namespace ingot {
namespace example_npu {
namespace {

std::string PlaceText(const Operand& o) {
  const char* const place = o.place == Place::kArgument   ? "argument "
                            : o.place == Place::kConstant ? "constants"
                                                          : "temporaries";
  return absl::StrCat(
      place, o.place == Place::kArgument ? absl::StrCat(o.argument) : "", " + ",
      o.offset, ", ", o.bytes, " bytes");
}

std::string CommandText(const Command& c) {
  std::string text = absl::StrCat(
      TypeString(c.output, {c.images, c.outputs, c.y.output, c.x.output}),
      " = ", TypeString(c.input, {c.images, c.channels, c.y.input, c.x.input}),
      " * ",
      TypeString(c.weights, {c.outputs, c.channels, c.y.kernel, c.x.kernel}),
      c.transposed ? " transposed" : "", ", stride ", c.y.stride, " ",
      c.x.stride, ", dilation ", c.y.dilation, " ", c.x.dilation, ", pad ",
      c.y.pad, " ", c.x.pad, "\n");
  for (int i = 0; i < kNumOperands; ++i) {
    if (c.operands[i].place == Place::kNone) continue;
    absl::StrAppend(&text, "  ", kOperandNames[i], ": ",
                    PlaceText(c.operands[i]), "\n");
  }
  return text;
}

absl::StatusOr<std::string> StreamText(const Artifact& artifact,
                                       const ArtifactSet&) {
  INGOT_ASSIGN_OR_RETURN(const Stream stream,
                         ReadStream(artifact.content.view()));
  std::string text = absl::StrCat(
      "arguments of ", absl::StrJoin(stream.arguments, ", "),
      " bytes, of which the first ", stream.inputs, " are only read; ",
      stream.temporary_bytes, " bytes of temporaries, ",
      stream.constants.size(), " bytes of constants\n");
  for (size_t i = 0; i < stream.commands.size(); ++i) {
    absl::StrAppend(&text, "command ", i, ": ",
                    CommandText(stream.commands[i]));
  }
  return text;
}

}  // namespace
}  // namespace example_npu

absl::Status RegisterExampleNpuInspectors(InspectorRegistry* registry) {
  InspectorRule rule;
  rule.name = "example_npu.commands";
  rule.loader = example_npu::kName;
  rule.output_suffix = ".commands.txt";
  rule.inspect = example_npu::StreamText;
  return registry->Register(std::move(rule));
}

}  // namespace ingot

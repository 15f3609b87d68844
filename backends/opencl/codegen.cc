#include "backends/opencl/codegen.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/opencl/opencl_writer.h"
#include "backends/opencl/table.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/te/schedule_template.h"

namespace ingot {
namespace {

using opencl::kName;

absl::Status No(absl::string_view why) { return absl::UnimplementedError(why); }

// Types that OpenCL C has without an extension that few devices bring.
bool HasType(DataType t) {
  return t == DataType::Float(32) || t.is_bool() ||
         (t.is_integer() && t.bits >= 8 && t.bits <= 64);
}

absl::Status Supports(const Target&, const relay::Node& node) {
  if (node.op->BackendOnly()) return No("it has no definition in loops");
  if (node.op->fusion == relay::FusionKind::kOpaque) {
    return No("its loops run one after the other");
  }
  std::vector<relay::TensorType> types = node.outputs;
  for (const relay::Value& v : node.inputs) {
    if (v.node != nullptr) types.push_back(v.type());
  }
  for (const relay::TensorType& type : types) {
    if (type.is_sequence) return No("sequences stay on the CPU");
    if (!HasType(type.dtype)) {
      return No(absl::StrCat("elements of ", type.dtype.ToString()));
    }
    if (!relay::ConstShape(type.shape)) return No("symbolic dimensions");
  }
  return absl::OkStatus();
}

// The one stage that reads a reduction, where it is an output of the kernel
// that reads element by element what it writes; null where there is none.
te::Stage* OnlyReader(const te::Schedule& schedule, const te::Stage& stage) {
  const std::vector<te::Stage*> readers = schedule.Readers(&stage);
  if (readers.size() != 1 || !readers[0]->is_output() ||
      readers[0]->op().kind != te::OperationKind::kCompute ||
      !relay::SameShape(readers[0]->output().shape(), stage.output().shape())) {
    return nullptr;
  }
  return readers[0];
}

te::Loop FuseAxes(te::Stage* stage) {
  const std::vector<te::Loop> axes = stage->axes();
  return axes.size() == 1 ? axes[0] : stage->Fuse(axes);
}

// A sum that one element of the result reads is made by that element's work
// item, and needs no memory.
te::ScheduleTemplate Sums() {
  te::ScheduleTemplate t;
  t.name = "opencl.sums";
  t.scope = te::TemplateScope::kAnchor;
  t.matches = [](const te::ScheduleSite& site) {
    return !site.stage.axes().empty() &&
           OnlyReader(site.schedule, site.stage) != nullptr;
  };
  t.build = [](te::Schedule* schedule, te::Stage* stage,
               const te::ScheduleChoice&, const MachineModel&) {
    te::Stage* const reader = OnlyReader(*schedule, *stage);
    const te::Loop items = FuseAxes(reader);
    reader->Parallel(items);
    stage->ComputeAt(reader, items);
  };
  return t;
}

// Work items for the elements of a result, each of which runs whatever
// reduction its element needs.
te::ScheduleTemplate Points() {
  te::ScheduleTemplate t;
  t.name = "opencl.points";
  t.scope = te::TemplateScope::kStage;
  t.matches = [](const te::ScheduleSite& site) {
    return !site.stage.IsAttached() && !site.stage.axes().empty() &&
           site.stage.op().kind != te::OperationKind::kExtern;
  };
  t.build = [](te::Schedule*, te::Stage* stage, const te::ScheduleChoice&,
               const MachineModel&) { stage->Parallel(FuseAxes(stage)); };
  return t;
}

absl::StatusOr<CodegenResult> Generate(
    const Target&, absl::Span<const tir::PrimFunc> functions,
    const CodegenOptions& options) {
  opencl::OpenClWriter writer;
  for (const tir::PrimFunc& function : functions) {
    INGOT_RETURN_IF_ERROR(writer.Add(function));
  }
  CodegenResult result;
  const auto add = [&](const char* file, std::string content) {
    Artifact artifact;
    artifact.codegen_id = kName;
    artifact.loader = kName;
    artifact.file_name = file;
    artifact.content = Blob::FromString(std::move(content));
    result.artifacts.push_back(std::move(artifact));
  };
  add(opencl::kSourceFile, writer.Source());
  add(opencl::kTableFile, opencl::WriteTable(writer.table()));
  return result;
}

}  // namespace

absl::Status RegisterOpenclTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = kName;
  kind.doc = "OpenCL C for a device of its own, through the system's driver";
  kind.loaders = {kName};
  kind.device = kName;
  kind.supports = Supports;
  kind.templates = {Sums(), Points()};
  kind.tir_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot

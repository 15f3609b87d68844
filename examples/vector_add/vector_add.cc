// A kernel from its definition to a call: a compute definition, a schedule, a
// target, artifacts, linking, loading. docs/vector_add.md walks through it.

#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "backends/c/codegen.h"
#include "base/status_macros.h"
#include "compiler/target/target.h"
#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/te.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/printer.h"
#include "loaders/load.h"
#include "loaders/native/linker.h"
#include "runtime/function.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

constexpr int64_t kLength = 1024;
constexpr DataType kFloat = DataType::Float(32);

// The loops, and on stdout what they are after each verb of the schedule.
absl::StatusOr<tir::PrimFunc> MakeLoops() {
  te::Graph graph;
  const tir::Expr n = tir::MakeInt(kLength);
  const te::Tensor a = graph.Placeholder("a", kFloat, {n});
  const te::Tensor b = graph.Placeholder("b", kFloat, {n});
  const te::Tensor c = graph.Compute(
      "c", {n}, [&](const te::Indices& i) { return a(i) + b(i); });

  INGOT_ASSIGN_OR_RETURN(te::Schedule schedule,
                         te::Schedule::Create(graph, {c}));
  const auto lower = [&](absl::string_view verb) {
    absl::StatusOr<tir::PrimFunc> loops =
        te::Lower("vector_add", graph, {a, b}, {c}, schedule);
    if (loops.ok()) {
      std::cout << "# " << verb << "\n"
                << tir::Print(tir::Simplify(*loops)) << "\n";
    }
    return loops;
  };
  INGOT_RETURN_IF_ERROR(lower("Schedule::Create").status());
  te::Stage* const stage = schedule.Find(c);
  const auto [outer, inner] = stage->Split(stage->axis(0), 16);
  INGOT_RETURN_IF_ERROR(lower("Split").status());
  stage->Vectorize(inner);
  INGOT_RETURN_IF_ERROR(lower("Vectorize").status());
  stage->Parallel(outer);
  return lower("Parallel");
}

// The artifacts that the target makes of the loops: plain data.
absl::StatusOr<ArtifactSet> Generate(const tir::PrimFunc& loops) {
  TargetRegistry kinds;
  INGOT_RETURN_IF_ERROR(RegisterCTarget(&kinds));
  INGOT_ASSIGN_OR_RETURN(const Target target, ParseTarget("c"));
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, kinds.Check(target));
  const std::vector<absl::string_view> passes(kind->tir_passes.begin(),
                                              kind->tir_passes.end());
  INGOT_ASSIGN_OR_RETURN(const tir::PrimFunc lowered,
                         tir::RunPasses(loops, passes));
  INGOT_ASSIGN_OR_RETURN(CodegenResult made,
                         kind->tir_to_runtime(target, {lowered}, {}));
  ArtifactSet set;
  for (Artifact& artifact : made.artifacts) {
    std::cout << "artifact " << ArtifactPath(artifact) << " for the loader "
              << artifact.loader << "\n";
    INGOT_RETURN_IF_ERROR(set.Add(std::move(artifact)));
  }
  return set;
}

absl::Status Run() {
  INGOT_ASSIGN_OR_RETURN(const tir::PrimFunc loops, MakeLoops());
  INGOT_ASSIGN_OR_RETURN(const ArtifactSet set, Generate(loops));
  LoadOptions options;
  options.link = [](const ArtifactSet& s) { return LinkCached(s, nullptr); };
  INGOT_ASSIGN_OR_RETURN(const LoadedModel model,
                         Load(set, LoaderRegistry(), options));
  const std::optional<Function> add = model.host->GetFunction("vector_add");
  if (!add.has_value()) return absl::NotFoundError("no function vector_add");

  INGOT_ASSIGN_OR_RETURN(Tensor a, Tensor::Empty(kFloat, {kLength}));
  INGOT_ASSIGN_OR_RETURN(Tensor b, Tensor::Empty(kFloat, {kLength}));
  INGOT_ASSIGN_OR_RETURN(const Tensor c, Tensor::Empty(kFloat, {kLength}));
  for (int64_t i = 0; i < kLength; ++i) {
    a.mutable_data<float>()[i] = static_cast<float>(i);
    b.mutable_data<float>()[i] = static_cast<float>(2 * i);
  }
  INGOT_RETURN_IF_ERROR(add->Call({a.dl(), b.dl(), c.dl()}));
  std::cout << "c[1023] = " << c.data<float>()[kLength - 1] << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main() {
  const absl::Status status = ingot::Run();
  if (!status.ok()) std::cerr << "vector_add: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}

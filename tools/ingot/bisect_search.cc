#include "tools/ingot/bisect_search.h"

#include <set>
#include <utility>

#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "tools/ingot/bisect_kernels.h"
#include "tools/ingot/bisect_loops.h"
#include "tools/ingot/bisect_passes.h"

namespace ingot {
namespace {

using Values = std::vector<TensorOrSequence>;

class Search {
 public:
  Search(Case expected, const Tolerance& tolerance, BisectSubject* subject,
         Progress* progress)
      : expected_(std::move(expected)),
        tolerance_(tolerance),
        subject_(*subject),
        progress_(progress) {}

  absl::StatusOr<std::optional<Finding>> Run() {
    progress_->Update("running the model", 0);
    INGOT_ASSIGN_OR_RETURN(const Values as_is,
                           subject_.Run(expected_.inputs, nullptr));
    const bool has_data = !expected_.outputs.empty();
    if (!has_data) {
      INGOT_ASSIGN_OR_RETURN(expected_.outputs, Interpret(0));
    }
    INGOT_ASSIGN_OR_RETURN(const bool is_right, IsRight(as_is));
    if (is_right) return std::nullopt;
    KernelRepair repair(&subject_.reference(), tolerance_, progress_);
    INGOT_ASSIGN_OR_RETURN(const Values repaired, RunWith(&repair));
    INGOT_ASSIGN_OR_RETURN(bool kernels_only, IsRight(repaired));
    const absl::StatusOr<bool> may_be_rounding = MayBeRounding(as_is);
    bool against_interpreter = false;
    if (!kernels_only && has_data) {
      INGOT_ASSIGN_OR_RETURN(Values imported, Interpret(0));
      INGOT_ASSIGN_OR_RETURN(const bool as_data, IsRight(imported));
      if (!as_data) {
        // Its own words say what is wrong, before others are taken for right.
        Finding import = FindingOf(Culprit::kImport);
        import.problem = problem_;
        expected_.outputs = std::move(imported);
        expected_.text_outputs.clear();
        INGOT_ASSIGN_OR_RETURN(const bool as_imported, IsRight(as_is));
        if (as_imported) {
          INGOT_ASSIGN_OR_RETURN(import.may_be_rounding, may_be_rounding);
          return import;
        }
        against_interpreter = true;
        INGOT_ASSIGN_OR_RETURN(kernels_only, IsRight(repaired));
      }
    }
    absl::StatusOr<Finding> found =
        kernels_only ? FindKernel(repair) : FindPass();
    if (!found.ok()) return found.status();
    found->against_interpreter = against_interpreter;
    INGOT_ASSIGN_OR_RETURN(found->may_be_rounding, may_be_rounding);
    return *std::move(found);
  }

 private:
  static Finding FindingOf(Culprit culprit) {
    Finding finding;
    finding.culprit = culprit;
    return finding;
  }

  absl::StatusOr<Values> Interpret(int passes) {
    return subject_.Interpret(passes, expected_.inputs);
  }

  absl::StatusOr<Values> RunWith(KernelRepair* repair) {
    return subject_.Run(
        expected_.inputs,
        [repair](const PlanCall& call, absl::Span<const DLTensor* const> args) {
          return repair->Observe(call, args);
        });
  }

  // Whether outputs are as expected; if not, problem_ says which is not.
  absl::StatusOr<bool> IsRight(const Values& outputs) {
    Verdict verdict;
    INGOT_RETURN_IF_ERROR(CompareOutputs(expected_, subject_.outputs(), outputs,
                                         tolerance_, &verdict));
    const absl::Status status = verdict.ToStatus();
    if (!status.ok()) problem_ = std::string(status.message());
    return status.ok();
  }

  absl::StatusOr<bool> MayBeRounding(const Values& outputs) {
    Tolerance wide;
    wide.rtol_max = 1e-3;
    Verdict verdict;
    INGOT_RETURN_IF_ERROR(
        CompareOutputs(expected_, subject_.outputs(), outputs, wide, &verdict));
    return verdict.ToStatus().ok();
  }

  absl::StatusOr<Finding> FindKernel(const KernelRepair& all) {
    INGOT_ASSIGN_OR_RETURN(
        const WrongKernel* kernel,
        FindGuilty(
            all.wrong(),
            [this](std::set<std::string> repaired) -> absl::StatusOr<bool> {
              KernelRepair some(&subject_.reference(), tolerance_, progress_);
              some.Only(std::move(repaired));
              INGOT_ASSIGN_OR_RETURN(const Values outputs, RunWith(&some));
              return IsRight(outputs);
            }));
    Finding finding = FindingOf(Culprit::kCode);
    finding.nodes = absl::StrSplit(kernel->nodes, ", ", absl::SkipEmpty());
    finding.is_between_nodes = kernel->is_between_nodes;
    finding.problem = kernel->comparison.problem;
    finding.symbol = kernel->symbol;
    finding.artifacts = subject_.ArtifactsOf(kernel->symbol);
    const std::vector<LoopStage>& stages = subject_.StagesOf(kernel->symbol);
    finding.has_loops = !stages.empty();
    const absl::StatusOr<const LoopStage*> stage =
        FirstWrongStage(stages, *kernel, tolerance_);
    if (!stage.ok()) {
      finding.blind = std::string(stage.status().message());
    } else if (*stage != nullptr) {
      const bool is_first = *stage == &stages.front();
      finding.culprit = is_first ? Culprit::kLowering : Culprit::kLoopPass;
      if (!is_first) finding.pass = (*stage)->name;
    }
    return finding;
  }

  // The module is right before all passes.
  absl::StatusOr<Finding> FindPass() {
    const auto is_right = [this](int passes) -> absl::StatusOr<bool> {
      INGOT_ASSIGN_OR_RETURN(const Values outputs, Interpret(passes));
      return IsRight(outputs);
    };
    const int all = static_cast<int>(subject_.passes().size());
    INGOT_ASSIGN_OR_RETURN(const bool passes_are_right, is_right(all));
    if (passes_are_right) {
      Finding plan = FindingOf(Culprit::kPlan);
      plan.problem = problem_;
      return plan;
    }
    INGOT_ASSIGN_OR_RETURN(const int number, FirstWrongPass(0, all, is_right));
    Finding finding = FindingOf(Culprit::kModulePass);
    finding.pass = subject_.passes()[number - 1];
    finding.pass_number = number;
    finding.problem = problem_;
    INGOT_RETURN_IF_ERROR(FindNode(number, &finding));
    return finding;
  }

  // The node that a pass made wrong.
  absl::Status FindNode(int number, Finding* finding) {
    INGOT_ASSIGN_OR_RETURN(ReadModel right, subject_.ModuleAfter(number - 1));
    INGOT_ASSIGN_OR_RETURN(ReadModel wrong, subject_.ModuleAfter(number));
    subject_.CountRun();
    INGOT_ASSIGN_OR_RETURN(const ModuleValues before,
                           ComputeAll(&right.module, expected_.inputs));
    subject_.CountRun();
    INGOT_ASSIGN_OR_RETURN(const ModuleValues after,
                           ComputeAll(&wrong.module, expected_.inputs));
    INGOT_ASSIGN_OR_RETURN(WrongNode node,
                           FirstWrongNode(before, after, tolerance_));
    finding->nodes = std::move(node.sources);
    finding->is_between_nodes = node.is_between_nodes;
    finding->value = std::move(node.name);
    if (!node.problem.empty()) finding->problem = std::move(node.problem);
    return absl::OkStatus();
  }

  Case expected_;
  const Tolerance tolerance_;
  BisectSubject& subject_;
  Progress* const progress_;
  std::string problem_;
};

}  // namespace

std::string ToString(Culprit culprit) {
  switch (culprit) {
    case Culprit::kImport:
      return "import";
    case Culprit::kModulePass:
      return "module pass";
    case Culprit::kLowering:
      return "lowering";
    case Culprit::kLoopPass:
      return "loop pass";
    case Culprit::kCode:
      return "code";
    case Culprit::kPlan:
      return "plan";
  }
  return "";
}

absl::StatusOr<std::optional<Finding>> FindCulprit(Case expected,
                                                   const Tolerance& tolerance,
                                                   BisectSubject* subject,
                                                   Progress* progress) {
  return Search(std::move(expected), tolerance, subject, progress).Run();
}

}  // namespace ingot

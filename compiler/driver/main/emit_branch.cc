// A branch: both bodies inside of one function.
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/driver/main/call_emitter.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot {

absl::Status CallEmitter::EmitBranch(const PlanCall& call, PlanScope* scope,
                                     Statements* out) {
  const PlanBranch& branch = call.branch();
  const int reads = call.args_size() - static_cast<int>(call.num_outputs());
  const std::vector<uint32_t> args(call.args().begin() + 1,
                                   call.args().begin() + reads);
  struct Side {
    bool exists;
    uint32_t body;
    Statements statements;
    std::vector<Place> results;
  };
  Side sides[2] = {{branch.has_then_body(), branch.then_body(), {}, {}},
                   {branch.has_else_body(), branch.else_body(), {}, {}}};
  const tir::Expr mark = layout_.mark();
  tir::Expr end = mark;
  Shapes shapes;
  bool first = true;
  for (Side& side : sides) {
    if (!side.exists) {
      side.statements.Add(tir::MakeAssert(
          tir::MakeBool(false),
          absl::StrCat("the condition is ", &side == sides ? "true" : "false",
                       ", which is not supported for these shapes")));
      continue;
    }
    layout_.Release(mark);
    PlanScope body(scope->plan().bodies(static_cast<int>(side.body)));
    INGOT_RETURN_IF_ERROR(PassInputs(*scope, args, 0, &body, &side.statements));
    INGOT_RETURN_IF_ERROR(EmitPlan(&body, &side.statements));
    INGOT_ASSIGN_OR_RETURN(const Shapes of_side,
                           ResultShapes(body, 0, call.num_outputs()));
    for (size_t i = 0; !first && i < shapes.size(); ++i) {
      for (size_t d = 0; d < shapes[i].size(); ++d) {
        if (tir::ProveEqual(shapes[i][d], of_side[i][d])) continue;
        return absl::UnimplementedError(
            absl::StrCat("the shape of result ", i, " of the branch ",
                         call.source(), " depends on its condition"));
      }
    }
    shapes = of_side;
    first = false;
    for (uint32_t t : body.plan().outputs()) {
      side.results.push_back(body.PlaceOf(t));
    }
    end = tir::Max(end, layout_.mark());
  }
  // The bodies' results are copied to places that must not be in their memory.
  layout_.Release(tir::Simplify(end));
  INGOT_RETURN_IF_ERROR(BindToResults(call, shapes, scope, out));
  if (call.binds_size() == 0) layout_.Release(mark);
  for (Side& side : sides) {
    for (size_t i = 0; i < side.results.size(); ++i) {
      const uint32_t t = call.args(reads + static_cast<int>(i));
      CopyResult(side.results[i], *scope, t, &side.statements);
    }
  }
  const tir::Buffer condition = tir::MakeBuffer(
      "condition", DataType::Bool(), {tir::MakeInt(1)}, tir::Scope::kPart);
  const Place place = scope->PlaceOf(call.args(0));
  out->Add(tir::MakePart(
      condition, place.whole, place.offset,
      tir::MakeIf(tir::MakeLoad(condition, {tir::MakeInt(0)}),
                  sides[0].statements.Fold(), sides[1].statements.Fold())));
  return absl::OkStatus();
}

}  // namespace ingot

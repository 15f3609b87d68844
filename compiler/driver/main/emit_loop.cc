// A loop: its body inside of one function, again and again.
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/driver/main/call_emitter.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot {
namespace {

// One element, wherever it is.
struct Scalar {
  Scalar(absl::string_view name, DataType type, const Place& place,
         Statements* out)
      : buffer(
            tir::MakeBuffer(name, type, {tir::MakeInt(1)}, tir::Scope::kPart)) {
    out->Part(buffer, place.whole, place.offset);
  }
  tir::Expr Load() const { return tir::MakeLoad(buffer, {tir::MakeInt(0)}); }
  tir::Stmt Store(tir::Expr value) const {
    return tir::MakeStore(buffer, {tir::MakeInt(0)}, std::move(value));
  }
  tir::Buffer buffer;
};

// Copies as many elements as tensor `t` of the scope has.
tir::Stmt CopyElements(const PlanScope& scope, uint32_t t, const Place& from,
                       const Place& to) {
  return Copy(from, to, scope.Elements(t),
              static_cast<int>(scope.Type(t).bytes()));
}

}  // namespace

// Carried values have places of their own, which the body reads and to which
// its results are copied when all of them are there.
absl::Status CallEmitter::EmitLoop(const PlanCall& call, PlanScope* scope,
                                   Statements* out) {
  const PlanLoop& loop = call.loop();
  const int reads = call.args_size() - static_cast<int>(call.num_outputs());
  const int first =
      (loop.has_max_iterations() ? 1 : 0) + (loop.has_condition() ? 1 : 0);
  const int carried = static_cast<int>(loop.carried());
  if (static_cast<int>(call.num_outputs()) > carried) {
    return absl::UnimplementedError(
        absl::StrCat("the loop ", call.source(),
                     " keeps a value of each iteration, for which a run "
                     "decides how much memory it takes"));
  }
  const tir::Expr mark = layout_.mark();
  const auto place = [this](const tir::Expr& bytes) {
    return Place{arena_, layout_.Allocate(bytes)};
  };
  const Place number_place = place(tir::MakeInt(8));
  const Scalar number("iteration", DataType::Int(64), number_place, out);
  const Scalar goes_on("goes_on", DataType::Bool(), place(tir::MakeInt(1)),
                       out);
  out->Add(number.Store(tir::MakeInt(0)));
  const auto argument = [&](const char* name, DataType type, int i) {
    return Scalar(name, type, scope->PlaceOf(call.args(i)), out).Load();
  };
  const tir::Expr most =
      loop.has_max_iterations()
          ? argument("most", DataType::Int(64), 0)
          : tir::MakeInt(std::numeric_limits<int64_t>::max());
  out->Add(goes_on.Store(
      loop.has_condition() ? argument("condition", DataType::Bool(), first - 1)
                           : tir::MakeBool(true)));

  PlanScope body(scope->plan().bodies(static_cast<int>(loop.body())));
  body.SetPlace(body.plan().inputs(0), number_place);
  const std::vector<uint32_t> args(call.args().begin() + first,
                                   call.args().begin() + reads);
  INGOT_RETURN_IF_ERROR(PassInputs(*scope, args, 1, &body, out));
  std::vector<Place> slots;
  for (int i = 0; i < carried; ++i) {
    slots.push_back(place(scope->Bytes(args[i])));
    out->Add(CopyElements(*scope, args[i], scope->PlaceOf(args[i]), slots[i]));
    body.SetPlace(body.plan().inputs(1 + i), slots[i]);
  }

  Statements iteration;
  INGOT_RETURN_IF_ERROR(EmitPlan(&body, &iteration));
  INGOT_ASSIGN_OR_RETURN(const Shapes shapes, ResultShapes(body, 1, carried));
  const Scalar next("next", DataType::Bool(),
                    body.PlaceOf(body.plan().outputs(0)), &iteration);
  iteration.Add(goes_on.Store(next.Load()));
  INGOT_RETURN_IF_ERROR(
      CarryResults(call, *scope, args, body, shapes, slots, &iteration));
  iteration.Add(number.Store(number.Load() + 1));
  out->Add(
      tir::MakeWhile(tir::And(goes_on.Load(), tir::Lt(number.Load(), most)),
                     iteration.Fold()));
  INGOT_RETURN_IF_ERROR(BindToResults(call, shapes, scope, out));
  if (call.binds_size() == 0) layout_.Release(mark);
  for (int i = 0; i < carried; ++i) {
    CopyResult(slots[i], *scope, call.args(reads + i), out);
  }
  return absl::OkStatus();
}

absl::Status CallEmitter::CarryResults(
    const PlanCall& call, const PlanScope& scope,
    const std::vector<uint32_t>& args, const PlanScope& body,
    const Shapes& shapes, const std::vector<Place>& slots, Statements* out) {
  // A result that is an input of the body is first copied away: it may be in a
  // slot that another result goes to.
  std::vector<Place> results;
  for (size_t i = 0; i < slots.size(); ++i) {
    const uint32_t t = body.plan().outputs(1 + static_cast<int>(i));
    const std::vector<tir::Expr> shape = scope.Shape(args[i]);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shapes[i].size() == shape.size() &&
          tir::ProveEqual(shapes[i][d], shape[d])) {
        continue;
      }
      return absl::UnimplementedError(
          absl::StrCat("the shape of '", scope.tensor(args[i]).name(),
                       "' changes from one iteration of the loop ",
                       call.source(), " to the next"));
    }
    results.push_back(body.PlaceOf(t));
    if (!body.tensor(body.Root(t)).has_input()) continue;
    results.back() = Place{arena_, layout_.Allocate(body.Bytes(t))};
    out->Add(CopyElements(body, t, body.PlaceOf(t), results.back()));
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    out->Add(CopyElements(scope, args[i], results[i], slots[i]));
  }
  return absl::OkStatus();
}

}  // namespace ingot

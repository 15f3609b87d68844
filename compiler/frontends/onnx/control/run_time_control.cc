#include "compiler/frontends/onnx/control/run_time_control.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/branches.h"
#include "compiler/frontends/onnx/graph/importer.h"

namespace ingot::onnx_frontend {
namespace {

// A body is imported at most so often until the types of what it carries are
// settled: each time, dimensions that changed from iteration to iteration have
// become symbols.
constexpr int kMaxRounds = 4;

struct Carried {
  TensorType type;
  SequenceInfo sequence;  // of one

  static Carried Of(NodeContext& c, const Value& v) {
    return {v.type(), v.type().is_sequence ? c.importer()->sequence_info(v)
                                           : SequenceInfo()};
  }
  // As an input of the function being imported.
  Value AsInput(Importer* importer, const std::string& name) const {
    const Value value{importer->builder().function()->AddInput(name, type)};
    if (type.is_sequence) importer->sequence_info(value) = sequence;
    return value;
  }
};

// A body of a loop, with settled types of what it carries.
struct LoopBody {
  Body body;
  std::vector<Carried> carried;
};

// `make_inputs` is given the types of the carried values.
using LoopInputs = std::function<absl::StatusOr<std::vector<Binding>>(
    const std::vector<Carried>& carried)>;

// Whether the results of the body, after `first`, are of the types that it
// carries. Makes symbols of dimensions that are not.
absl::StatusOr<bool> Settle(NodeContext& c, const Body& body, size_t first,
                            std::vector<Carried>* carried) {
  const std::vector<Value>& results = body.function->outputs;
  if (results.size() < first + carried->size()) {
    return c.Error("its body has too few outputs");
  }
  bool settled = true;
  for (size_t i = 0; i < carried->size(); ++i) {
    TensorType& type = (*carried)[i].type;
    const TensorType& next = results[first + i].type();
    if (type.dtype != next.dtype || type.is_sequence != next.is_sequence ||
        type.shape.size() != next.shape.size()) {
      return c.NotSupported("carries ", relay::ToString(type), " and then ",
                            relay::ToString(next));
    }
    if (type.is_sequence) {
      SequenceInfo& known = (*carried)[i].sequence;
      SequenceInfo both = SequenceInfo::Join(
          known, c.importer()->sequence_info(results[first + i]));
      settled = settled && both == known;
      known = std::move(both);
    }
    for (size_t d = 0; d < type.shape.size(); ++d) {
      tir::Expr& dim = type.shape[d];
      const auto* var = tir::As<tir::Var>(dim);
      // A symbol of the body's own takes any value.
      const bool own = var != nullptr && relay::IsRunTime(*var) &&
                       !c.builder().IsKnownHere(dim);
      if (own || relay::SameShape({dim}, {next.shape[d]})) continue;
      dim = c.builder().module().RunTimeSymbol(
          absl::StrCat(c.name(), "_carried"));
      settled = false;
    }
  }
  return settled;
}

absl::StatusOr<LoopBody> ImportLoopBody(NodeContext& c,
                                        const onnx::GraphProto& graph,
                                        std::vector<Carried> carried,
                                        size_t first,
                                        const LoopInputs& make_inputs) {
  for (int round = 0; round < kMaxRounds; ++round) {
    INGOT_ASSIGN_OR_RETURN(
        Body body, c.builder().BuildBody(
                       absl::StrCat(c.name(), "_body"), [&]() -> absl::Status {
                         INGOT_ASSIGN_OR_RETURN(std::vector<Binding> inputs,
                                                make_inputs(carried));
                         return c.importer()->FillFromGraph(graph,
                                                            std::move(inputs));
                       }));
    absl::StatusOr<bool> settled = Settle(c, body, first, &carried);
    if (settled.ok() && *settled) {
      return LoopBody{std::move(body), std::move(carried)};
    }
    c.builder().module().RemoveFunction(body.name);
    INGOT_RETURN_IF_ERROR(settled.status());
  }
  return c.NotSupported("a loop whose shapes change in too many ways");
}

// The loop itself, whose body gives whether to go on first.
absl::StatusOr<relay::Node*> AddLoop(NodeContext& c, const LoopBody& loop,
                                     Value iterations, Value condition,
                                     const tir::Expr& count,
                                     const std::vector<Value>& initial) {
  std::vector<Value> inputs = {iterations, condition};
  inputs.insert(inputs.end(), initial.begin(), initial.end());
  inputs.insert(inputs.end(), loop.body.captured.begin(),
                loop.body.captured.end());
  std::vector<TensorType> outputs;
  for (const Carried& value : loop.carried) {
    TensorType type = value.type;
    for (tir::Expr& dim : type.shape) dim = ResultDim(c, dim);
    outputs.push_back(std::move(type));
  }
  const std::vector<Value>& results = loop.body.function->outputs;
  tir::Expr stacked = count;
  for (size_t i = 1 + loop.carried.size(); i < results.size(); ++i) {
    TensorType type = results[i].type();
    if (type.is_sequence) return c.Error("it stacks sequences");
    for (tir::Expr& dim : type.shape) dim = ResultDim(c, dim);
    if (stacked == nullptr) {
      stacked = c.builder().module().RunTimeSymbol(
          absl::StrCat(c.name(), "_iterations"));
    }
    type.shape.insert(type.shape.begin(), stacked);
    outputs.push_back(std::move(type));
  }
  Attrs attrs;
  attrs.Set("body", loop.body.name);
  attrs.Set("carried", static_cast<int64_t>(loop.carried.size()));
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      AddControl(c, relay::NodeKind::kLoop, std::move(inputs), std::move(attrs),
                 std::move(outputs)));
  for (int i = 0; i < static_cast<int>(loop.carried.size()); ++i) {
    const Carried& value = loop.carried[i];
    if (value.type.is_sequence)
      c.importer()->sequence_info({node, i}) = value.sequence;
  }
  return node;
}

Binding BindingOf(Value value) {
  Binding binding;
  binding.value = value;
  return binding;
}

// x backwards along an axis.
absl::StatusOr<Value> Backwards(NodeContext& c, Value x, int64_t axis) {
  const tir::Expr& extent = ShapeOf(x)[axis];
  Attrs attrs;
  attrs.Set("starts", Shape{extent - 1});
  attrs.Set("ends", relay::MakeShape({-1}));
  attrs.Set("axes", std::vector<int64_t>{axis});
  attrs.Set("steps", std::vector<int64_t>{-1});
  return c.Emit("slice", {x}, std::move(attrs), "backwards");
}

// A result of iterations that are stacked along its first dimension, with that
// dimension at `axis`.
absl::StatusOr<Value> PlaceStacked(NodeContext& c, Value value, int64_t axis,
                                   bool backwards) {
  const int rank = RankOf(value);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return c.Error("a scan axis is out of range");
  if (backwards) {
    INGOT_ASSIGN_OR_RETURN(value, Backwards(c, value, 0));
  }
  std::vector<int64_t> order;
  for (int d = 1; d < rank; ++d) order.push_back(d);
  order.insert(order.begin() + axis, 0);
  return c.Transpose(value, order);
}

// Asks for a split at the node, which fails.
absl::Status SplitIf(NodeContext& c, const onnx::GraphProto& then_graph,
                     const onnx::GraphProto& else_graph, absl::Status failure) {
  // The model keeps the graphs.
  const auto keep = [](const onnx::GraphProto& graph) {
    return std::shared_ptr<const onnx::GraphProto>(
        std::shared_ptr<const onnx::GraphProto>(), &graph);
  };
  c.importer()->RequestSplit(
      {*c.binding(0), {keep(then_graph), keep(else_graph)}});
  return failure;
}

}  // namespace

absl::Status SplitIfRankIsOpen(NodeContext& c,
                               const onnx::GraphProto& then_graph,
                               const onnx::GraphProto& else_graph,
                               absl::Status failure) {
  if (!c.importer()->TakeOpenRank()) return failure;
  return SplitIf(c, then_graph, else_graph, failure);
}

absl::Status RunTimeIf(NodeContext& c, const onnx::GraphProto& then_graph,
                       const onnx::GraphProto& else_graph) {
  Importer* importer = c.importer();
  auto import = [&](const onnx::GraphProto& graph, absl::string_view suffix) {
    return importer->builder().BuildBody(
        absl::StrCat(c.name(), "_", suffix),
        [&] { return importer->FillFromGraph(graph, {}); });
  };
  absl::StatusOr<Body> yes = import(then_graph, "then");
  if (!yes.ok() && !absl::IsInvalidArgument(yes.status())) {
    return SplitIfRankIsOpen(c, then_graph, else_graph, yes.status());
  }
  absl::StatusOr<Body> no = import(else_graph, "else");
  if (!no.ok() && !absl::IsInvalidArgument(no.status())) {
    return SplitIfRankIsOpen(c, then_graph, else_graph, no.status());
  }
  if (!yes.ok() && !no.ok()) return yes.status();
  if (yes.ok() && no.ok()) {
    const std::vector<Value>& a = yes->function->outputs;
    const std::vector<Value>& b = no->function->outputs;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (RankOf(a[i]) == RankOf(b[i])) continue;
      importer->builder().module().RemoveFunction(yes->name);
      importer->builder().module().RemoveFunction(no->name);
      return SplitIf(c, then_graph, else_graph,
                     c.NotSupported("a branch whose results differ in rank"));
    }
  }
  INGOT_ASSIGN_OR_RETURN(
      std::vector<Value> results,
      JoinBranches(c, yes.ok() ? &*yes : nullptr, no.ok() ? &*no : nullptr));
  for (size_t i = 0; i < results.size(); ++i) {
    c.SetOutput(static_cast<int>(i), results[i]);
  }
  return absl::OkStatus();
}

absl::Status RunTimeLoop(NodeContext& c, const onnx::GraphProto& body) {
  const int carried = std::max(c.num_inputs() - 2, 0);
  if (body.input_size() != 2 + carried || body.output_size() < 1 + carried) {
    return c.Error("its body does not fit its inputs");
  }
  Value iterations, condition;
  if (c.has_input(0)) {
    INGOT_ASSIGN_OR_RETURN(iterations, OneElement(c, 0, DataType::Int(64)));
  }
  if (c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(condition, OneElement(c, 1, DataType::Bool()));
  }
  std::vector<Value> initial;
  std::vector<Carried> types;
  for (int i = 0; i < carried; ++i) {
    INGOT_ASSIGN_OR_RETURN(Value v, c.IsSequence(2 + i)
                                        ? c.AnySequenceInput(2 + i)
                                        : c.Input(2 + i));
    initial.push_back(v);
    types.push_back(Carried::Of(c, v));
    if (!v.type().is_sequence || !types.back().sequence.shape.none) continue;
    // Nothing is in it yet. What the body declares is only a first guess.
    absl::StatusOr<DeclaredSequence> declared =
        DeclaredSequence::Of(body.input(2 + i).type());
    if (declared.ok() && declared->info.shape.dims) {
      types.back().sequence.shape = declared->info.shape;
    }
  }
  auto make_inputs = [&](const std::vector<Carried>& now)
      -> absl::StatusOr<std::vector<Binding>> {
    relay::Function* function = c.builder().function();
    std::vector<Binding> inputs;
    inputs.push_back(BindingOf(Value{function->AddInput(
        body.input(0).name(), TensorType{DataType::Int(64), {}})}));
    // An iteration is made only where the condition is true.
    inputs.emplace_back();
    inputs.back().known =
        Known{DataType::Bool(), {}, {KnownNumber::Of(int64_t{1})}};
    for (size_t i = 0; i < now.size(); ++i) {
      inputs.push_back(BindingOf(now[i].AsInput(
          c.importer(), body.input(static_cast<int>(2 + i)).name())));
    }
    return inputs;
  };
  INGOT_ASSIGN_OR_RETURN(
      LoopBody loop, ImportLoopBody(c, body, std::move(types), 1, make_inputs));
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      AddLoop(c, loop, iterations, condition, nullptr, initial));
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    c.SetOutput(static_cast<int>(i), Value{node, static_cast<int>(i)});
  }
  return absl::OkStatus();
}

absl::Status RunTimeScan(NodeContext& c, const onnx::GraphProto& body,
                         ScanOperands scan) {
  const tir::Expr extent = scan.extent();
  for (size_t i = 0; i < scan.scanned.size(); ++i) {
    if (scan.directions[i] == 0) continue;
    INGOT_ASSIGN_OR_RETURN(scan.scanned[i],
                           Backwards(c, scan.scanned[i], scan.axes[i]));
  }
  std::vector<Carried> types;
  for (const Value& v : scan.initial) types.push_back(Carried::Of(c, v));
  auto make_inputs = [&](const std::vector<Carried>& now)
      -> absl::StatusOr<std::vector<Binding>> {
    Importer* importer = c.importer();
    const Value iteration{importer->builder().function()->AddInput(
        "iteration", TensorType{DataType::Int(64), {}})};
    std::vector<Binding> inputs;
    for (size_t i = 0; i < now.size(); ++i) {
      inputs.push_back(BindingOf(
          now[i].AsInput(importer, body.input(static_cast<int>(i)).name())));
    }
    for (size_t i = 0; i < scan.scanned.size(); ++i) {
      INGOT_ASSIGN_OR_RETURN(
          Value x, importer->builder().Capture(importer->builder().current(),
                                               scan.scanned[i]));
      Attrs attrs;
      attrs.Set("axis", scan.axes[i]);
      INGOT_ASSIGN_OR_RETURN(Value part, c.Emit("gather", {x, iteration},
                                                std::move(attrs), "part"));
      inputs.push_back(BindingOf(part));
    }
    return inputs;
  };
  INGOT_ASSIGN_OR_RETURN(
      LoopBody loop, ImportLoopBody(c, body, std::move(types), 0, make_inputs));
  relay::Function* function = loop.body.function;
  INGOT_ASSIGN_OR_RETURN(
      Tensor go_on, TensorFromKnown(Known{
                        DataType::Bool(), {}, {KnownNumber::Of(int64_t{1})}}));
  function->outputs.insert(function->outputs.begin(),
                           Value{function->AddConstant("go_on", go_on)});
  INGOT_ASSIGN_OR_RETURN(
      Value iterations,
      c.builder().DimsTensor({extent}, absl::StrCat(c.name(), "_iterations")));
  INGOT_ASSIGN_OR_RETURN(iterations, c.Reshape(iterations, {}, "scalar"));
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      AddLoop(c, loop, iterations, Value(), extent, scan.initial));
  for (int i = 0; i < static_cast<int>(node->outputs.size()); ++i) {
    Value value{node, i};
    const int k = i - static_cast<int>(scan.initial.size());
    if (k >= 0) {
      INGOT_ASSIGN_OR_RETURN(value,
                             PlaceStacked(c, value, scan.result_axes[k],
                                          scan.result_directions[k] != 0));
    }
    c.SetOutput(i, value);
  }
  return absl::OkStatus();
}

}  // namespace ingot::onnx_frontend

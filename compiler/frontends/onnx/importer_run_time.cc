// Integers that only a run knows, as symbols; and what a graph inside sees of
// the graphs around it.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/constant_value.h"
#include "compiler/frontends/onnx/importer.h"
#include "compiler/frontends/onnx/run_time_control.h"
#include "compiler/tir/expr_size.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

// More dimensions than any tensor has.
constexpr int64_t kMostDims = 64;
// What is captured may be computed while importing if it is this small.
constexpr int64_t kSmall = 4096;
// How deep graphs may be split at branches, graphs inside graphs included.
constexpr int kMaxSplits = 12;

bool Mentions(const Shape& shape, const tir::Var* var) {
  for (const tir::Expr& dim : shape) {
    for (const tir::Var* v : VarsOf(dim)) {
      if (v == var) return true;
    }
  }
  return false;
}

bool StandsAlone(const Shape& shape, const tir::Var* var) {
  return std::any_of(shape.begin(), shape.end(),
                     [var](const tir::Expr& dim) { return dim.get() == var; });
}

}  // namespace

bool IsRunTime(const tir::Var& var) {
  return !var.name.empty() && var.name[0] == '?';
}

// --------------------------------------------------------------------- symbols

std::vector<tir::Expr> Importer::ElementsOf(Value value) {
  // Through what only moves elements, to the parts that are known.
  for (int i = 0; i < kMostDims; ++i) {
    const relay::Node& node = *value.node;
    const bool moves =
        node.Is("reshape") || node.Is("squeeze") || node.Is("unsqueeze") ||
        (node.Is("cast") && value.type().dtype == DataType::Int(64) &&
         node.inputs[0].type().dtype == DataType::Int(32));
    if (!moves) break;
    value = node.inputs[0];
  }
  const auto shape = relay::ConstShape(ShapeOf(value));
  std::vector<tir::Expr> elements;
  if (!shape || shape->size() > 1) return elements;
  const size_t count = shape->empty() ? 1 : (*shape)[0];
  if (count > kMostDims) return elements;
  const relay::Node& node = *value.node;
  if (node.constant.has_value()) {
    const std::optional<Known> known = KnownFromTensor(*node.constant);
    if (known && known->AllIntegers()) return known->Integers();
  }
  if (node.Is("dims")) return node.attrs.Get<Shape>("values");
  if (node.Is("concat")) {
    for (const Value& part : node.inputs) {
      std::vector<tir::Expr> more = ElementsOf(part);
      const auto extent = relay::ConstShape(ShapeOf(part));
      if (!extent) return {};
      more.resize(extent->empty() ? 1 : (*extent)[0]);
      elements.insert(elements.end(), more.begin(), more.end());
    }
  }
  elements.resize(count);
  return elements;
}

absl::StatusOr<Shape> Importer::BindDims(Value value, absl::string_view name) {
  const auto shape = relay::ConstShape(ShapeOf(value));
  if (!shape || shape->size() > 1 ||
      (shape->size() == 1 && (*shape)[0] > kMostDims) ||
      value.type().dtype.is_float()) {
    return absl::UnimplementedError(
        absl::StrCat("dimensions from ", relay::ToString(value.type())));
  }
  auto known = region_->bound.find(value);
  if (known != region_->bound.end()) return known->second;
  Shape elements = ElementsOf(value);
  elements.resize(shape->empty() ? 1 : (*shape)[0]);
  Value i64 = value;
  if (value.type().dtype != DataType::Int(64)) {
    INGOT_ASSIGN_OR_RETURN(
        relay::Node * cast,
        function()->AddOp("cast", absl::StrCat(name, "_cast"), {value},
                          Attrs{{"dtype", DataType::Int(64)}}));
    i64 = Value{cast, 0};
  }
  Shape symbols, dims;
  for (size_t i = 0; i < elements.size(); ++i) {
    symbols.push_back(module_.RunTimeSymbol(
        elements.size() == 1 ? std::string(name) : absl::StrCat(name, "_", i)));
    dims.push_back(elements[i] != nullptr ? elements[i] : symbols.back());
  }
  const bool all_known =
      std::all_of(elements.begin(), elements.end(),
                  [](const tir::Expr& e) { return e != nullptr; });
  if (!all_known) {
    INGOT_ASSIGN_OR_RETURN(
        relay::Node * node,
        function()->AddOp("bind_dims", absl::StrCat(name, "_dims"), {i64},
                          Attrs{{"symbols", symbols}}));
    for (const tir::Expr& symbol : symbols) {
      region_->carriers[tir::As<tir::Var>(symbol)] = Value{node, 0};
    }
  }
  region_->bound[value] = dims;
  return dims;
}

absl::StatusOr<Value> Importer::DimsTensor(const Shape& dims,
                                           absl::string_view name) {
  Binding binding;
  binding.known =
      Known{DataType::Int(64), {static_cast<int64_t>(dims.size())}, {}};
  for (const tir::Expr& dim : dims) binding.known->values.push_back({dim, 0});
  return Materialize(&binding, name);
}

void Importer::DeclareSymbols(relay::Node* node) {
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    for (const tir::Expr& dim : node->outputs[i].shape) {
      const auto* var = tir::As<tir::Var>(dim);
      if (var != nullptr && IsRunTime(*var)) {
        region_->carriers.emplace(var, Value{node, static_cast<int>(i)});
      }
    }
  }
}

absl::StatusOr<Value> Importer::CarrierOf(Region* region, const tir::Var* var) {
  auto known = region->carriers.find(var);
  if (known != region->carriers.end()) return known->second;
  for (relay::Node* input : region->function->inputs) {
    if (StandsAlone(input->outputs[0].shape, var)) return Value{input, 0};
  }
  if (region->outer == nullptr) {
    return absl::InternalError(
        absl::StrCat("no input has the dimension '", var->name, "'"));
  }
  INGOT_ASSIGN_OR_RETURN(Value outer, CarrierOf(region->outer, var));
  return CaptureValue(region, outer);
}

absl::StatusOr<std::vector<Value>> Importer::Carriers(const Shape& dims) {
  std::vector<Value> carriers;
  for (const tir::Expr& dim : dims) {
    for (const tir::Var* var : VarsOf(dim)) {
      INGOT_ASSIGN_OR_RETURN(Value value, CarrierOf(region_, var));
      if (std::find(carriers.begin(), carriers.end(), value) ==
          carriers.end()) {
        carriers.push_back(value);
      }
    }
  }
  return carriers;
}

absl::Status Importer::AddRunTimeCarriers(const Attrs& attrs,
                                          std::vector<Value>* inputs) {
  for (const auto& [name, attr] : attrs.values()) {
    const auto* shape = std::get_if<Shape>(&attr);
    if (shape == nullptr) continue;
    for (const tir::Expr& dim : *shape) {
      for (const tir::Var* var : VarsOf(dim)) {
        const bool has = std::any_of(
            inputs->begin(), inputs->end(), [var](const Value& input) {
              return input && Mentions(ShapeOf(input), var);
            });
        if (has || !IsRunTime(*var)) continue;
        INGOT_ASSIGN_OR_RETURN(Value carrier, CarrierOf(region_, var));
        inputs->push_back(carrier);
      }
    }
  }
  return absl::OkStatus();
}

// -------------------------------------------------------------- graphs inside

absl::StatusOr<Value> Importer::CaptureValue(Region* region, Value outer) {
  auto known = region->inside.find(outer);
  if (known != region->inside.end()) return known->second;
  const std::string& name = outer.node->name;
  Value inside;
  if (outer.node->constant.has_value()) {
    inside = Value{region->function->AddConstant(name, *outer.node->constant)};
  } else {
    inside = Value{region->function->AddInput(name, outer.type())};
    region->captured.push_back(outer);
  }
  if (outer.type().is_list) list_info(inside) = list_info(outer);
  region->inside[outer] = inside;
  // What the types inside are made of must be told inside as well.
  for (const tir::Expr& dim : outer.type().shape) {
    for (const tir::Var* var : VarsOf(dim)) {
      INGOT_RETURN_IF_ERROR(CarrierOf(region, var).status());
    }
  }
  return inside;
}

absl::StatusOr<Binding> Importer::Capture(Region* region, Binding* outer,
                                          const std::string& name) {
  Binding inside;
  inside.stored = outer->stored;
  inside.optional = outer->optional;
  if (outer->sequence != nullptr) {
    Sequence sequence{outer->sequence->dtype, {}};
    for (const Binding& element : outer->sequence->tensors) {
      Binding copy = element;
      INGOT_ASSIGN_OR_RETURN(copy, Capture(region, &copy, name));
      sequence.tensors.push_back(std::move(copy));
    }
    inside.sequence = std::make_shared<const Sequence>(std::move(sequence));
    return inside;
  }
  if (outer->initializer != nullptr && !outer->value) {
    Region* const current = region_;
    region_ = region->outer;
    const absl::Status status = Materialize(outer, name).status();
    region_ = current;
    INGOT_RETURN_IF_ERROR(status);
  }
  if (outer->known) {
    inside.known = outer->known;
    return inside;
  }
  Value value = outer->value;
  if (!value.node->constant.has_value() && !value.type().is_list) {
    // What depends on constants alone is better known than captured.
    const auto shape = relay::ConstShape(ShapeOf(value));
    absl::StatusOr<int64_t> count =
        shape ? CountElements(*shape) : absl::StatusOr<int64_t>(kSmall + 1);
    if (count.ok() && *count <= kSmall) {
      absl::StatusOr<Tensor> constant = ConstantValue(value);
      if (constant.ok()) {
        inside.value =
            Value{region->function->AddConstant(name, *std::move(constant))};
        return inside;
      }
    }
  }
  INGOT_ASSIGN_OR_RETURN(inside.value, CaptureValue(region, value));
  return inside;
}

absl::StatusOr<Binding*> Importer::Find(const Scope* scope,
                                        const std::string& name) {
  for (auto* names : {&scope->names, &scope->captures}) {
    auto it = names->find(name);
    if (it != names->end()) return &it->second;
  }
  if (scope->parent == nullptr) return nullptr;
  INGOT_ASSIGN_OR_RETURN(Binding * outer, Find(scope->parent, name));
  if (outer == nullptr || scope->parent->region == scope->region) return outer;
  INGOT_ASSIGN_OR_RETURN(Binding inside, Capture(scope->region, outer, name));
  return &(scope->captures[name] = std::move(inside));
}

absl::StatusOr<Body> Importer::ImportBody(absl::string_view stem,
                                          const BodyFiller& fill) {
  std::string name(stem);
  for (int i = 1; module_.Find(name) != nullptr; ++i) {
    name = absl::StrCat(stem, "_", i);
  }
  Region region;
  region.function = module_.AddFunction(name);
  region.outer = region_;
  region_ = &region;
  const absl::Status status = fill();
  region_ = region.outer;
  if (!status.ok()) {
    module_.RemoveFunction(name);
    return status;
  }
  return Body{name, region.function, std::move(region.captured)};
}

namespace {

// What a run's branches and loops give is known by its tensor alone.
absl::Status CheckCanLeave(const Binding& result) {
  if (result.stored == 0) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("a branch or loop that gives elements of type ",
                   StoredTypeName(result.stored)));
}

}  // namespace

absl::Status Importer::FillFromGraph(const onnx::GraphProto& graph,
                                     std::vector<Binding> inputs) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Binding> results,
                         Inline(graph, std::move(inputs)));
  for (size_t i = 0; i < results.size(); ++i) {
    INGOT_RETURN_IF_ERROR(CheckCanLeave(results[i]));
    INGOT_ASSIGN_OR_RETURN(
        Value value,
        MaterializeAny(&results[i], graph.output(static_cast<int>(i)).name()));
    function()->outputs.push_back(value);
  }
  return absl::OkStatus();
}

absl::Status Importer::Split(const onnx::NodeProto& node,
                             const std::string& name,
                             const onnx::GraphProto& branch,
                             absl::Span<const onnx::NodeProto* const> rest,
                             const std::vector<std::string>& results,
                             const Scope* scope) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Binding> outputs, Inline(branch, {}));
  Scope inner;
  inner.parent = scope;
  inner.region = region_;
  for (int i = 0; i < node.output_size(); ++i) {
    if (i < static_cast<int>(outputs.size()) && !node.output(i).empty()) {
      inner.names[node.output(i)] = std::move(outputs[i]);
    }
  }
  ++depth_;
  const absl::Status status =
      depth_ > kMaxSplits
          ? absl::UnimplementedError(absl::StrCat(
                "node '", name, "': too many branches of different ranks"))
          : ImportNodes(rest, results, &inner);
  --depth_;
  INGOT_RETURN_IF_ERROR(status);
  for (const std::string& result : results) {
    INGOT_ASSIGN_OR_RETURN(Binding * binding, Find(&inner, result));
    if (binding == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", result, "' is computed by no node"));
    }
    INGOT_RETURN_IF_ERROR(CheckCanLeave(*binding));
    INGOT_ASSIGN_OR_RETURN(Value value, MaterializeAny(binding, result));
    function()->outputs.push_back(value);
  }
  return absl::OkStatus();
}

namespace {

// The branch between what its sides make of the rest of the graph. One of them
// may be null.
absl::StatusOr<std::vector<Value>> JoinSides(
    NodeContext& c, Body* yes, Body* no,
    const std::vector<std::string>& results) {
  for (size_t i = 0; i < results.size() && yes && no; ++i) {
    const TensorType& a = yes->function->outputs[i].type();
    const TensorType& b = no->function->outputs[i].type();
    if (a.is_list || b.is_list || a.shape.size() == b.shape.size()) continue;
    return absl::UnimplementedError(absl::StrCat(
        "its branches differ in rank, and so does '", results[i],
        "', which is ", relay::ToString(a), " or ", relay::ToString(b),
        " as its condition is in a run; a result must have one rank. Where the "
        "condition follows from shapes, give the model's inputs theirs "
        "(--input-shape)"));
  }
  return JoinBranches(c, yes, no);
}

}  // namespace

absl::Status Importer::SplitAt(const onnx::NodeProto& node,
                               absl::Span<const onnx::NodeProto* const> rest,
                               const std::vector<std::string>& results,
                               Scope* scope) {
  const std::string name = node.name().empty() ? "If" : node.name();
  INGOT_ASSIGN_OR_RETURN(const int opset, OpsetOf(""));
  INGOT_ASSIGN_OR_RETURN(Binding * condition, Find(scope, node.input(0)));
  NodeContext c(this, node, opset, name, {condition});
  Body bodies[2];
  Body* sides[2] = {nullptr, nullptr};
  absl::Status failure;
  for (int i = 0; i < 2; ++i) {
    const onnx::GraphProto* branch =
        c.Graph(i == 0 ? "then_branch" : "else_branch");
    absl::StatusOr<Body> body = ImportBody(
        absl::StrCat(name, i == 0 ? "_then" : "_else"),
        [&] { return Split(node, name, *branch, rest, results, scope); });
    if (body.ok()) {
      bodies[i] = *std::move(body);
      sides[i] = &bodies[i];
    } else if (!absl::IsInvalidArgument(body.status()) || !failure.ok()) {
      return body.status();
    } else {
      failure = body.status();
    }
  }
  const absl::StatusOr<std::vector<Value>> values =
      JoinSides(c, sides[0], sides[1], results);
  if (!values.ok()) {
    return absl::Status(
        values.status().code(),
        absl::StrCat("node '", name, "' (If): ", values.status().message()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    (*values)[i].node->sources = {name};
    Binding binding;
    binding.value = (*values)[i];
    scope->names.emplace(results[i], std::move(binding));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Importer::CaptureHere(Value outer) {
  return CaptureValue(region_, outer);
}

bool Importer::IsKnownHere(const tir::Expr& dim) {
  for (const tir::Var* var : VarsOf(dim)) {
    if (!CarrierOf(region_, var).ok()) return false;
  }
  return true;
}

}  // namespace ingot::onnx_frontend

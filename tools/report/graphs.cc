#include "tools/report/graphs.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "runtime/data_type.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/lives.h"

namespace ingot::report {
namespace {

using Json = nlohmann::ordered_json;

// The value of an expression that names no symbol.
std::optional<int64_t> Known(const DimExpr& expr) {
  if (HasSymbols(expr)) return std::nullopt;
  const absl::StatusOr<int64_t> value = EvaluateDimExpr(expr, {});
  return value.ok() ? std::optional<int64_t>(*value) : std::nullopt;
}

class GraphWriter {
 public:
  // `main` is the plan that all are bodies of, or the plan itself.
  GraphWriter(const Plan& main, const Plan& plan, Json* graphs)
      : main_(main),
        plan_(plan),
        symbols_(SymbolNames(plan)),
        graphs_(graphs) {}

  // Adds the plan's graph and then those of its bodies; returns its index.
  size_t Add() {
    const size_t index = graphs_->size();
    graphs_->push_back(Json::object());
    Json graph = {{"name", plan_.entry()},      {"inputs", plan_.inputs()},
                  {"outputs", plan_.outputs()}, {"tensors", Tensors()},
                  {"storage", Json::array()},   {"calls", Json::array()}};
    for (const PlanStorage& storage : plan_.storage()) {
      graph["storage"].push_back(SizeOf(storage));
    }
    std::vector<size_t> bodies;
    for (const Plan& body : plan_.bodies()) {
      bodies.push_back(GraphWriter(main_, body, graphs_).Add());
    }
    for (const PlanCall& call : plan_.calls()) {
      graph["calls"].push_back(Call(call, graph["tensors"], bodies));
    }
    (*graphs_)[index] = std::move(graph);
    return index;
  }

 private:
  std::string TypeOf(const PlanTensor& tensor) const {
    DataType dtype;
    dtype.code = static_cast<uint8_t>(tensor.dtype().code());
    dtype.bits = static_cast<uint8_t>(tensor.dtype().bits());
    if (tensor.is_sequence()) {
      return absl::StrCat("sequence<", dtype.ToString(), ">");
    }
    std::vector<std::string> dims;
    for (const DimExpr& dim : tensor.shape()) {
      dims.push_back(DimExprToString(dim, symbols_));
    }
    return absl::StrCat(dtype.ToString(), "[", absl::StrJoin(dims, ", "), "]");
  }

  static std::optional<int64_t> BytesOf(const PlanTensor& tensor) {
    if (tensor.is_sequence()) return std::nullopt;
    int64_t bytes = (tensor.dtype().bits() + 7) / 8;
    for (const DimExpr& dim : tensor.shape()) {
      const std::optional<int64_t> extent = Known(dim);
      if (!extent || __builtin_mul_overflow(bytes, *extent, &bytes)) {
        return std::nullopt;
      }
    }
    return bytes;
  }

  // The largest of the sizes that it has to have.
  static Json SizeOf(const PlanStorage& storage) {
    int64_t largest = 0;
    for (const DimExpr& bytes : storage.bytes()) {
      const std::optional<int64_t> size = Known(bytes);
      if (!size) return nullptr;
      largest = std::max(largest, *size);
    }
    return largest;
  }

  Json Tensors() const {
    const std::vector<Life> lives = FindLives(plan_);
    Json tensors = Json::array();
    for (int i = 0; i < plan_.tensors_size(); ++i) {
      const PlanTensor& tensor = plan_.tensors(i);
      Json t = {{"n", tensor.name()}, {"y", TypeOf(tensor)}};
      if (const auto bytes = BytesOf(tensor)) t["b"] = *bytes;
      if (tensor.has_constant()) t["c"] = tensor.constant();
      if (tensor.has_view_of()) t["v"] = tensor.view_of();
      if (tensor.has_storage()) {
        t["st"] = tensor.storage();
        t["off"] = tensor.offset();
        t["first"] = lives[i].first;
        t["last"] = lives[i].last;
      }
      tensors.push_back(std::move(t));
    }
    return tensors;
  }

  // What the call does, in words for a step that is no function.
  static std::string Verb(const PlanCall& call) {
    if (call.has_function()) return call.function();
    if (call.has_branch()) return "if";
    if (call.has_loop()) return "loop";
    if (call.has_sequence()) return call.sequence().op();
    if (call.has_random_state()) return "random_state";
    return call.has_bind_dims() ? "bind_dims" : "copy";
  }

  Json Call(const PlanCall& call, const Json& tensors,
            const std::vector<size_t>& bodies) const {
    const int inputs = call.args_size() - static_cast<int>(call.num_outputs());
    Json json = {{"f", Verb(call)},
                 {"op", absl::StripPrefix(Verb(call), main_.entry() + "_")},
                 {"s", call.source()},
                 {"i", Json::array()},
                 {"r", Json::array()}};
    int64_t bytes = 0;
    bool known = true;
    for (int i = 0; i < call.args_size(); ++i) {
      json[i < inputs ? "i" : "r"].push_back(call.args(i));
      const Json& tensor = tensors[call.args(i)];
      known =
          known && tensor.contains("b") &&
          !__builtin_add_overflow(bytes, tensor.value("b", int64_t{0}), &bytes);
    }
    if (known) json["b"] = bytes;
    if (call.operations() > 0) json["ops"] = call.operations();
    if (!call.has_function()) json["step"] = true;
    if (call.device() != 0) {
      json["d"] = main_.devices(static_cast<int>(call.device())).target_key();
    }
    std::vector<size_t> own;
    if (call.has_loop()) own.push_back(bodies[call.loop().body()]);
    if (call.branch().has_then_body()) {
      own.push_back(bodies[call.branch().then_body()]);
    }
    if (call.branch().has_else_body()) {
      own.push_back(bodies[call.branch().else_body()]);
    }
    if (!own.empty()) json["bodies"] = own;
    return json;
  }

  const Plan& main_;
  const Plan& plan_;
  const std::vector<std::string> symbols_;
  Json* const graphs_;
};

}  // namespace

nlohmann::ordered_json DescribeGraphs(const Plan& plan) {
  Json graphs = Json::array();
  GraphWriter(plan, plan, &graphs).Add();
  return graphs;
}

}  // namespace ingot::report

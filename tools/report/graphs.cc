#include "tools/report/graphs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/lives.h"
#include "runtime/plan/views.h"

namespace ingot::report {
namespace {

using Json = nlohmann::ordered_json;

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
      const std::optional<int64_t> bytes = KnownBytes(storage);
      graph["storage"].push_back(bytes ? Json(*bytes) : Json());
    }
    std::vector<size_t> bodies;
    for (const Plan& body : plan_.bodies()) {
      bodies.push_back(GraphWriter(main_, body, graphs_).Add());
    }
    for (const PlanCall& call : plan_.calls()) {
      graph["calls"].push_back(Call(call, graph["tensors"], bodies));
    }
    graph["use"] = BytesInUse();
    (*graphs_)[index] = std::move(graph);
    return index;
  }

 private:
  Json Tensors() const {
    const std::vector<Life> lives = FindLives(plan_);
    Json tensors = Json::array();
    for (int i = 0; i < plan_.tensors_size(); ++i) {
      const PlanTensor& tensor = plan_.tensors(i);
      Json t = {{"n", tensor.name()},
                {"y", TypeToString(plan_, tensor, symbols_)}};
      if (const auto bytes = KnownBytes(plan_, tensor)) t["b"] = *bytes;
      if (tensor.has_constant()) t["c"] = tensor.constant();
      if (const auto viewed = ViewedBy(tensor)) t["v"] = *viewed;
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

  // The bytes of storage in use at each call, and after the last one: of what
  // has a size before a run. A result that takes the place of an operand is
  // counted once.
  std::vector<int64_t> BytesInUse() const {
    const std::vector<Life> lives = FindLives(plan_);
    std::vector<int64_t> change(plan_.calls_size() + 2, 0);
    const auto add = [&](int first, int last, int64_t bytes) {
      change[first] += bytes;
      change[last + 1] -= bytes;
    };
    const auto bytes_of = [&](uint32_t t) {
      const PlanTensor& tensor = plan_.tensors(static_cast<int>(t));
      return tensor.has_storage() ? KnownBytes(plan_, tensor).value_or(0) : 0;
    };
    for (int i = 0; i < plan_.tensors_size(); ++i) {
      if (lives[i].first >= 0) add(lives[i].first, lives[i].last, bytes_of(i));
    }
    for (int i = 0; i < plan_.calls_size(); ++i) {
      const PlanCall& call = plan_.calls(i);
      for (const PlanInPlace& pair : call.in_place()) {
        add(i, i, -bytes_of(call.args(static_cast<int>(pair.operand()))));
      }
    }
    std::vector<int64_t> use(plan_.calls_size() + 1);
    int64_t now = 0;
    for (size_t i = 0; i < use.size(); ++i) use[i] = now += change[i];
    return use;
  }

  Json Call(const PlanCall& call, const Json& tensors,
            const std::vector<size_t>& bodies) const {
    const int inputs = call.args_size() - static_cast<int>(call.num_outputs());
    Json json = {
        {"f", StepToString(call)},
        {"op", absl::StripPrefix(StepToString(call), main_.entry() + "_")},
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

#include "tests/fuzz/onnx/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/protos.h"
#include "tests/fuzz/onnx/rounding.h"
#include "tests/onnxruntime/session.h"

namespace ingot::fuzz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Difference(const Tensor& a, const Tensor& b) {
  // A disturbed operand may change a shape, too, where the shape is computed.
  if (a.shape() != b.shape()) return kInfinity;
  const bool is_float = a.dtype().is_float();
  double largest = 0;
  for (int64_t i = 0; i < a.NumElements(); ++i) {
    const double x = ElementAt(a, i), y = ElementAt(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!is_float || !std::isfinite(x) || !std::isfinite(y)) return kInfinity;
    largest = std::max(largest, std::fabs(x - y));
  }
  return largest;
}

Tensor Magnitudes(const Tensor& tensor) {
  if (!tensor.dtype().is_float()) return tensor;
  Tensor result = *tensor.Clone();
  for (int64_t i = 0; i < result.NumElements(); ++i) {
    SetElementAt(&result, i, std::fabs(ElementAt(tensor, i)));
  }
  return result;
}

// The tensor with an error of one rounding in each element.
Tensor Shaken(const Tensor& tensor, Random* random) {
  if (!tensor.dtype().is_float()) return tensor;
  const double unit = UnitOf(tensor.dtype());
  Tensor result = *tensor.Clone();
  for (int64_t i = 0; i < result.NumElements(); ++i) {
    const double value = ElementAt(tensor, i);
    if (!std::isfinite(value)) continue;
    SetElementAt(&result, i, value * (1 + random->Real(-1, 1) * unit));
  }
  return result;
}

// The one-node model (or of a few nodes) and its operands.
struct Step {
  std::unique_ptr<onnxruntime::Session> session;
  std::vector<std::string> names;
  std::vector<const Estimated*> operands;
  const std::vector<std::string>* wanted = nullptr;

  // With the operands that `choose` gives for each.
  template <typename Choose>
  absl::StatusOr<std::vector<Tensor>> Run(Choose choose) const {
    std::vector<Tensor> inputs;
    for (const Estimated* operand : operands) {
      inputs.push_back(choose(*operand));
    }
    return session->Run(names, inputs, *wanted);
  }
};

// Integers stand in the model, since some operators of ONNX Runtime want their
// axes and shapes to be known; floats are inputs, to be disturbed.
absl::StatusOr<Step> Prepare(const std::vector<onnx::NodeProto>& nodes,
                             const std::vector<std::string>& wanted, int opset,
                             const Scope& scope) {
  onnx::ModelProto model = EmptyModel(opset);
  onnx::GraphProto* graph = model.mutable_graph();
  Step step;
  step.wanted = &wanted;
  std::set<std::string> made, operands;
  for (const onnx::NodeProto& node : nodes) {
    for (const std::string& name : NamesReadBy(node)) {
      if (made.count(name) == 0) operands.insert(name);
    }
    made.insert(node.output().begin(), node.output().end());
    *graph->add_node() = node;
  }
  for (const std::string& name : operands) {
    const auto it = scope.find(name);
    if (it == scope.end()) {
      return absl::NotFoundError(absl::StrCat("no value '", name, "'"));
    }
    const Estimated& operand = it->second;
    if (operand.exact() && !operand.value.dtype().is_float()) {
      *graph->add_initializer() = ToProto(name, operand.value);
      continue;
    }
    *graph->add_input() = InfoOf(name, operand.value);
    step.names.push_back(name);
    step.operands.push_back(&operand);
  }
  for (const std::string& name : wanted) {
    graph->add_output()->set_name(name);
  }
  INGOT_ASSIGN_OR_RETURN(
      step.session, onnxruntime::Session::Create(model.SerializeAsString()));
  return step;
}

Rounding WorstOf(const std::vector<onnx::NodeProto>& nodes) {
  if (nodes.size() == 1) return RoundingOf(nodes[0].op_type());
  for (const onnx::NodeProto& node : nodes) {
    if (RoundingOf(node.op_type()) != Rounding::kNone) {
      return Rounding::kIterates;
    }
  }
  return Rounding::kNone;
}

// Bounds the error of each element of result `k`; nothing when there is none.
class Noise {
 public:
  Noise(const std::vector<onnx::NodeProto>& nodes, const Step& step,
        const std::vector<Tensor>& results)
      : rounding_(WorstOf(nodes)),
        op_(nodes.back().op_type()),
        results_(results) {
    for (const Estimated* operand : step.operands) {
      all_whole_ = all_whole_ && operand->exact() && AllWhole(operand->value);
      largest_operand_ =
          std::max(largest_operand_, LargestMagnitude(operand->value));
    }
    if (rounding_ == Rounding::kSums || rounding_ == Rounding::kMeans ||
        rounding_ == Rounding::kTiles) {
      auto sums =
          step.Run([](const Estimated& e) { return Magnitudes(e.value); });
      if (sums.ok()) sums_ = *std::move(sums);
    }
  }

  bool HasNone(size_t k) const {
    const Tensor& y = results_[k];
    if (rounding_ == Rounding::kNone || !y.dtype().is_float()) return true;
    if (rounding_ != Rounding::kSums || !all_whole_) return false;
    const double limit = WholeLimit(y.dtype());
    return AllWhole(y) && LargestMagnitude(y) <= limit &&
           largest_operand_ <= limit &&
           (sums_.empty() || LargestMagnitude(sums_[k]) <= limit);
  }

  Tensor Disturb(size_t k, const Tensor& y, Random* random) const {
    Tensor result = *y.Clone();
    const bool with_sums = !sums_.empty() && sums_[k].shape() == y.shape();
    const double unit =
        UnitOf(op_, y.dtype()) * (rounding_ == Rounding::kIterates ? 10
                                  : rounding_ == Rounding::kPlaces ? 4
                                                                   : 1);
    double floor = LargestMagnitude(y) / 4;
    // ONNX Runtime's is 0 where it is below 1e-8.
    if (op_ == "Sigmoid") floor = std::max(floor, 0.1);
    if (rounding_ == Rounding::kOperands || rounding_ == Rounding::kPlaces) {
      floor = std::max(floor, largest_operand_);
    }
    const double beside = with_sums && rounding_ == Rounding::kTiles
                              ? LargestMagnitude(sums_[k])
                              : 0;
    for (int64_t i = 0; i < y.NumElements(); ++i) {
      const double value = ElementAt(y, i);
      if (!std::isfinite(value)) continue;
      double size = std::fabs(value) + floor;
      if (with_sums) {
        const double sum = ElementAt(sums_[k], i);
        size = std::isfinite(sum) ? std::max(std::fabs(value), sum) : size;
        size = std::max(size, beside);
      }
      // At least half of a unit: an estimate by chance may not be small.
      const double error = random->Real(0.5, 1) * (random->Chance(50) ? 1 : -1);
      SetElementAt(&result, i, value + error * unit * size);
    }
    return result;
  }

 private:
  const Rounding rounding_;
  const std::string op_;
  const std::vector<Tensor>& results_;
  bool all_whole_ = true;
  double largest_operand_ = 0;
  std::vector<Tensor> sums_;
};

}  // namespace

double Estimated::Error() const {
  double error = 0;
  for (const Tensor& tensor : disturbed) {
    error = std::max(error, Difference(value, tensor));
  }
  return error;
}

absl::Status EvaluateNodes(const std::vector<onnx::NodeProto>& nodes,
                           const std::vector<std::string>& wanted, int opset,
                           Random* random, Scope* scope) {
  INGOT_ASSIGN_OR_RETURN(const Step step,
                         Prepare(nodes, wanted, opset, *scope));
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<Tensor> results,
      step.Run([](const Estimated& operand) { return operand.value; }));
  bool exact = true;
  for (const Estimated* operand : step.operands) {
    exact = exact && operand->exact();
  }
  const bool amplifies = Amplifies(nodes.back().op_type());
  exact = exact && !amplifies;
  std::vector<std::vector<Tensor>> disturbed;
  for (size_t copy = 0; copy < 2 && !exact; ++copy) {
    INGOT_ASSIGN_OR_RETURN(
        std::vector<Tensor> other, step.Run([&](const Estimated& operand) {
          const Tensor& tensor =
              operand.exact() ? operand.value : operand.disturbed[copy];
          return amplifies ? Shaken(tensor, random) : tensor;
        }));
    disturbed.push_back(std::move(other));
  }
  const Noise noise(nodes, step, results);
  std::vector<Estimated> estimates;
  for (size_t k = 0; k < results.size(); ++k) {
    Estimated estimate{results[k], {}};
    const bool none = noise.HasNone(k);
    for (size_t copy = 0; copy < 2 && !(exact && none); ++copy) {
      const Tensor& base = exact ? results[k] : disturbed[copy][k];
      estimate.disturbed.push_back(none ? base
                                        : noise.Disturb(k, base, random));
    }
    if (!estimate.exact() && SameBytes(estimate.value, estimate.disturbed[0]) &&
        SameBytes(estimate.value, estimate.disturbed[1])) {
      estimate.disturbed.clear();
    }
    estimates.push_back(std::move(estimate));
  }
  for (size_t k = 0; k < results.size(); ++k) {
    (*scope)[wanted[k]] = std::move(estimates[k]);
  }
  return absl::OkStatus();
}

absl::StatusOr<Scope> EvaluateModel(const onnx::ModelProto& model,
                                    const std::map<std::string, Tensor>& inputs,
                                    uint64_t seed) {
  Scope scope;
  Random random(seed);
  for (const auto& [name, tensor] : inputs) scope[name] = {tensor, {}};
  for (const auto& proto : model.graph().initializer()) {
    scope[proto.name()] = {FromProto(proto), {}};
  }
  std::vector<onnx::NodeProto> pending;
  for (const onnx::NodeProto& node : model.graph().node()) {
    pending.push_back(node);
    std::vector<std::string> wanted;
    for (const std::string& name : node.output()) {
      if (!name.empty()) wanted.push_back(name);
    }
    const absl::Status status =
        EvaluateNodes(pending, wanted, OpsetOf(model), &random, &scope);
    if (absl::IsUnimplemented(status)) continue;
    INGOT_RETURN_IF_ERROR(status);
    pending.clear();
  }
  return scope;
}

}  // namespace ingot::fuzz

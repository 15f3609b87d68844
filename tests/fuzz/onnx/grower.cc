#include "tests/fuzz/onnx/grower.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tests/fuzz/onnx/deviations.h"
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/protos.h"

namespace ingot::fuzz {
namespace {

constexpr int64_t kMaxElements = 900000;
constexpr double kMaxMagnitude = 1e6;

Tensor RandomTensor(DataType t, const Shape& shape, const Fill& fill,
                    Random* random) {
  Tensor tensor = *Tensor::Empty(t, shape);
  const int64_t low = static_cast<int64_t>(std::ceil(fill.low));
  const int64_t high = static_cast<int64_t>(std::floor(fill.high));
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    if (t.is_bool()) {
      SetElementAt(&tensor, i, static_cast<double>(random->Next(2)));
    } else if (fill.whole || !t.is_float()) {
      SetElementAt(&tensor, i, static_cast<double>(random->Between(low, high)));
    } else {
      SetElementAt(&tensor, i, random->Real(fill.low, fill.high));
    }
  }
  return tensor;
}

}  // namespace

Grower::Grower(uint64_t seed, int opset, bool large)
    : random_(seed), opset_(opset), large_(large), model_(EmptyModel(opset)) {
  hazards_ = random_.Chance(6);
  given_ = random_.Chance(25) ? 60 : 3;
  const int64_t k = random_.Next(100);
  float_type_ = k < 84   ? DataType::Float(32)
                : k < 92 ? DataType::Float(64)
                         : DataType::Float(16);
  other_type_ = random_.OneOf(
      {DataType::Int(64), DataType::Int(32), DataType::Int(8),
       DataType::UInt(8), DataType::Bool(), DataType::Int(16),
       DataType::UInt(16), DataType::UInt(32), DataType::UInt(64)});
}

Shape Grower::ShapeOf(const std::string& name) const {
  const auto shape = At(name).shape();
  return Shape(shape.begin(), shape.end());
}

DataType Grower::FloatType() {
  return random_.Chance(5) ? DataType::Float(32) : float_type_;
}

DataType Grower::AnyType() {
  if (random_.Chance(65)) return FloatType();
  if (random_.Chance(60)) return other_type_;
  return random_.OneOf({DataType::Int(64), DataType::Int(32), DataType::UInt(8),
                        DataType::Bool()});
}

int64_t Grower::Extent() {
  if (Large()) {
    return random_.OneOf<int64_t>({1,   2,    7,    16,   31,   33,   64,  129,
                                   240, 255,  257,  300,  511,  512,  513, 640,
                                   777, 1000, 1024, 1025, 2047, 2049, 4100});
  }
  return random_.OneOf<int64_t>({1,  2,  3,   4,   5,   7,   8,   9,  15,
                                 16, 17, 24,  31,  32,  33,  48,  63, 64,
                                 65, 96, 100, 128, 130, 200, 256, 384});
}

Shape Grower::RandomShape(int rank) {
  Shape shape(rank);
  int64_t budget = Large() ? random_.OneOf<int64_t>({40000, 150000, 400000})
                           : random_.OneOf<int64_t>({64, 1000, 8000, 40000});
  // The last dimensions get the large extents more often than the first.
  for (int d = rank - 1; d >= 0; --d) {
    int64_t extent = random_.Chance(60) ? Extent() : 1 + random_.Next(5);
    if (extent > budget)
      extent = 1 + random_.Next(std::min<int64_t>(budget, 5));
    shape[d] = extent;
    budget = std::max<int64_t>(1, budget / extent);
  }
  if (rank > 0 && random_.Chance(2)) shape[random_.Next(rank)] = 0;
  return shape;
}

int64_t Grower::Axis(const std::string& of) {
  const int rank = RankOf(of);
  const int64_t axis = random_.Next(rank);
  return random_.Chance(30) ? axis - rank : axis;
}

std::optional<std::string> Grower::Existing(
    const std::function<bool(const Tensor&)>& fits) {
  std::vector<std::string> found;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    if (fits(At(*it))) found.push_back(*it);
  }
  if (found.empty()) return std::nullopt;
  const int64_t count = static_cast<int64_t>(found.size());
  return found[random_.Chance(60) ? random_.Next(std::min<int64_t>(count, 2))
                                  : random_.Next(count)];
}

std::string Grower::Some(DataType t, int min_rank, int max_rank) {
  if (!random_.Chance(15)) {
    auto found = Existing([&](const Tensor& tensor) {
      const int rank = static_cast<int>(tensor.shape().size());
      return tensor.dtype() == t && rank >= min_rank && rank <= max_rank;
    });
    if (found) return *found;
  }
  const Shape shape =
      RandomShape(static_cast<int>(random_.Between(min_rank, max_rank)));
  Fill fill;
  if (random_.Chance(25) || !t.is_float()) fill = Fill::Whole(-4, 4);
  if (t.is_uint()) fill = Fill::Whole(0, 8);
  return New(t, shape, fill);
}

std::string Grower::Like(DataType t, const Shape& shape, Fill fill) {
  if (random_.Chance(35)) {
    auto found = Existing([&](const Tensor& tensor) {
      if (tensor.dtype() != t || tensor.shape() != absl::MakeSpan(shape)) {
        return false;
      }
      // Operands that must not be negative are asked for by their fill.
      return fill.low < 0 || tensor.NumElements() == 0;
    });
    if (found) return *found;
  }
  return New(t, shape, fill);
}

std::string Grower::Input(const Tensor& tensor) {
  const std::string name = Name();
  *model_.mutable_graph()->add_input() = InfoOf(name, tensor);
  inputs_[name] = tensor;
  scope_[name] = {tensor, {}};
  return name;
}

std::string Grower::Initializer(const Tensor& tensor) {
  const std::string name = Name();
  *model_.mutable_graph()->add_initializer() = ToProto(name, tensor);
  scope_[name] = {tensor, {}};
  return name;
}

std::optional<std::string> Grower::Generated(DataType t, const Shape& shape,
                                             Fill fill) {
  if (fill.low > 0 || t == DataType::Float(16)) fill.low = fill.high;
  if (shape.size() == 1 && random_.Chance(50) && fill.low < 0 &&
      (t == DataType::Float(32) || t == DataType::Int(64))) {
    return Try(Call("Range", {ScalarParameter(0, t),
                              ScalarParameter(static_cast<double>(shape[0]), t),
                              ScalarParameter(1, t)}));
  }
  const double value = random_.Chance(30) && fill.low <= 0 ? 0 : fill.high;
  auto plane = Try(Call("ConstantOfShape", {Parameter(shape)})
                       .Value("value", TensorOf(t, {1}, {value})));
  if (plane && shape.size() >= 2 && random_.Chance(40) && fill.low <= 0) {
    return Try(Call("Trilu", {*plane}).Int("upper", random_.Next(2)));
  }
  return plane;
}

std::string Grower::New(DataType t, const Shape& shape, Fill fill) {
  if (t.is_uint() && fill.low < 0) fill = Fill::Whole(0, 8);
  if (!t.is_float() && !fill.whole)
    fill = Fill::Whole(fill.low * 4, fill.high * 4);
  const int64_t k = random_.Next(100);
  if (k < 6) {
    if (auto generated = Generated(t, shape, fill)) return *generated;
  }
  const Tensor tensor = RandomTensor(t, shape, fill, &random_);
  std::string name;
  if (k < 14 && CountOf(shape) < 5000) {
    if (auto made = Try(Call("Constant", {}).Value("value", tensor))) {
      return *made;
    }
  }
  name = k < 50 && !inputs_.empty() ? Initializer(tensor) : Input(tensor);
  order_.push_back(name);
  return name;
}

std::string Grower::Weight(DataType t, const Shape& shape, Fill fill) {
  if (random_.Chance(30)) return New(t, shape, fill);
  return Initializer(RandomTensor(t, shape, fill, &random_));
}

std::string Grower::Parameter(const Tensor& tensor) {
  return random_.Chance(given_) ? Input(tensor) : Initializer(tensor);
}

std::string Grower::Parameter(const std::vector<int64_t>& elements,
                              DataType t) {
  return Parameter(
      TensorOf(t, {static_cast<int64_t>(elements.size())},
               std::vector<double>(elements.begin(), elements.end())));
}

std::string Grower::ScalarParameter(double element, DataType t) {
  return Parameter(TensorOf(t, {}, {element}));
}

bool Grower::Acceptable(const std::string& name) const {
  const Estimated& result = scope_.at(name);
  const Tensor& tensor = result.value;
  if (tensor.NumElements() > kMaxElements || tensor.shape().size() > 7) {
    return false;
  }
  if (!hazards_ && !AllFinite(tensor)) return false;
  const double error = result.Error();
  if (std::isinf(error)) return false;
  if (!tensor.dtype().is_float()) return true;
  const double largest = LargestMagnitude(tensor);
  if (largest > kMaxMagnitude) return false;
  if (tensor.dtype() == DataType::Float(16) && largest > 1000) return false;
  return error <= (tensor.dtype().bits == 16 ? 0.1 : 1e-3) * largest;
}

std::optional<std::vector<std::string>> Grower::Add(const Call& call) {
  return AddTogether({call});
}

std::optional<std::string> Grower::Try(const Call& call) {
  const auto results = Add(call);
  if (!results) return std::nullopt;
  return results->front();
}

std::optional<std::vector<std::string>> Grower::AddTogether(
    const std::vector<Call>& calls) {
  std::vector<onnx::NodeProto> nodes;
  for (const Call& call : calls) {
    onnx::NodeProto& node = nodes.emplace_back();
    node.set_op_type(call.op);
    node.set_domain(call.domain);
    node.set_name(call.op + "_" + std::to_string(next_name_));
    for (const std::string& operand : call.operands) {
      if (!absl::StartsWith(operand, "#")) {
        node.add_input(operand);
        continue;
      }
      const std::vector<std::string> place =
          absl::StrSplit(operand.substr(1), '.');
      int from = 0, result = 0;
      if (!absl::SimpleAtoi(place[0], &from)) return std::nullopt;
      if (place.size() > 1 && !absl::SimpleAtoi(place[1], &result)) {
        return std::nullopt;
      }
      node.add_input(nodes[from].output(result));
    }
    for (const onnx::AttributeProto& attribute : call.attributes) {
      *node.add_attribute() = attribute;
    }
    for (int k = 0; k < call.results; ++k) node.add_output(Name());
  }
  const std::vector<std::string> wanted(nodes.back().output().begin(),
                                        nodes.back().output().end());
  Scope scope = scope_;
  if (!EvaluateNodes(nodes, wanted, opset_, &random_, &scope_).ok()) {
    return std::nullopt;
  }
  bool fits = true;
  for (const std::string& name : wanted) fits = fits && Acceptable(name);
  for (const onnx::NodeProto& node : nodes) {
    fits = fits && !Deviates(node, scope_);
  }
  if (!fits) {
    scope_ = std::move(scope);
    return std::nullopt;
  }
  for (onnx::NodeProto& node : nodes) {
    *model_.mutable_graph()->add_node() = std::move(node);
    ++operators_;
  }
  order_.insert(order_.end(), wanted.begin(), wanted.end());
  return wanted;
}

onnx::ModelProto Grower::Finish() {
  onnx::GraphProto* graph = model_.mutable_graph();
  std::set<std::string> read, computed;
  for (const onnx::NodeProto& node : graph->node()) {
    read.merge(NamesReadBy(node));
    computed.insert(node.output().begin(), node.output().end());
  }
  // Operands of calls that were not taken.
  auto* inputs = graph->mutable_input();
  for (int i = inputs->size(); i-- > 0;) {
    if (read.count(inputs->Get(i).name()) == 0) inputs->DeleteSubrange(i, 1);
  }
  auto* weights = graph->mutable_initializer();
  for (int i = weights->size(); i-- > 0;) {
    if (read.count(weights->Get(i).name()) == 0) weights->DeleteSubrange(i, 1);
  }
  for (const std::string& name : order_) {
    if (computed.count(name) == 0) continue;
    if (read.count(name) > 0 && !random_.Chance(15)) continue;
    *graph->add_output() = InfoOf(name, At(name));
  }
  return model_;
}

}  // namespace ingot::fuzz

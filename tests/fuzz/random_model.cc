#include "tests/fuzz/random_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "tests/fuzz/op_samplers.h"

namespace ingot::fuzz {
namespace {

constexpr int64_t kMaxElements = 4096;
constexpr double kMaxBound = 1e4;

template <typename T>
void FillIntegers(Tensor* tensor, ModelBuilder* random, int64_t limit) {
  T* data = tensor->mutable_data<T>();
  for (int64_t i = 0; i < tensor->NumElements(); ++i) {
    data[i] = static_cast<T>(random->Next(2 * limit + 1) - limit);
  }
}

Tensor RandomTensor(DataType t, const std::vector<int64_t>& shape, bool exact,
                    ModelBuilder* random) {
  Tensor tensor = *Tensor::Empty(t, shape);
  if (t == DataType::Int(64)) {
    FillIntegers<int64_t>(&tensor, random, 4);
  } else if (t == DataType::Int(32)) {
    FillIntegers<int32_t>(&tensor, random, 4);
  } else if (t == DataType::Int(8)) {
    FillIntegers<int8_t>(&tensor, random, 4);
  } else if (t == DataType::UInt(8)) {
    uint8_t* data = tensor.mutable_data<uint8_t>();
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      data[i] = static_cast<uint8_t>(random->Next(9));
    }
  } else if (t == DataType::Bool()) {
    uint8_t* data = tensor.mutable_data<uint8_t>();
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      data[i] = static_cast<uint8_t>(random->Next(2));
    }
  } else if (t == DataType::Float(64)) {
    double* data = tensor.mutable_data<double>();
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      data[i] = exact ? random->Next(9) - 4 : random->Next(2001) / 1000.0 - 1;
    }
  } else {
    float* data = tensor.mutable_data<float>();
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      data[i] = static_cast<float>(exact ? random->Next(9) - 4
                                         : random->Next(2001) / 1000.0 - 1);
    }
  }
  return tensor;
}

double BoundOf(DataType t, bool exact) {
  if (t == DataType::Bool()) return 1;
  if (t == DataType::UInt(8)) return 8;
  return exact || !t.is_float() ? 4 : 1;
}

// Elements of a tensor when every symbol is kSymbolValue.
int64_t Elements(const relay::Shape& shape) {
  int64_t count = 1;
  for (const relay::Dim& dim : shape) {
    int64_t value;
    count *= tir::AsConstInt(dim, &value) ? value : kSymbolValue;
    if (count > (int64_t{1} << 40)) break;
  }
  return count;
}

}  // namespace

int64_t Known::dim(int d) const {
  int64_t extent;
  return tir::AsConstInt(type().shape[d], &extent) ? extent : -1;
}

double Known::elements() const {
  return static_cast<double>(Elements(type().shape));
}

int64_t ModelBuilder::Next(int64_t below) {
  // SplitMix64, by Sebastiano Vigna.
  uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<int64_t>((z ^ (z >> 31)) % static_cast<uint64_t>(below));
}

std::optional<Known> ModelBuilder::Pick(
    DataType t, const std::function<bool(const Known&)>& fits) {
  // The last ones more often, so that models are deep.
  for (int tries = 0; tries < 20; ++tries) {
    const int64_t count = static_cast<int64_t>(values_.size());
    const int64_t back =
        Chance(60) ? Next(std::min<int64_t>(count, 3)) : Next(count);
    const Known& known = values_[count - 1 - back];
    if (known.type().dtype != t) continue;
    if (fits == nullptr || fits(known)) return known;
  }
  return std::nullopt;
}

Known ModelBuilder::Constant(DataType t, const std::vector<int64_t>& shape,
                             bool exact) {
  relay::Node* node =
      function_->AddConstant("w", RandomTensor(t, shape, exact, this));
  return {relay::Value{node}, exact || !t.is_float(), BoundOf(t, exact)};
}

Known ModelBuilder::Integers(const std::vector<int64_t>& values, DataType t,
                             const std::vector<int64_t>& shape) {
  Tensor tensor = *Tensor::Empty(t, shape);
  double bound = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    bound = std::max(bound, std::abs(static_cast<double>(values[i])));
    if (t == DataType::Int(64)) {
      tensor.mutable_data<int64_t>()[i] = values[i];
    } else if (t == DataType::Int(32)) {
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    } else if (t == DataType::Float(64)) {
      tensor.mutable_data<double>()[i] = static_cast<double>(values[i]);
    } else if (t == DataType::UInt(8)) {
      tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(values[i]);
    } else if (t == DataType::Bool()) {
      tensor.mutable_data<uint8_t>()[i] = values[i] != 0;
    } else {
      tensor.mutable_data<float>()[i] = static_cast<float>(values[i]);
    }
  }
  return {relay::Value{function_->AddConstant("k", std::move(tensor))}, true,
          bound};
}

bool ModelBuilder::Add(absl::string_view op, const std::vector<Known>& inputs,
                       relay::Attrs attrs, bool exact, double bound,
                       const std::vector<int>& results) {
  if (!(bound <= kMaxBound)) return false;
  std::vector<relay::Value> operands;
  for (const Known& input : inputs) operands.push_back(input.value);
  const relay::OpDef* def = relay::StandardOps().Find(op);
  if (def == nullptr) return false;
  const absl::StatusOr<std::vector<relay::TensorType>> types =
      relay::InferTypes(*def, operands, attrs);
  if (!types.ok()) return false;
  for (const relay::TensorType& type : *types) {
    const int64_t elements = Elements(type.shape);
    if (elements < 1 || elements > kMaxElements || type.shape.size() > 6) {
      return false;
    }
  }
  absl::StatusOr<relay::Node*> node =
      function_->AddOp(op, "", std::move(operands), std::move(attrs));
  if (!node.ok()) return false;
  (*node)->sources = {absl::StrCat(op, "_", operators_)};
  ++operators_;
  const int count = static_cast<int>((*node)->outputs.size());
  for (int i = 0; i < count; ++i) {
    if (!results.empty() &&
        std::find(results.begin(), results.end(), i) == results.end()) {
      continue;
    }
    values_.push_back({relay::Value{*node, i}, exact, bound});
  }
  return true;
}

RandomModel MakeRandomModel(uint64_t seed, const RandomModelOptions& options) {
  RandomModel model;
  model.module = std::make_unique<relay::Module>();
  relay::Function* main = model.module->AddFunction("main");
  ModelBuilder random(seed, main);
  const int inputs = 1 + static_cast<int>(random.Next(3));
  for (int i = 0; i < inputs; ++i) {
    const bool exact = random.Chance(40);
    DataType t = DataType::Float(32);
    if (i > 0 && random.Chance(40)) {
      const DataType kTypes[] = {DataType::Int(64), DataType::Int(32),
                                 DataType::Bool(), DataType::UInt(8),
                                 DataType::Float(64)};
      t = kTypes[random.Next(5)];
    }
    const int rank =
        random.Chance(40) ? 4 : 1 + static_cast<int>(random.Next(5));
    std::vector<int64_t> extents;
    relay::Shape shape;
    for (int d = 0; d < rank; ++d) {
      const bool symbolic = options.symbolic && d == 0;
      extents.push_back(symbolic ? kSymbolValue
                                 : 1 + random.Next(rank > 4 ? 4 : 9));
      shape.push_back(symbolic ? relay::Dim(model.module->Symbol("n"))
                               : tir::MakeInt(extents.back()));
    }
    relay::Node* input =
        main->AddInput(absl::StrCat("x", i), relay::TensorType{t, shape});
    model.inputs.push_back(RandomTensor(t, extents, exact, &random));
    random.AddValue(
        {relay::Value{input}, exact || !t.is_float(), BoundOf(t, exact)});
  }
  const std::vector<OpSampler>& samplers = AllSamplers();
  for (int tries = 0;
       tries < 40 * options.operators && random.operators() < options.operators;
       ++tries) {
    const OpSampler& sampler = samplers[random.Next(samplers.size())];
    sampler.add(&random, sampler.ops[random.Next(sampler.ops.size())]);
  }
  // Values that no node reads are outputs, and now and then others, too.
  const auto users = main->Users();
  for (const Known& known : random.values()) {
    const relay::Node* node = known.value.node;
    if (node->kind != relay::NodeKind::kOp) continue;
    if (users.count(node) > 0 && !random.Chance(15)) continue;
    main->outputs.push_back(known.value);
    main->output_names.push_back(absl::StrCat("y", main->outputs.size() - 1));
  }
  if (main->outputs.empty()) {
    main->outputs.push_back(random.values().back().value);
    main->output_names.push_back("y0");
  }
  main->RemoveDead();
  return model;
}

std::set<std::string> CoveredOperators() {
  std::set<std::string> names;
  for (const OpSampler& sampler : AllSamplers()) {
    names.insert(sampler.ops.begin(), sampler.ops.end());
  }
  return names;
}

}  // namespace ingot::fuzz

// Samplers make random calls of each operator. Private to this folder.
#ifndef INGOT_TESTS_FUZZ_OP_SAMPLERS_H_
#define INGOT_TESTS_FUZZ_OP_SAMPLERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::fuzz {

// The extent of every symbolic dimension when a model runs.
inline constexpr int64_t kSymbolValue = 3;

// A value of the model, and what is known of its elements.
struct Known {
  relay::Value value;
  bool exact = false;  // integers, computed without rounding
  double bound = 0;    // no element is larger in magnitude

  const relay::TensorType& type() const { return value.type(); }
  int rank() const { return static_cast<int>(type().shape.size()); }
  bool is_static() const { return relay::ConstShape(type().shape).has_value(); }
  // The number of elements, a symbol counting as kSymbolValue.
  double elements() const;
  // The extent of dimension `d`; -1 when it is symbolic.
  int64_t dim(int d) const;
};

// The model that samplers take operands from and add operators to.
class ModelBuilder {
 public:
  ModelBuilder(uint64_t seed, relay::Function* function)
      : state_(seed * 0x9E3779B97F4A7C15u + 0x1234567), function_(function) {}

  // In [0, below).
  int64_t Next(int64_t below);
  bool Chance(int percent) { return Next(100) < percent; }
  // Mostly f32.
  DataType FloatType() { return DataType::Float(Chance(85) ? 32 : 64); }

  // A value of `t` that `fits`; nothing when there is none.
  std::optional<Known> Pick(
      DataType t, const std::function<bool(const Known&)>& fits = nullptr);

  // A constant of random elements: small integers where `exact`, else numbers
  // up to 1.
  Known Constant(DataType t, const std::vector<int64_t>& shape, bool exact);
  // A constant of these elements.
  Known Integers(const std::vector<int64_t>& values, DataType t,
                 const std::vector<int64_t>& shape);

  // Adds the call if it is valid and not too large. Of several results later
  // calls, and the model's outputs, may only be those that `results` names;
  // empty: all.
  bool Add(absl::string_view op, const std::vector<Known>& inputs,
           relay::Attrs attrs, bool exact, double bound,
           const std::vector<int>& results = {});

  void AddValue(Known known) { values_.push_back(std::move(known)); }
  const std::vector<Known>& values() const { return values_; }
  int operators() const { return operators_; }

 private:
  uint64_t state_;
  relay::Function* const function_;
  std::vector<Known> values_;
  int operators_ = 0;
};

struct OpSampler {
  std::vector<std::string> ops;  // those that it may add
  // Tries to add one of them; false when nothing fits.
  std::function<bool(ModelBuilder*, const std::string& op)> add;
};

const std::vector<OpSampler>& AllSamplers();

// Parts of it, a file each.
void AddElementSamplers(std::vector<OpSampler>* samplers);
void AddTensorSamplers(std::vector<OpSampler>* samplers);
void AddWindowSamplers(std::vector<OpSampler>* samplers);
void AddSpecialSamplers(std::vector<OpSampler>* samplers);

// Samples every operator that none of them samples, and that is not left out
// (left_out.h): with operands of any shapes and the attributes' defaults, so
// that an operator of which these make a valid call needs no sampler.
void AddPlainSampler(std::vector<OpSampler>* samplers);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_OP_SAMPLERS_H_

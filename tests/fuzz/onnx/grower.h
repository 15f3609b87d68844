// Grows an ONNX model node by node. Private to this folder.
//
// Each new node is given to ONNX Runtime at once, which says whether it is
// valid and what it computes. So those that make nodes need no inference of
// shapes: a call that ONNX Runtime refuses is dropped.
#ifndef INGOT_TESTS_FUZZ_ONNX_GROWER_H_
#define INGOT_TESTS_FUZZ_ONNX_GROWER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "onnx/onnx.pb.h"
#include "runtime/tensor.h"
#include "tests/fuzz/onnx/evaluate.h"
#include "tests/fuzz/random.h"

namespace ingot::fuzz {

using Shape = std::vector<int64_t>;

// The number of elements.
inline int64_t CountOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<int64_t>());
}

// The range that the elements of a new tensor are drawn from.
struct Fill {
  double low = -1;
  double high = 1;
  bool whole = false;

  static Fill Positive() { return {0.5, 1.5, false}; }
  static Fill Whole(double low, double high) { return {low, high, true}; }
};

// A node to be, without the names of its results.
struct Call {
  std::string op;
  std::string domain;
  std::vector<std::string> operands;  // "": left out
  std::vector<onnx::AttributeProto> attributes;
  int results = 1;

  Call(absl::string_view op, std::vector<std::string> operands)
      : op(op), operands(std::move(operands)) {}
  Call& Int(absl::string_view name, int64_t value);
  Call& Ints(absl::string_view name, const Shape& values);
  Call& Float(absl::string_view name, double value);
  Call& Floats(absl::string_view name, const std::vector<double>& values);
  Call& String(absl::string_view name, absl::string_view value);
  Call& Strings(absl::string_view name, const std::vector<std::string>& values);
  Call& Value(absl::string_view name, const Tensor& tensor);
  Call& Graph(absl::string_view name, onnx::GraphProto graph);
  Call& Results(int count) {
    results = count;
    return *this;
  }
};

class Grower {
 public:
  Grower(uint64_t seed, int opset, bool large = false);

  Random& random() { return random_; }
  // Whether the next operands should be large: now and then in models that may
  // have large ones, never in others.
  bool Large() { return large_ && random_.Chance(70); }
  int opset() const { return opset_; }
  int operators() const { return operators_; }

  const Tensor& At(const std::string& name) const {
    return scope_.at(name).value;
  }
  DataType TypeOf(const std::string& name) const { return At(name).dtype(); }
  Shape ShapeOf(const std::string& name) const;
  int RankOf(const std::string& name) const {
    return static_cast<int>(At(name).shape().size());
  }
  bool IsExact(const std::string& name) const {
    return scope_.at(name).exact();
  }

  // Types, mostly those that models have; a model has few of them, so that
  // its nodes find operands.
  DataType FloatType();
  DataType AnyType();
  // An extent that some tile, tail or packing path has as its border.
  int64_t Extent();
  // A shape of `rank`, mostly small enough to be cheap; now and then empty.
  Shape RandomShape(int rank);
  int64_t Axis(const std::string& of);  // may count from the end; rank > 0

  // A value that is there already and `fits`; the last ones more often.
  std::optional<std::string> Existing(
      const std::function<bool(const Tensor&)>& fits);
  // A value of `t` of a rank in the range: an existing one, or a new one.
  std::string Some(DataType t, int min_rank, int max_rank);
  // A value of exactly this type and shape: an existing one, or a new one.
  std::string Like(DataType t, const Shape& shape, Fill fill = {});
  // A new one: an input of the graph, an initializer, or the result of a
  // Constant, ConstantOfShape or Range.
  std::string New(DataType t, const Shape& shape, Fill fill = {});
  // A new one that mostly stands in the model, since weights are packed and
  // laid out when a model is compiled.
  std::string Weight(DataType t, const Shape& shape, Fill fill = {});
  // A new one with these elements, for shapes, axes and the like: mostly an
  // initializer; in some models, mostly an input, so that only a run knows it.
  std::string Parameter(const Tensor& tensor);
  std::string Parameter(const std::vector<int64_t>& elements,
                        DataType t = DataType::Int(64));
  std::string ScalarParameter(double element, DataType t);
  // A new one of these elements, which must stand in the model.
  std::string Initializer(const Tensor& tensor);

  // Adds the node if ONNX Runtime takes it, and its results are finite, well
  // conditioned and not too large. Their names, or nothing.
  std::optional<std::vector<std::string>> Add(const Call& call);
  // The same for several nodes with results that are no tensors in between.
  // An operand "#k" is the first result of the call number k, "#k.j" its
  // result number j; the values added are the results of the last.
  std::optional<std::vector<std::string>> AddTogether(
      const std::vector<Call>& calls);

  // The first result of Add.
  std::optional<std::string> Try(const Call& call);

  // Ends growing: what no node reads, and now and then another value, becomes
  // an output.
  onnx::ModelProto Finish();
  const std::map<std::string, Tensor>& inputs() const { return inputs_; }
  const Scope& scope() const { return scope_; }

 private:
  std::string Name() { return "v" + std::to_string(next_name_++); }
  std::string Input(const Tensor& tensor);
  std::optional<std::string> Generated(DataType t, const Shape& shape,
                                       Fill fill);
  bool Acceptable(const std::string& name) const;

  Random random_;
  const int opset_;
  const bool large_;
  onnx::ModelProto model_;
  Scope scope_;
  std::map<std::string, Tensor> inputs_;
  std::vector<std::string> order_;  // of the values, parameters left out
  int next_name_ = 0;
  int operators_ = 0;
  bool hazards_;                      // whether results may be infinite or NaN
  int given_;                         // of 100 parameters, so many are inputs
  DataType float_type_, other_type_;  // this model's favourites
};

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_GROWER_H_

// pack_weights: products with constant matrices read them in panels of nr
// columns, [ceil(n / nr), k, nr], one after the other.
//
//   dense(x, w)             ->  dense_packed(x, panels of w)
//   matmul(x, b), b [k, n]  ->  dense_packed(x, panels of b)
//
// Recurrent layers read theirs in panels that are split into vectors, too,
// [n / columns, k, vectors, lanes].
//
// Matrices of few bits whose data may be rounded to bytes lie in panels of
// words (pack_few_bits.h). Panels of bytes hold words of four along k, those of
// 16-bit numbers words of two. They are made at run time where weights are not
// constant; of bytes, where the target wants that, for several products at
// once, too. Where the target wants bf16 parts of f32, dense_parts(x, parts of
// w) stands for the product instead.
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/bf16_parts.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/pack_few_bits.h"
#include "compiler/relay/passes/panels.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/strided.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// i8 or i16 w[k * row + n * column] as words [columns, filled / 4] or
// filled / 2, zeros beyond the rows.
absl::StatusOr<Tensor> Words(const Tensor& w, int64_t rows, int64_t filled,
                             int64_t columns, int64_t row, int64_t column) {
  INGOT_ASSIGN_OR_RETURN(Tensor parts,
                         Tensor::Empty(w.dtype(), {columns, filled}));
  auto* to = static_cast<char*>(parts.mutable_raw_data());
  std::fill(to, to + parts.bytes(), 0);
  CopyStrided(static_cast<const char*>(w.raw_data()), {column, row}, to,
              {filled, 1}, {columns, rows}, w.dtype().bytes());
  return WordsOf(parts);
}

class Packer {
 public:
  Packer(Function* function, const LayoutPreferences& layouts)
      : function_(function), layouts_(layouts) {}

  absl::StatusOr<bool> Run() {
    std::vector<Node*> nodes;
    for (const auto& node : function_->nodes()) nodes.push_back(node.get());
    bool changed = false;
    for (Node* node : nodes) {
      INGOT_ASSIGN_OR_RETURN(bool packed, Pack(node));
      changed = changed || packed;
    }
    if (!changed) return false;
    function_->RemoveDead();
    std::set<std::string> names;
    for (const auto& node : function_->nodes()) names.insert(node->name);
    for (const auto& [panels, name] : names_) {
      if (names.insert(name).second) panels->name = name;
    }
    INGOT_RETURN_IF_ERROR(function_->Sort());
    return true;
  }

 private:
  absl::StatusOr<bool> Pack(Node* node) {
    // The layouts are the host's.
    if (node->kind != NodeKind::kOp || node->attrs.Has("target")) return false;
    if (node->op->Has(kStepsOverMatrix)) return PackSteps(node);
    if (node->op->Has(kTimesFewBits)) return PackBits(node);
    const bool transposed = node->op->Has(kTimesTranspose);
    if (!transposed && !node->op->Has(kTimesMatrix)) return false;
    const Value w = node->inputs[1];
    const Tensor* constant = ConstantOf(w);
    Value x = node->inputs[0];
    const DataType type = x.type().dtype;
    const size_t rank = x.type().shape.size();
    const int64_t word = ElementsOfWord(*node, layouts_);
    if (constant == nullptr && word > 0 && !transposed) {
      return PackAtRunTime(node, word);
    }
    if (constant == nullptr || constant->shape().size() != 2 ||
        constant->NumElements() == 0 || rank < 2 ||
        !(word > 0 || (type.is_float() && constant->dtype() == type &&
                       !node->attrs.Has("out_dtype")))) {
      return false;
    }
    const int64_t rows = constant->shape()[transposed ? 1 : 0];
    const int64_t columns = constant->shape()[transposed ? 0 : 1];
    const int64_t nr = layouts_.panel_width(*node, columns);
    const int64_t parts =
        layouts_.product_parts != nullptr && type == DataType::Float(32)
            ? layouts_.product_parts(*node)
            : 0;
    if (nr == 0 && parts == 0) return false;
    const int64_t depth = word > 0 && layouts_.byte_depth != nullptr
                              ? layouts_.byte_depth(*node)
                              : std::max<int64_t>(word, 1);
    const int64_t filled = (rows + depth - 1) / depth * depth;
    Value& panels = panels_[{w, transposed, parts, nr, filled}];
    if (panels.node == nullptr) {
      const int64_t row = transposed ? 1 : columns,
                    column = transposed ? rows : 1;
      Tensor packed;
      if (parts > 0) {
        INGOT_ASSIGN_OR_RETURN(
            packed,
            PackBf16Panels(*constant, {rows, columns, parts}, row, column));
      } else if (word > 0) {
        INGOT_ASSIGN_OR_RETURN(
            const Tensor words,
            Words(*constant, rows, filled, columns, row, column));
        INGOT_ASSIGN_OR_RETURN(packed, Panels(words, words.shape()[1], columns,
                                              1, words.shape()[1], nr));
      } else {
        INGOT_ASSIGN_OR_RETURN(
            packed, Panels(*constant, rows, columns, row, column, nr));
      }
      panels = Value{function_->AddConstant(w.node->name, std::move(packed))};
      panels.node->sources.Add(w.node->sources);
      names_.emplace_back(panels.node, w.node->name);
    }
    Attrs attrs = node->attrs;
    attrs.Set("units", columns);
    if (word > 0) {
      attrs.Set("words", int64_t{1});
      INGOT_ASSIGN_OR_RETURN(x, Filled(x, filled - rows, 0));
    }
    INGOT_ASSIGN_OR_RETURN(
        Node * made,
        parts > 0
            ? function_->AddOp("dense_parts", node->name, {x, panels}, attrs)
            : function_->AddOp("dense_packed", node->name, {x, panels}, attrs));
    Replace(node, Value{made});
    return true;
  }

  // Puts `made` in the place of the product.
  void Replace(Node* product, const Value& made) {
    made.node->sources.Add(product->sources);
    std::swap(made.node->name, product->name);
    function_->ReplaceUses(Value{product}, made);
  }

  // x with so many more zeros along the last dimension, and the one before.
  absl::StatusOr<Value> Filled(const Value& x, int64_t columns, int64_t rows) {
    if (columns == 0 && rows == 0) return x;
    std::vector<int64_t> pads(2 * x.type().shape.size(), 0);
    pads.back() = columns;
    pads[pads.size() - 2] = rows;
    INGOT_ASSIGN_OR_RETURN(
        Node * padded,
        function_->AddOp("pad", x.node->name, {x}, {{"pads", pads}}));
    return Value{padded};
  }

  // A node that makes the words of the product's weights at run time.
  absl::StatusOr<Value> Add(const char* op, std::vector<Value> inputs,
                            Attrs attrs, const Node& product) {
    INGOT_ASSIGN_OR_RETURN(
        Node * made, function_->AddOp(op, product.inputs[1].node->name,
                                      std::move(inputs), std::move(attrs)));
    made->sources.Add(product.sources);
    return Value{made};
  }

  // Whether to make words of the product's right operand while a model runs.
  bool PacksAtRunTime(const Node& node, int64_t word) const {
    if (word == 4) return layouts_.run_time_words && PaysToPack(node);
    const auto shape = ConstShape(node.inputs[1].type().shape);
    return shape && shape->size() == 2 && (*shape)[0] * (*shape)[1] > 0 &&
           node.inputs[0].type().shape.size() >= 2;
  }

  // Words of the numbers of rows 2i and 2i + 1 of the right operand, or of four
  // rows of bytes.
  absl::StatusOr<bool> PackAtRunTime(Node* node, int64_t word) {
    if (!PacksAtRunTime(*node, word)) return false;
    const Value w = node->inputs[1];
    Ints batch = *ConstShape(w.type().shape);
    const int64_t columns = batch.back(), rows = *(batch.end() - 2);
    batch.resize(batch.size() - 2);
    const int64_t nr = layouts_.panel_width(*node, columns);
    if (nr == 0) return false;
    const int64_t words = (rows + word - 1) / word,
                  panels = (columns + nr - 1) / nr;
    const auto shape = [&](const Ints& of_matrix) {
      Ints all = batch;
      all.insert(all.end(), of_matrix.begin(), of_matrix.end());
      return Attrs{{"shape", MakeShape(all)}};
    };
    INGOT_ASSIGN_OR_RETURN(
        Value filled, Filled(w, panels * nr - columns, word * words - rows));
    INGOT_ASSIGN_OR_RETURN(
        filled,
        Add("reshape", {filled}, shape({words, word, panels, nr}), *node));
    INGOT_ASSIGN_OR_RETURN(
        Value packed,
        JoinParts(filled, static_cast<int64_t>(batch.size()) + 1, word, *node));
    const int64_t first = static_cast<int64_t>(batch.size());
    Ints axes(first);
    std::iota(axes.begin(), axes.end(), 0);
    for (const int64_t axis : {2, 0, 1, 3}) axes.push_back(first + axis);
    INGOT_ASSIGN_OR_RETURN(packed,
                           Add("transpose", {packed}, {{"axes", axes}}, *node));
    INGOT_ASSIGN_OR_RETURN(
        packed, Add("reshape", {packed}, shape({panels, words, nr}), *node));
    INGOT_ASSIGN_OR_RETURN(const Value x,
                           Filled(node->inputs[0], word * words - rows, 0));
    Attrs attrs = node->attrs;
    attrs.Set("units", columns);
    attrs.Set("words", int64_t{1});
    INGOT_ASSIGN_OR_RETURN(
        Node * made,
        function_->AddOp("dense_packed", node->name, {x, packed}, attrs));
    Replace(node, Value{made});
    return true;
  }

  // The words of what lies side by side along an axis, which becomes 1.
  absl::StatusOr<Value> JoinParts(const Value& parts, int64_t axis,
                                  int64_t word, const Node& product) {
    constexpr int64_t kBitsOfWord = 32;
    const int64_t bits_of_part = kBitsOfWord / word;
    const DataType i32 = DataType::Int(32);
    Value joined;
    for (int64_t i = 0; i < word; ++i) {
      INGOT_ASSIGN_OR_RETURN(Value part, Add("slice", {parts},
                                             {{"starts", MakeShape({i})},
                                              {"ends", MakeShape({i + 1})},
                                              {"axes", Ints{axis}}},
                                             product));
      // The sign of the last part is the word's.
      if (i + 1 < word) {
        const DataType bits = DataType::UInt(static_cast<int>(bits_of_part));
        INGOT_ASSIGN_OR_RETURN(part,
                               Add("cast", {part}, {{"dtype", bits}}, product));
      }
      INGOT_ASSIGN_OR_RETURN(part,
                             Add("cast", {part}, {{"dtype", i32}}, product));
      if (i == 0) {
        joined = part;
        continue;
      }
      INGOT_ASSIGN_OR_RETURN(
          const Value bits,
          AddSplat(function_, product.inputs[1].node->name, i32, {},
                   static_cast<double>(i * bits_of_part)));
      INGOT_ASSIGN_OR_RETURN(
          part, Add("bit_shift", {part, bits},
                    {{"direction", std::string("LEFT")}}, product));
      INGOT_ASSIGN_OR_RETURN(joined,
                             Add("bitwise_or", {joined, part}, {}, product));
    }
    return joined;
  }

  absl::StatusOr<bool> PackBits(Node* node) {
    if (layouts_.few_bits_columns == nullptr) return false;
    const int64_t columns =
        layouts_.few_bits_columns(node->attrs.Get<int64_t>("bits"));
    if (columns == 0) return false;
    const int64_t tile_rows = layouts_.few_bits_tile_rows != nullptr
                                  ? layouts_.few_bits_tile_rows(*node)
                                  : 0;
    INGOT_ASSIGN_OR_RETURN(
        const Value made,
        PackFewBitsProduct(function_, *node, columns, tile_rows));
    if (made.node == nullptr) return false;
    for (size_t i = 3; i < made.node->inputs.size(); ++i) {
      names_.emplace_back(made.node->inputs[i].node,
                          node->inputs[i - 2].node->name);
    }
    Replace(node, made);
    return true;
  }

  absl::StatusOr<bool> PackSteps(Node* node) {
    const Value w = node->inputs[1];
    const Tensor* constant = ConstantOf(w);
    if (layouts_.step_panel == nullptr || constant == nullptr ||
        constant->shape().size() != 2 || constant->NumElements() == 0) {
      return false;
    }
    const int64_t units = constant->shape()[0];
    const int64_t columns = constant->shape()[1];
    const PanelShape shape = layouts_.step_panel(constant->dtype(), units);
    if (shape.vectors == 0) return false;
    Value& panels = steps_[w];
    if (panels.node == nullptr) {
      const int64_t width = shape.vectors * shape.lanes;
      INGOT_ASSIGN_OR_RETURN(
          const Tensor packed,
          Panels(*constant, units, columns, columns, 1, width));
      INGOT_ASSIGN_OR_RETURN(
          Tensor split,
          packed.Reshape({columns / width, units, shape.vectors, shape.lanes}));
      panels = Value{function_->AddConstant(w.node->name, std::move(split))};
      panels.node->sources.Add(w.node->sources);
      names_.emplace_back(panels.node, w.node->name);
    }
    node->inputs[1] = panels;
    return true;
  }

  Function* function_;
  const LayoutPreferences& layouts_;
  std::map<Value, Value> steps_;  // panels of recurrent layers, by the weights
  // By the weights, whether they are transposed, the parts, and the width and
  // the depth of panels.
  std::map<std::tuple<Value, bool, int64_t, int64_t, int64_t>, Value> panels_;
  // Panels with the names of what they are made from, in the order of their
  // making.
  std::vector<std::pair<Node*, std::string>> names_;
};

}  // namespace

absl::StatusOr<bool> PackWeights(Module* module, PassContext* context) {
  if (context->layouts.panel_width == nullptr) return false;
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(bool now,
                           Packer(function.get(), context->layouts).Run());
    changed = changed || now;
  }
  return changed;
}

}  // namespace ingot::relay

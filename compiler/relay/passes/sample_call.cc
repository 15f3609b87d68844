// SampleCall: calls of any operator, found by trying.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/relay/passes/node_kinds.h"
#include "compiler/relay/verifier.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

class Sampler {
 public:
  Sampler(Module* module, uint64_t seed)
      : module_(module),
        main_(module->AddFunction("main")),
        state_(seed * 0x9E3779B97F4A7C15u + 99) {}

  bool Add(const OpDef& op) {
    int count = op.min_inputs;
    if (op.max_inputs < 0 || op.max_inputs > op.min_inputs) {
      const int most = op.max_inputs < 0 ? op.min_inputs + 2 : op.max_inputs;
      count += static_cast<int>(Next(most - op.min_inputs + 1));
    }
    std::vector<Value> inputs;
    for (int i = 0; i < count; ++i) inputs.push_back(Operand(op, i, inputs));
    Attrs attrs;
    for (const AttrSpec& spec : op.attrs) {
      if (spec.required || Chance(30)) attrs.Set(spec.name, Attr(op, spec));
    }
    const auto node = main_->AddOp(op.name, "call", inputs, std::move(attrs));
    if (!node.ok()) return false;
    for (size_t i = 0; i < (*node)->outputs.size(); ++i) {
      main_->outputs.push_back(Value{*node, static_cast<int>(i)});
    }
    main_->RemoveDead();
    return main_->Sort().ok() && Verify(*module_).ok();
  }

 private:
  uint64_t Next(uint64_t below) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % below;
  }
  bool Chance(int percent) {
    return Next(100) < static_cast<uint64_t>(percent);
  }
  template <typename T>
  T OneOf(const std::vector<T>& list) {
    return list[Next(list.size())];
  }
  Dim Symbol() { return module_->Symbol("n"); }

  Shape AnyShape() {
    const Dim n = Symbol();
    const auto i = [](int64_t v) { return tir::MakeInt(v); };
    return OneOf<Shape>({{},
                         {},
                         {i(1)},
                         {i(2)},
                         {i(3)},
                         {i(3)},
                         {i(4)},
                         {i(0)},
                         {n},
                         {i(2), i(3)},
                         {i(3), i(3)},
                         {i(3), i(2)},
                         {n, i(3)},
                         {i(3), n},
                         {i(0), i(3)},
                         {i(2), i(0)},
                         {i(2), i(3), i(4)},
                         {i(1), i(3), i(3)},
                         {i(2), n, i(3)},
                         {i(1), i(0), i(3)},
                         {i(1), i(4), i(4), i(4)},
                         {i(4), i(4), i(3), i(3)},
                         {i(1), i(3), i(4), i(4)},
                         {n, i(4), i(4), i(4)},
                         {i(1), i(4), i(4), n},
                         {i(0), i(4), i(4), i(4)},
                         {i(1), i(4), i(0), i(4)},
                         {i(1), i(2), i(2), i(2), i(2)},
                         {i(1), i(1), i(2), i(2), i(2)}});
  }

  DataType AnyType() {
    if (Chance(55)) return DataType::Float(32);
    return OneOf<DataType>({DataType::Int(64), DataType::Int(64),
                            DataType::Bool(), DataType::UInt(8),
                            DataType::Int(8), DataType::Int(32),
                            DataType::Float(64), DataType::Float(16)});
  }

  Value Leaf(const TensorType& type) {
    return AddLeaf(main_, kLeafKinds[Next(4)], type);
  }

  // A value of that type that is not a leaf, in one of the ways that rules look
  // for; a leaf where there is none.
  Value Through(const TensorType& type) {
    const Value x = Leaf(type);
    if (type.is_sequence) return x;
    const size_t rank = type.shape.size();
    Ints order(rank), ones(2 * rank, 0);
    for (size_t d = 0; d < rank; ++d) order[d] = static_cast<int64_t>(d);
    std::reverse(order.begin(), order.end());
    absl::StatusOr<Node*> node = absl::UnknownError("");
    switch (Next(7)) {
      case 0:
        node = main_->AddOp("relu", "r", {x});
        break;
      case 1: {
        Shape back = type.shape;
        std::reverse(back.begin(), back.end());
        node = main_->AddOp("transpose", "t", {Leaf({type.dtype, back})},
                            {{"axes", order}});
        break;
      }
      case 2:
        node = main_->AddOp("reshape", "v", {x}, {{"shape", type.shape}});
        break;
      case 3:
        if (rank > 0) {
          node = main_->AddOp("concat", "c", {x}, {{"axis", int64_t{0}}});
        }
        break;
      case 4:
        node = main_->AddOp("pad", "p", {x}, {{"pads", ones}});
        break;
      case 5:
        node = main_->AddOp("expand", "e", {Leaf({type.dtype, {}})},
                            {{"shape", type.shape}});
        break;
      default:
        node = main_->AddOp(OneOf<std::string>({"add", "mul"}), "b",
                            {x, Leaf({type.dtype, {}})});
    }
    return node.ok() ? Value{*node} : x;
  }

  Value Operand(const OpDef& op, int index, const std::vector<Value>& before) {
    if (index >= op.min_inputs && Chance(15)) return Value{};
    if (index == 0) style_ = Next(4);
    if (index > 0 && before[0].node != nullptr && style_ < 2) {
      // As it is, or a vector along its second dimension, in every place.
      const TensorType& first = before[0].type();
      if (first.is_sequence || style_ == 0 || first.shape.size() < 2) {
        return Through(first);
      }
      return Leaf({first.dtype, {first.shape[1]}});
    }
    if (index > 0 && before[0].node != nullptr && Chance(60)) {
      // The value of before, or another one of that type or element type.
      const Value& first = OneOf(before);
      if (first.node != nullptr) {
        if (Chance(25)) return first;
        if (Chance(60)) return Through(first.type());
        return Leaf({first.type().dtype, AnyShape()});
      }
    }
    if (op.TakesSequences() && Chance(50)) return Leaf(SequenceType(AnyType()));
    const TensorType type = {AnyType(), AnyShape()};
    return Chance(60) ? Leaf(type) : Through(type);
  }

  AttrValue Attr(const OpDef& op, const AttrSpec& spec) {
    switch (spec.kind) {
      case AttrKind::kInt:
        return OneOf<int64_t>({0, 0, 1, 1, 2, 3, 4, -1});
      case AttrKind::kFloat:
        return OneOf<double>({0, 1, 0.5, -1, 2});
      case AttrKind::kString:
        return String(op, spec.name);
      case AttrKind::kInts:
        return OneOf<Ints>({{},           {0},
                            {1},          {2},
                            {3},          {-1},
                            {0, 1},       {1, 0},
                            {1, 1},       {2, 2},
                            {2, 3},       {0, 0},
                            {0, 1, 2},    {2, 0, 1},
                            {1, 1, 1},    {0, 0, 0, 0},
                            {1, 0, 0, 1}, {0, 2, 3, 1},
                            {1, 1, 1, 1}, {0, 0, 1, 1, 0, 0, 1, 0}});
      case AttrKind::kFloats:
        return OneOf<std::vector<double>>(
            {{}, {1}, {1, 2}, {1, 2, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}});
      case AttrKind::kStrings:
        return OneOf<std::vector<std::string>>({{},
                                                {"a"},
                                                {"a", "bc"},
                                                {"Tanh"},
                                                {"Sigmoid", "Tanh"},
                                                {"Sigmoid", "Tanh", "Tanh"}});
      case AttrKind::kDataType:
        return AnyType();
      case AttrKind::kShape: {
        if (spec.name == "symbols") return Shape{module_->RunTimeSymbol("s")};
        if (Chance(40)) {  // one number or one symbol
          return Shape{Chance(70) ? tir::MakeInt(Next(4)) : Symbol()};
        }
        return AnyShape();
      }
    }
    return int64_t{0};
  }

  // A value that the documentation of the attribute names, or a known one.
  std::string String(const OpDef& op, const std::string& name) {
    static const auto* const known =
        new std::map<std::string, std::vector<std::string>>{
            {"direction", {"LEFT", "RIGHT", "forward", "bidirectional"}},
            {"data_layout", {"NCHW", "NCHW4c"}},
            {"kernel_layout", {"OIHW", "OIHW4i4o", "OIHW4o"}},
            {"layout", {"NCHW", "NCHW2c"}},
            {"approximate", {"none", "tanh"}},
            {"format", {"e4m3fn", "e5m2"}},
            {"reduction", {"none", "add", "mul", "max", "mean", "sum"}},
            {"src", {"NCHW", "NCHW2c"}},
            {"dst", {"NCHW", "NCHW2c", "NHWC"}},
            {"equation",
             {"ij,jk->ik", "ij->ji", "i,i->", "...i->...", "ii->i"}},
            {"distribution", {"uniform", "normal"}},
            {"mode",
             {"constant", "edge", "nearest", "linear", "avg", "max", "DCR"}},
            {"case", {"upper", "lower"}},
        };
    auto it = known->find(name);
    return it == known->end() ? name : OneOf(it->second);
  }

  Module* const module_;
  Function* const main_;
  uint64_t state_;
  uint64_t style_ = 0;  // of the operands after the first one
};

}  // namespace

std::unique_ptr<Module> SampleCall(const OpDef& op, uint64_t seed) {
  auto module = std::make_unique<Module>();
  // The operator's name as well, so that each sees other operands.
  for (char c : op.name) seed = seed * 131 + static_cast<unsigned char>(c);
  if (!Sampler(module.get(), seed).Add(op)) return nullptr;
  return module;
}

}  // namespace ingot::relay

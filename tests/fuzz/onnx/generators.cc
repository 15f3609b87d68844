// Values that are made from their shape or a few numbers.
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

void AddConstantOfShape(Grower* g, const std::string& op) {
  const DataType t = g->AnyType();
  Call call(
      op,
      {g->Parameter(g->RandomShape(static_cast<int>(g->random().Next(4))))});
  if (g->random().Chance(70)) call.Value("value", TensorOf(t, {1}, {1}));
  g->Try(call);
}

// Exporters write a causal mask like this. A large one, now and then, is
// computed when the model runs.
void AddMask(Grower* g, const std::string&) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const bool large = r.Chance(25);
  const int64_t n = large ? 600 : 1 + r.Next(40);
  const int64_t m = large ? 700 : g->Extent();
  Shape shape = {n, m};
  if (r.Chance(50)) shape.insert(shape.begin(), r.Chance(50) ? 2 : 1, 1);
  const auto plane = g->Try(Call("ConstantOfShape", {g->Parameter(shape)})
                                .Value("value", TensorOf(t, {1}, {-3})));
  if (!plane) return;
  const auto mask = g->Try(Call("Trilu", {*plane}).Int("upper", r.Next(2)));
  if (!mask) return;
  const Shape other = r.OneOf<Shape>({{m}, {n, 1}, {n, m}, {}});
  g->Try(Call("Add", {*mask, g->Like(t, other)}));
}

// A value as large as another one is, whatever that is.
void AddOnesLike(Grower* g, const std::string&) {
  Random& r = g->random();
  const DataType t = DataType::Float(32);
  const std::string x = g->Some(t, 0, 4);
  const auto shape = g->Try(Call("Shape", {x}));
  if (!shape) return;
  const auto ones = g->Try(Call("ConstantOfShape", {*shape})
                               .Value("value", TensorOf(t, {1}, {0.5})));
  if (!ones) return;
  if (r.Chance(60)) {
    g->Try(Call(r.OneOf({"Add", "Mul", "Max"}), {x, *ones}));
  } else {
    g->Try(
        Call(r.OneOf({"ReduceSum", "ReduceMax", "Relu", "Softmax"}), {*ones}));
  }
}

void AddRange(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = r.OneOf({DataType::Int(64), DataType::Float(32),
                              DataType::Int(32), DataType::Float(64)});
  const double step = r.OneOf({1.0, 2.0, -1.0, 3.0});
  const double start = static_cast<double>(r.Between(-3, 3));
  const double limit =
      start + step * static_cast<double>(g->Extent()) - (r.Chance(30) ? 1 : 0);
  g->Try(Call(op, {g->ScalarParameter(start, t), g->ScalarParameter(limit, t),
                   g->ScalarParameter(step, t)}));
}

void AddEyeLike(Grower* g, const std::string& op) {
  Random& r = g->random();
  Call call(op, {g->Some(g->random().Chance(60) ? DataType::Float(32)
                                                : DataType::Int(64),
                         2, 2)});
  if (r.Chance(60)) call.Int("k", r.Between(-3, 3));
  if (r.Chance(40)) call.Int("dtype", OnnxTypeOf(DataType::Float(32)));
  g->Try(call);
}

void AddConstant(Grower* g, const std::string& op) {
  Random& r = g->random();
  Call call(op, {});
  switch (r.Next(4)) {
    case 0:
      call.Float("value_float", r.Real(-1, 1));
      break;
    case 1:
      call.Floats("value_floats", {r.Real(-1, 1), r.Real(-1, 1), 0.5});
      break;
    case 2:
      call.Ints("value_ints", {1, 2, 3, 4});
      break;
    default:
      call.Int("value_int", r.Next(9));
  }
  g->Try(call);
}

void AddWindowFunction(Grower* g, const std::string& op) {
  Call call(op,
            {g->ScalarParameter(static_cast<double>(1 + g->random().Next(40)),
                                DataType::Int(64))});
  if (g->random().Chance(50)) call.Int("periodic", g->random().Next(2));
  g->Try(call);
}

void AddDropout(Grower* g, const std::string& op) {
  Call call(op, {g->Some(g->FloatType(), 0, 4)});
  if (g->random().Chance(50)) {
    call.operands.push_back(g->ScalarParameter(0.3, DataType::Float(32)));
  }
  call.Results(g->random().Chance(25) ? 2 : 1);
  g->Add(call);
}

void AddMel(Grower* g, const std::string& op) {
  Random& r = g->random();
  const auto integer = [&](int64_t value) {
    return g->ScalarParameter(static_cast<double>(value), DataType::Int(64));
  };
  g->Try(Call(
      op, {integer(2 + r.Next(20)), integer(r.OneOf<int64_t>({16, 64, 128})),
           integer(8192), g->ScalarParameter(0, DataType::Float(32)),
           g->ScalarParameter(4096, DataType::Float(32))}));
}

}  // namespace

void AddGenerators(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"ConstantOfShape"}, AddConstantOfShape});
  samplers->push_back({{"ConstantOfShape", "Trilu"}, AddMask});
  samplers->push_back({{"ConstantOfShape", "Shape"}, AddOnesLike});
  samplers->push_back({{"Range"}, AddRange});
  samplers->push_back({{"EyeLike"}, AddEyeLike});
  samplers->push_back({{"Constant"}, AddConstant});
  samplers->push_back(
      {{"BlackmanWindow", "HammingWindow", "HannWindow"}, AddWindowFunction});
  samplers->push_back({{"Dropout"}, AddDropout});
  samplers->push_back({{"MelWeightMatrix"}, AddMel});
}

}  // namespace ingot::fuzz

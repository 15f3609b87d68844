// Products of matrices.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

constexpr int64_t kMaxProducts = 20 * 1000 * 1000;

// The number of columns that a product may have when the left operand has that
// many elements.
int64_t Columns(Grower* g, int64_t left_elements) {
  const int64_t products = (g->Large() ? 4 : 1) * kMaxProducts;
  const int64_t most = products / std::max<int64_t>(1, left_elements);
  return std::max<int64_t>(1, std::min<int64_t>(g->Extent(), most));
}

// The value with its last two dimensions exchanged.
std::optional<std::string> Transposed(Grower* g, const std::string& x) {
  Shape order;
  for (int d = 0; d < g->RankOf(x); ++d) order.push_back(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return g->Try(Call("Transpose", {x}).Ints("perm", order));
}

// The value itself, a square, or a value of its own shape.
std::string Square(Grower* g, DataType t) {
  const int64_t extent = g->Extent();
  const int64_t n = std::min<int64_t>(extent, 256);
  Shape shape = {n, n};
  if (g->random().Chance(25))
    shape.insert(shape.begin(), 1 + g->random().Next(3));
  return g->Like(t, shape);
}

// Adds a few of the nodes that often follow a product: a bias, an activation, a
// residual.
void AddTail(Grower* g, std::optional<std::string> x) {
  for (int64_t k = g->random().Next(4); k > 0 && x; --k) {
    const Shape shape = g->ShapeOf(*x);
    const DataType t = g->TypeOf(*x);
    switch (g->random().Next(4)) {
      case 0:
        x = g->Try(Call(
            "Add",
            {*x, g->New(t, shape.empty() ? Shape{} : Shape{shape.back()})}));
        break;
      case 1:
        x = g->Try(Call("Add", {g->Like(t, shape), *x}));
        break;
      case 2:
        x = g->Try(Call("Mul", {*x, g->New(t, {})}));
        break;
      default:
        x = g->Try(Call(g->random().OneOf({"Relu", "Sigmoid", "Tanh", "Gelu",
                                           "Softmax", "Neg", "LeakyRelu"}),
                        {*x}));
    }
  }
}

// Few rows by a matrix that leaves the nearer caches, and that a run gives.
void AddFewRows(Grower* g, DataType t) {
  Random& r = g->random();
  const int64_t terms = r.OneOf<int64_t>({300, 513, 777, 1024, 2049});
  const int64_t columns = std::min(
      r.OneOf<int64_t>({65, 200, 512, 777, 1025, 2100}), 800000 / terms);
  Shape left = {r.OneOf<int64_t>({1, 1, 2, 2, 3}), terms};
  Shape right = {terms, columns};
  if (r.Chance(20)) {
    left.insert(left.begin(), 5);
    if (terms * columns < 150000) right.insert(right.begin(), 5);
  }
  AddTail(g, g->Try(Call("MatMul", {g->New(t, left), g->Like(t, right)})));
}

void AddMatMul(Grower* g, const std::string& op) {
  Random& r = g->random();
  DataType t = g->FloatType();
  if (r.Chance(6)) t = DataType::Int(32);
  if (g->Large() && r.Chance(30)) return AddFewRows(g, t);
  std::string a;
  std::optional<std::string> b;
  const int64_t kind = r.Next(10);
  if (kind == 0) {  // x·x
    a = Square(g, t);
    b = a;
  } else if (kind == 1) {  // x·xᵀ
    a = g->Some(t, 2, 4);
    b = Transposed(g, a);
  } else if (kind == 2) {  // xᵀ·x
    b = g->Some(t, 2, 4);
    if (auto left = Transposed(g, *b)) a = *left;
  } else {
    a = g->Some(t, 1, 4);
    const Shape left = g->ShapeOf(a);
    Shape right = {left.back()};
    if (!r.Chance(8)) right.push_back(Columns(g, CountOf(left)));
    if (left.size() > 2 && r.Chance(50)) {
      for (size_t d = 0; d + 2 < left.size(); ++d) {
        right.insert(right.begin() + d, r.Chance(25) ? 1 : left[d]);
      }
      if (CountOf(right) > (g->Large() ? 500000 : 150000)) return;
    }
    b = r.Chance(50) ? g->Weight(t, right) : g->Like(t, right);
  }
  if (a.empty() || !b) return;
  if (CountOf(g->ShapeOf(a)) * g->ShapeOf(*b).back() > 4 * kMaxProducts) return;
  AddTail(g, g->Try(Call(op, {a, *b})));
}

void AddGemm(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = g->FloatType();
  const bool trans_a = r.Chance(30), trans_b = r.Chance(40);
  std::string a = r.Chance(12) ? Square(g, t) : g->Some(t, 2, 2);
  const Shape left = g->ShapeOf(a);
  if (left.size() != 2) return;
  const int64_t m = left[trans_a ? 1 : 0], k = left[trans_a ? 0 : 1];
  std::string b;
  int64_t n = 0;
  if (r.Chance(15) && trans_a != trans_b) {  // x·xᵀ
    b = a;
    n = m;
  } else if (r.Chance(40) && m == k) {
    b = a;
    n = m;
  } else {
    n = Columns(g, CountOf(left));
    const Shape right = trans_b ? Shape{n, k} : Shape{k, n};
    b = r.Chance(50) ? g->Weight(t, right) : g->Like(t, right);
  }
  Call call(op, {a, b});
  if (r.Chance(70)) {
    call.operands.push_back(g->Like(
        t, r.OneOf<Shape>({{n}, {1, n}, {m, n}, {m, 1}, {1}, {}, {1, 1}})));
  }
  if (trans_a || r.Chance(10)) call.Int("transA", trans_a);
  if (trans_b || r.Chance(10)) call.Int("transB", trans_b);
  if (r.Chance(30)) call.Float("alpha", r.OneOf({0.5, 2.0, 1.25, -1.0}));
  if (r.Chance(30)) call.Float("beta", r.OneOf({0.5, 2.0, 0.0, 1.0}));
  AddTail(g, g->Try(call));
}

void AddEinsum(Grower* g, const std::string& op) {
  Random& r = g->random();
  struct Form {
    const char* equation;
    std::vector<std::string> operands;  // letters of each
  };
  static const auto* const kForms = new std::vector<Form>{
      {"ij,jk->ik", {"ij", "jk"}},
      {"bij,bjk->bik", {"bij", "bjk"}},
      {"bhid,bhjd->bhij", {"bhid", "bhjd"}},
      {"bij,bkj->bik", {"bij", "bkj"}},
      {"ij,ij->i", {"ij", "ij"}},
      {"ij->ji", {"ij"}},
      {"ij->i", {"ij"}},
      {"ii->i", {"ii"}},
      {"i,j->ij", {"i", "j"}},
      {"...ij,...jk->...ik", {"bij", "bjk"}},
      {"bijc,ijk->bkc", {"bijc", "ijk"}},
      {"ij,ik,il->jkl", {"ij", "ik", "il"}},
      {"ij,jk,kl->il", {"ij", "jk", "kl"}},
      {"bhij,bhjd->bihd", {"bhij", "bhjd"}},
      {"bihd,bjhd->bhij", {"bihd", "bjhd"}},
      {"bchw,bkhw->bck", {"bchw", "bkhw"}},
      {"bchw,cd->bdhw", {"bchw", "cd"}},
      {"ij,kj,j->ik", {"ij", "kj", "j"}},
      {"bij,bi->bj", {"bij", "bi"}},
      {"ijk->", {"ijk"}},
      {"ij,ji->", {"ij", "ji"}},
      {"bii->bi", {"bii"}},
      {"ijk,ilm,njm,nlk->", {"ijk", "ilm", "njm", "nlk"}}};
  const Form& form = r.OneOf(*kForms);
  std::map<char, int64_t> extents;
  const DataType t = g->FloatType();
  const int64_t most = g->Large() && form.operands.size() < 3 ? 200 : 66;
  const int64_t few_most = g->Large() && form.operands.size() < 3 ? 40 : 20;
  Call call(op, {});
  for (const std::string& letters : form.operands) {
    Shape shape;
    for (char letter : letters) {
      auto it = extents.find(letter);
      if (it == extents.end()) {
        const bool few = letters.size() > 3 || form.operands.size() > 3;
        const int64_t extent = few ? 1 + r.Next(few_most) : g->Extent();
        it = extents.emplace(letter, std::min(extent, most)).first;
      }
      shape.push_back(it->second);
    }
    call.operands.push_back(g->Like(t, shape));
  }
  // One value as all operands, where the letters allow it.
  if (call.operands.size() == 2 && r.Chance(20) &&
      g->ShapeOf(call.operands[0]) == g->ShapeOf(call.operands[1])) {
    call.operands[1] = call.operands[0];
  }
  g->Try(call.String("equation", form.equation));
}

// Products of bytes, whose sums are whole.
void AddMatMulInteger(Grower* g, const std::string& op) {
  Random& r = g->random();
  const bool is_signed = r.Chance(30);
  const DataType t = is_signed ? DataType::Int(8) : DataType::UInt(8);
  const DataType u = r.Chance(50) ? DataType::Int(8) : DataType::UInt(8);
  const std::string a = g->Some(t, 2, 3);
  const Shape left = g->ShapeOf(a);
  if (left.empty()) return;
  const int64_t n = Columns(g, CountOf(left));
  std::string b =
      g->New(u, {left.back(), n},
             u.is_int() ? Fill::Whole(-127, 127) : Fill::Whole(0, 255));
  if (r.Chance(15) && left.size() == 2 && left[0] == left[1]) b = a;
  Call call(op, {a, b});
  if (r.Chance(60)) {
    call.operands.push_back(g->ScalarParameter(3, t));
    if (r.Chance(60)) {
      const DataType right = g->TypeOf(b);
      call.operands.push_back(
          r.Chance(50) ? g->ScalarParameter(2, right)
                       : g->Initializer(
                             TensorOf(right, {n}, std::vector<double>(n, 2))));
    }
  }
  g->Try(call);
}

void AddDet(Grower* g, const std::string& op) {
  const int64_t n = 1 + g->random().Next(6);
  Shape shape = {n, n};
  if (g->random().Chance(50))
    shape.insert(shape.begin(), 1 + g->random().Next(5));
  g->Try(Call(op, {g->Like(g->FloatType(), shape)}));
}

}  // namespace

void AddProducts(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"MatMul"}, AddMatMul, 7});
  samplers->push_back({{"Gemm"}, AddGemm, 5});
  samplers->push_back({{"Einsum"}, AddEinsum, 2});
  samplers->push_back({{"MatMulInteger"}, AddMatMulInteger, 2});
  samplers->push_back({{"Det"}, AddDet});
}

}  // namespace ingot::fuzz

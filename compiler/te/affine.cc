#include "compiler/te/affine.h"

#include <algorithm>
#include <utility>

#include "compiler/tir/visitor.h"

namespace ingot::te {

using tir::As;
using tir::Binary;
using tir::BinaryOp;
using tir::IntImm;
using tir::MakeBinary;
using tir::MakeInt;
using tir::Var;

namespace {

bool SameAll(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameExpr(a[i], b[i])) return false;
  }
  return true;
}

int64_t FloorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

bool IsIndexType(const Expr& e) { return e->dtype == DataType::Int(64); }

}  // namespace

bool SameExpr(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  if (a->kind != b->kind || a->dtype != b->dtype) return false;
  switch (a->kind) {
    case tir::ExprKind::kIntImm:
      return As<IntImm>(a)->value == As<IntImm>(b)->value;
    case tir::ExprKind::kFloatImm:
      return As<tir::FloatImm>(a)->value == As<tir::FloatImm>(b)->value;
    case tir::ExprKind::kVar:
      return false;  // identity was tested above
    case tir::ExprKind::kUnary: {
      const auto *x = As<tir::Unary>(a), *y = As<tir::Unary>(b);
      return x->op == y->op && SameExpr(x->a, y->a);
    }
    case tir::ExprKind::kBinary: {
      const auto *x = As<Binary>(a), *y = As<Binary>(b);
      return x->op == y->op && SameExpr(x->a, y->a) && SameExpr(x->b, y->b);
    }
    case tir::ExprKind::kSelect: {
      const auto *x = As<tir::Select>(a), *y = As<tir::Select>(b);
      return SameExpr(x->condition, y->condition) &&
             SameExpr(x->on_true, y->on_true) &&
             SameExpr(x->on_false, y->on_false);
    }
    case tir::ExprKind::kCast:
      return SameExpr(As<tir::Cast>(a)->value, As<tir::Cast>(b)->value);
    case tir::ExprKind::kLoad: {
      const auto *x = As<tir::Load>(a), *y = As<tir::Load>(b);
      return x->buffer == y->buffer && SameAll(x->indices, y->indices);
    }
    case tir::ExprKind::kRamp: {
      const auto *x = As<tir::Ramp>(a), *y = As<tir::Ramp>(b);
      return SameExpr(x->base, y->base) && SameExpr(x->stride, y->stride);
    }
    case tir::ExprKind::kBroadcast:
      return SameExpr(As<tir::Broadcast>(a)->value,
                      As<tir::Broadcast>(b)->value);
    case tir::ExprKind::kCall: {
      const auto *x = As<tir::Call>(a), *y = As<tir::Call>(b);
      return x->intrinsic == y->intrinsic && SameAll(x->args, y->args);
    }
  }
  return false;
}

// --------------------------------------------------------------------- Linear

Linear Linear::Atom(Expr atom) {
  Linear result;
  result.Add(atom, 1);
  return result;
}

void Linear::Add(const Expr& atom, int64_t coefficient) {
  if (coefficient == 0) return;
  for (auto it = terms_.begin(); it != terms_.end(); ++it) {
    if (!SameExpr(it->atom, atom)) continue;
    it->coefficient += coefficient;
    if (it->coefficient == 0) terms_.erase(it);
    return;
  }
  terms_.push_back({atom, coefficient});
}

std::optional<int64_t> Linear::AsConst() const {
  if (!terms_.empty()) return std::nullopt;
  return constant_;
}

bool Linear::IsMultipleOf(int64_t c) const {
  if (constant_ % c != 0) return false;
  return std::all_of(terms_.begin(), terms_.end(),
                     [c](const Term& t) { return t.coefficient % c == 0; });
}

int64_t Linear::CoefficientOf(const Var* var) const {
  for (const Term& t : terms_) {
    if (t.atom.get() == var) return t.coefficient;
  }
  return 0;
}

Linear Linear::operator+(const Linear& o) const {
  Linear result = *this;
  result.constant_ += o.constant_;
  for (const Term& t : o.terms_) result.Add(t.atom, t.coefficient);
  return result;
}

Linear Linear::operator-(const Linear& o) const { return *this + o * -1; }

Linear Linear::operator*(int64_t factor) const {
  if (factor == 0) return Linear();
  Linear result = *this;
  result.constant_ *= factor;
  for (Term& t : result.terms_) t.coefficient *= factor;
  return result;
}

bool Linear::operator==(const Linear& o) const {
  return (*this - o).AsConst() == std::optional<int64_t>(0);
}

Expr Linear::ToExpr() const {
  Expr sum;
  for (const Term& t : terms_) {
    if (sum == nullptr) {
      sum = t.atom * t.coefficient;
    } else if (t.coefficient < 0) {
      sum = sum - t.atom * -t.coefficient;
    } else {
      sum = sum + t.atom * t.coefficient;
    }
  }
  if (sum == nullptr) return MakeInt(constant_);
  return constant_ < 0 ? sum - -constant_ : sum + constant_;
}

namespace {

// The product of two forms, expanded; products of atoms are atoms whose
// factors are in a canonical order.
Linear Product(const Linear& a, const Linear& b) {
  if (auto c = a.AsConst()) return b * *c;
  if (auto c = b.AsConst()) return a * *c;
  Linear result(a.constant() * b.constant());
  for (const auto& t : a.terms()) {
    result = result + Linear::Atom(t.atom) * (t.coefficient * b.constant());
  }
  for (const auto& u : b.terms()) {
    result = result + Linear::Atom(u.atom) * (u.coefficient * a.constant());
  }
  for (const auto& t : a.terms()) {
    for (const auto& u : b.terms()) {
      const auto* x = As<Var>(t.atom);
      const auto* y = As<Var>(u.atom);
      // Variables last and in order of creation; enough to make n * m and
      // m * n, and n * (x // n) and (x // n) * n, the same.
      bool swap = x != nullptr && (y == nullptr || y->id < x->id);
      Expr product = swap ? MakeBinary(BinaryOp::kMul, u.atom, t.atom)
                          : MakeBinary(BinaryOp::kMul, t.atom, u.atom);
      result = result + Linear::Atom(product) * (t.coefficient * u.coefficient);
    }
  }
  return result;
}

}  // namespace

void Linear::JoinDivMod() {
  for (size_t i = 0; i < terms_.size(); ++i) {
    const auto* mod = As<Binary>(terms_[i].atom);
    if (mod == nullptr || mod->op != BinaryOp::kFloorMod) continue;
    const int64_t k = terms_[i].coefficient;
    int64_t divisor = 0;
    const bool constant = tir::AsConstInt(mod->b, &divisor);
    for (size_t j = 0; j < terms_.size(); ++j) {
      const auto* term = As<Binary>(terms_[j].atom);
      if (term == nullptr) continue;
      const Binary* div = nullptr;
      if (constant) {
        if (terms_[j].coefficient == k * divisor) div = term;
      } else if (term->op == BinaryOp::kMul && terms_[j].coefficient == k &&
                 SameExpr(term->b, mod->b)) {
        div = As<Binary>(term->a);
      }
      if (div == nullptr || div->op != BinaryOp::kFloorDiv ||
          !SameExpr(div->a, mod->a) || !SameExpr(div->b, mod->b)) {
        continue;
      }
      Linear whole = Linear::Of(mod->a) * k;
      terms_.erase(terms_.begin() + std::max(i, j));
      terms_.erase(terms_.begin() + std::min(i, j));
      *this = whole + *this;
      JoinDivMod();
      return;
    }
  }
}

Linear Linear::Of(const Expr& e, const Ranges* ranges) {
  if (const auto* imm = As<IntImm>(e)) return Linear(imm->value);
  if (!IsIndexType(e)) return Atom(e);
  if (const auto* neg = As<tir::Unary>(e)) {
    if (neg->op == tir::UnaryOp::kNeg) return Of(neg->a, ranges) * -1;
    return Atom(e);
  }
  const auto* binary = As<Binary>(e);
  if (binary == nullptr) return Atom(e);
  Linear a = Of(binary->a, ranges);
  Linear b = Of(binary->b, ranges);
  switch (binary->op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub: {
      Linear sum = binary->op == BinaryOp::kAdd ? a + b : a - b;
      sum.JoinDivMod();
      return sum;
    }
    case BinaryOp::kMul:
      return Product(a, b);
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod: {
      const bool is_div = binary->op == BinaryOp::kFloorDiv;
      std::optional<int64_t> c = b.AsConst();
      if (!c || *c <= 0) {
        if (ranges != nullptr && ranges->ProveNonNegative(a) &&
            ranges->ProveLess(a, b)) {
          return is_div ? Linear(0) : a;
        }
        return Atom(MakeBinary(binary->op, a.ToExpr(), b.ToExpr()));
      }
      // a = c * quotient + rest; multiples of c leave the division.
      Linear quotient(FloorDiv(a.constant_, *c));
      Linear rest(FloorMod(a.constant_, *c));
      for (const Term& t : a.terms_) {
        if (t.coefficient % *c == 0) {
          quotient.Add(t.atom, t.coefficient / *c);
        } else {
          rest.Add(t.atom, t.coefficient);
        }
      }
      const bool small = rest.AsConst() ||
                         (ranges != nullptr && ranges->ProveNonNegative(rest) &&
                          ranges->ProveLess(rest, Linear(*c)));
      if (small) return is_div ? quotient : rest;
      Expr divisor = MakeInt(*c);
      if (is_div) {
        return quotient +
               Atom(MakeBinary(BinaryOp::kFloorDiv, rest.ToExpr(), divisor));
      }
      return Atom(MakeBinary(BinaryOp::kFloorMod, rest.ToExpr(), divisor));
    }
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      const bool is_min = binary->op == BinaryOp::kMin;
      Linear difference = b - a;
      if (auto d = difference.AsConst()) return (*d >= 0) == is_min ? a : b;
      if (ranges != nullptr) {
        if (ranges->ProveNonNegative(difference)) return is_min ? a : b;
        if (ranges->ProveNonNegative(difference * -1)) return is_min ? b : a;
      }
      return Atom(MakeBinary(binary->op, a.ToExpr(), b.ToExpr()));
    }
    default:
      return Atom(e);
  }
}

// --------------------------------------------------------------------- Ranges

void Ranges::Set(const Var* var, const Linear& min, const Linear& max) {
  auto [it, inserted] = index_.insert({var, entries_.size()});
  if (inserted) {
    entries_.push_back({var, min, max});
  } else {
    entries_[it->second] = {var, min, max};
  }
}

Linear Ranges::Bound(Linear form, bool upper) const {
  // Later variables first: their bounds may mention earlier ones.
  for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) {
    int64_t k = form.CoefficientOf(it->var);
    if (k == 0) continue;
    Linear rest;
    rest = Linear(form.constant());
    for (const auto& t : form.terms()) {
      if (t.atom.get() == it->var) continue;
      rest = rest + Linear::Atom(t.atom) * t.coefficient;
    }
    form = rest + ((k > 0) == upper ? it->max : it->min) * k;
  }
  // Collects the terms that are left of floor division and modulo by constants.
  Linear result(form.constant());
  for (const auto& t : form.terms()) {
    const bool up = (t.coefficient > 0) == upper;
    const auto* b = As<Binary>(t.atom);
    int64_t c = 0;
    if (b != nullptr && tir::AsConstInt(b->b, &c) && c > 0) {
      if (b->op == BinaryOp::kFloorMod) {
        Linear top(c - 1);
        result = result + (up ? top : Linear(0)) * t.coefficient;
        continue;
      }
      if (b->op == BinaryOp::kFloorDiv) {
        Linear inner = Bound(Linear::Of(b->a), up);
        if (auto value = inner.AsConst()) {
          result = result + Linear(FloorDiv(*value, c)) * t.coefficient;
          continue;
        }
        if (t.coefficient % c == 0) {
          // x - (c - 1) <= c * (x // c) <= x.
          Linear whole = up ? inner : inner - Linear(c - 1);
          result = result + whole * (t.coefficient / c);
          continue;
        }
      }
    }
    if (b != nullptr && (b->op == BinaryOp::kMin || b->op == BinaryOp::kMax)) {
      // min is below each side and max above; the other directions need
      // both sides, which only constants settle.
      Linear x = Bound(Linear::Of(b->a), up);
      Linear y = Bound(Linear::Of(b->b), up);
      auto cx = x.AsConst(), cy = y.AsConst();
      const bool is_min = b->op == BinaryOp::kMin;
      if (cx && cy) {
        int64_t v = is_min ? std::min(*cx, *cy) : std::max(*cx, *cy);
        result = result + Linear(v) * t.coefficient;
        continue;
      }
      if (is_min == up) {
        result = result + (cx ? x : y) * t.coefficient;
        continue;
      }
    }
    result = result + Linear::Atom(t.atom) * t.coefficient;
  }
  return result;
}

Linear Ranges::LowerBound(const Linear& form) const {
  return Bound(form, /*upper=*/false);
}

Linear Ranges::UpperBound(const Linear& form) const {
  return Bound(form, /*upper=*/true);
}

namespace {

// Atoms of which at least 0 is known without ranges: dimensions and what is
// made of them by operations that keep the sign.
bool AtomNonNegative(const Expr& atom) {
  if (As<Var>(atom) != nullptr) return true;
  if (const auto* imm = As<IntImm>(atom)) return imm->value >= 0;
  const auto* b = As<Binary>(atom);
  if (b == nullptr) return false;
  switch (b->op) {
    case BinaryOp::kAdd:
    case BinaryOp::kMul:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMin:
      return AtomNonNegative(b->a) && AtomNonNegative(b->b);
    case BinaryOp::kMax:
      return AtomNonNegative(b->a) || AtomNonNegative(b->b);
    case BinaryOp::kFloorMod:
      return AtomNonNegative(b->b);
    default:
      return false;
  }
}

}  // namespace

bool Ranges::ProveNonNegative(const Linear& form) const {
  if (auto c = form.AsConst()) return *c >= 0;
  Linear bound = LowerBound(form);
  if (bound.constant() < 0) return false;
  for (const auto& t : bound.terms()) {
    const Var* var = As<Var>(t.atom);
    if (var != nullptr && Has(var)) return false;
    if (t.coefficient < 0 || !AtomNonNegative(t.atom)) return false;
  }
  return true;
}

std::optional<bool> Ranges::Decide(const Expr& condition) const {
  if (const auto* imm = As<IntImm>(condition)) return imm->value != 0;
  if (const auto* unary = As<tir::Unary>(condition)) {
    if (unary->op != tir::UnaryOp::kNot) return std::nullopt;
    auto value = Decide(unary->a);
    if (value) return !*value;
    return std::nullopt;
  }
  const auto* b = As<Binary>(condition);
  if (b == nullptr) return std::nullopt;
  if (b->op == BinaryOp::kAnd || b->op == BinaryOp::kOr) {
    const bool is_and = b->op == BinaryOp::kAnd;
    auto x = Decide(b->a), y = Decide(b->b);
    if (x && *x != is_and) return !is_and;
    if (y && *y != is_and) return !is_and;
    if (x && y) return is_and;
    return std::nullopt;
  }
  if (!IsIndexType(b->a)) return std::nullopt;
  Linear x = Linear::Of(b->a, this);
  Linear y = Linear::Of(b->b, this);
  auto less = [this](const Linear& p, const Linear& q) -> std::optional<bool> {
    if (ProveLess(p, q)) return true;
    if (ProveNonNegative(p - q)) return false;
    return std::nullopt;
  };
  auto negate = [](std::optional<bool> v) -> std::optional<bool> {
    if (v) return !*v;
    return v;
  };
  switch (b->op) {
    case BinaryOp::kLt:
      return less(x, y);
    case BinaryOp::kGt:
      return less(y, x);
    case BinaryOp::kGe:
      return negate(less(x, y));
    case BinaryOp::kLe:
      return negate(less(y, x));
    case BinaryOp::kEq:
    case BinaryOp::kNe: {
      const bool is_eq = b->op == BinaryOp::kEq;
      if (x == y) return is_eq;
      if (ProveLess(x, y) || ProveLess(y, x)) return !is_eq;
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// ------------------------------------------------------------------- Interval

namespace {

using Box = std::map<const Var*, Interval>;

bool DependsOnBox(const Expr& e, const Box& box) {
  class Finder : public tir::ExprVisitor {
   public:
    explicit Finder(const Box& box) : box_(box) {}
    bool found = false;

   protected:
    void VisitVar(const Var& var) override {
      if (box_.count(&var) != 0) found = true;
    }

   private:
    const Box& box_;
  };
  Finder finder(box);
  finder.Visit(e);
  return finder.found;
}

// `e` with every variable that has one value in the box replaced by it.
Expr FixPoints(const Expr& e, const Box& box) {
  std::map<const Var*, Expr> fixed;
  for (const auto& [var, interval] : box) {
    if (interval.extent.AsConst() == std::optional<int64_t>(1)) {
      fixed[var] = interval.min.ToExpr();
    }
  }
  return fixed.empty() ? e : tir::Substitute(e, fixed);
}

std::optional<Interval> AtomInterval(const Expr& atom, const Box& box,
                                     const Ranges& ranges) {
  if (const auto* var = As<Var>(atom)) {
    auto it = box.find(var);
    if (it == box.end()) return Interval{Linear::Atom(atom), Linear(1)};
    return it->second;
  }
  if (!DependsOnBox(atom, box)) return Interval{Linear::Atom(atom), Linear(1)};
  const auto* b = As<Binary>(atom);
  int64_t c = 0;
  if (b == nullptr || !tir::AsConstInt(b->b, &c) || c <= 0) return std::nullopt;
  if (b->op != BinaryOp::kFloorDiv && b->op != BinaryOp::kFloorMod) {
    return std::nullopt;
  }
  auto inner = IntervalOf(b->a, box, ranges);
  if (!inner) return std::nullopt;
  std::optional<int64_t> extent = inner->extent.AsConst();
  const bool aligned = inner->min.IsMultipleOf(c);
  const bool is_div = b->op == BinaryOp::kFloorDiv;
  Expr min = inner->min.ToExpr();
  if (is_div) {
    if (!extent) return std::nullopt;
    Linear low =
        Linear::Of(MakeBinary(BinaryOp::kFloorDiv, min, b->b), &ranges);
    if (aligned) {
      return Interval{low, Linear((*extent + c - 1) / c), inner->inexact};
    }
    return Interval{low, Linear((*extent - 1 + c - 1) / c + 1), true};
  }
  if (extent && *extent <= c && aligned) {
    return Interval{Linear(0), Linear(*extent), inner->inexact};
  }
  return Interval{Linear(0), Linear(c), true};
}

}  // namespace

std::optional<Interval> IntervalOf(const Expr& e, const Box& box,
                                   const Ranges& ranges) {
  Linear form = Linear::Of(FixPoints(e, box), &ranges);
  Interval result{Linear(form.constant()), Linear(1)};
  for (const auto& t : form.terms()) {
    auto atom = AtomInterval(t.atom, box, ranges);
    if (!atom) return std::nullopt;
    Linear width = atom->extent - Linear(1);
    const int64_t k = t.coefficient;
    result.min = result.min + (k > 0 ? atom->min : atom->min + width) * k;
    result.extent = result.extent + width * (k > 0 ? k : -k);
    result.inexact = result.inexact || atom->inexact;
  }
  return result;
}

}  // namespace ingot::te

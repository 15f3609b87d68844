// Every backend that takes regions, on every kind of operator and composite
// that it claims: compiled, linked, loaded, run, and compared with the
// interpreter. A pattern that no case here is taken by fails the test.

#include <functional>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/builtin.h"
#include "backends/testing/run_regions.h"
#include "compiler/relay/op.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing_support::CompareRelay;
using testing_support::Comparison;

// Repeatable choices.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t Int(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % (high - low + 1));
  }
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[Int(0, static_cast<int64_t>(from.size()) - 1)];
  }
  std::vector<int64_t> Dims(int64_t rank, int64_t most = 6) {
    std::vector<int64_t> dims;
    for (int64_t i = 0; i < rank; ++i) dims.push_back(Int(1, most));
    return dims;
  }

 private:
  std::mt19937 engine_;
};

std::string Type(const std::vector<int64_t>& dims,
                 const std::string& dtype = "f32") {
  return absl::StrCat(dtype, "[", absl::StrJoin(dims, ", "), "]");
}

// A constant in the text.
std::string Constant(const std::string& name, const std::vector<int64_t>& dims,
                     int seed) {
  return absl::StrCat("%", name, " = const ", Type(dims), " random(", seed,
                      ") ");
}

std::string SmallInts(const std::string& name, const std::vector<int64_t>& dims,
                      Random& random) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(random.Int(-128, 127));
  return absl::StrCat("%", name, " = const ", Type(dims, "i8"), " {",
                      absl::StrJoin(values, ", "), "} ");
}

std::string Main(const std::string& inputs, const std::string& nodes) {
  return absl::StrCat("module { func @main(", inputs, ") -> (%y) {", nodes,
                      "} }");
}

struct Case {
  std::string name;
  std::function<std::string(Random&)> make;  // the text of a module
  // Made without knowing whether the operator takes floats of any shape.
  bool may_be_wrong = false;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  // Operators on their own: all that take one or two tensors of any shape and
  // need no attributes.
  for (const relay::OpDef* op : relay::StandardOps().All()) {
    bool needs_attributes = false;
    for (const relay::AttrSpec& attr : op->attrs) {
      needs_attributes |= attr.required;
    }
    if (needs_attributes || !op->IsPointwise() || op->min_inputs > 2) {
      continue;
    }
    const std::string name = op->name;
    if (op->min_inputs == 1) {
      cases.push_back({name,
                       [name](Random& random) {
                         const auto dims = random.Dims(random.Int(1, 4));
                         return Main("%a: " + Type(dims),
                                     absl::StrCat("%y = ", name, "(%a)"));
                       },
                       true});
      continue;
    }
    for (const char* kind : {"same", "scalar", "row", "constant"}) {
      cases.push_back({absl::StrCat(name, " ", kind),
                       [name, kind](Random& random) {
                         const auto dims = random.Dims(random.Int(1, 4));
                         std::vector<int64_t> other = dims;
                         const std::string form = kind;
                         if (form == "scalar") other = {};
                         if (form == "row") other = {dims.back()};
                         if (form == "constant") {
                           return Main("%a: " + Type(dims),
                                       absl::StrCat(Constant("b", other, 3),
                                                    "%y = ", name, "(%a, %b)"));
                         }
                         return Main(absl::StrCat("%a: ", Type(dims),
                                                  ", %b: ", Type(other)),
                                     absl::StrCat("%y = ", name, "(%a, %b)"));
                       },
                       true});
    }
  }

  // Products: alone, and with what may follow.
  for (const char* after : {"", "bias", "activation", "bias activation", "sum",
                            "bias sum activation", "factor"}) {
    const std::string kind = after;
    const auto follow = [kind](Random& random, std::vector<int64_t> shape,
                               int64_t channel, std::string* inputs) {
      std::string text, last = "p";
      if (kind.find("bias") != std::string::npos) {
        std::vector<int64_t> bias(channel, 1);
        bias[0] = shape[shape.size() - channel];
        absl::StrAppend(&text, Constant("bias", bias, 7), "%b = add(%", last,
                        ", %bias) ");
        last = "b";
      }
      if (kind == "factor") {
        absl::StrAppend(&text, "%half = const f32[] {0.5} %f = mul(%", last,
                        ", %half) ");
        last = "f";
      }
      if (kind.find("sum") != std::string::npos) {
        absl::StrAppend(inputs, ", %z: ", Type(shape));
        absl::StrAppend(&text, "%t = add(%", last, ", %z) ");
        last = "t";
      }
      if (kind.find("activation") != std::string::npos) {
        absl::StrAppend(&text, "%s = ",
                        random.Pick<std::string>({"relu", "sigmoid", "tanh"}),
                        "(%", last, ") ");
        last = "s";
      }
      return absl::StrCat(text, "%y = ", "abs(%", last, ")");
    };
    for (int n = 1; n <= 3; ++n) {
      cases.push_back(
          {absl::StrCat("conv", n, "d ", kind), [n, follow](Random& random) {
             const int64_t groups = random.Pick<int64_t>({1, 1, 2});
             const int64_t in = random.Int(1, 9), out = random.Int(1, 20);
             std::vector<int64_t> x = {random.Int(1, 2), in * groups},
                                  w = {out * groups, in},
                                  y = {x[0], out * groups}, strides, pads,
                                  dilations;
             for (int i = 0; i < n; ++i) {
               const int64_t k = random.Int(1, 3), s = random.Int(1, 2);
               const int64_t d = random.Int(1, 2), p = random.Int(0, k - 1);
               const int64_t extent = random.Int(5, 12);
               x.push_back(extent);
               w.push_back(k);
               strides.push_back(s);
               dilations.push_back(d);
               pads.push_back(p);
               y.push_back((extent + 2 * p - (k - 1) * d - 1) / s + 1);
             }
             for (int i = 0; i < n; ++i) pads.push_back(pads[i]);
             std::string inputs = "%x: " + Type(x);
             const std::string rest = follow(random, y, n + 1, &inputs);
             return Main(
                 inputs,
                 absl::StrCat(Constant("w", w, 5), "%p = conv", n,
                              "d(%x, %w) {dilations=[",
                              absl::StrJoin(dilations, ", "),
                              "], groups=", groups, ", pads=[",
                              absl::StrJoin(pads, ", "), "], strides=[",
                              absl::StrJoin(strides, ", "), "]} ", rest));
           }});
    }
    for (const char* form :
         {"dense", "matmul", "batch", "transposed", "constant"}) {
      cases.push_back(
          {absl::StrCat("product ", form, " ", kind),
           [form = std::string(form), follow](Random& random) {
             const int64_t m = random.Int(1, 20), k = random.Int(1, 20),
                           n = random.Int(1, 20), batch = random.Int(1, 3);
             std::vector<int64_t> y = {m, n};
             std::string inputs, nodes;
             if (form == "dense") {
               inputs =
                   absl::StrCat("%a: ", Type({m, k}), ", %w: ", Type({n, k}));
               nodes = "%p = dense(%a, %w) ";
             } else if (form == "constant") {
               inputs = absl::StrCat("%a: ", Type({batch, m, k}));
               nodes = Constant("w", {k, n}, 9) + "%p = matmul(%a, %w) ";
               y = {batch, m, n};
             } else if (form == "transposed") {
               inputs = absl::StrCat("%a: ", Type({batch, k, m}),
                                     ", %w: ", Type({batch, n, k}));
               nodes =
                   "%ta = transpose(%a) {axes=[0, 2, 1]} "
                   "%tw = transpose(%w) {axes=[0, 2, 1]} "
                   "%p = matmul(%ta, %tw) ";
               y = {batch, m, n};
             } else {
               const bool batched = form == "batch";
               inputs = absl::StrCat(
                   "%a: ",
                   Type(batched ? std::vector<int64_t>{batch, 2, m, k}
                                : std::vector<int64_t>{m, k}),
                   ", %w: ",
                   Type(batched ? std::vector<int64_t>{2, k, n}
                                : std::vector<int64_t>{k, n}));
               nodes = "%p = matmul(%a, %w) ";
               if (batched) y = {batch, 2, m, n};
             }
             const std::string rest = follow(random, y, 1, &inputs);
             return Main(inputs, nodes + rest);
           }});
    }
  }

  // Element-wise composites.
  for (const char* op : {"add", "sub", "mul"}) {
    for (const char* activation : {"relu", "sigmoid", "tanh"}) {
      cases.push_back(
          {absl::StrCat(op, " ", activation), [op, activation](Random& random) {
             const std::string type = Type(random.Dims(random.Int(2, 4)));
             return Main(absl::StrCat("%a: ", type, ", %b: ", type),
                         absl::StrCat("%s = ", op, "(%a, %b) %y = ", activation,
                                      "(%s)"));
           }});
    }
  }

  // Windows, normalisation, movement.
  for (const char* pool : {"max_pool2d", "avg_pool2d"}) {
    cases.push_back({pool, [pool](Random& random) {
                       return Main(
                           "%x: " + Type({random.Int(1, 2), random.Int(1, 9),
                                          random.Int(5, 9), random.Int(5, 9)}),
                           absl::StrCat("%y = ", pool,
                                        "(%x) {kernel=[3, 2], pads=[1, 0, 0, "
                                        "1], strides=[2, ",
                                        random.Int(1, 2), "]}"));
                     }});
  }
  for (const char* op : {"softmax", "log_softmax"}) {
    cases.push_back({op, [op](Random& random) {
                       const int64_t rank = random.Int(2, 4);
                       return Main("%x: " + Type(random.Dims(rank)),
                                   absl::StrCat("%y = ", op, "(%x) {axis=",
                                                random.Int(0, rank - 1), "}"));
                     }});
  }
  cases.push_back({"concat", [](Random& random) {
                     std::vector<int64_t> a = random.Dims(3), b = a;
                     b[1] = random.Int(1, 5);
                     return Main(
                         absl::StrCat("%a: ", Type(a), ", %b: ", Type(b)),
                         "%s = relu(%a) %t = relu(%b) %c = concat(%s, %t) "
                         "{axis=1} %y = relu(%c)");
                   }});
  cases.push_back(
      {"batch_norm", [](Random& random) {
         const int64_t c = random.Int(1, 9);
         return Main(
             "%x: " + Type({2, c, random.Int(1, 5), 3}),
             absl::StrCat(Constant("g", {c}, 1), Constant("b", {c}, 2),
                          Constant("m", {c}, 3), "%v = const ", Type({c}),
                          " fill(0.75) %y = batch_norm(%x, %g, %b, "
                          "%m, %v)"));
       }});

  // Integer products, as quantised models import.
  for (const char* form : {"plain", "centred", "quantized", "quantized bias"}) {
    for (const bool conv : {false, true}) {
      cases.push_back(
          {absl::StrCat("integer ", conv ? "conv " : "matmul ", form),
           [form = std::string(form), conv](Random& random) {
             const int64_t c = random.Int(1, 20), o = random.Int(1, 20);
             const std::vector<int64_t> w =
                 conv ? std::vector<int64_t>{o, c, random.Int(1, 3), 2}
                      : std::vector<int64_t>{c, o};
             const std::string x =
                 Type(conv ? std::vector<int64_t>{random.Int(1, 2), c, 5,
                                                  random.Int(3, 20)}
                           : std::vector<int64_t>{random.Int(1, 20), c},
                      random.Pick<std::string>({"i8", "u8"}));
             std::string nodes = SmallInts("w", w, random), in = "x";
             if (form == "centred" || random.Int(0, 1) == 0) {
               absl::StrAppend(&nodes, "%zero = const i32[] {",
                               random.Int(-100, 200),
                               "} %i = cast(%x) {dtype=i32} %d = sub(%i, "
                               "%zero) ");
               in = "d";
             }
             if (form == "plain") in = "x";
             const bool whole = form == "plain" || form == "centred";
             absl::StrAppend(
                 &nodes, whole ? "%y" : "%s", " = ", conv ? "conv2d" : "matmul",
                 "(%", in, ", %w) {",
                 conv ? "pads=[1, 0, 1, 1], out_dtype=i32" : "out_dtype=i32",
                 "} ");
             if (whole) return Main("%x: " + x, nodes);
             std::string sums = "s";
             if (form == "quantized bias") {
               std::vector<int64_t> values, shape(conv ? 3 : 1, 1);
               shape[0] = o;
               for (int64_t i = 0; i < o; ++i) {
                 values.push_back(random.Int(-5000, 5000));
               }
               absl::StrAppend(&nodes, "%b = const ", Type(shape, "i32"), " {",
                               absl::StrJoin(values, ", "),
                               "} %t = add(%s, %b) ");
               sums = "t";
             }
             const std::string dtype = random.Pick<std::string>({"i8", "u8"});
             return Main(
                 "%x: " + x,
                 absl::StrCat(nodes, "%f = cast(%", sums,
                              ") {dtype=f32} %scale = const f32[] {0.0173} "
                              "%r = mul(%f, %scale) %so = const f32[] {0.61} "
                              "%z = const ",
                              dtype, "[] {", random.Int(0, 99),
                              "} %y = quantize(%r, %so, %z) {dtype=", dtype,
                              "}"));
           }});
    }
  }
  return cases;
}

class RegionsTest : public testing::TestWithParam<std::string> {};

TEST_P(RegionsTest, ComputesWhatTheInterpreterDoes) {
  const std::string kind_name = GetParam();
  TargetRegistry kinds;
  ASSERT_TRUE(RegisterBuiltinTargets(&kinds).ok());
  const TargetKind& kind = **kinds.Find(kind_name);
  std::set<std::string> composites, operators;
  int compared = 0;
  for (const Case& c : Cases()) {
    for (uint32_t seed = 1; seed <= 2; ++seed) {
      Random random(seed);
      const std::string text = c.make(random);
      if (c.may_be_wrong && !testing_support::ParseRelay(text).ok()) continue;
      absl::StatusOr<Comparison> result = CompareRelay(
          kind_name + ",llvm", text, seed, {/*relative=*/2e-4, 2e-4});
      if (!result.ok()) {
        ADD_FAILURE() << c.name << ": " << result.status() << "\n" << text;
        continue;
      }
      composites.insert(result->composites.begin(), result->composites.end());
      operators.insert(result->operators.begin(), result->operators.end());
      compared += result->composites.size() + result->operators.size() > 0;
    }
  }
  for (const CompositePattern& pattern : kind.patterns) {
    EXPECT_EQ(composites.count(pattern.name), 1u)
        << "no case was taken by the pattern " << pattern.name;
  }
  EXPECT_GT(compared, 0);
  std::cout << kind_name << ": " << compared << " modules; operators "
            << absl::StrJoin(operators, " ") << "; composites "
            << absl::StrJoin(composites, " ") << "\n";
}

// Kinds with regions; those with options that must be given, such as
// extern_call's, have tests of their own, and so has image, whose operators the
// interpreter does not know.
std::vector<std::string> Kinds() {
  TargetRegistry kinds;
  EXPECT_TRUE(RegisterBuiltinTargets(&kinds).ok());
  std::vector<std::string> names;
  for (const TargetKind* kind : kinds.All()) {
    Target target;
    target.kind = kind->name;
    if (kind->HasRegions() && kinds.Check(target).ok() &&
        kind->name != "image") {
      names.push_back(kind->name);
    }
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, RegionsTest, testing::ValuesIn(Kinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ingot

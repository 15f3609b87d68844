// Operators that read one value as several of their operands, on the targets
// that generate code, against double-precision loops written here. The extents
// lie below and above those from which schedules copy an operand into panels,
// or are known to a run alone.
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_model.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

using onnx_frontend::ModelBuilder;
using onnx_frontend::SetInt;
using onnx_frontend::SetInts;
using onnx_frontend::SetString;
using Numbers = std::vector<double>;

// Whole numbers in [-2, 2] that follow from `seed`. Sums of up to 64 products
// of two of them are exact even in bfloat16.
Numbers Whole(int64_t count, unsigned seed = 1) {
  Numbers numbers;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    numbers.push_back(static_cast<double>((seed >> 20) % 5) - 2);
  }
  return numbers;
}

template <typename T>
void Fill(Tensor* t, const Numbers& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    t->mutable_data<T>()[i] = static_cast<T>(numbers[i]);
  }
}

Tensor ToTensor(DataType t, const std::vector<int64_t>& shape,
                const Numbers& numbers) {
  Tensor tensor = *Tensor::Empty(t, shape);
  if (t == DataType::Float(32)) Fill<float>(&tensor, numbers);
  if (t == DataType::Float(64)) Fill<double>(&tensor, numbers);
  if (t == DataType::Int(32)) Fill<int32_t>(&tensor, numbers);
  if (t == DataType::Int(64)) Fill<int64_t>(&tensor, numbers);
  if (t == DataType::UInt(8)) Fill<uint8_t>(&tensor, numbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint16_t* half = static_cast<uint16_t*>(tensor.mutable_raw_data()) + i;
    if (t == DataType::Float(16)) *half = DoubleToHalf(numbers[i]);
    if (t == DataType::BFloat16()) *half = DoubleToBFloat16(numbers[i]);
  }
  return tensor;
}

template <typename T>
Numbers FromValues(const Tensor& t) {
  return Numbers(t.data<T>(), t.data<T>() + t.NumElements());
}

Numbers FromTensor(const Tensor& t) {
  const DataType type = t.dtype();
  if (type == DataType::Float(32)) return FromValues<float>(t);
  if (type == DataType::Float(64)) return FromValues<double>(t);
  if (type == DataType::Int(32)) return FromValues<int32_t>(t);
  if (type == DataType::Int(64)) return FromValues<int64_t>(t);
  Numbers numbers;
  for (uint16_t half : t.values<uint16_t>()) {
    numbers.push_back(type == DataType::Float(16) ? HalfToFloat(half)
                                                  : BFloat16ToFloat(half));
  }
  return numbers;
}

// Square matrices, row by row.

Numbers Transposed(const Numbers& a, int64_t n) {
  Numbers t(a.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) t[j * n + i] = a[i * n + j];
  }
  return t;
}

Numbers Product(const Numbers& a, const Numbers& b, int64_t n) {
  Numbers c(a.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < n; ++k)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  }
  return c;
}

// softmax(x xᵀ / 8) x
Numbers Attention(const Numbers& x, int64_t n) {
  Numbers scores = Product(x, Transposed(x, n), n);
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      scores[i * n + j] = std::exp(scores[i * n + j] / 8);
      sum += scores[i * n + j];
    }
    for (int64_t j = 0; j < n; ++j) scores[i * n + j] /= sum;
  }
  return Product(scores, x, n);
}

void ExpectNumbers(const Tensor& got, const Numbers& expected,
                   double tolerance = 0) {
  const Numbers numbers = FromTensor(got);
  ASSERT_EQ(numbers.size(), expected.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_NEAR(numbers[i], expected[i], tolerance) << "element " << i;
  }
}

class RepeatedOperandTest : public testing::TestWithParam<const char*> {
 protected:
  // The outputs of the model, compiled, linked, loaded, and run for each of
  // `inputs`.
  static absl::StatusOr<std::vector<std::vector<Tensor>>> Run(
      const ModelBuilder& builder, const std::vector<Tensor>& inputs) {
    absl::StatusOr<relay::Module> module = ImportOnnx(builder.Build());
    if (!module.ok()) return module.status();
    absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
        testing_support::CompileAndOpen(&*module, GetParam());
    if (!executor.ok()) return executor.status();
    std::vector<std::vector<Tensor>> results;
    for (const Tensor& input : inputs) {
      absl::StatusOr<std::vector<Tensor>> outputs = (*executor)->Run({input});
      if (!outputs.ok()) return outputs.status();
      results.push_back(*std::move(outputs));
    }
    return results;
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, RepeatedOperandTest,
                         testing::Values("llvm", "c"),
                         [](const auto& info) { return info.param; });

// An output of a model of one square matrix x, and its elements.
struct SquareCase {
  const char* name;  // the output's, and a prefix of all other names
  std::function<void(ModelBuilder*, const std::string& y)> add;
  std::function<Numbers(const Numbers& x, int64_t n)> expected;
  double tolerance = 0;
};

SquareCase ProductCase(
    const char* name, bool trans_a, bool trans_b,
    std::function<void(ModelBuilder*, const std::string& y)> add) {
  return {name, std::move(add), [=](const Numbers& x, int64_t n) {
            return Product(trans_a ? Transposed(x, n) : x,
                           trans_b ? Transposed(x, n) : x, n);
          }};
}

SquareCase GemmCase(const char* name, bool trans_a, bool trans_b) {
  return ProductCase(name, trans_a, trans_b,
                     [=](ModelBuilder* b, const std::string& y) {
                       onnx::NodeProto* gemm = b->Node("Gemm", {"x", "x"}, {y});
                       SetInt(gemm, "transA", trans_a);
                       SetInt(gemm, "transB", trans_b);
                     });
}

std::vector<SquareCase> SquareCases() {
  return {
      ProductCase("matmul", false, false,
                  [](ModelBuilder* b, const std::string& y) {
                    b->Node("MatMul", {"x", "x"}, {y});
                  }),
      ProductCase("times_transposed", false, true,
                  [](ModelBuilder* b, const std::string& y) {
                    b->Node("Transpose", {"x"}, {y + ".right"});
                    b->Node("MatMul", {"x", y + ".right"}, {y});
                  }),
      ProductCase("transposed_times", true, false,
                  [](ModelBuilder* b, const std::string& y) {
                    b->Node("Transpose", {"x"}, {y + ".left"});
                    b->Node("MatMul", {y + ".left", "x"}, {y});
                  }),
      // The view is the same memory by another name.
      ProductCase("times_view", false, false,
                  [](ModelBuilder* b, const std::string& y) {
                    b->Ints(y + ".axis", {0});
                    b->Node("Unsqueeze", {"x", y + ".axis"}, {y + ".view"});
                    b->Node("MatMul", {"x", y + ".view"}, {y});
                  }),
      GemmCase("gemm", false, false),
      GemmCase("gemm_a", true, false),
      GemmCase("gemm_b", false, true),
      GemmCase("gemm_ab", true, true),
      ProductCase("einsum", false, true,
                  [](ModelBuilder* b, const std::string& y) {
                    SetString(b->Node("Einsum", {"x", "x"}, {y}), "equation",
                              "ij,kj->ik");
                  }),
      {"cube",
       [](ModelBuilder* b, const std::string& y) {
         b->Node("MatMul", {"x", "x"}, {y + ".square"});
         b->Node("MatMul", {y + ".square", "x"}, {y});
       },
       [](const Numbers& x, int64_t n) {
         return Product(Product(x, x, n), x, n);
       }},
      {"tail_reads_operand",
       [](ModelBuilder* b, const std::string& y) {
         b->Node("MatMul", {"x", "x"}, {y + ".product"});
         b->Node("Add", {y + ".product", "x"}, {y + ".sum"});
         b->Node("Relu", {y + ".sum"}, {y});
       },
       [](const Numbers& x, int64_t n) {
         Numbers y = Product(x, x, n);
         for (size_t i = 0; i < y.size(); ++i) y[i] = std::fmax(0, y[i] + x[i]);
         return y;
       }},
      {"attention",
       [](ModelBuilder* b, const std::string& y) {
         b->Node("Transpose", {"x"}, {y + ".keys"});
         b->Node("MatMul", {"x", y + ".keys"}, {y + ".scores"});
         b->Floats(y + ".root", {}, {8});
         b->Node("Div", {y + ".scores", y + ".root"}, {y + ".scaled"});
         SetInt(b->Node("Softmax", {y + ".scaled"}, {y + ".weights"}), "axis",
                -1);
         b->Node("MatMul", {y + ".weights", "x"}, {y});
       },
       Attention, 1e-4},
  };
}

// The cases as one model of an x whose two dimensions are `dim`.
ModelBuilder SquareModel(const std::string& dim) {
  ModelBuilder b;
  b.Input("x", {dim, dim});
  for (const SquareCase& square : SquareCases()) {
    square.add(&b, square.name);
    b.Output(square.name);
  }
  return b;
}

void ExpectSquares(const std::vector<Tensor>& outputs, const Numbers& x,
                   int64_t n) {
  const std::vector<SquareCase> cases = SquareCases();
  ASSERT_EQ(outputs.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(absl::StrCat(cases[i].name, " of ", n, " x ", n));
    ExpectNumbers(outputs[i], cases[i].expected(x, n), cases[i].tolerance);
  }
}

TEST_P(RepeatedOperandTest, SquaresOfKnownExtents) {
  for (int64_t n : {5, 24, 43}) {
    const Numbers x = Whole(n * n);
    auto results = Run(SquareModel(absl::StrCat(n)),
                       {ToTensor(DataType::Float(32), {n, n}, x)});
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectSquares((*results)[0], x, n);
  }
}

TEST_P(RepeatedOperandTest, SquaresOfSymbolicExtents) {
  const std::vector<int64_t> extents = {1, 24, 43};
  std::vector<Tensor> inputs;
  for (int64_t n : extents) {
    inputs.push_back(ToTensor(DataType::Float(32), {n, n}, Whole(n * n)));
  }
  auto results = Run(SquareModel("N"), inputs);
  ASSERT_TRUE(results.ok()) << results.status();
  for (size_t i = 0; i < extents.size(); ++i) {
    const int64_t n = extents[i];
    ExpectSquares((*results)[i], Whole(n * n), n);
  }
}

TEST_P(RepeatedOperandTest, SquaresOfEveryType) {
  const std::vector<std::pair<int, DataType>> types = {
      {onnx::TensorProto::DOUBLE, DataType::Float(64)},
      {onnx::TensorProto::FLOAT16, DataType::Float(16)},
      {onnx::TensorProto::BFLOAT16, DataType::BFloat16()},
      {onnx::TensorProto::INT32, DataType::Int(32)},
      {onnx::TensorProto::INT64, DataType::Int(64)},
  };
  const int64_t n = 60;
  const Numbers x = Whole(n * n);
  for (const auto& [onnx_type, type] : types) {
    SCOPED_TRACE(type.ToString());
    ModelBuilder b;
    b.Input("x", {"60", "60"}, onnx_type);
    b.Node("MatMul", {"x", "x"}, {"y"});
    b.Node("Transpose", {"x"}, {"t"});
    b.Node("MatMul", {"x", "t"}, {"z"});
    b.Output("y").Output("z");
    auto results = Run(b, {ToTensor(type, {n, n}, x)});
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectNumbers((*results)[0][0], Product(x, x, n));
    ExpectNumbers((*results)[0][1], Product(x, Transposed(x, n), n));
  }
}

TEST_P(RepeatedOperandTest, ProductOfBytes) {
  const int64_t n = 40;
  Numbers x = Whole(n * n);
  for (double& v : x) v += 2;
  ModelBuilder b;
  b.Input("x", {"40", "40"}, onnx::TensorProto::UINT8);
  b.Node("MatMulInteger", {"x", "x"}, {"y"});
  b.Output("y");
  auto results = Run(b, {ToTensor(DataType::UInt(8), {n, n}, x)});
  ASSERT_TRUE(results.ok()) << results.status();
  ExpectNumbers((*results)[0][0], Product(x, x, n));
}

TEST_P(RepeatedOperandTest, BatchesOfProducts) {
  const int64_t batch = 3, n = 40;
  const Numbers x = Whole(batch * n * n);
  ModelBuilder b;
  b.Input("x", {"B", "40", "40"});
  b.Node("MatMul", {"x", "x"}, {"y"});
  b.Output("y");
  auto results = Run(b, {ToTensor(DataType::Float(32), {batch, n, n}, x)});
  ASSERT_TRUE(results.ok()) << results.status();
  Numbers expected;
  for (int64_t i = 0; i < batch; ++i) {
    const Numbers one(x.begin() + i * n * n, x.begin() + (i + 1) * n * n);
    const Numbers square = Product(one, one, n);
    expected.insert(expected.end(), square.begin(), square.end());
  }
  ExpectNumbers((*results)[0][0], expected);
}

// x [c, c, s, s] is both the images and the kernels, padded to keep s.
TEST_P(RepeatedOperandTest, ConvolutionOfAValueWithItself) {
  const int64_t c = 16, s = 5;
  const Numbers x = Whole(c * c * s * s);
  ModelBuilder b;
  b.Input("x", {"16", "16", "5", "5"});
  SetInts(b.Node("Conv", {"x", "x"}, {"padded"}), "pads", {2, 2, 2, 2});
  b.Node("Conv", {"x", "x"}, {"whole"});
  b.Output("padded").Output("whole");
  auto results = Run(b, {ToTensor(DataType::Float(32), {c, c, s, s}, x)});
  ASSERT_TRUE(results.ok()) << results.status();
  auto at = [&](int64_t n, int64_t k, int64_t h, int64_t w) {
    return h < 0 || w < 0 || h >= s || w >= s
               ? 0
               : x[((n * c + k) * s + h) * s + w];
  };
  Numbers padded, whole;
  for (int64_t n = 0; n < c; ++n) {
    for (int64_t o = 0; o < c; ++o) {
      for (int64_t h = 0; h < s; ++h) {
        for (int64_t w = 0; w < s; ++w) {
          double sum = 0;
          for (int64_t k = 0; k < c; ++k) {
            for (int64_t y = 0; y < s; ++y) {
              for (int64_t z = 0; z < s; ++z) {
                sum += at(n, k, h + y - 2, w + z - 2) * at(o, k, y, z);
              }
            }
          }
          padded.push_back(sum);
          if (h == 2 && w == 2) whole.push_back(sum);
        }
      }
    }
  }
  ExpectNumbers((*results)[0][0], padded);
  ExpectNumbers((*results)[0][1], whole);
}

TEST_P(RepeatedOperandTest, GathersAndScattersOfAValueByItself) {
  const int64_t n = 40;
  Numbers x;
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(static_cast<double>((i * 7 + 3) % n));
  }
  ModelBuilder b;
  b.Input("x", {"N"}, onnx::TensorProto::INT64);
  b.Node("Gather", {"x", "x"}, {"gathered"});
  b.Node("GatherElements", {"x", "x"}, {"elements"});
  b.Node("ScatterElements", {"x", "x", "x"}, {"scattered"});
  SetInt(b.Node("Concat", {"x", "x"}, {"twice"}), "axis", 0);
  b.Output("gathered").Output("elements").Output("scattered").Output("twice");
  auto results = Run(b, {ToTensor(DataType::Int(64), {n}, x)});
  ASSERT_TRUE(results.ok()) << results.status();
  Numbers gathered, scattered = x, twice = x;
  for (double i : x) {
    gathered.push_back(x[static_cast<size_t>(i)]);
    scattered[static_cast<size_t>(i)] = i;
    twice.push_back(i);
  }
  ExpectNumbers((*results)[0][0], gathered);
  ExpectNumbers((*results)[0][1], gathered);
  ExpectNumbers((*results)[0][2], scattered);
  ExpectNumbers((*results)[0][3], twice);
}

}  // namespace
}  // namespace ingot

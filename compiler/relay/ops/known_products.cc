// Matrix products of known tensors.
#include <algorithm>
#include <array>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/ops/known.h"

namespace ingot::relay::ops {
namespace {

using Ints = std::vector<int64_t>;

// So many columns of w are copied side by side, and their sums stay close.
constexpr int64_t kColumns = 64;

// w[k, n], wherever its elements are.
struct Matrix {
  const float* data;
  int64_t row_stride, column_stride;
};

// y[m, n] = x[m, k] times w. As in the definition, each product is rounded to
// f32 and a sum of them once, at its end.
void Multiply(const float* x, const Matrix& w, int64_t m, int64_t k, int64_t n,
              float* y) {
  std::vector<float> block(k * kColumns);
  for (int64_t from = 0; from < n; from += kColumns) {
    const int64_t columns = std::min(kColumns, n - from);
    for (int64_t r = 0; r < k; ++r) {
      const float* row = w.data + r * w.row_stride + from * w.column_stride;
      for (int64_t j = 0; j < columns; ++j) {
        block[r * kColumns + j] = row[j * w.column_stride];
      }
    }
    for (int64_t i = 0; i < m; ++i) {
      std::array<double, kColumns> sums = {};
      for (int64_t r = 0; r < k; ++r) {
        const float factor = x[i * k + r];
        const float* row = block.data() + r * kColumns;
        for (int64_t j = 0; j < kColumns; ++j) {
          sums[j] += static_cast<double>(factor * row[j]);
        }
      }
      for (int64_t j = 0; j < columns; ++j) {
        y[i * n + from + j] = static_cast<float>(sums[j]);
      }
    }
  }
}

// Where in a tensor the matrix is that an index of the result's belongs to.
int64_t MatrixAt(int64_t index, absl::Span<const int64_t> strides,
                 absl::Span<const int64_t> dims) {
  int64_t at = 0;
  for (size_t d = dims.size(); d-- > 0; index /= dims[d]) {
    at += index % dims[d] * strides[d];
  }
  return at;
}

MaybeTensor MultiplyAll(const KnownCall& c, bool transposed) {
  const Tensor &x = c.operands[0], &w = c.operands[1];
  const DataType f32 = DataType::Float(32);
  if (x.dtype() != f32 || w.dtype() != f32 || c.node.outputs[0].dtype != f32) {
    return std::nullopt;
  }
  const auto batch_of = [](absl::Span<const int64_t> shape) {
    return shape.first(shape.size() - 2);
  };
  const absl::Span<const int64_t> batch = batch_of(c.shape);
  const Ints x_strides = BroadcastStrides(batch_of(x.shape()), batch);
  const Ints w_strides = BroadcastStrides(batch_of(w.shape()), batch);
  const int64_t m = c.shape[batch.size()], n = c.shape.back();
  const int64_t k = x.shape().back();
  INGOT_ASSIGN_OR_RETURN(Tensor y, Tensor::Empty(f32, c.shape));
  if (y.NumElements() == 0) return y;
  for (int64_t i = 0; i < y.NumElements() / (m * n); ++i) {
    const float* matrix =
        w.data<float>() + MatrixAt(i, w_strides, batch) * k * n;
    Multiply(x.data<float>() + MatrixAt(i, x_strides, batch) * m * k,
             {matrix, transposed ? 1 : n, transposed ? k : 1}, m, k, n,
             y.mutable_data<float>() + i * m * n);
  }
  return y;
}

}  // namespace

MaybeTensor MultiplyMatrices(const KnownCall& c) {
  return MultiplyAll(c, /*transposed=*/false);
}

MaybeTensor MultiplyTransposed(const KnownCall& c) {
  return MultiplyAll(c, /*transposed=*/true);
}

}  // namespace ingot::relay::ops

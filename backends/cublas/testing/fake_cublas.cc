// cuBLASLt for tests, of our fake driver's device: it computes products of f32
// on the CPU when the stream comes to them, and checks what the real one's
// reference says of its arguments. A product of 1 x 1 by 1 x 1 has no
// algorithm.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "backends/gpu/testing/fake_library.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using fake_library::IsOnDevice;

enum Status { kOk = 0, kInvalidValue = 7, kNotSupported = 15 };
enum Transposes { kAsItIs = 0, kTransposed = 1 };
enum Epilogues : uint32_t { kNothing = 1, kRelu = 2, kBias = 4 };

template <typename T>
int Create(T** made) {
  *made = new T;
  return kOk;
}

template <typename T>
int Destroy(T* made) {
  delete made;
  return kOk;
}

struct Library {
  int started = 1;
};

struct Operation {
  int compute = 0, scale = 0;
  int32_t transpose_a = kAsItIs, transpose_b = kAsItIs;
  uint32_t epilogue = kNothing;
  const float* bias = nullptr;
};

// Column by column.
struct Layout {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int32_t count = 1;
  int64_t step = 0;

  size_t Bytes() const {
    return sizeof(float) *
           ((count - 1) * step + (columns - 1) * leading + rows);
  }
};

struct Preference {
  uint64_t workspace = 0;
};

struct Algorithm {
  uint64_t data[8];
};
constexpr uint64_t kMagic = 0x1a60f;

struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

template <typename T>
int Set(T* field, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return kInvalidValue;
  std::memcpy(field, value, bytes);
  return kOk;
}

// Sizes, as the operation sees its operands; false where they do not fit.
bool Fits(const Operation& o, const Layout& a, const Layout& b, const Layout& c,
          uint64_t* k) {
  const bool ta = o.transpose_a == kTransposed,
             tb = o.transpose_b == kTransposed;
  const uint64_t m = ta ? a.columns : a.rows, n = tb ? b.rows : b.columns;
  *k = ta ? a.rows : a.columns;
  return o.compute == 68 && o.scale == 0 && *k == (tb ? b.columns : b.rows) &&
         m == c.rows && n == c.columns && a.count == b.count &&
         a.count == c.count && a.leading >= static_cast<int64_t>(a.rows) &&
         b.leading >= static_cast<int64_t>(b.rows) &&
         c.leading >= static_cast<int64_t>(c.rows);
}

// A queued product.
struct Work {
  Operation operation;
  Layout a_layout, b_layout, c_layout;
  const float *a, *b, *c;
  float* d;
  float alpha, beta;
  uint64_t k;
};

int Multiply(void* data) {
  const std::unique_ptr<Work> w(static_cast<Work*>(data));
  const Operation& o = w->operation;
  const auto at = [](const float* x, const Layout& l, int32_t i, uint64_t row,
                     uint64_t column) {
    return x[i * l.step + static_cast<int64_t>(column) * l.leading +
             static_cast<int64_t>(row)];
  };
  for (int32_t i = 0; i < w->c_layout.count; ++i) {
    for (uint64_t n = 0; n < w->c_layout.columns; ++n) {
      for (uint64_t m = 0; m < w->c_layout.rows; ++m) {
        double sum = 0;
        for (uint64_t k = 0; k < w->k; ++k) {
          const bool ta = o.transpose_a == kTransposed,
                     tb = o.transpose_b == kTransposed;
          sum += double{at(w->a, w->a_layout, i, ta ? k : m, ta ? m : k)} *
                 at(w->b, w->b_layout, i, tb ? n : k, tb ? k : n);
        }
        double value = w->alpha * sum;
        if (w->beta != 0) value += w->beta * at(w->c, w->c_layout, i, m, n);
        if ((o.epilogue & kBias) != 0) value += o.bias[m];
        if ((o.epilogue & kRelu) != 0 && value < 0) value = 0;
        w->d[i * w->c_layout.step +
             static_cast<int64_t>(n) * w->c_layout.leading +
             static_cast<int64_t>(m)] = static_cast<float>(value);
      }
    }
  }
  return 0;
}

}  // namespace

EXPORT int cublasLtCreate(Library** handle) { return Create(handle); }
EXPORT int cublasLtDestroy(Library* handle) { return Destroy(handle); }

EXPORT int cublasLtMatmulDescCreate(Operation** operation, int compute,
                                    int scale) {
  Create(operation);
  (*operation)->compute = compute;
  (*operation)->scale = scale;
  return kOk;
}
EXPORT int cublasLtMatmulDescDestroy(Operation* operation) {
  return Destroy(operation);
}
EXPORT int cublasLtMatmulDescSetAttribute(Operation* o, int attribute,
                                          const void* value, size_t bytes) {
  switch (attribute) {
    case 3:
      return Set(&o->transpose_a, value, bytes);
    case 4:
      return Set(&o->transpose_b, value, bytes);
    case 7:
      return Set(&o->epilogue, value, bytes);
    case 8:
      return Set(&o->bias, value, bytes);
    default:
      return kInvalidValue;
  }
}

EXPORT int cublasLtMatrixLayoutCreate(Layout** layout, int type, uint64_t rows,
                                      uint64_t columns, int64_t leading) {
  if (type != 0 || rows == 0 || columns == 0) return kInvalidValue;
  Create(layout);
  (*layout)->rows = rows;
  (*layout)->columns = columns;
  (*layout)->leading = leading;
  return kOk;
}
EXPORT int cublasLtMatrixLayoutDestroy(Layout* layout) {
  return Destroy(layout);
}
EXPORT int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute,
                                            const void* value, size_t bytes) {
  if (attribute == 5) return Set(&layout->count, value, bytes);
  if (attribute == 6) return Set(&layout->step, value, bytes);
  return kInvalidValue;
}

EXPORT int cublasLtMatmulPreferenceCreate(Preference** preference) {
  return Create(preference);
}
EXPORT int cublasLtMatmulPreferenceDestroy(Preference* preference) {
  return Destroy(preference);
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(Preference* preference,
                                                int attribute,
                                                const void* value,
                                                size_t bytes) {
  uint32_t alignment = 0;
  if (attribute == 1) return Set(&preference->workspace, value, bytes);
  if (attribute >= 5 && attribute <= 8) return Set(&alignment, value, bytes);
  return kInvalidValue;
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(Library*, const Operation* operation,
                                          const Layout* a, const Layout* b,
                                          const Layout* c, const Layout* d,
                                          const Preference* preference,
                                          int wanted, Heuristic* found,
                                          int* count) {
  uint64_t k;
  *count = 0;
  if (wanted < 1 || c != d || preference->workspace != 0 ||
      !Fits(*operation, *a, *b, *c, &k)) {
    return kInvalidValue;
  }
  if (c->rows * c->columns * k == 1) return kNotSupported;
  *found = {};
  found->algorithm.data[0] = kMagic;
  *count = 1;
  return kOk;
}

EXPORT int cublasLtMatmul(Library*, const Operation* operation,
                          const float* alpha, const float* a,
                          const Layout* a_layout, const float* b,
                          const Layout* b_layout, const float* beta,
                          const float* c, const Layout* c_layout, float* d,
                          const Layout* d_layout, const Algorithm* algorithm,
                          void* workspace, size_t workspace_bytes,
                          void* stream) {
  auto work = std::make_unique<Work>();
  *work = {*operation, *a_layout, *b_layout, *c_layout, a, b,
           c,          d,         *alpha,    *beta,     0};
  const size_t bias_bytes = sizeof(float) * c_layout->rows;
  if (algorithm->data[0] != kMagic || workspace != nullptr ||
      workspace_bytes != 0 || c_layout != d_layout ||
      !Fits(*operation, *a_layout, *b_layout, *c_layout, &work->k) ||
      !IsOnDevice(a, a_layout->Bytes()) || !IsOnDevice(b, b_layout->Bytes()) ||
      !IsOnDevice(c, c_layout->Bytes()) || !IsOnDevice(d, c_layout->Bytes()) ||
      ((operation->epilogue & kBias) != 0 &&
       !IsOnDevice(operation->bias, bias_bytes))) {
    return kInvalidValue;
  }
  return fake_library::Queue(stream, "product", Multiply, std::move(work))
             ? kOk
             : kInvalidValue;
}

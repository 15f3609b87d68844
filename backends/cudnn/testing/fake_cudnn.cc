// cuDNN for tests, of our fake driver's device: it computes convolutions of f32
// on the CPU when the stream comes to them, and checks what the real one's
// reference says of its arguments. Its proposals: one that needs more memory
// than anybody gives, one that rounds, and one that does neither. A kernel of
// 13 x 13 has none.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "backends/gpu/testing/fake_library.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using fake_library::IsOnDevice;

enum Status { kOk = 0, kBadParameter = 2002, kNotSupported = 3000 };

struct Handle {
  void* stream = nullptr;
};

struct Tensor {
  int n = 0, c = 0, h = 0, w = 0;
  size_t Bytes() const { return sizeof(float) * n * c * h * w; }
};

struct Window {
  int pad[2] = {}, stride[2] = {}, dilation[2] = {};
  int groups = 1, math = 0;
};

struct Activation {
  int mode = 0;
};

struct Proposal {
  int algorithm, status;
  float time;
  size_t workspace;
  int determinism, math, reserved[3];
};
constexpr int kGemm = 1, kFma = 3, kTensorCores = 1;
constexpr size_t kWorkspace = 1000;

bool Fits(const Tensor& x, const Tensor& w, const Window& window,
          const Tensor& y) {
  const int in[] = {x.h, x.w}, kernel[] = {w.h, w.w}, out[] = {y.h, y.w};
  for (int d = 0; d < 2; ++d) {
    const int reach = window.dilation[d] * (kernel[d] - 1) + 1;
    const int room = in[d] + 2 * window.pad[d] - reach;
    if (room < 0 || out[d] != room / window.stride[d] + 1) return false;
  }
  return x.n == y.n && w.n == y.c && w.c * window.groups == x.c &&
         w.n % window.groups == 0 && window.math == kFma;
}

// A queued convolution.
struct Work {
  Tensor x_type, w_type, y_type;
  Window window;
  const float *x, *w, *z = nullptr, *bias = nullptr;
  float* y;
  float alpha = 1, beta = 0;
  bool relu = false;
};

float At(const float* x, const Tensor& t, int n, int c, int h, int w) {
  return x[((int64_t{n} * t.c + c) * t.h + h) * t.w + w];
}

int Convolve(void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  const Tensor &x = work->x_type, &w = work->w_type, &y = work->y_type;
  const Window& window = work->window;
  int64_t at = 0;
  for (int n = 0; n < y.n; ++n) {
    for (int o = 0; o < y.c; ++o) {
      for (int h = 0; h < y.h; ++h) {
        for (int v = 0; v < y.w; ++v, ++at) {
          double sum = 0;
          const int first = o / (y.c / window.groups) * w.c;
          for (int i = 0; i < w.c; ++i) {
            for (int r = 0; r < w.h; ++r) {
              for (int s = 0; s < w.w; ++s) {
                const int row = h * window.stride[0] - window.pad[0] +
                                r * window.dilation[0];
                const int column = v * window.stride[1] - window.pad[1] +
                                   s * window.dilation[1];
                if (row < 0 || row >= x.h || column < 0 || column >= x.w) {
                  continue;
                }
                sum += double{At(work->x, x, n, first + i, row, column)} *
                       At(work->w, w, o, i, r, s);
              }
            }
          }
          double value = work->alpha * sum;
          if (work->beta != 0) value += work->beta * work->z[at];
          if (work->bias != nullptr) value += work->bias[o];
          if (work->relu && value < 0) value = 0;
          work->y[at] = static_cast<float>(value);
        }
      }
    }
  }
  return 0;
}

// Queues it, if everything is where it should be.
int Queue(const Handle& handle, int algorithm, void* workspace, size_t bytes,
          std::unique_ptr<Work> work) {
  const bool is_there =
      IsOnDevice(work->x, work->x_type.Bytes()) &&
      IsOnDevice(work->w, work->w_type.Bytes()) &&
      IsOnDevice(work->y, work->y_type.Bytes()) &&
      (work->z == nullptr || IsOnDevice(work->z, work->y_type.Bytes())) &&
      (work->bias == nullptr ||
       IsOnDevice(work->bias, sizeof(float) * work->y_type.c)) &&
      IsOnDevice(workspace, kWorkspace);
  if (!is_there || algorithm != kGemm || bytes < kWorkspace ||
      !Fits(work->x_type, work->w_type, work->window, work->y_type)) {
    return kBadParameter;
  }
  return fake_library::Queue(handle.stream, "convolution", Convolve,
                             std::move(work))
             ? kOk
             : kBadParameter;
}

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

int SetTensor(Tensor* tensor, int format, int type, Tensor value) {
  if (format != 0 || type != 0 || value.Bytes() == 0) return kBadParameter;
  *tensor = value;
  return kOk;
}

}  // namespace

EXPORT const char* cudnnGetErrorString(int status) {
  return status == kNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED"
                                 : "CUDNN_STATUS_BAD_PARAM";
}

EXPORT int cudnnCreate(Handle** handle) { return Create(handle); }
EXPORT int cudnnDestroy(Handle* handle) { return Destroy(handle); }
EXPORT int cudnnSetStream(Handle* handle, void* stream) {
  handle->stream = stream;
  return kOk;
}

EXPORT int cudnnCreateTensorDescriptor(Tensor** t) { return Create(t); }
EXPORT int cudnnDestroyTensorDescriptor(Tensor* t) { return Destroy(t); }
EXPORT int cudnnSetTensor4dDescriptor(Tensor* tensor, int format, int type,
                                      int n, int c, int h, int w) {
  return SetTensor(tensor, format, type, {n, c, h, w});
}
EXPORT int cudnnCreateFilterDescriptor(Tensor** t) { return Create(t); }
EXPORT int cudnnDestroyFilterDescriptor(Tensor* t) { return Destroy(t); }
EXPORT int cudnnSetFilter4dDescriptor(Tensor* filter, int type, int format,
                                      int o, int i, int h, int w) {
  return SetTensor(filter, format, type, {o, i, h, w});
}

EXPORT int cudnnCreateConvolutionDescriptor(Window** w) { return Create(w); }
EXPORT int cudnnDestroyConvolutionDescriptor(Window* w) { return Destroy(w); }
EXPORT int cudnnSetConvolution2dDescriptor(Window* window, int pad_h, int pad_w,
                                           int stride_h, int stride_w,
                                           int dilation_h, int dilation_w,
                                           int mode, int type) {
  if (mode != 1 || type != 0) return kBadParameter;
  *window = {{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}};
  return kOk;
}
EXPORT int cudnnSetConvolutionGroupCount(Window* window, int groups) {
  window->groups = groups;
  return kOk;
}
EXPORT int cudnnSetConvolutionMathType(Window* window, int math) {
  window->math = math;
  return kOk;
}

EXPORT int cudnnCreateActivationDescriptor(Activation** a) { return Create(a); }
EXPORT int cudnnDestroyActivationDescriptor(Activation* a) {
  return Destroy(a);
}
EXPORT int cudnnSetActivationDescriptor(Activation* activation, int mode,
                                        int /*propagates_nan*/,
                                        double /*limit*/) {
  activation->mode = mode;
  return kOk;
}

EXPORT int cudnnGetConvolutionForwardAlgorithm_v7(
    Handle*, const Tensor* x, const Tensor* w, const Window* window,
    const Tensor* y, int wanted, int* count, Proposal* proposals) {
  *count = 0;
  if (wanted < 4 || !Fits(*x, *w, *window, *y)) return kBadParameter;
  if (w->h == 13) return kOk;
  proposals[0] = {4, kOk, 1, size_t{1} << 40, 0, kFma, {}};
  proposals[1] = {6, kNotSupported, 1, 0, 0, kFma, {}};
  proposals[2] = {7, kOk, 1, 0, 0, kTensorCores, {}};
  proposals[3] = {kGemm, kOk, 1, kWorkspace, 0, kFma, {}};
  *count = 4;
  return kOk;
}

EXPORT int cudnnConvolutionForward(Handle* handle, const float* alpha,
                                   const Tensor* x_type, const float* x,
                                   const Tensor* w_type, const float* w,
                                   const Window* window, int algorithm,
                                   void* workspace, size_t bytes,
                                   const float* beta, const Tensor* y_type,
                                   float* y) {
  auto work = std::make_unique<Work>();
  *work = {*x_type, *w_type, *y_type, *window, x, w};
  work->y = y;
  work->alpha = *alpha;
  if (*beta != 0) return kBadParameter;
  return Queue(*handle, algorithm, workspace, bytes, std::move(work));
}

EXPORT int cudnnConvolutionBiasActivationForward(
    Handle* handle, const float* alpha, const Tensor* x_type, const float* x,
    const Tensor* w_type, const float* w, const Window* window, int algorithm,
    void* workspace, size_t bytes, const float* beta, const Tensor* z_type,
    const float* z, const Tensor* bias_type, const float* bias,
    const Activation* activation, const Tensor* y_type, float* y) {
  constexpr int kRelu = 1, kIdentity = 5;
  if (bias_type->c != y_type->c || bias_type->Bytes() != 4u * y_type->c ||
      z_type->Bytes() != y_type->Bytes() ||
      (activation->mode != kRelu && activation->mode != kIdentity)) {
    return kBadParameter;
  }
  auto work = std::make_unique<Work>();
  *work = {*x_type, *w_type, *y_type, *window, x, w};
  work->y = y;
  work->z = z;
  work->bias = bias;
  work->alpha = *alpha;
  work->beta = *beta;
  work->relu = activation->mode == kRelu;
  return Queue(*handle, algorithm, workspace, bytes, std::move(work));
}

// cuDNN, opened when it is needed: building Ingot needs nothing of it, not even
// headers.
#ifndef INGOT_BACKENDS_CUDNN_LIBRARY_H_
#define INGOT_BACKENDS_CUDNN_LIBRARY_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::cudnn {

// Handles and descriptors are pointers; a stream is that of the driver.
using Handle = void*;
using Descriptor = void*;

// An algorithm that the library proposes, and what it takes.
struct Proposal {
  int algorithm;
  int status;
  float time;
  size_t workspace_bytes;
  int determinism;
  int math;
  int reserved[3];
};

// X(our name, parameters, the library's name). All return a status, 0 for
// success.
#define INGOT_CUDNN_FUNCTIONS(X)                                               \
  X(Create, (Handle * handle), "cudnnCreate")                                  \
  X(Destroy, (Handle handle), "cudnnDestroy")                                  \
  X(SetStream, (Handle handle, void* stream), "cudnnSetStream")                \
  X(CreateTensor, (Descriptor * tensor), "cudnnCreateTensorDescriptor")        \
  X(DestroyTensor, (Descriptor tensor), "cudnnDestroyTensorDescriptor")        \
  X(SetTensor,                                                                 \
    (Descriptor tensor, int format, int type, int n, int c, int h, int w),     \
    "cudnnSetTensor4dDescriptor")                                              \
  X(CreateFilter, (Descriptor * filter), "cudnnCreateFilterDescriptor")        \
  X(DestroyFilter, (Descriptor filter), "cudnnDestroyFilterDescriptor")        \
  X(SetFilter,                                                                 \
    (Descriptor filter, int type, int format, int o, int i, int h, int w),     \
    "cudnnSetFilter4dDescriptor")                                              \
  X(CreateConvolution, (Descriptor * convolution),                             \
    "cudnnCreateConvolutionDescriptor")                                        \
  X(DestroyConvolution, (Descriptor convolution),                              \
    "cudnnDestroyConvolutionDescriptor")                                       \
  X(SetConvolution,                                                            \
    (Descriptor convolution, int pad_h, int pad_w, int stride_h, int stride_w, \
     int dilation_h, int dilation_w, int mode, int type),                      \
    "cudnnSetConvolution2dDescriptor")                                         \
  X(SetGroups, (Descriptor convolution, int groups),                           \
    "cudnnSetConvolutionGroupCount")                                           \
  X(SetMath, (Descriptor convolution, int math),                               \
    "cudnnSetConvolutionMathType")                                             \
  X(CreateActivation, (Descriptor * activation),                               \
    "cudnnCreateActivationDescriptor")                                         \
  X(DestroyActivation, (Descriptor activation),                                \
    "cudnnDestroyActivationDescriptor")                                        \
  X(SetActivation,                                                             \
    (Descriptor activation, int mode, int propagates_nan, double limit),       \
    "cudnnSetActivationDescriptor")                                            \
  X(FindAlgorithms,                                                            \
    (Handle handle, Descriptor x, Descriptor w, Descriptor convolution,        \
     Descriptor y, int wanted, int* count, Proposal* proposals),               \
    "cudnnGetConvolutionForwardAlgorithm_v7")                                  \
  X(Convolve,                                                                  \
    (Handle handle, const void* alpha, Descriptor x_type, const void* x,       \
     Descriptor w_type, const void* w, Descriptor convolution, int algorithm,  \
     void* workspace, size_t workspace_bytes, const void* beta,                \
     Descriptor y_type, void* y),                                              \
    "cudnnConvolutionForward")                                                 \
  X(ConvolveAndAdd,                                                            \
    (Handle handle, const void* alpha, Descriptor x_type, const void* x,       \
     Descriptor w_type, const void* w, Descriptor convolution, int algorithm,  \
     void* workspace, size_t workspace_bytes, const void* beta,                \
     Descriptor z_type, const void* z, Descriptor bias_type, const void* bias, \
     Descriptor activation, Descriptor y_type, void* y),                       \
    "cudnnConvolutionBiasActivationForward")

struct Library {
#define INGOT_CUDNN_FIELD(name, parameters, symbol) \
  int(*name) parameters = nullptr;
  INGOT_CUDNN_FUNCTIONS(INGOT_CUDNN_FIELD)
#undef INGOT_CUDNN_FIELD
  const char* (*Explain)(int status) = nullptr;

  // The file that the environment's INGOT_CUDNN_LIBRARY names, or else the
  // newest version that the system has, opened once; it stays open. NotFound
  // says what brings it. Thread-safe.
  static absl::StatusOr<const Library*> Open();

  // OK, or what the library means by a status that `doing` gave.
  absl::Status ToStatus(absl::string_view doing, int status) const;
};

}  // namespace ingot::cudnn

#endif  // INGOT_BACKENDS_CUDNN_LIBRARY_H_

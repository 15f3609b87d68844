#include "backends/cudnn/convolve.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::cudnn {
namespace {

// The library's numbers: cudnn_graph.h and cudnn_ops.h.
constexpr int kFloat = 0;             // CUDNN_DATA_FLOAT
constexpr int kNchw = 0;              // CUDNN_TENSOR_NCHW
constexpr int kCrossCorrelation = 1;  // as neural networks have it
constexpr int kFma = 3;               // CUDNN_FMA_MATH: no TF32
constexpr int kDefaultMath = 0;
constexpr int kRelu = 1, kIdentity = 5;
constexpr int kPrecomputedGemm = 1;  // the only one without an activation

// Algorithms that need more are not worth the memory.
constexpr size_t kMostWorkspace = size_t{256} << 20;

int Int(int64_t size) { return static_cast<int>(size); }

}  // namespace

absl::StatusOr<std::unique_ptr<Convolve>> Convolve::Make(
    const Library& library, Handle handle, const Convolution& convolution) {
  std::unique_ptr<Convolve> made(new Convolve(library, handle, convolution));
  INGOT_RETURN_IF_ERROR(made->Describe());
  INGOT_RETURN_IF_ERROR(made->Choose());
  return made;
}

Convolve::~Convolve() {
  for (const Descriptor tensor : {x_, y_, bias_}) {
    if (tensor != nullptr) library_.DestroyTensor(tensor);
  }
  if (w_ != nullptr) library_.DestroyFilter(w_);
  if (window_ != nullptr) library_.DestroyConvolution(window_);
  if (activation_ != nullptr) library_.DestroyActivation(activation_);
}

absl::Status Convolve::MakeTensor(const std::array<int64_t, 4>& shape,
                                  Descriptor* tensor) {
  int status = library_.CreateTensor(tensor);
  if (status == 0) {
    status = library_.SetTensor(*tensor, kNchw, kFloat, Int(shape[0]),
                                Int(shape[1]), Int(shape[2]), Int(shape[3]));
  }
  return library_.ToStatus("describing a tensor", status);
}

absl::Status Convolve::Describe() {
  const Convolution& c = convolution_;
  INGOT_RETURN_IF_ERROR(MakeTensor(c.data.shape, &x_));
  INGOT_RETURN_IF_ERROR(MakeTensor(c.result.shape, &y_));
  INGOT_RETURN_IF_ERROR(MakeTensor({1, c.kernel.shape[0], 1, 1}, &bias_));
  int status = library_.CreateFilter(&w_);
  if (status == 0) {
    const auto& shape = c.kernel.shape;
    status = library_.SetFilter(w_, kFloat, kNchw, Int(shape[0]), Int(shape[1]),
                                Int(shape[2]), Int(shape[3]));
  }
  if (status == 0) status = library_.CreateConvolution(&window_);
  if (status == 0) {
    status = library_.SetConvolution(window_, Int(c.pads[0]), Int(c.pads[1]),
                                     Int(c.strides[0]), Int(c.strides[1]),
                                     Int(c.dilations[0]), Int(c.dilations[1]),
                                     kCrossCorrelation, kFloat);
  }
  if (status == 0) status = library_.SetGroups(window_, Int(c.groups));
  if (status == 0) status = library_.SetMath(window_, kFma);
  if (status == 0) status = library_.CreateActivation(&activation_);
  if (status == 0) {
    status = library_.SetActivation(activation_, c.relu ? kRelu : kIdentity,
                                    /*propagates_nan=*/1, /*limit=*/0);
  }
  return library_.ToStatus("describing a convolution", status);
}

absl::Status Convolve::Choose() {
  const Convolution& c = convolution_;
  std::array<Proposal, 8> proposals = {};
  int count = 0;
  INGOT_RETURN_IF_ERROR(
      library_.ToStatus("choosing an algorithm",
                        library_.FindAlgorithms(handle_, x_, w_, window_, y_,
                                                Int(proposals.size()), &count,
                                                proposals.data())));
  const bool must_gemm = c.bias >= 0 && !c.relu;
  for (int i = 0; i < count; ++i) {
    const Proposal& p = proposals[i];
    const bool rounds = p.math != kDefaultMath && p.math != kFma;
    if (p.status != 0 || p.workspace_bytes > kMostWorkspace || rounds ||
        (must_gemm && p.algorithm != kPrecomputedGemm)) {
      continue;
    }
    algorithm_ = p.algorithm;
    workspace_bytes_ = p.workspace_bytes;
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("cuDNN has no algorithm for a convolution of ",
                   c.data.shape[1], " to ", c.kernel.shape[0], " channels, ",
                   c.kernel.shape[2], " x ", c.kernel.shape[3],
                   ", that needs at most ", kMostWorkspace >> 20, " MiB"));
}

absl::Status Convolve::Run(const ConvolutionAddresses& at,
                           void* workspace) const {
  const float one = 1, zero = 0;
  if (at.bias == nullptr) {
    return library_.ToStatus(
        "convolving",
        library_.Convolve(handle_, &one, x_, at.data, w_, at.kernel, window_,
                          algorithm_, workspace, workspace_bytes_, &zero, y_,
                          at.result));
  }
  // Without an addend nothing of it is read.
  const float* const added = at.added == nullptr ? at.result : at.added;
  return library_.ToStatus(
      "convolving",
      library_.ConvolveAndAdd(handle_, &one, x_, at.data, w_, at.kernel,
                              window_, algorithm_, workspace, workspace_bytes_,
                              at.added == nullptr ? &zero : &one, y_, added,
                              bias_, at.bias, activation_, y_, at.result));
}

}  // namespace ingot::cudnn

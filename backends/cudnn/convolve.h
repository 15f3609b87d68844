// A convolution of a region, prepared for the library.
#ifndef INGOT_BACKENDS_CUDNN_CONVOLVE_H_
#define INGOT_BACKENDS_CUDNN_CONVOLVE_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cudnn/library.h"
#include "backends/cudnn/region.h"

namespace ingot::cudnn {

// The addresses of a convolution's values.
struct ConvolutionAddresses {
  const float *data = nullptr, *kernel = nullptr;
  const float *bias = nullptr, *added = nullptr;  // null where there is none
  float* result = nullptr;
};

class Convolve {
 public:
  // Chooses an algorithm. Unimplemented where the library has none. Both must
  // outlive the result.
  static absl::StatusOr<std::unique_ptr<Convolve>> Make(
      const Library& library, Handle handle, const Convolution& convolution);
  ~Convolve();

  // The memory that Run needs.
  size_t workspace_bytes() const { return workspace_bytes_; }

  // Queues it on the handle's stream.
  absl::Status Run(const ConvolutionAddresses& at, void* workspace) const;

 private:
  Convolve(const Library& library, Handle handle,
           const Convolution& convolution)
      : library_(library), handle_(handle), convolution_(convolution) {}
  absl::Status Describe();
  absl::Status MakeTensor(const std::array<int64_t, 4>& shape,
                          Descriptor* tensor);
  absl::Status Choose();

  const Library& library_;
  const Handle handle_;
  const Convolution convolution_;
  Descriptor x_ = nullptr, y_ = nullptr, bias_ = nullptr, w_ = nullptr;
  Descriptor window_ = nullptr, activation_ = nullptr;
  int algorithm_ = 0;
  size_t workspace_bytes_ = 0;
};

}  // namespace ingot::cudnn

#endif  // INGOT_BACKENDS_CUDNN_CONVOLVE_H_

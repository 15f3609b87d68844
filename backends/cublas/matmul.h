// A product of a region, prepared for the library.
#ifndef INGOT_BACKENDS_CUBLAS_MATMUL_H_
#define INGOT_BACKENDS_CUBLAS_MATMUL_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cublas/library.h"
#include "backends/cublas/region.h"

namespace ingot::cublas {

// The addresses of a product's values, without its offsets.
struct ProductAddresses {
  const float *left = nullptr, *right = nullptr;
  const float *bias = nullptr, *added = nullptr;  // null where there is none
  float* result = nullptr;
};

// Row by row is column by column of the transpose, which is what the library
// computes: result' = right' * left'. Thread-safe.
class Matmul {
 public:
  // Chooses an algorithm that needs no memory of its own. Unimplemented where
  // the library has none. Both must outlive the result.
  static absl::StatusOr<std::unique_ptr<Matmul>> Make(const Library& library,
                                                      Handle handle,
                                                      const Product& product);
  ~Matmul();

  // Queues the product on the driver's stream.
  absl::Status Run(const ProductAddresses& at, void* stream) const;

 private:
  Matmul(const Library& library, Handle handle, const Product& product)
      : library_(library), handle_(handle), product_(product) {}
  absl::Status Prepare();
  // The caller destroys it, even where this fails.
  absl::Status MakeOperation(const float* bias, Operation* operation) const;
  absl::Status MakeLayout(int64_t rows, int64_t columns, bool transposed,
                          const Matrices& matrices, Layout* layout);

  const Library& library_;
  const Handle handle_;
  const Product product_;
  Layout right_ = nullptr, left_ = nullptr, result_ = nullptr;
  Algorithm algorithm_ = {};
};

}  // namespace ingot::cublas

#endif  // INGOT_BACKENDS_CUBLAS_MATMUL_H_

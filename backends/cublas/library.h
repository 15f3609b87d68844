// cuBLASLt, opened when it is needed: building Ingot needs nothing of it, not
// even headers.
#ifndef INGOT_BACKENDS_CUBLAS_LIBRARY_H_
#define INGOT_BACKENDS_CUBLAS_LIBRARY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::cublas {

// Handles are pointers; a stream is that of the driver.
using Handle = void*;
using Operation = void*;
using Layout = void*;
using Preference = void*;

// An algorithm, as the library fills it in.
struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

// X(our name, parameters, the library's name). All return a status, 0 for
// success. Attributes have numbers, which library.cc's enums name.
#define INGOT_CUBLAS_FUNCTIONS(X)                                            \
  X(Create, (Handle * handle), "cublasLtCreate")                             \
  X(Destroy, (Handle handle), "cublasLtDestroy")                             \
  X(CreateOperation,                                                         \
    (Operation * operation, int compute_type, int scale_type),               \
    "cublasLtMatmulDescCreate")                                              \
  X(DestroyOperation, (Operation operation), "cublasLtMatmulDescDestroy")    \
  X(SetOperation,                                                            \
    (Operation operation, int attribute, const void* value, size_t bytes),   \
    "cublasLtMatmulDescSetAttribute")                                        \
  X(CreateLayout,                                                            \
    (Layout * layout, int type, uint64_t rows, uint64_t columns,             \
     int64_t leading),                                                       \
    "cublasLtMatrixLayoutCreate")                                            \
  X(DestroyLayout, (Layout layout), "cublasLtMatrixLayoutDestroy")           \
  X(SetLayout,                                                               \
    (Layout layout, int attribute, const void* value, size_t bytes),         \
    "cublasLtMatrixLayoutSetAttribute")                                      \
  X(CreatePreference, (Preference * preference),                             \
    "cublasLtMatmulPreferenceCreate")                                        \
  X(DestroyPreference, (Preference preference),                              \
    "cublasLtMatmulPreferenceDestroy")                                       \
  X(SetPreference,                                                           \
    (Preference preference, int attribute, const void* value, size_t bytes), \
    "cublasLtMatmulPreferenceSetAttribute")                                  \
  X(FindAlgorithm,                                                           \
    (Handle handle, Operation operation, Layout a, Layout b, Layout c,       \
     Layout d, Preference preference, int wanted, Heuristic* found,          \
     int* count),                                                            \
    "cublasLtMatmulAlgoGetHeuristic")                                        \
  X(Multiply,                                                                \
    (Handle handle, Operation operation, const void* alpha, const void* a,   \
     Layout a_layout, const void* b, Layout b_layout, const void* beta,      \
     const void* c, Layout c_layout, void* d, Layout d_layout,               \
     const Algorithm* algorithm, void* workspace, size_t workspace_bytes,    \
     void* stream),                                                          \
    "cublasLtMatmul")

struct Library {
#define INGOT_CUBLAS_FIELD(name, parameters, symbol) \
  int(*name) parameters = nullptr;
  INGOT_CUBLAS_FUNCTIONS(INGOT_CUBLAS_FIELD)
#undef INGOT_CUBLAS_FIELD

  // The file that the environment's INGOT_CUBLAS_LIBRARY names, or else the
  // newest version that the system has, opened once; it stays open. NotFound
  // says what brings it. Thread-safe.
  static absl::StatusOr<const Library*> Open();
};

// OK, or the library's status that `doing` gave.
absl::Status ToStatus(absl::string_view doing, int status);

}  // namespace ingot::cublas

#endif  // INGOT_BACKENDS_CUBLAS_LIBRARY_H_

#include "backends/cublas/matmul.h"

#include <algorithm>
#include <cstdint>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::cublas {
namespace {

// The library's numbers: cuBLAS's reference of cublasLt, and cublasLt.h.
constexpr int kFloat32 = 0;     // CUDA_R_32F
constexpr int kCompute32 = 68;  // CUBLAS_COMPUTE_32F: no TF32
constexpr int32_t kTransposed = 1;

enum OperationAttribute {
  kTransposeA = 3,
  kTransposeB = 4,
  kEpilogue = 7,
  kBiasPointer = 8
};
enum LayoutAttribute { kBatchCount = 5, kBatchStep = 6 };
enum PreferenceAttribute {
  kWorkspace = 1,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};
enum Epilogue : uint32_t { kNothing = 1, kRelu = 2, kBias = 4 };

// The bytes that all of these are multiples of, of those that matter.
uint32_t AlignmentOf(const Matrices& matrices, int64_t leading) {
  constexpr int64_t kWide = 16 / sizeof(float);
  const bool is_wide = matrices.offset % kWide == 0 &&
                       matrices.step % kWide == 0 && leading % kWide == 0;
  return is_wide ? 16 : 4;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Matmul>> Matmul::Make(const Library& library,
                                                     Handle handle,
                                                     const Product& product) {
  std::unique_ptr<Matmul> made(new Matmul(library, handle, product));
  INGOT_RETURN_IF_ERROR(made->Prepare());
  return made;
}

Matmul::~Matmul() {
  for (const Layout layout : {right_, left_, result_}) {
    if (layout != nullptr) library_.DestroyLayout(layout);
  }
}

absl::Status Matmul::MakeOperation(const float* bias,
                                   Operation* operation) const {
  const Product& p = product_;
  const auto set = [&](int attribute, const auto& value) {
    return ToStatus(
        "describing a product",
        library_.SetOperation(*operation, attribute, &value, sizeof(value)));
  };
  INGOT_RETURN_IF_ERROR(
      ToStatus("describing a product",
               library_.CreateOperation(operation, kCompute32, kFloat32)));
  if (p.right_transposed) {
    INGOT_RETURN_IF_ERROR(set(kTransposeA, kTransposed));
  }
  if (p.left_transposed) INGOT_RETURN_IF_ERROR(set(kTransposeB, kTransposed));
  const uint32_t after =
      (p.relu ? uint32_t{kRelu} : 0) | (p.bias >= 0 ? uint32_t{kBias} : 0);
  INGOT_RETURN_IF_ERROR(
      set(kEpilogue, after == 0 ? uint32_t{kNothing} : after));
  return bias == nullptr ? absl::OkStatus() : set(kBiasPointer, bias);
}

absl::Status Matmul::MakeLayout(int64_t rows, int64_t columns, bool transposed,
                                const Matrices& matrices, Layout* layout) {
  // Memory holds it row by row; the library reads it column by column.
  if (transposed) std::swap(rows, columns);
  INGOT_RETURN_IF_ERROR(ToStatus(
      "describing a matrix",
      library_.CreateLayout(layout, kFloat32, static_cast<uint64_t>(columns),
                            static_cast<uint64_t>(rows), columns)));
  if (product_.count == 1) return absl::OkStatus();
  const auto count = static_cast<int32_t>(product_.count);
  INGOT_RETURN_IF_ERROR(ToStatus(
      "describing a batch",
      library_.SetLayout(*layout, kBatchCount, &count, sizeof(count))));
  return ToStatus("describing a batch",
                  library_.SetLayout(*layout, kBatchStep, &matrices.step,
                                     sizeof(matrices.step)));
}

absl::Status Matmul::Prepare() {
  const Product& p = product_;
  INGOT_RETURN_IF_ERROR(
      MakeLayout(p.k, p.n, p.right_transposed, p.right, &right_));
  INGOT_RETURN_IF_ERROR(
      MakeLayout(p.m, p.k, p.left_transposed, p.left, &left_));
  INGOT_RETURN_IF_ERROR(MakeLayout(p.m, p.n, false, p.result, &result_));

  Operation operation = nullptr;
  Preference preference = nullptr;
  const absl::Cleanup destroy = [&] {
    if (operation != nullptr) library_.DestroyOperation(operation);
    if (preference != nullptr) library_.DestroyPreference(preference);
  };
  INGOT_RETURN_IF_ERROR(MakeOperation(nullptr, &operation));
  INGOT_RETURN_IF_ERROR(ToStatus("choosing an algorithm",
                                 library_.CreatePreference(&preference)));
  const auto prefer = [&](int attribute, const auto& value) {
    return ToStatus(
        "choosing an algorithm",
        library_.SetPreference(preference, attribute, &value, sizeof(value)));
  };
  INGOT_RETURN_IF_ERROR(prefer(kWorkspace, uint64_t{0}));
  const uint32_t of_result = AlignmentOf(p.result, p.n);
  INGOT_RETURN_IF_ERROR(prefer(
      kAlignmentA, AlignmentOf(p.right, p.right_transposed ? p.k : p.n)));
  INGOT_RETURN_IF_ERROR(
      prefer(kAlignmentB, AlignmentOf(p.left, p.left_transposed ? p.m : p.k)));
  INGOT_RETURN_IF_ERROR(prefer(kAlignmentC, of_result));
  INGOT_RETURN_IF_ERROR(prefer(kAlignmentD, of_result));

  Heuristic found = {};
  int count = 0;
  INGOT_RETURN_IF_ERROR(ToStatus(
      "choosing an algorithm",
      library_.FindAlgorithm(handle_, operation, right_, left_, result_,
                             result_, preference, 1, &found, &count)));
  if (count < 1 || found.state != 0) {
    return absl::UnimplementedError(
        absl::StrCat("cuBLAS has no algorithm for a product of ", p.m, " x ",
                     p.k, " by ", p.k, " x ", p.n));
  }
  algorithm_ = found.algorithm;
  return absl::OkStatus();
}

absl::Status Matmul::Run(const ProductAddresses& at, void* stream) const {
  const Product& p = product_;
  Operation operation = nullptr;
  const absl::Cleanup destroy = [&] {
    if (operation != nullptr) library_.DestroyOperation(operation);
  };
  INGOT_RETURN_IF_ERROR(MakeOperation(at.bias, &operation));
  float* const result = at.result + p.result.offset;
  // Without an addend nothing of it is read.
  const float one = 1, beta = at.added == nullptr ? 0 : 1;
  const float* const added =
      at.added == nullptr ? result : at.added + p.result.offset;
  return ToStatus(
      "multiplying",
      library_.Multiply(handle_, operation, &one, at.right + p.right.offset,
                        right_, at.left + p.left.offset, left_, &beta, added,
                        result_, result, result_, &algorithm_,
                        /*workspace=*/nullptr, /*workspace_bytes=*/0, stream));
}

}  // namespace ingot::cublas

// Kernels compiled, linked and loaded as users' are, and compared with the
// interpreter. For tests of any backend.
#ifndef INGOT_BACKENDS_TESTING_RUN_KERNELS_H_
#define INGOT_BACKENDS_TESTING_RUN_KERNELS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/tir/ir.h"
#include "runtime/module.h"
#include "runtime/tensor.h"

namespace ingot::testing_support {

// Runs the target's loop passes over `kernels`, generates code for `target`,
// which must be built in, links what is native, and loads it.
absl::StatusOr<std::shared_ptr<Module>> BuildKernels(
    absl::string_view target, absl::Span<const tir::PrimFunc> kernels);

// The same up to linking: the path of the shared library, which the caller
// removes. InvalidArgument for a target whose code is not native.
absl::StatusOr<std::string> LinkKernels(
    absl::string_view target, absl::Span<const tir::PrimFunc> kernels);

// The most that two results may differ by. Integers are always equal, and NaN
// equals NaN alone.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// OkStatus if `got` is `expected`, of the same type and shape; the error says,
// after `what`, which element differs.
absl::Status CompareTensors(absl::string_view what, const Tensor& got,
                            const Tensor& expected, Tolerance tolerance = {});

// Calls `func` of `module` and the interpreter with the same `inputs`, and
// compares outputs of the shapes `outputs`. The error says which kernel and
// element differs.
absl::Status CompareWithInterpreter(const Module& module,
                                    const tir::PrimFunc& func,
                                    const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& outputs,
                                    Tolerance tolerance = {});

// Parses tir text; fails the test and gives an empty function if it is wrong.
tir::PrimFunc ParseKernel(absl::string_view text);

// A tensor whose end lies at the end of a page with nothing after it, and
// whose start, of another one, with nothing before it: reading outside of
// either crashes.
Tensor AtPageEnd(DataType dtype, absl::Span<const int64_t> shape);
Tensor AtPageStart(DataType dtype, absl::Span<const int64_t> shape);

// Fills with values that arithmetic on them, if there is not too much of it,
// keeps exact: small multiples of 1/4, small integers. The same for a seed.
void FillExact(Tensor* t, uint32_t seed);

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_RUN_KERNELS_H_

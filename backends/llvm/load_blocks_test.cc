// Transpositions in registers: elements of every size, blocks of every form, at
// the ends of memory, against the interpreter.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_kernels.h"
#include "gtest/gtest.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing_support::AtPageEnd;
using testing_support::AtPageStart;
using testing_support::FillExact;
using testing_support::ParseKernel;

struct Form {
  int rows, columns;  // of a block: lanes, and vectors that are written out
};

// [n, m] -> [m, n], of whole blocks.
tir::PrimFunc Kernel(const std::string& type, Form form, int64_t n, int64_t m,
                     const std::string& value) {
  const std::string name =
      absl::StrCat("transpose_", type, "_", form.rows, "_", form.columns);
  return ParseKernel(absl::StrCat(
      "func @", name, "(%x: ", type, "[", n, ", ", m, "]) -> (%y: ", type, "[",
      m, ", ", n, "]) { for to in [0, ", m / form.columns, ") { for vo in [0, ",
      n / form.rows, ") { unrolled t in [0, ", form.columns,
      ") { vectorized v in [0, ", form.rows, ") { %y[to * ", form.columns,
      " + t, vo * ", form.rows, " + v] = ", value, " } } } } }"));
}

TEST(LoadBlocks, TransposeEveryTypeAndForm) {
  for (const char* type :
       {"bool", "i8", "u8", "f16", "bf16", "i32", "f32", "f64", "i64"}) {
    std::vector<tir::PrimFunc> kernels;
    std::vector<Form> forms;
    for (int rows : {2, 4, 8, 16, 32}) {
      for (int columns : {2, 3, 4, 7, 16, 32}) {
        const Form form = {rows, columns};
        forms.push_back(form);
        kernels.push_back(Kernel(
            type, form, rows * 2, columns * 3,
            absl::StrCat("%x[vo * ", rows, " + v, to * ", columns, " + t]")));
      }
    }
    const auto module =
        testing_support::BuildKernels("llvm -mcpu=native", kernels);
    ASSERT_TRUE(module.ok()) << module.status();
    for (size_t i = 0; i < kernels.size(); ++i) {
      const int64_t n = forms[i].rows * 2, m = forms[i].columns * 3;
      const DataType dtype = kernels[i].params[0]->dtype;
      for (const auto& place : {AtPageStart, AtPageEnd}) {
        Tensor x = place(dtype, {n, m}), y = place(dtype, {m, n});
        FillExact(&x, 7);
        const absl::Status same = testing_support::CompareWithInterpreter(
            **module, kernels[i], {x}, {y});
        EXPECT_TRUE(same.ok()) << same;
      }
    }
  }
}

}  // namespace
}  // namespace ingot

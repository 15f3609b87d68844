// Loads of elements that are apart, as vectors of neighbours that are shuffled:
// elements of every size, blocks of transpositions of every form, at the ends
// of memory, against the interpreter.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/testing/run_kernels.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing_support::AtPageEnd;
using testing_support::AtPageStart;
using testing_support::ParseKernel;

constexpr const char* kTypes[] = {"bool", "u8", "f16", "f32", "i64"};

struct Case {
  tir::PrimFunc kernel;
  std::vector<int64_t> x, y;  // shapes
};

// Transposes two by three blocks of so many rows and columns, of which the last
// `missing` rows are not there.
Case Transposition(const std::string& type, int64_t rows, int64_t columns,
                   int64_t missing = 0) {
  const int64_t n = rows * 2, m = columns * 3;
  const std::string row = absl::StrCat("vo * ", rows, " + v");
  const std::string column = absl::StrCat("to * ", columns, " + t");
  std::string value = absl::StrCat("%x[", row, ", ", column, "]");
  if (missing > 0) {
    value = absl::StrCat("select(", row, " < ", n - missing, ", ", value, ", ",
                         "%x[0, 0])");
  }
  return {ParseKernel(absl::StrCat(
              "func @transpose_", rows, "_", columns, "_", missing,
              "(%x: ", type, "[", n - missing, ", ", m, "]) -> (%y: ", type,
              "[", m, ", ", n, "]) { for to in [0, 3) { for vo in [0, 2) { ",
              "unrolled t in [0, ", columns, ") { vectorized v in [0, ", rows,
              ") { %y[", column, ", ", row, "] = ", value, " } } } } }")),
          {n - missing, m},
          {m, n}};
}

// Takes out one of `stride` elements.
Case Spaced(const std::string& type, int64_t lanes, int64_t stride) {
  const int64_t span = stride * (lanes - 1) + 1;
  return {ParseKernel(absl::StrCat(
              "func @spaced_", lanes, "_", stride, "(%x: ", type, "[", span,
              "]) -> (%y: ", type, "[", lanes, "]) { vectorized v in [0, ",
              lanes, ") { %y[v] = %x[v * ", stride, "] } }")),
          {span},
          {lanes}};
}

void Check(const std::vector<Case>& cases) {
  std::vector<tir::PrimFunc> kernels;
  for (const Case& c : cases) kernels.push_back(c.kernel);
  const auto module =
      testing_support::BuildKernels("llvm -mcpu=native", kernels);
  ASSERT_TRUE(module.ok()) << module.status();
  for (const Case& c : cases) {
    const DataType type = c.kernel.params[0]->dtype;
    for (const auto& place : {AtPageStart, AtPageEnd}) {
      Tensor x = place(type, c.x), y = place(type, c.y);
      testing_support::FillExact(&x, 7);
      EXPECT_EQ(
          testing_support::CompareWithInterpreter(**module, c.kernel, {x}, {y}),
          absl::OkStatus());
    }
  }
}

TEST(ShuffledLoads, TransposeBlocks) {
  for (const char* type : kTypes) {
    std::vector<Case> cases;
    for (int64_t rows : {2, 4, 8, 16, 32}) {
      for (int64_t columns : {2, 3, 4, 7, 16, 32}) {
        cases.push_back(Transposition(type, rows, columns));
        cases.push_back(Transposition(type, rows, columns, rows / 2));
      }
    }
    Check(cases);
  }
}

TEST(ShuffledLoads, TakeOutElements) {
  for (const char* type : kTypes) {
    std::vector<Case> cases;
    for (int64_t lanes : {2, 4, 6, 8, 16, 32}) {
      for (int64_t stride : {2, 3, 4, 5}) {
        cases.push_back(Spaced(type, lanes, stride));
      }
    }
    Check(cases);
  }
}

}  // namespace
}  // namespace ingot

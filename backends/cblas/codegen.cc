#include "backends/cblas/codegen.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/gemm/product.h"
#include "base/status_macros.h"
#include "compiler/codegen/c_region.h"
#include "compiler/relay/op.h"

namespace ingot {
namespace {

using gemm::Factor;
using gemm::Product;
using relay::Node;
using relay::Pattern;

// CBLAS is one of the oldest stable interfaces there are: its prototype needs
// no header that would have to be installed where sets are linked.
constexpr char kDeclarations[] =
    R"(enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n,
                 int k, float alpha, const float* a, int lda, const float* b,
                 int ldb, float beta, float* c, int ldc);
)";

absl::Status CheckNodes(const Target&, absl::Span<Node* const> nodes) {
  return gemm::ReadProduct({{nodes.begin(), nodes.end()}, {}}).status();
}

absl::Status Supports(const Target&, const Node& node) {
  return gemm::ReadProduct({{const_cast<Node*>(&node)}, {}}).status();
}

// " + i0 * 12 + i1 * 3" of what differs from one batch to the next.
std::string Offset(const std::vector<int64_t>& strides) {
  std::string text;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] != 0) absl::StrAppend(&text, " + i", i, " * ", strides[i]);
  }
  return text;
}

// `name_of` gives the variable of a value outside of the product.
template <typename NameOf>
std::string PrintProduct(const Product& p, const NameOf& name_of,
                         const std::string& out) {
  std::string text, indent = "  ";
  int64_t rows = p.m;
  for (int64_t dim : p.batch) rows *= dim;
  if (p.bias && p.bias_is_row) {
    absl::StrAppend(&text, "  for (int64_t i = 0; i < ", rows,
                    "; ++i) {\n    memcpy(", out, " + i * ", p.n, ", ",
                    name_of(*p.bias), ", ", p.n * sizeof(float), ");\n  }\n");
  } else if (p.bias) {
    absl::StrAppend(&text, "  memcpy(", out, ", ", name_of(*p.bias), ", ",
                    rows * p.n * sizeof(float), ");\n");
  }
  std::vector<int64_t> strides(p.batch.size());
  int64_t stride = p.m * p.n;
  for (size_t i = p.batch.size(); i-- > 0; stride *= p.batch[i]) {
    strides[i] = stride;
  }
  for (size_t i = 0; i < p.batch.size(); ++i) {
    absl::StrAppend(&text, indent, "for (int64_t i", i, " = 0; i", i, " < ",
                    p.batch[i], "; ++i", i, ") {\n");
    indent += "  ";
  }
  // A row's length in memory; a matrix without columns still needs one.
  const auto leading = [](const Factor& f, int64_t rows, int64_t columns) {
    return std::max<int64_t>(1, f.transposed ? rows : columns);
  };
  const auto order = [](const Factor& f) {
    return f.transposed ? "TRANSPOSED" : "AS_IT_IS";
  };
  absl::StrAppend(&text, indent, "cblas_sgemm(ROW_MAJOR, ", order(p.a), ", ",
                  order(p.b), ", ", p.m, ", ", p.n, ", ", p.k, ", 1.0f,\n",
                  indent, "            ", name_of(p.a.value),
                  Offset(p.a.strides), ", ", leading(p.a, p.m, p.k), ", ",
                  name_of(p.b.value), Offset(p.b.strides), ", ",
                  leading(p.b, p.k, p.n), ", ", p.bias ? "1.0f" : "0.0f", ",\n",
                  indent, "            ", out, Offset(strides), ", ",
                  std::max<int64_t>(1, p.n), ");\n");
  for (size_t i = p.batch.size(); i > 0; --i) {
    absl::StrAppend(&text, std::string(2 * i, ' '), "}\n");
  }
  return text;
}

absl::StatusOr<CodegenResult> Generate(const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  const auto print =
      [&](const codegen::CNode& c) -> absl::StatusOr<codegen::CText> {
    INGOT_ASSIGN_OR_RETURN(const Product product, gemm::ReadProduct(c.call));
    const auto name_of = [&](const relay::Value& v) { return c.NameOf(v); };
    return codegen::CText{"", PrintProduct(product, name_of, c.outputs[0])};
  };
  const codegen::CFile file{"-std=c99 -O2", kDeclarations};
  INGOT_ASSIGN_OR_RETURN(
      CodegenResult result,
      codegen::MakeCRegion(module, region, "cblas", symbol, file, print));
  result.link_libraries = {"openblas:libopenblas0"};
  return result;
}

}  // namespace

absl::Status RegisterCblasTarget(TargetRegistry* registry) {
  const Pattern dense =
      Pattern::Op({"dense"}, {Pattern::Any(), Pattern::Any()});
  const Pattern factor = Pattern::Maybe({"transpose"}, Pattern::Any());
  const Pattern matmul = Pattern::Op({"matmul"}, {factor, factor});
  TargetKind kind;
  kind.name = "cblas";
  kind.doc = "matrix products by OpenBLAS, called from C";
  kind.loaders = {kNativeLoader};
  kind.patterns = {
      {"dense_bias", Pattern::Op({"add"}, {dense, Pattern::Any()}), CheckNodes},
      {"matmul_bias", Pattern::Op({"add"}, {matmul, Pattern::Any()}),
       CheckNodes},
      {"matmul", matmul, CheckNodes},
  };
  kind.operators = {"matmul", "dense"};
  kind.supports = Supports;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot

#include "backends/cublas/codegen.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cublas/name.h"
#include "backends/cublas/region.h"
#include "backends/gemm/product.h"
#include "backends/library_calls/number_values.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"
#include "compiler/relay/pattern.h"

namespace ingot {
namespace {

using relay::Node;
using relay::Pattern;

// Products that are no batch of one step each become several calls; a region
// with more than this is better left to loops.
constexpr int64_t kMostCalls = 256;

// A dimension of a batch: so many matrices, each a step further.
struct BatchDim {
  int64_t count = 1;
  int64_t left = 0, right = 0, result = 0;
};

// The batch's dimensions of more than one matrix, those joined that are one
// step after the other in all three operands; the last one varies fastest.
std::vector<BatchDim> BatchOf(const gemm::Product& p) {
  std::vector<BatchDim> dims;
  int64_t step = p.m * p.n;
  for (size_t i = p.batch.size(); i-- > 0; step *= p.batch[i]) {
    const BatchDim dim = {p.batch[i], p.a.strides[i], p.b.strides[i], step};
    if (dim.count == 1) continue;
    if (!dims.empty()) {
      BatchDim& inner = dims.front();
      if (dim.left == inner.left * inner.count &&
          dim.right == inner.right * inner.count) {
        inner.count *= dim.count;
        continue;
      }
    }
    dims.insert(dims.begin(), dim);
  }
  return dims;
}

int64_t CallsOf(const std::vector<BatchDim>& batch) {
  int64_t calls = 1;
  for (size_t i = 0; i + 1 < batch.size(); ++i) calls *= batch[i].count;
  return calls;
}

absl::StatusOr<gemm::Product> ReadProduct(const codegen::RegionCall& call) {
  INGOT_ASSIGN_OR_RETURN(gemm::Product p, gemm::ReadProduct(call));
  for (const relay::Value& v :
       {p.a.value, p.b.value, p.bias.value_or(relay::Value())}) {
    if (codegen::IsHeldByRegion(v)) {
      return absl::UnimplementedError(
          "an operand is a constant of one element");
    }
  }
  bool is_empty = p.m == 0 || p.n == 0 || p.k == 0;
  for (const int64_t dim : p.batch) is_empty = is_empty || dim == 0;
  if (is_empty) return absl::UnimplementedError("a matrix has no elements");
  const std::vector<BatchDim> batch = BatchOf(p);
  if (CallsOf(batch) > kMostCalls) {
    return absl::UnimplementedError(
        absl::StrCat("its batch takes ", CallsOf(batch), " calls"));
  }
  return p;
}

absl::Status CheckNodes(const Target&, absl::Span<Node* const> nodes) {
  return ReadProduct({{nodes.begin(), nodes.end()}, {}}).status();
}

absl::Status Supports(const Target&, const Node& node) {
  return ReadProduct({{const_cast<Node*>(&node)}, {}}).status();
}

// A call for each combination of the batch's dimensions from `d` on.
void AddCalls(const std::vector<BatchDim>& batch, size_t d,
              cublas::Product product, cublas::Region* region) {
  if (d == batch.size()) {
    region->products.push_back(product);
    return;
  }
  for (int64_t i = 0; i < batch[d].count; ++i) {
    AddCalls(batch, d + 1, product, region);
    product.left.offset += batch[d].left;
    product.right.offset += batch[d].right;
    product.result.offset += batch[d].result;
  }
}

absl::Status AddProduct(const library_calls::ValueNumbers& numbers,
                        const codegen::RegionCall& call, int64_t result,
                        cublas::Region* region) {
  INGOT_ASSIGN_OR_RETURN(const gemm::Product p, ReadProduct(call));
  std::vector<BatchDim> batch = BatchOf(p);
  const BatchDim inner = batch.empty() ? BatchDim() : batch.back();
  if (!batch.empty()) batch.pop_back();
  cublas::Product product;
  product.m = p.m;
  product.n = p.n;
  product.k = p.k;
  product.count = inner.count;
  product.left = {numbers.Of(call, p.a.value), 0, inner.left};
  product.right = {numbers.Of(call, p.b.value), 0, inner.right};
  product.result = {result, 0, inner.result};
  product.left_transposed = p.a.transposed;
  product.right_transposed = p.b.transposed;
  if (p.bias) {
    (p.bias_is_row ? product.bias : product.added) = numbers.Of(call, *p.bias);
  }
  product.relu = call.Find({"relu"}) != nullptr;
  AddCalls(batch, 0, product, region);
  return absl::OkStatus();
}

absl::StatusOr<CodegenResult> Generate(const Target&,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  cublas::Region made;
  const absl::Status numbered = library_calls::ValueNumbers::Number(
      module, region, symbol, &made,
      [&](const library_calls::ValueNumbers& numbers,
          const codegen::RegionCall& call,
          int64_t result) { return AddProduct(numbers, call, result, &made); });
  if (!numbered.ok()) {
    return Annotate(numbered, absl::StrCat("region ", region.name));
  }
  CodegenResult result;
  codegen::AddArtifact(cublas::kName, cublas::kName,
                       absl::StrCat(symbol, ".products"),
                       cublas::WriteRegion(made), &result);
  return result;
}

}  // namespace

absl::Status RegisterCublasTarget(TargetRegistry* registry) {
  const Pattern dense =
      Pattern::Op({"dense"}, {Pattern::Any(), Pattern::Any()});
  const Pattern factor = Pattern::Maybe({"transpose"}, Pattern::Any());
  const Pattern matmul = Pattern::Op({"matmul"}, {factor, factor});
  TargetKind kind;
  kind.name = cublas::kName;
  kind.doc = "products of matrices by NVIDIA's cuBLAS, beside cuda";
  kind.loaders = {cublas::kName};
  kind.device = cublas::kDevice;
  for (const auto& [name, product] :
       {std::make_pair("dense", dense), std::make_pair("matmul", matmul)}) {
    const Pattern added = Pattern::Op({"add"}, {product, Pattern::Any()});
    kind.patterns.push_back({absl::StrCat(name, "_bias"),
                             Pattern::Maybe({"relu"}, added), CheckNodes});
    kind.patterns.push_back({absl::StrCat(name, "_relu"),
                             Pattern::Maybe({"relu"}, product), CheckNodes});
  }
  kind.operators = {"matmul", "dense"};
  kind.supports = Supports;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot

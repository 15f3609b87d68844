#include "backends/gemm/product.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace ingot::gemm {
namespace {

using relay::Node;
using relay::Value;
using Dims = std::vector<int64_t>;

template <typename... Parts>
absl::Status No(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// The operand of `node` if it is a transpose of the last two dimensions.
absl::StatusOr<Value> TransposedOf(const Node& node) {
  Dims swapped(node.outputs[0].shape.size());
  for (size_t i = 0; i < swapped.size(); ++i) swapped[i] = i;
  if (swapped.size() >= 2) {
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  }
  if (node.attrs.Get<Dims>("axes") != swapped) {
    return No("a transpose of other than the last two dimensions");
  }
  return node.inputs[0];
}

// The product's operand, after its transpose if that is one of `call`'s.
absl::StatusOr<Factor> ReadFactor(const Value& operand,
                                  const codegen::RegionCall& call) {
  Factor factor{operand, false, {}};
  for (const Node* node : call.nodes) {
    if (node != operand.node || !node->Is("transpose")) continue;
    INGOT_ASSIGN_OR_RETURN(factor.value, TransposedOf(*node));
    factor.transposed = true;
  }
  return factor;
}

// The strides of a factor whose own batch is dims without its last two.
Dims Strides(const Dims& dims, const Dims& batch) {
  Dims strides(batch.size());
  int64_t stride = dims[dims.size() - 1] * dims[dims.size() - 2];
  for (size_t i = 0; i + 2 < dims.size(); ++i) {
    const int64_t dim = dims[dims.size() - 3 - i];
    if (dim != 1) strides[batch.size() - 1 - i] = stride;
    stride *= dim;
  }
  return strides;
}

absl::Status ReadBias(const Value& bias, const Value& product, Product* out) {
  if (!bias) return No("the product is added to itself");
  INGOT_ASSIGN_OR_RETURN(const Dims dims, codegen::KnownShape(bias.type()));
  INGOT_ASSIGN_OR_RETURN(const Dims result,
                         codegen::KnownShape(product.type()));
  out->bias = bias;
  out->bias_is_row = dims != result;
  if (!out->bias_is_row ||
      codegen::RunsAlong(dims, result, result.size() - 1)) {
    return absl::OkStatus();
  }
  return No("a bias ", relay::ToString(bias.type()), " for a product ",
            relay::ToString(product.type()));
}

}  // namespace

absl::StatusOr<Product> ReadProduct(const codegen::RegionCall& call) {
  const Node* product = call.Find({"matmul", "dense"});
  if (product == nullptr) return No("only matmul and dense");
  const relay::TensorType& type = product->outputs[0];
  for (const Value& input : product->inputs) {
    if (input.type().dtype == DataType::Float(32) &&
        type.dtype == DataType::Float(32)) {
      continue;
    }
    return No("only f32, not ", relay::ToString(input.type()), " to ",
              type.dtype.ToString());
  }
  Product out;
  INGOT_ASSIGN_OR_RETURN(out.a, ReadFactor(product->inputs[0], call));
  INGOT_ASSIGN_OR_RETURN(out.b, ReadFactor(product->inputs[1], call));
  if (product->Is("dense")) out.b.transposed = !out.b.transposed;
  INGOT_ASSIGN_OR_RETURN(const Dims a, codegen::KnownShape(out.a.value.type()));
  INGOT_ASSIGN_OR_RETURN(const Dims b, codegen::KnownShape(out.b.value.type()));
  INGOT_ASSIGN_OR_RETURN(const Dims result, codegen::KnownShape(type));
  out.m = result[result.size() - 2];
  out.n = result[result.size() - 1];
  out.k = a[a.size() - (out.a.transposed ? 2 : 1)];
  out.batch.assign(result.begin(), result.end() - 2);
  out.a.strides = Strides(a, out.batch);
  out.b.strides = Strides(b, out.batch);
  // One b for all of a's rows: a taller matrix.
  if (!out.a.transposed && b.size() == 2) {
    for (int64_t dim : out.batch) out.m *= dim;
    out.batch.clear();
    out.a.strides.clear();
    out.b.strides.clear();
  }
  for (int64_t size : {out.m, out.n, out.k}) {
    if (size > std::numeric_limits<int32_t>::max()) {
      return No("a matrix with more than 2^31 rows or columns");
    }
  }
  if (call.Find({"add"}) != nullptr) {
    INGOT_RETURN_IF_ERROR(
        ReadBias(call.Operand("add"), Value{const_cast<Node*>(product)}, &out));
  }
  return out;
}

}  // namespace ingot::gemm

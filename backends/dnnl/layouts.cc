#include "backends/dnnl/layouts.h"

#include <algorithm>
#include <numeric>

namespace ingot::dnnl_backend {

using dnnl::memory;

memory::desc Plain(const Dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (size_t d = dims.size() - 1; d-- > 0;) {
    strides[d] = strides[d + 1] * dims[d + 1];
  }
  return memory::desc(dims, memory::data_type::f32, strides);
}

memory::desc AnyLayout(const Dims& dims) {
  return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
}

memory::desc LikeBlocked(const memory::desc& like, const Dims& dims) {
  using tag = memory::format_tag;
  static constexpr tag kTags[3][3] = {
      {tag::aBc4b, tag::aBc8b, tag::aBc16b},
      {tag::aBcd4b, tag::aBcd8b, tag::aBcd16b},
      {tag::aBcde4b, tag::aBcde8b, tag::aBcde16b}};
  const size_t n = dims.size();
  if (n < 3 || n > 5) return memory::desc();
  for (int i = 0; i < 3; ++i) {
    const tag blocks = kTags[n - 3][i];
    if (memory::desc(like.dims(), memory::data_type::f32, blocks) == like) {
      return memory::desc(dims, memory::data_type::f32, blocks);
    }
  }
  return memory::desc();
}

bool IsPlain(const memory::desc& desc) { return desc == Plain(desc.dims()); }

bool CutsBlocks(const memory::desc& desc, const Dims& part) {
  const auto& blocking = desc.data.format_desc.blocking;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    const auto d = static_cast<size_t>(blocking.inner_idxs[i]);
    if (part[d] != desc.data.dims[d]) return true;
  }
  return false;
}

Dims OrderInMemory(const memory::desc& desc) {
  Dims order(static_cast<size_t>(desc.data.ndims));
  std::iota(order.begin(), order.end(), 0);
  if (desc.data.format_kind != dnnl_blocked) return order;
  const auto& strides = desc.data.format_desc.blocking.strides;
  // Ties, of dimensions of 1, stay in order.
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return strides[a] != strides[b] ? strides[a] > strides[b] : a < b;
  });
  return order;
}

memory::desc Reshaped(const memory::desc& desc, const Dims& dims) {
  return desc.reshape(dims, /*allow_empty=*/true);
}

memory::desc Transposed(const memory::desc& desc, const Dims& axes) {
  // axes[i] is the operand's dimension of the result's i; oneDNN wants to know
  // where each of the operand's dimensions goes.
  std::vector<int> to(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    to[static_cast<size_t>(axes[i])] = static_cast<int>(i);
  }
  return desc.permute_axes(to, /*allow_empty=*/true);
}

memory::desc Sliced(const memory::desc& desc, const Dims& starts,
                    const Dims& dims) {
  return desc.submemory_desc(dims, starts, /*allow_empty=*/true);
}

}  // namespace ingot::dnnl_backend

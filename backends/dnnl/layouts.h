// Memory descriptors: a shape and how its elements lie in memory.
#ifndef INGOT_BACKENDS_DNNL_LAYOUTS_H_
#define INGOT_BACKENDS_DNNL_LAYOUTS_H_

#include "backends/dnnl/graph.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace ingot::dnnl_backend {

// Row-major, nothing between the elements.
dnnl::memory::desc Plain(const Dims& dims);
// Whatever the primitive likes.
dnnl::memory::desc AnyLayout(const Dims& dims);

// `dims` in blocks of channels as `like`, which has as many dimensions, has
// them; a desc of no dimensions where `like` has other blocks or none.
dnnl::memory::desc LikeBlocked(const dnnl::memory::desc& like,
                               const Dims& dims);

// Whether `desc` is Plain of its own shape, and starts at its buffer's start.
bool IsPlain(const dnnl::memory::desc& desc);

// Whether dimensions that `desc` has in blocks are not whole in a part of that
// shape.
bool CutsBlocks(const dnnl::memory::desc& desc, const Dims& part);

// The dimensions from the one whose elements are furthest apart to the nearest.
Dims OrderInMemory(const dnnl::memory::desc& desc);

// The same elements with another shape or order, without moving them; a desc
// of no dimensions where the layout does not allow that.
dnnl::memory::desc Reshaped(const dnnl::memory::desc& desc, const Dims& dims);
dnnl::memory::desc Transposed(const dnnl::memory::desc& desc, const Dims& axes);
dnnl::memory::desc Sliced(const dnnl::memory::desc& desc, const Dims& starts,
                          const Dims& dims);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_LAYOUTS_H_

// Copies of boxes of a tensor into shared memory, which some devices make on
// their own.
#ifndef INGOT_COMPILER_CODEGEN_BOX_COPY_H_
#define INGOT_COMPILER_CODEGEN_BOX_COPY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::codegen {

// An argument of a kernel of which boxes are copied, with so many elements
// along each dimension. Its device must know that before the kernel starts
// (CUDA's driver API, cuTensorMapEncodeTiled).
struct TensorMap {
  size_t argument = 0;
  std::vector<int64_t> box;
};

// A tensorized loop nest of one thread that only copies:
//
//   thread t in [0, 1)
//     tensorized for ...: to[...] = from[...], or 0 beyond the end of `from`
//
// Rows of kRowBytes that are neighbours in both lie one after the other in
// shared memory: a box. There may be several of one size.
struct BoxCopy {
  // Whoever reads such rows together can have them in banks of their own only
  // if they are swizzled, and that is done in parts of 128 bytes.
  static constexpr int64_t kRowBytes = 128;

  struct Box {
    std::vector<tir::Expr> from;  // the first element's place
    int64_t to;                   // in elements
  };

  tir::Buffer to;
  TensorMap map;
  std::vector<Box> boxes;
  size_t number = 0;  // among the copies of its kernel

  int64_t Bytes() const;  // of all boxes
};

// Reads the copy that a loop over threads makes of an input of `function` into
// shared memory. Nothing where it does something else, or what no device
// can do: rows of the tensor are no multiples of 16 bytes, say.
std::optional<BoxCopy> ReadBoxCopy(const tir::For& threads,
                                   const tir::PrimFunc& function);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_BOX_COPY_H_

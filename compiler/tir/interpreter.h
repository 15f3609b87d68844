#ifndef INGOT_COMPILER_TIR_INTERPRETER_H_
#define INGOT_COMPILER_TIR_INTERPRETER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/tir/ir.h"
#include "runtime/c_abi.h"
#include "runtime/tensor.h"

namespace ingot::tir {

struct InterpretOptions {
  // Gives up with DeadlineExceeded after about so many iterations of loops, all
  // of them together. 0: never.
  int64_t max_iterations = 0;
};

// Runs a verified function: the reference for what loop code means. Arguments
// are the inputs, then the outputs; workspaces may follow and are otherwise
// allocated here. Parallel loops run their iterations in order, vectors run
// lane by lane, and allocated buffers start out with all bits set (a NaN in any
// float type), so that reading what was never written shows.
//
// Threads of a block loop run in order, too, and so do blocks. Where there is
// one, FailedPrecondition names what they must not do: use an element while
// another one may be writing it, read what none has written of a shared buffer
// or of registers, use another thread's registers.
//
// Every access is checked: OutOfRange names buffer and index. InvalidArgument
// says which argument does not fit the function's parameters, and also reports
// undefined integer arithmetic and asserts that fail. Unimplemented for a
// function that calls other code (CallExtern) or has parts. After an error the
// outputs hold anything.
// Thread-safe, as long as no two runs share an output.
absl::Status Interpret(const PrimFunc& func, absl::Span<const Tensor> args,
                       const InterpretOptions& options = {});

// Does the same for tensors of the C ABI, which must be dense and on the CPU.
absl::Status Interpret(const PrimFunc& func, absl::Span<DLTensor* const> args,
                       const InterpretOptions& options = {});

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_INTERPRETER_H_

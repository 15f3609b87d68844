// A graph made ready to run: primitives in order, on buffers with fixed places.
#ifndef INGOT_BACKENDS_DNNL_PROGRAM_H_
#define INGOT_BACKENDS_DNNL_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/dnnl/graph.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace ingot::dnnl_backend {

// Memory that steps read and write.
struct Buffer {
  enum Kind { kArena, kInput, kOutput, kConstant };
  Kind kind = kArena;
  int index = 0;          // of the input or output
  dnnl::memory constant;  // kConstant
  size_t bytes = 0;       // kArena
  size_t offset = 0;      // kArena: where it lies in the arena
  // kArena: no other buffer shares its place, so that what is in it stays from
  // run to run.
  bool kept = false;
};

struct ProgramStep {
  struct Argument {
    int slot;    // DNNL_ARG_…
    int buffer;  // index into Program::buffers
    dnnl::memory::desc desc;
  };
  std::string name;  // for messages
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
  dnnl::memory::desc scratchpad;  // may be empty
};

// The state of one run, apart from the program: memory, and handles to it.
class RunState;

// Runs may overlap: each has its own state, taken from those that are idle.
class Program {
 public:
  // `scratch_offset`: where in the arena primitives have their scratch memory.
  Program(dnnl::engine engine, int threads, std::vector<Buffer> buffers,
          std::vector<ProgramStep> steps, size_t arena_bytes,
          size_t scratch_offset);
  ~Program();

  int threads() const { return threads_; }
  size_t arena_bytes() const { return arena_bytes_; }
  const std::vector<ProgramStep>& steps() const { return steps_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }

  // Allocates what one run needs, so that the first run does not.
  absl::Status Warm();

  // `data` are the first elements of all inputs, then of all outputs, dense
  // and of the graph's shapes. Internal names the step that failed.
  absl::Status Run(absl::Span<void* const> data);

 private:
  friend class RunState;

  absl::StatusOr<std::unique_ptr<RunState>> Take();

  const dnnl::engine engine_;
  const int threads_;
  const std::vector<Buffer> buffers_;
  const std::vector<ProgramStep> steps_;
  const size_t arena_bytes_;
  const size_t scratch_offset_;

  absl::Mutex mutex_;
  std::vector<std::unique_ptr<RunState>> idle_;
};

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_PROGRAM_H_

#include "backends/dnnl/program.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/dnnl/arena.h"
#include "backends/dnnl/threads.h"
#include "base/status_macros.h"

namespace ingot::dnnl_backend {

class RunState {
 public:
  // Throws what oneDNN throws.
  RunState(const Program& program, std::shared_ptr<char> arena)
      : arena_(std::move(arena)), stream_(program.engine_) {
    calls_.reserve(program.steps_.size());
    for (const ProgramStep& step : program.steps_) {
      Call call;
      call.step = &step;
      for (const ProgramStep::Argument& argument : step.arguments) {
        call.arguments.push_back(
            {argument.slot, MemoryOf(program, argument).get()});
      }
      if (step.scratchpad.get_size() > 0) {
        memories_.emplace_back(step.scratchpad, program.engine_,
                               arena_.get() + program.scratch_offset_);
        call.arguments.push_back({DNNL_ARG_SCRATCHPAD, memories_.back().get()});
      }
      calls_.push_back(std::move(call));
    }
  }

  absl::Status Run(size_t num_inputs, absl::Span<void* const> data) {
    for (const Bound& bound : bound_) {
      const size_t index =
          bound.is_output ? num_inputs + bound.index : bound.index;
      dnnl_memory_set_data_handle(bound.memory.get(), data[index]);
    }
    for (const Call& call : calls_) {
      const dnnl_status_t status = dnnl_primitive_execute(
          call.step->primitive.get(), stream_.get(),
          static_cast<int>(call.arguments.size()), call.arguments.data());
      if (status != dnnl_success) {
        return absl::InternalError(absl::StrCat(
            "oneDNN failed in ", call.step->name, ", status ", status));
      }
    }
    // On a processor calls have ended when they return; this says so.
    dnnl_stream_wait(stream_.get());
    return absl::OkStatus();
  }

 private:
  struct Call {
    const ProgramStep* step;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  struct Bound {
    bool is_output;
    size_t index;
    dnnl::memory memory;
  };

  // One handle for each buffer and layout.
  const dnnl::memory& MemoryOf(const Program& program,
                               const ProgramStep::Argument& argument) {
    std::vector<dnnl::memory>& known = of_buffer_[argument.buffer];
    for (const dnnl::memory& memory : known) {
      if (memory.get_desc() == argument.desc) return memory;
    }
    const Buffer& buffer = program.buffers_[argument.buffer];
    void* data = nullptr;
    if (buffer.kind == Buffer::kArena) data = arena_.get() + buffer.offset;
    if (buffer.kind == Buffer::kConstant) {
      data = buffer.constant.get_data_handle();
    }
    dnnl::memory memory(argument.desc, program.engine_,
                        data == nullptr ? DNNL_MEMORY_NONE : data);
    if (buffer.kind == Buffer::kInput || buffer.kind == Buffer::kOutput) {
      bound_.push_back({buffer.kind == Buffer::kOutput,
                        static_cast<size_t>(buffer.index), memory});
    }
    known.push_back(std::move(memory));
    return known.back();
  }

  const std::shared_ptr<char> arena_;
  dnnl::stream stream_;
  std::vector<Call> calls_;
  std::vector<Bound> bound_;
  std::vector<dnnl::memory> memories_;  // scratchpads
  std::map<int, std::vector<dnnl::memory>> of_buffer_;
};

Program::Program(dnnl::engine engine, int threads, std::vector<Buffer> buffers,
                 std::vector<ProgramStep> steps, size_t arena_bytes,
                 size_t scratch_offset)
    : engine_(std::move(engine)),
      threads_(threads),
      buffers_(std::move(buffers)),
      steps_(std::move(steps)),
      arena_bytes_(arena_bytes),
      scratch_offset_(scratch_offset) {}

Program::~Program() = default;

absl::StatusOr<std::unique_ptr<RunState>> Program::Take() {
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<RunState> state = std::move(idle_.back());
      idle_.pop_back();
      return state;
    }
  }
  INGOT_ASSIGN_OR_RETURN(std::shared_ptr<char> arena,
                         AllocateArena(arena_bytes_));
  try {
    return std::make_unique<RunState>(*this, std::move(arena));
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("oneDNN cannot prepare a run: ", error.what()));
  }
}

absl::Status Program::Warm() {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<RunState> state, Take());
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(state));
  return absl::OkStatus();
}

absl::Status Program::Run(absl::Span<void* const> data) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<RunState> state, Take());
  const ScopedThreads threads(threads_);
  size_t num_inputs = 0;
  for (const Buffer& buffer : buffers_) {
    num_inputs += buffer.kind == Buffer::kInput;
  }
  absl::Status status = state->Run(num_inputs, data);
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(state));
  return status;
}

}  // namespace ingot::dnnl_backend

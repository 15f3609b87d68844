#include "compiler/tir/element_uses.h"

namespace ingot::tir {
namespace {

constexpr char kRace[] = "another thread uses it meanwhile";

}  // namespace

bool RunPlace::RunsBeside(const RunPlace& o) const {
  if (kernel != o.kernel) return false;
  if (block != o.block) return true;
  return phase == o.phase && thread != o.thread;
}

// Registers are of the thread that uses them first.
const char* ElementUses::Own(Scope scope, const RunPlace& at) {
  if (scope != Scope::kRegisters) return nullptr;
  const bool used = written_ || read_;
  const int32_t owner = written_ ? writer_.thread : reader_.thread;
  return used && owner != at.thread ? "these are another thread's" : nullptr;
}

const char* ElementUses::Read(Scope scope, const RunPlace& at) {
  const bool of_block = scope == Scope::kShared || scope == Scope::kRegisters;
  if (of_block && !written_) return "no thread has written it";
  if (const char* wrong = Own(scope, at)) return wrong;
  if (written_ && writer_.RunsBeside(at)) return kRace;
  // Reads in one block and one thread loop count as one; a reader before them
  // does not matter.
  const bool is_new = !read_ || reader_.kernel != at.kernel ||
                      (reader_.block == at.block && reader_.phase != at.phase);
  several_readers_ = !is_new && (several_readers_ || reader_.RunsBeside(at));
  read_ = true;
  reader_ = at;
  return nullptr;
}

const char* ElementUses::Write(Scope scope, const RunPlace& at) {
  if (const char* wrong = Own(scope, at)) return wrong;
  if (written_ && writer_.RunsBeside(at)) return kRace;
  if (read_ && reader_.RunsBeside(at)) return kRace;
  const bool beside = reader_.kernel == at.kernel &&
                      (reader_.block != at.block || reader_.phase == at.phase);
  if (several_readers_ && beside) return kRace;
  written_ = true;
  writer_ = at;
  return nullptr;
}

}  // namespace ingot::tir

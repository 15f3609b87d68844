#ifndef INGOT_TOOLS_EXPORT_C_MEMORY_USE_H_
#define INGOT_TOOLS_EXPORT_C_MEMORY_USE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/safetensors.h"

namespace ingot {

// Bytes of RAM and ROM that a model takes, apart from its code and the stack,
// which the C compiler decides about.
struct MemoryUse {
  struct Part {
    std::string name;
    uint64_t ram = 0, rom = 0;
  };
  // These add up to all of it.
  std::vector<Part> parts;
  // The largest tensors in the arena and the largest weights, largest first.
  // Tensors of the arena share memory: their sum is more than the arena.
  std::vector<Part> tensors;

  uint64_t ram() const;
  uint64_t rom() const;
};

// For a plan that passes CheckPlan, all of whose dimensions are constant.
// InvalidArgument for sizes that overflow.
absl::StatusOr<MemoryUse> FindMemoryUse(const Plan& plan, uint64_t arena_bytes,
                                        const NamedTensors& weights);

// The rows of a table for Markdown.
std::string MarkdownTable(const std::vector<MemoryUse::Part>& parts);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_C_MEMORY_USE_H_

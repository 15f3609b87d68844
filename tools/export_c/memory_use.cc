#include "tools/export_c/memory_use.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "runtime/plan/check.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

constexpr size_t kMostTensors = 10;

absl::StatusOr<uint64_t> BytesOf(const Plan& plan, const PlanTensor& tensor) {
  const PlanType& declared = PlanTypeOf(plan, tensor);
  INGOT_ASSIGN_OR_RETURN(const DataType type, PlanDataType(declared.dtype()));
  std::vector<int64_t> shape;
  for (const DimExpr& dim : declared.shape()) {
    INGOT_ASSIGN_OR_RETURN(const int64_t n, EvaluateDimExpr(dim, {}));
    shape.push_back(n);
  }
  return CountBytes(type, shape);
}

// The largest of `parts`, largest first.
void KeepLargest(std::vector<MemoryUse::Part>* parts) {
  std::sort(parts->begin(), parts->end(),
            [](const MemoryUse::Part& a, const MemoryUse::Part& b) {
              const uint64_t size_a = a.ram + a.rom, size_b = b.ram + b.rom;
              return size_a != size_b ? size_a > size_b : a.name < b.name;
            });
  if (parts->size() > kMostTensors) parts->resize(kMostTensors);
}

}  // namespace

uint64_t MemoryUse::ram() const {
  uint64_t sum = 0;
  for (const Part& part : parts) sum += part.ram;
  return sum;
}

uint64_t MemoryUse::rom() const {
  uint64_t sum = 0;
  for (const Part& part : parts) sum += part.rom;
  return sum;
}

absl::StatusOr<MemoryUse> FindMemoryUse(const Plan& plan, uint64_t arena_bytes,
                                        const NamedTensors& weights) {
  MemoryUse use;
  for (uint32_t t : plan.inputs()) {
    const PlanTensor& tensor = plan.tensors(static_cast<int>(t));
    INGOT_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOf(plan, tensor));
    use.parts.push_back({absl::StrCat("input ", tensor.name()), bytes, 0});
  }
  for (uint32_t t : plan.outputs()) {
    const PlanTensor& tensor = plan.tensors(static_cast<int>(t));
    INGOT_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOf(plan, tensor));
    use.parts.push_back({absl::StrCat("output ", tensor.name()), bytes, 0});
  }
  use.parts.push_back({"arena", arena_bytes, 0});
  uint64_t rom = 0;
  std::vector<MemoryUse::Part> largest_weights;
  for (const auto& [name, tensor] : weights) {
    rom += tensor.bytes();
    largest_weights.push_back(
        {absl::StrCat("weights ", name), 0, tensor.bytes()});
  }
  use.parts.push_back({"weights", 0, rom});

  // Outputs are in the caller's memory, not in the arena.
  std::set<uint32_t> outputs;
  for (uint32_t t : plan.outputs()) outputs.insert(RootOf(plan, t));
  for (int t = 0; t < plan.tensors_size(); ++t) {
    const PlanTensor& tensor = plan.tensors(t);
    if (!tensor.has_storage() || outputs.count(static_cast<uint32_t>(t)) > 0) {
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOf(plan, tensor));
    use.tensors.push_back({absl::StrCat("arena ", tensor.name()), bytes, 0});
  }
  KeepLargest(&use.tensors);
  KeepLargest(&largest_weights);
  use.tensors.insert(use.tensors.end(), largest_weights.begin(),
                     largest_weights.end());
  return use;
}

std::string MarkdownTable(const std::vector<MemoryUse::Part>& parts) {
  std::string out = "| part | RAM | ROM |\n| --- | ---: | ---: |\n";
  for (const MemoryUse::Part& part : parts) {
    const std::string name =
        absl::StrReplaceAll(absl::CHexEscape(part.name), {{"|", "\\|"}});
    absl::StrAppend(&out, "| ", name, " | ", part.ram, " | ", part.rom, " |\n");
  }
  return out;
}

}  // namespace ingot

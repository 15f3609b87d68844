#include "compiler/codegen/llvm/compile_parts.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::codegen {
namespace {

// Fewer kernels than that are compiled before threads are worth it.
constexpr size_t kKernelsOfPart = 16;
constexpr size_t kMostParts = 4;

}  // namespace

absl::StatusOr<std::vector<std::string>> CompileParts(
    absl::Span<const tir::PrimFunc> kernels, const Machine& machine,
    LlvmOutput output, const LlvmOptions& options) {
  const size_t count =
      std::clamp<size_t>(kernels.size() / kKernelsOfPart, 1, kMostParts);
  std::vector<absl::StatusOr<std::string>> parts(
      count, absl::UnknownError("the part was not compiled"));
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      const size_t begin = kernels.size() * i / count;
      const size_t end = kernels.size() * (i + 1) / count;
      LlvmOptions of_part = options;
      if (i > 0) absl::StrAppend(&of_part.module_name, "_", i);
      parts[i] = CompileWithLlvm(kernels.subspan(begin, end - begin), machine,
                                 output, of_part);
    }
  };
  std::vector<std::thread> threads;
  const size_t processors =
      std::max<size_t>(std::thread::hardware_concurrency(), 1);
  for (size_t i = 1; i < std::min(count, processors); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> code;
  for (absl::StatusOr<std::string>& part : parts) {
    INGOT_RETURN_IF_ERROR(part.status());
    code.push_back(*std::move(part));
  }
  return code;
}

}  // namespace ingot::codegen

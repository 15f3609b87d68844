#include "compiler/codegen/device_kernels.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "compiler/codegen/device_blocks.h"
#include "compiler/codegen/device_pipelines.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

// Finds what only a host can do.
class HostWork final : public tir::StmtVisitor {
 public:
  std::string found;  // empty: nothing

 private:
  void VisitAssert(const tir::Assert&) override {
    found = "has a check, whose failure the device cannot tell";
  }
  void VisitCallExtern(const tir::CallExtern& call) override {
    found = absl::StrCat("calls ", call.symbol, ", which the device has not");
  }
};

absl::Status CheckFunction(const tir::PrimFunc& function) {
  for (const tir::Buffer& buffer : function.params) {
    for (const tir::Expr& dim : buffer->shape) {
      int64_t n = 0;
      if (!tir::AsConstInt(dim, &n)) {
        return absl::UnimplementedError(
            absl::StrCat(buffer->name, " has a symbolic dimension"));
      }
    }
  }
  HostWork work;
  work.Visit(function.body);
  return work.found.empty() ? absl::OkStatus()
                            : absl::UnimplementedError(work.found);
}

class Splitter {
 public:
  Splitter(const tir::PrimFunc& function, int64_t group, int64_t shared_bytes)
      : function_(function), group_(group), shared_bytes_(shared_bytes) {}

  absl::StatusOr<std::vector<DeviceKernel>> Run() {
    std::vector<tir::Stmt> statements = {function_.body};
    if (const auto* seq = tir::As<tir::Seq>(function_.body)) {
      statements = seq->stmts;
    }
    for (const tir::Stmt& s : statements) {
      const auto* loop = tir::As<tir::For>(s);
      const bool is_kernel =
          loop != nullptr && (loop->for_kind == tir::ForKind::kParallel ||
                              loop->for_kind == tir::ForKind::kBlock);
      if (!is_kernel) {
        serial_.push_back(s);
        continue;
      }
      AddSerial();
      INGOT_RETURN_IF_ERROR(AddLoop(s, *loop));
    }
    AddSerial();
    return std::move(kernels_);
  }

 private:
  DeviceKernel& Add(tir::Stmt body) {
    DeviceKernel kernel;
    kernel.name = absl::StrCat(function_.name, "_", kernels_.size());
    kernel.body = std::move(body);
    kernel.group = group_ == 0 ? 0 : 1;
    return kernels_.emplace_back(std::move(kernel));
  }

  // The code between two parallel loops.
  void AddSerial() {
    if (!serial_.empty()) Add(tir::MakeSeq(std::exchange(serial_, {})));
  }

  absl::Status AddLoop(const tir::Stmt& s, const tir::For& loop) {
    int64_t extent = 0;
    if (!tir::AsConstInt(loop.extent, &extent)) {
      return absl::UnimplementedError("a loop has no constant extent");
    }
    if (extent <= 0) return absl::OkStatus();
    if (loop.for_kind == tir::ForKind::kBlock) {
      BlockOfItems block = SplitBlock(loop);
      const int64_t shared = SharedBytesOf(*tir::As<tir::For>(block.loop), {});
      if (shared > shared_bytes_) {
        return absl::UnimplementedError(absl::StrCat(
            "a block shares ", shared, " bytes of ", shared_bytes_));
      }
      DeviceKernel& kernel = Add(block.loop);
      kernel.loop = tir::As<tir::For>(kernel.body);
      kernel.iterations = extent * block.items;
      kernel.group = block.items;
      kernel.barriers = std::move(block.barriers);
      return absl::OkStatus();
    }
    DeviceKernel& kernel = Add(s);
    kernel.loop = &loop;
    kernel.iterations = extent;
    kernel.group = group_;
    return absl::OkStatus();
  }

  const tir::PrimFunc& function_;
  const int64_t group_, shared_bytes_;
  std::vector<DeviceKernel> kernels_;
  std::vector<tir::Stmt> serial_;  // since the last parallel loop
};

}  // namespace

bool DeviceKernel::IsBlocks() const {
  return loop != nullptr && loop->for_kind == tir::ForKind::kBlock;
}

int64_t DeviceKernel::WorkItems() const {
  if (group == 0) return iterations;
  return (iterations + group - 1) / group * group;
}

absl::StatusOr<std::vector<DeviceKernel>> KernelsOf(
    const tir::PrimFunc& function, int64_t group, int64_t shared_bytes) {
  absl::Status status = CheckFunction(function);
  if (status.ok()) {
    absl::StatusOr<std::vector<DeviceKernel>> kernels =
        Splitter(function, group, shared_bytes).Run();
    if (kernels.ok()) return kernels;
    status = kernels.status();
  }
  return absl::Status(status.code(), absl::StrCat("kernel ", function.name,
                                                  ": ", status.message()));
}

std::string NodesOf(const tir::PrimFunc& function) {
  const auto nodes = function.attrs.find("sources");
  if (nodes == function.attrs.end()) return "";
  return absl::StrReplaceAll(absl::CHexEscape(nodes->second), {{"*/", "* /"}});
}

}  // namespace ingot::codegen

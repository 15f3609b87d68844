// Reads a kernel in tir's text form and shows what LLVM makes of it, or how
// fast that runs:
//   tir_bench FILE [--target="-mcpu=native"] [--emit=ll|raw|asm|time]
//             [--flops=N]

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "backends/llvmjit/compile_and_load.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/compile.h"
#include "compiler/tir/parser.h"
#include "runtime/tensor.h"

ABSL_FLAG(std::string, target, "", "options of the target llvm");
ABSL_FLAG(std::string, emit, "time", "ll, raw, asm or time");
ABSL_FLAG(double, flops, 0, "of one call");

namespace ingot {
namespace {

absl::Status Time(const tir::PrimFunc& func) {
  const auto start = std::chrono::steady_clock::now();
  INGOT_ASSIGN_OR_RETURN(const auto module,
                         CompileAndLoad({func}, absl::GetFlag(FLAGS_target)));
  const std::chrono::duration<double> compile =
      std::chrono::steady_clock::now() - start;
  std::vector<Tensor> tensors;
  std::vector<DLTensor*> args;
  for (const tir::Buffer& buffer : func.params) {
    std::vector<int64_t> shape;
    for (const tir::Expr& dim : buffer->shape) {
      int64_t n = 0;
      if (!tir::AsConstInt(dim, &n)) {
        return absl::InvalidArgumentError("symbolic shape");
      }
      shape.push_back(n);
    }
    INGOT_ASSIGN_OR_RETURN(Tensor t, Tensor::Empty(buffer->dtype, shape));
    memset(t.mutable_raw_data(), 0, t.bytes());
    tensors.push_back(t);
    args.push_back(tensors.back().dl());
  }
  Function f = *module->GetFunction(func.name);
  double best = 1e9;
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto t0 = std::chrono::steady_clock::now();
    INGOT_RETURN_IF_ERROR(f.Call(args));
    const std::chrono::duration<double> t =
        std::chrono::steady_clock::now() - t0;
    best = std::min(best, t.count());
  }
  std::cout << "compile " << compile.count() * 1e3 << " ms, best " << best * 1e6
            << " us";
  if (const double flops = absl::GetFlag(FLAGS_flops)) {
    std::cout << ", " << flops / best * 1e-9 << " GFLOP/s";
  }
  std::cout << "\n";
  return absl::OkStatus();
}

absl::Status Main(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  INGOT_ASSIGN_OR_RETURN(tir::PrimFunc func, tir::Parse(text.str()));
  const std::string emit = absl::GetFlag(FLAGS_emit);
  if (emit == "time") return Time(func);
  INGOT_ASSIGN_OR_RETURN(auto target,
                         ParseTarget("llvm " + absl::GetFlag(FLAGS_target)));
  INGOT_ASSIGN_OR_RETURN(auto machine, codegen::ResolveMachine(target));
  const codegen::LlvmOutput output = emit == "ll" ? codegen::LlvmOutput::kText
                                     : emit == "raw"
                                         ? codegen::LlvmOutput::kRawText
                                         : codegen::LlvmOutput::kAssembly;
  auto out = codegen::CompileWithLlvm({func}, machine, output);
  if (!out.ok()) return out.status();
  std::cout << *out;
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() != 2) {
    std::cerr << "usage: tir_bench FILE\n";
    return 2;
  }
  absl::Status status = ingot::Main(rest[1]);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}

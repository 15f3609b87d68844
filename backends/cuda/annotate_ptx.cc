#include "backends/cuda/annotate_ptx.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/tir/printer.h"

namespace ingot::cuda {
namespace {

// LLVM writes it before each kernel, and the name after it.
constexpr char kBegin[] = "// .globl\t";

// Each line after "// ".
std::string Commented(absl::string_view text) {
  std::string result;
  for (absl::string_view line :
       absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    absl::StrAppend(&result, "// ", line, "\n");
  }
  return result;
}

// Says how the kernel's items share its work.
absl::string_view WorkOf(const codegen::DeviceKernel& kernel) {
  if (kernel.loop == nullptr) return "";
  return kernel.IsBlocks() ? ": groups run the iterations of the block loop, "
                             "and their items those of each thread loop"
                           : " run the iterations of the outer loop";
}

std::string Comment(const tir::PrimFunc& function,
                    const codegen::DeviceKernel& kernel) {
  const std::string nodes = codegen::NodesOf(function);
  tir::PrimFunc alone = function;
  alone.name = kernel.name;
  alone.body = kernel.body;
  alone.attrs.clear();
  return Commented(absl::StrCat(kernel.name, nodes.empty() ? "" : ": ", nodes,
                                "\n", kernel.WorkItems() / kernel.group, " x ",
                                kernel.group, " work items", WorkOf(kernel),
                                "; param_0 and so on are, in this order:\n",
                                tir::Print(alone)));
}

}  // namespace

std::string AnnotatePtx(absl::Span<const codegen::DeviceFunction> functions,
                        absl::string_view ptx) {
  std::map<std::string, std::string, std::less<>> comments;
  for (const codegen::DeviceFunction& f : functions) {
    for (const codegen::DeviceKernel& kernel : f.kernels) {
      comments[kernel.name] = Comment(*f.function, kernel);
    }
  }
  std::string text;
  for (absl::string_view line : absl::StrSplit(ptx, '\n')) {
    const size_t begin = line.find(kBegin);
    if (begin != absl::string_view::npos) {
      const auto comment =
          comments.find(line.substr(begin + sizeof(kBegin) - 1));
      if (comment != comments.end()) text += comment->second;
    }
    absl::StrAppend(&text, line, "\n");
  }
  text.pop_back();
  return text;
}

}  // namespace ingot::cuda

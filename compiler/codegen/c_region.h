// Regions of the graph as C source: what is the same for every target that
// turns each operator into some C, such as a call of a library.
#ifndef INGOT_COMPILER_CODEGEN_C_REGION_H_
#define INGOT_COMPILER_CODEGEN_C_REGION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"
#include "runtime/c_abi.h"

namespace ingot::codegen {

// One operator, or one call of a composite, in the C function of its region.
struct CNode {
  const relay::Node& node;
  // Variables that point to the elements of operands and results, dense and
  // row-major, `const float*` and `float*`; "NULL" for an operand left out.
  std::vector<std::string> inputs, outputs;
  // A name that nothing else in the file has, for a function of this node.
  std::string name;
  RegionCall call;  // the operators that it stands for

  // The variable of an operand or result of `call`; "NULL" for a null one.
  std::string NameOf(const relay::Value& value) const;
};

// The C text that a node becomes. Both parts end in a new line, or are empty.
struct CText {
  std::string declarations;  // in front of the region's function
  // In its body. They see `self`, what the exported function was called with,
  // and must not return: one that fails sets `status`, which is 0 before it, to
  // something else, having said why as fail() does.
  std::string statements;
};

struct CFile {
  std::string cflags;        // as in the file's first line
  std::string declarations;  // after the includes
};

// The C file of `region`, the artifact <symbol>.c of `codegen_id`: an exported
// function `symbol` that checks its arguments, inputs before outputs, and one
// that runs the nodes in order, each as `print` says. Intermediate results live
// in memory of each call. Of constants, the region may have those that fit into
// a line or two of text.
// Errors: InvalidArgument for a value whose size is not known or too large, and
// those of `print`, each with the node's name.
absl::StatusOr<CodegenResult> MakeCRegion(
    const relay::Module& module, const relay::Function& region,
    absl::string_view codegen_id, absl::string_view symbol, const CFile& file,
    const std::function<absl::StatusOr<CText>(const CNode&)>& print);

// The C file of a region that a device runs, likewise: an exported function
// `symbol` that checks its arguments, in the memory of a device of this type,
// and hands their addresses over, inputs before outputs, as
//
//   const Buffer arguments[] = {{address, bytes}, ...};
//   return LAUNCH(self, arguments, count);
//
// with what file.declarations define. Errors: InvalidArgument for an argument
// whose size is not known.
absl::StatusOr<CodegenResult> MakeCLauncher(const relay::Function& region,
                                            absl::string_view codegen_id,
                                            absl::string_view symbol,
                                            const CFile& file,
                                            DLDeviceType device);

// How an element is declared: "float"; f16 and bf16 are "uint16_t".
std::string CTypeName(DataType t);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_REGION_H_

// The functions by which other programs call generated C.
#ifndef INGOT_BACKENDS_C_EXPORTS_H_
#define INGOT_BACKENDS_C_EXPORTS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/signature.h"
#include "compiler/target/main_function.h"
#include "compiler/tir/ir.h"

namespace ingot {

// Prints functions that check what they are given and pass it on to the static
// function `callee`, which has the parameters of `func`, then its symbolic
// dimensions. Names that C or the prelude has are `reserved`.
class ExportPrinter : public codegen::CPrinter {
 public:
  explicit ExportPrinter(const std::set<std::string>& reserved)
      : reserved_(reserved) {}

  // __tvm_ffi_<func.name>, of the C ABI. Goes to packed().
  void PrintKernel(const tir::PrimFunc& func,
                   const codegen::Signature& signature,
                   const std::string& callee);

  // Those of main_function.h. The plain ones go to plain(), what is of the C
  // ABI to packed().
  void PrintMain(const tir::PrimFunc& func, const codegen::Signature& signature,
                 const std::string& callee, const MainFunction& main,
                 absl::string_view prefix);

  const std::string& plain() const { return plain_; }
  const std::string& packed() const { return packed_; }

  // Prints the first line of a function, broken where it gets too long.
  static std::string Head(const std::string& start,
                          const std::vector<std::string>& params);

 private:
  // A new function, whose names for the parameters of `func` are unlike
  // `callee`.
  void Begin(const tir::PrimFunc& func, const codegen::Signature& signature,
             const std::string& callee);
  // `if (wrong) return fail(kind, message);`
  void Check(const std::string& wrong, absl::string_view kind,
             const std::string& message);
  // Reads the parameters for which `given` is true from `args`, and the
  // symbols' values from their shapes, and checks them and their number.
  void ReadArguments(const tir::PrimFunc& func,
                     const codegen::Signature& signature,
                     const std::vector<bool>& given);
  void PrintRun(const tir::PrimFunc& func, const codegen::Signature& signature,
                const std::string& callee, const MainFunction& main,
                absl::string_view prefix);
  void PrintArenaBytes(const tir::PrimFunc& func,
                       const codegen::Signature& signature,
                       const MainFunction& main, absl::string_view prefix);
  void PrintPackedMain(const tir::PrimFunc& func,
                       const codegen::Signature& signature,
                       const std::string& callee, const MainFunction& main,
                       absl::string_view prefix);
  // The variable that describes the model, of the C ABI.
  void PrintModelInfo(const tir::PrimFunc& func, const MainFunction& main,
                      absl::string_view prefix);

  const std::set<std::string>& reserved_;
  std::string plain_, packed_;
};

}  // namespace ingot

#endif  // INGOT_BACKENDS_C_EXPORTS_H_

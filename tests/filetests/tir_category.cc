#include "tests/filetests/tir_category.h"

#include <string>
#include <vector>

#include "compiler/tir/parser.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"

namespace ingot::filetest {
namespace {

absl::StatusOr<std::string> RunTir(absl::string_view input,
                                   absl::Span<const std::string> args) {
  absl::StatusOr<tir::PrimFunc> func = tir::Parse(input);
  if (!func.ok()) return func.status();
  if (absl::Status s = tir::Verify(*func); !s.ok()) return s;
  const std::vector<absl::string_view> names(args.begin(), args.end());
  absl::StatusOr<tir::PrimFunc> result = tir::RunPasses(*func, names);
  if (!result.ok()) return result.status();
  return tir::Print(*result);
}

}  // namespace

void AddTirCategories(Categories* categories) { (*categories)["tir"] = RunTir; }

}  // namespace ingot::filetest

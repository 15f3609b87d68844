// For tests of passes: modules from text, and whether two mean the same.
#ifndef INGOT_COMPILER_RELAY_PASSES_TEST_SUPPORT_H_
#define INGOT_COMPILER_RELAY_PASSES_TEST_SUPPORT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/pass.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// The module of a text, verified; a fatal failure and null for a wrong one.
std::unique_ptr<Module> ParseForTest(absl::string_view text);

// Floats in [-1, 1), integers in [0, 8), made of `seed`; ones for a seed of 0.
Tensor TestTensor(DataType dtype, absl::Span<const int64_t> shape,
                  uint64_t seed);

// The context that tests use: a processor with vectors of 256 bits, and a
// device "gpu" that wants all channels in one block where 8 divide them.
PassContext TestContext();

// Runs passes; a failure is reported. Returns whether they ran.
bool RunForTest(const std::vector<std::string>& passes, Module* module);

// Runs passes on a copy of the module of `text` and reports a failure unless
// main gives the same results, up to `tolerance` relative to the largest,
// before and after each. Symbols take the value `symbol`. Returns the module
// after.
std::unique_ptr<Module> CheckKeepsMeaning(
    absl::string_view text, const std::vector<std::string>& passes,
    double tolerance = 1e-5, int64_t symbol = 3);

// The same for a module, which is changed; only that the passes run where main
// takes a sequence or cannot be evaluated before. Returns whether all is well.
bool KeepsMeaning(Module* module, const std::vector<std::string>& passes,
                  double tolerance = 1e-5, int64_t symbol = 3);

// A module with a function main of these operands, results and nodes.
std::string Main(absl::string_view body);

// The names of the operators that `function` calls, in order.
std::vector<std::string> OpsOf(const Function& function);

// Those of main after `passes`, which must keep its meaning.
std::vector<std::string> OpsAfter(absl::string_view text,
                                  const std::vector<std::string>& passes,
                                  double tolerance = 1e-5);

// Counts the nodes of `function` that call `op`.
int CountOps(const Function& function, absl::string_view op);
// In all functions.
int CountOps(const Module& module, absl::string_view op);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_TEST_SUPPORT_H_

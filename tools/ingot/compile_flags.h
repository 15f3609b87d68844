// The flags that every subcommand that takes a model has.

#ifndef INGOT_TOOLS_INGOT_COMPILE_FLAGS_H_
#define INGOT_TOOLS_INGOT_COMPILE_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/ingot/flags.h"

namespace ingot {

// The flags that say how to compile a model.
struct CompileFlags {
  std::string target = "llvm";
  std::vector<std::string> input_shapes;
  std::vector<std::string> states;
  std::vector<std::string> pins;
  std::string strict;
  std::vector<std::string> backends;  // programs with targets of their own
  int64_t opt_level = 2;
  bool reproducible = false;
  std::string tuning_log;  // a file; empty: none

  // Without flags of their own: values that become outputs too, and whether the
  // module is kept to check calls with.
  std::vector<std::string> extra_outputs;
  bool keep_module = false;

  // Only `ingot compile` offers these.
  std::string symbol_prefix;
  std::string weights_per_file;  // bytes, such as 512M; empty: as it is
  std::string dump_ir;
  bool time_passes = false;
  // Print where the nodes went.
  bool show_placement = false;

  // Defines the flags.
  void AddTo(FlagSet* flags);
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMPILE_FLAGS_H_

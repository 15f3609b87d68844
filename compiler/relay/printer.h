// The text form of a module, for people, for tests and for `ingot opt`:
//
//   module {
//     func @main(%x: f32[n, 3, 8, 8]) -> (%relu: "y") {
//       %b = const f32[2] {1, 2}
//       %w = const f32[16, 3, 3, 3] @"w"
//       %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]} : f32[n, 16, 8, 8] from
//       "Conv_0" %relu = relu(%c) : f32[n, 16, 8, 8]
//     }
//   }
//
// Small constants stand in the text; of large ones the text has a key into a
// sidecar of constants. parser.h reads it back, and printing that again gives
// the same text.
#ifndef INGOT_COMPILER_RELAY_PRINTER_H_
#define INGOT_COMPILER_RELAY_PRINTER_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"

namespace ingot::relay {

struct PrintOptions {
  // Constants of at most as many elements stand in the text.
  int64_t inline_elements = 16;
  // Large constants are added to it by the keys that the text names, unless it
  // is null. Two constants with the same elements share a key only when they
  // share memory.
  std::map<std::string, Tensor>* constants = nullptr;
  // Without the model's node names ("from …").
  bool omit_sources = false;
};

std::string Print(const Module& module, const PrintOptions& options = {});
// One function, as it stands in its module.
std::string Print(const Function& function, const PrintOptions& options = {});
// One line without its end: "%y = relu(%x) : f32[4]". For messages.
std::string Print(const Node& node);

// `{a=1, b="x"}`, or nothing when there are none.
std::string Print(const Attrs& attrs);
std::string Print(const AttrValue& value);

// Writes the text to `path` and the large constants, where there are any, to
// `path` + ".weights" (safetensors). Reports what the file system does.
absl::Status WriteModuleFiles(const Module& module, absl::string_view path);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PRINTER_H_

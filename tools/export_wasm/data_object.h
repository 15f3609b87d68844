#ifndef INGOT_TOOLS_EXPORT_WASM_DATA_OBJECT_H_
#define INGOT_TOOLS_EXPORT_WASM_DATA_OBJECT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot {

// A relocatable WebAssembly object that defines `symbol` as the first byte of
// `data`, at a multiple of kAlignment, or, if `is_zero`, of as much memory that
// is zero when a program starts and takes no room in a linked file.
std::string WasmDataObject(absl::string_view symbol, absl::string_view data,
                           bool is_zero);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_WASM_DATA_OBJECT_H_

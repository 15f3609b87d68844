#ifndef INGOT_TOOLS_EXPORT_WASM_WASM_LD_H_
#define INGOT_TOOLS_EXPORT_WASM_WASM_LD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace ingot {

// Links `objects` into the module `output`, which shows `exports` and its
// memory, and imports no more than functions of C's library that model.mjs has.
// Paths are absolute. `lld` as WasmOptions::lld says; `folder` is for a file of
// its own. Fails as RunLld (loaders/native/lld.h) does. Thread-safe.
absl::Status RunWasmLd(const std::string& lld,
                       const std::vector<std::string>& objects,
                       const std::vector<std::string>& exports,
                       const std::string& folder, const std::string& output);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_WASM_WASM_LD_H_

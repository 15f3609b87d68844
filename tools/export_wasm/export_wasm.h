// A compiled set as a WebAssembly module.
#ifndef INGOT_TOOLS_EXPORT_WASM_EXPORT_WASM_H_
#define INGOT_TOOLS_EXPORT_WASM_EXPORT_WASM_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "artifact/artifact_set.h"

namespace ingot {

struct WasmOptions {
  // Weights in a file of their own, and not in the .wasm.
  bool weights_beside = false;
  // LLD for WebAssembly: a program in PATH or a path. Empty: "wasm-ld-19",
  // which Debian's package lld-19 has.
  std::string lld;
};

struct WasmFolder {
  std::map<std::string, std::string> files;  // by path
  uint64_t code_bytes = 0;  // of the .wasm, without the weights
  uint64_t weight_bytes = 0;
};

// The whole model as PREFIX.wasm, which needs no runtime, and the JavaScript
// module PREFIX.mjs, which loads and runs it; for weights beside, also
// PREFIX.weights. The set must have been compiled for `llvm -mtriple=wasm32`
// alone and have a main function; FailedPrecondition says what is in the way.
// InvalidArgument for a set whose plan or weights make no sense; NotFound when
// there is no linker. Thread-safe.
absl::StatusOr<WasmFolder> ExportWasm(const ArtifactSet& set,
                                      const WasmOptions& options);

}  // namespace ingot

#endif  // INGOT_TOOLS_EXPORT_WASM_EXPORT_WASM_H_

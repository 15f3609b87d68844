#include "tools/export_wasm/data_object.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/alignment.h"
#include "llvm/BinaryFormat/Wasm.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {
namespace {

namespace wasm = llvm::wasm;

// An unsigned number as the format has it.
std::string Number(uint64_t value) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  llvm::encodeULEB128(value, stream);
  stream.flush();
  return out;
}

// Appends text or bytes after their length.
std::string Counted(absl::string_view bytes) {
  return absl::StrCat(Number(bytes.size()), bytes);
}

// A section, or a part of the section "linking".
std::string Section(char id, absl::string_view content) {
  return absl::StrCat(std::string(1, id), Counted(content));
}

}  // namespace

std::string WasmDataObject(absl::string_view symbol, absl::string_view data,
                           bool is_zero) {
  const std::string bytes =
      is_zero ? std::string(data.size(), '\0') : std::string(data);
  const std::string imports = absl::StrCat(
      Number(1), Counted("env"), Counted("__linear_memory"),
      Number(wasm::WASM_EXTERNAL_MEMORY), Number(wasm::WASM_LIMITS_FLAG_NONE),
      Number(llvm::divideCeil(bytes.size(), wasm::WasmPageSize)));
  // One segment, which begins at 0 here.
  const std::string segments = absl::StrCat(
      Number(1), Number(0), std::string(1, wasm::WASM_OPCODE_I32_CONST),
      Number(0), std::string(1, wasm::WASM_OPCODE_END), Counted(bytes));
  const std::string infos = absl::StrCat(
      Number(1), Counted(absl::StrCat(is_zero ? ".bss." : ".rodata.", symbol)),
      Number(llvm::Log2_64(kAlignment)), Number(0));
  const std::string symbols =
      absl::StrCat(Number(1), Number(wasm::WASM_SYMBOL_TYPE_DATA),
                   Number(wasm::WASM_SYMBOL_BINDING_GLOBAL), Counted(symbol),
                   Number(0), Number(0), Number(bytes.size()));
  const std::string linking =
      absl::StrCat(Counted("linking"), Number(wasm::WasmMetadataVersion),
                   Section(wasm::WASM_SEGMENT_INFO, infos),
                   Section(wasm::WASM_SYMBOL_TABLE, symbols));
  const std::string version("\1\0\0\0", 4);
  return absl::StrCat(absl::string_view(wasm::WasmMagic, 4), version,
                      Section(wasm::WASM_SEC_IMPORT, imports),
                      Section(wasm::WASM_SEC_DATA, segments),
                      Section(wasm::WASM_SEC_CUSTOM, linking));
}

}  // namespace ingot

// Modules in text form: what is read prints as what reads back.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() {
  return {
      R"(module {
  func @main(%x: f32[n, 16]) -> (%y: "y") {
    %w = const f32[8, 16] random(1)
    %d = dense(%x, %w)
    %y = softmax(%d) {axis=-1}
  }
})",
      R"(module {
  func @main(%x: f32[n], %c: bool[]) -> (%y: "y", %t: "t") {
    %i = if(%c, %x) {else="other", then="twice"} : f32["?r"]
    %n = const i64[] {3}
    %l = loop(%n, %c, %i) {body="grow", carried=1} : (f32["?g"], f32["?h", 1])
    %y = relu(%l#0)
    %t = neg(%l#1)
  }
  func @twice(%a: f32["?k"]) -> (%b) {
    %b = add(%a, %a)
  }
  func @other(%a: f32["?k"]) -> (%b) {
    %b = concat(%a, %a) {axis=0}
  }
  func @grow(%number: i64[], %v: f32["?v"]) -> (%go, %w, %first) {
    %go = const bool[] {true}
    %w = concat(%v, %v) {axis=0}
    %s = slice(%v) {axes=[0], starts=[0], ends=[1]}
    %first = relu(%s)
  }
})",
      R"(module {
  // A comment, a tensor of text, and formulas of dimensions.
  func @main(%a: f32[n, k], %b: f32[m, 4], %i: i64[j]) -> (%y: "y", %z: "z") {
    %c = matmul(%a, %b)
    %y = gather(%c, %i) {axis=0}
    %f = const f32[2, 2] {1.5, -2, inf, nan}
    %z = reshape(%y) {shape=[j * 4]}
  }
})",
  };
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<std::unique_ptr<relay::Module>> module =
      relay::ReadModule(bytes);
  if (!module.ok() || !relay::Verify(**module).ok()) return false;
  const std::string text = relay::Print(**module);
  const absl::StatusOr<std::unique_ptr<relay::Module>> again =
      relay::ReadModule(text);
  // Constants that are too large for text are printed by their key alone.
  if (!again.ok()) return true;
  if (relay::Print(**again) != text) {
    return absl::InternalError(
        absl::StrCat("printed and read, it is another module:\n", text));
  }
  return true;
}

}  // namespace ingot::fuzz

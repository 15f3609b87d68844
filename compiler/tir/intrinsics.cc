#include "compiler/tir/intrinsics.h"

#include "absl/strings/string_view.h"

namespace ingot::tir {

absl::string_view IntrinsicName(Intrinsic intrinsic) {
  switch (intrinsic) {
#define INGOT_TIR_CASE(Name, text, arity) \
  case Intrinsic::k##Name:                \
    return text;
    INGOT_TIR_INTRINSICS(INGOT_TIR_CASE)
#undef INGOT_TIR_CASE
  }
  return "unknown";
}

int IntrinsicArity(Intrinsic intrinsic) {
  switch (intrinsic) {
#define INGOT_TIR_CASE(Name, text, arity) \
  case Intrinsic::k##Name:                \
    return arity;
    INGOT_TIR_INTRINSICS(INGOT_TIR_CASE)
#undef INGOT_TIR_CASE
  }
  return 0;
}

}  // namespace ingot::tir

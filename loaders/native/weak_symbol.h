// Functions of an object file that another one may replace.
#ifndef INGOT_LOADERS_NATIVE_WEAK_SYMBOL_H_
#define INGOT_LOADERS_NATIVE_WEAK_SYMBOL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// OK when the ELF object defines `symbol` for other objects to use. The bytes
// may be hostile. InvalidArgument: no 64-bit little-endian object, or a damaged
// one. NotFound: it does not define it.
absl::Status CheckDefines(absl::string_view object, absl::string_view symbol);

// The object with that definition weak: a linker takes another object's, where
// there is one, for all who use the symbol. The same errors.
absl::StatusOr<std::string> WithWeakSymbol(absl::string_view object,
                                           absl::string_view symbol);

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_WEAK_SYMBOL_H_

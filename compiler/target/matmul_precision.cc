#include "compiler/target/matmul_precision.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot {

absl::StatusOr<MatmulPrecision> ReadMatmulPrecision(const Target& target) {
  const std::string precision =
      target.Option(kMatmulPrecisionOption, "highest");
  if (precision == "highest") return MatmulPrecision::kHighest;
  if (precision == "high") return MatmulPrecision::kHigh;
  if (precision == "medium") return MatmulPrecision::kMedium;
  return absl::InvalidArgumentError(
      absl::StrCat("target option -", kMatmulPrecisionOption, "=", precision,
                   ": must be highest, high or medium"));
}

}  // namespace ingot

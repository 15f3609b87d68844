#include "backends/testing/check_main.h"

#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/function.h"

namespace ingot::testing_support {
namespace {

constexpr char kMain[] = "main";

}  // namespace

bool HasMain(const LoadedModel& model) {
  return model.host->GetFunction(kMain).has_value();
}

absl::Status CheckMain(const LoadedModel& model,
                       absl::Span<const Tensor> inputs,
                       absl::Span<const Tensor> expected) {
  const std::optional<Function> main = model.host->GetFunction(kMain);
  if (!main.has_value()) return absl::NotFoundError("the set has no main");
  std::vector<DLTensor*> args;
  for (const Tensor& input : inputs) args.push_back(input.dl());
  std::vector<Tensor> results;
  for (const Tensor& tensor : expected) {
    INGOT_ASSIGN_OR_RETURN(Tensor result,
                           Tensor::Empty(tensor.dtype(), tensor.shape()));
    // An element that is not written shows.
    std::memset(result.mutable_raw_data(), 0xa5, result.bytes());
    results.push_back(std::move(result));
  }
  for (const Tensor& result : results) args.push_back(result.dl());
  INGOT_RETURN_IF_ERROR(main->Call(args));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].bytes() == 0 ||
        std::memcmp(results[i].raw_data(), expected[i].raw_data(),
                    results[i].bytes()) == 0) {
      continue;
    }
    return absl::InternalError(
        absl::StrCat("output ", i, ", ", results[i].TypeString(),
                     ", of main is not bit for bit what the executor gives"));
  }
  return absl::OkStatus();
}

}  // namespace ingot::testing_support

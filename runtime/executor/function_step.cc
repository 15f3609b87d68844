// A call of a kernel, or of another function of the host module.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "runtime/any.h"
#include "runtime/error.h"
#include "runtime/executor/step.h"
#include "runtime/function.h"

namespace ingot {
namespace {

class FunctionStep final : public Step {
 public:
  FunctionStep(Function function, std::vector<TVMFFIAny> args)
      : call_(function.call()),
        handle_(function.handle()),
        num_args_(static_cast<int32_t>(args.size())),
        args_(std::move(args)),
        function_(std::move(function)) {}

  absl::Status Run() override {
    TVMFFIAny result = AnyNone();
    const int code = call_(handle_, args_.data(), num_args_, &result);
    if (result.type_index >= kTVMFFIStaticObjectBegin) ReleaseAny(&result);
    return code == 0 ? absl::OkStatus() : TakeLastErrorAsStatus();
  }

 private:
  const TVMFFISafeCallType call_;
  void* const handle_;
  const int32_t num_args_;
  const std::vector<TVMFFIAny> args_;
  const Function function_;  // keeps the code alive
};

// A function of a device, which queues its work on the executor's stream.
class DeviceFunctionStep final : public Step {
 public:
  DeviceFunctionStep(std::unique_ptr<Step> call, DeviceStream* stream)
      : call_(std::move(call)), stream_(stream) {}

  absl::Status Run() override {
    const ScopedDeviceStream scope(stream_);
    return call_->Run();
  }

 private:
  const std::unique_ptr<Step> call_;
  DeviceStream* const stream_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeFunctionStep(const CallSite& site) {
  if (site.context->host == nullptr) {
    return absl::NotFoundError("there is no host module");
  }
  const absl::string_view name = site.call().function();
  const auto [known, is_new] = site.context->functions.try_emplace(name);
  if (is_new) {
    INGOT_ASSIGN_OR_RETURN(known->second, site.context->host->Find(name));
  }
  std::vector<TVMFFIAny> args;
  args.reserve(site.call().args_size());
  for (uint32_t t : site.call().args()) {
    args.push_back(AnyTensor(site.bound->tensor(t)));
  }
  std::unique_ptr<Step> step =
      std::make_unique<FunctionStep>(known->second, std::move(args));
  const uint32_t device = site.call().device();
  if (device == 0) return step;
  return std::make_unique<DeviceFunctionStep>(
      std::move(step), site.context->streams[device].get());
}

}  // namespace ingot

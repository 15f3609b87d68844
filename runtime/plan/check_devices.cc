#include "runtime/plan/check_devices.h"

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "runtime/plan/check.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

// Each is opened when a set is loaded; no machine has as many.
constexpr int kMostDevices = 64;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// A plan or a body, whose tensors' devices it knows.
class Places {
 public:
  explicit Places(const Plan& plan) : plan_(plan) {
    for (const uint32_t root : RootsOf(plan)) {
      devices_.push_back(DeviceOf(plan, plan.tensors(static_cast<int>(root))));
    }
  }

  // Whether a tensor is on a device; `what` says which tensor it is.
  absl::Status MustBeOn(uint32_t device, uint32_t tensor,
                        absl::string_view what) const {
    if (devices_[tensor] == device) return absl::OkStatus();
    return Bad(what, " '", plan_.tensors(static_cast<int>(tensor)).name(),
               "' is on device ", devices_[tensor], ", not on ", device);
  }

  absl::Status Check(const PlanCall& call) const {
    if (call.has_copy()) return CheckCopy(call);
    if (!call.has_function() && call.device() != 0) {
      return Bad("it runs on device ", call.device(),
                 ", but only functions and copies run on others than the CPU");
    }
    for (const uint32_t t : call.args()) {
      INGOT_RETURN_IF_ERROR(MustBeOn(call.device(), t, "argument"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckCopy(const PlanCall& call) const {
    if (call.device() == 0) return Bad("it copies from the CPU to the CPU");
    const uint32_t from = call.args(0), to = call.args(1);
    if (devices_[from] != 0) {
      INGOT_RETURN_IF_ERROR(MustBeOn(call.device(), from, "what it copies,"));
      return MustBeOn(0, to, "the copy");
    }
    return MustBeOn(call.device(), to, "the copy");
  }

  const Plan& plan_;
  std::vector<uint32_t> devices_;  // of each tensor
};

}  // namespace

absl::Status CheckDevices(const Plan& plan) {
  if (plan.devices_size() == 0 || plan.devices(0).kind() != kCpuDeviceKind ||
      !plan.devices(0).target_key().empty()) {
    return Bad("plan: its first device is no ", kCpuDeviceKind);
  }
  if (plan.devices_size() > kMostDevices) {
    return Bad("plan: it has ", plan.devices_size(), " devices");
  }
  absl::flat_hash_set<absl::string_view> keys;
  for (int i = 1; i < plan.devices_size(); ++i) {
    const PlanDevice& device = plan.devices(i);
    if (device.kind().empty() || device.kind() == kCpuDeviceKind) {
      return Bad("plan: device ", i, " is of kind '", device.kind(), "'");
    }
    std::vector<absl::string_view> served(device.shared_by().begin(),
                                          device.shared_by().end());
    served.push_back(device.target_key());
    for (const absl::string_view key : served) {
      if (key.empty()) return Bad("plan: device ", i, " serves no target key");
      if (!keys.insert(key).second) {
        return Bad("plan: two devices serve the target key '", key, "'");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPlacesOnDevices(const Plan& plan, int num_devices) {
  for (const PlanTensor& tensor : plan.tensors()) {
    if (tensor.device() == 0) continue;
    if (!tensor.has_constant() ||
        tensor.device() >= static_cast<uint32_t>(num_devices)) {
      return Bad("plan: tensor '", tensor.name(), "' cannot be on device ",
                 tensor.device());
    }
  }
  const Places places(plan);
  for (int i = 0; i < plan.calls_size(); ++i) {
    const absl::Status status = places.Check(plan.calls(i));
    if (!status.ok()) return Bad("plan: call ", i, ": ", status.message());
  }
  for (const uint32_t t : plan.outputs()) {
    const absl::Status status = places.MustBeOn(0, t, "output");
    if (!status.ok()) return Bad("plan: ", status.message());
  }
  return absl::OkStatus();
}

}  // namespace ingot

#include "runtime/device_stream.h"

namespace ingot {
namespace {

thread_local DeviceStream* current = nullptr;

// A stream of a device that has none: what is queued is done at once.
class BlockingStream final : public DeviceStream {
 public:
  explicit BlockingStream(const OpenDevice& on)
      : api_(*on.api), device_(on.device) {}

  absl::Status CopyFromCpu(void* to, const void* from, size_t bytes) override {
    return api_.CopyFromCpu(device_, to, from, bytes);
  }
  absl::Status CopyToCpu(void* to, const void* from, size_t bytes) override {
    return api_.CopyToCpu(device_, to, from, bytes);
  }
  absl::StatusOr<std::shared_ptr<DeviceEvent>> Record() override {
    return std::make_shared<Now>();
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }

 private:
  struct Now final : DeviceEvent {
    absl::Status Wait() override { return absl::OkStatus(); }
  };

  DeviceApi& api_;
  const Device device_;
};

}  // namespace

DeviceStream* DeviceStream::Current() { return current; }

ScopedDeviceStream::ScopedDeviceStream(DeviceStream* stream) : outer_(current) {
  current = stream;
}

ScopedDeviceStream::~ScopedDeviceStream() { current = outer_; }

absl::StatusOr<std::unique_ptr<DeviceStream>> OpenStream(const OpenDevice& on) {
  if (auto* api = dynamic_cast<StreamingDeviceApi*>(on.api.get())) {
    return api->OpenStream(on.device);
  }
  return std::make_unique<BlockingStream>(on);
}

}  // namespace ingot

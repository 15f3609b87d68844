#ifndef INGOT_RUNTIME_DEVICE_STREAM_H_
#define INGOT_RUNTIME_DEVICE_STREAM_H_

#include <cstddef>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace ingot {

// A moment in a stream: all work that was queued before it is done.
// Thread-safe.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;

  // Blocks until then. The error of that work, if some of it failed.
  virtual absl::Status Wait() = 0;
};

// Work of a stream that can be queued again and again. Used as its stream is,
// which outlives it.
class RecordedWork {
 public:
  virtual ~RecordedWork() = default;

  // Queues all of it.
  virtual absl::Status Queue() = 0;
};

// A queue of one device's work, which runs in the order in which it was queued
// while the caller goes on. Each executor has one for each of its devices, and
// different streams may run at once. Not thread-safe, but different streams may
// be used from different threads.
//
// Once work of a stream has failed, what was queued after it does not run until
// Synchronize has told the error; queueing itself fails only for what can be
// seen at once. A stream that is destroyed waits for its work first.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  // Queues a copy of `bytes` bytes from the CPU's memory to the device's, or
  // back. The CPU's memory must stay, unchanged and where it is written unread,
  // until the copy is done.
  virtual absl::Status CopyFromCpu(void* to, const void* from,
                                   size_t bytes) = 0;
  virtual absl::Status CopyToCpu(void* to, const void* from, size_t bytes) = 0;

  // The moment at which all that is queued so far is done.
  virtual absl::StatusOr<std::shared_ptr<DeviceEvent>> Record() = 0;

  // Work that is queued from now on begins after `event`, which may be of
  // another device, and does not run if that failed. Unless overridden this
  // blocks.
  virtual absl::Status WaitFor(std::shared_ptr<DeviceEvent> event) {
    return event->Wait();
  }

  // Calls `queue`, which queues work on this stream, and keeps that instead of
  // doing it. Null where the stream, or what would be queued, cannot be
  // recorded: then nothing was done. Unless overridden nothing can, and `queue`
  // is not called.
  virtual absl::StatusOr<std::unique_ptr<RecordedWork>> RecordWork(
      absl::FunctionRef<absl::Status()> queue) {
    return nullptr;
  }

  // Blocks until all work is done. The first error since the last time, which
  // says what failed; the stream can be used again.
  virtual absl::Status Synchronize() = 0;

  // The stream that a function of a device is to queue its work on, when an
  // executor calls it on this thread; null where others call it.
  static DeviceStream* Current();
};

// Makes a stream the current one of this thread for a scope.
class ScopedDeviceStream {
 public:
  explicit ScopedDeviceStream(DeviceStream* stream);
  ~ScopedDeviceStream();
  ScopedDeviceStream(const ScopedDeviceStream&) = delete;
  ScopedDeviceStream& operator=(const ScopedDeviceStream&) = delete;

 private:
  DeviceStream* const outer_;
};

// The api of a device that has streams. What its functions do for others than
// executors, and its own copies, wait for each other as DeviceApi says.
class StreamingDeviceApi : public DeviceApi {
 public:
  // Opens a stream, which must not outlive the api.
  virtual absl::StatusOr<std::unique_ptr<DeviceStream>> OpenStream(
      Device device) = 0;
};

// Opens a stream of a device, which must not outlive its api. The copies of
// that of a device without streams are the api's and done when they return, and
// functions queue their work wherever they do.
absl::StatusOr<std::unique_ptr<DeviceStream>> OpenStream(const OpenDevice& on);

}  // namespace ingot

#endif  // INGOT_RUNTIME_DEVICE_STREAM_H_

#include "backends/gpu/stream.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/gpu/device.h"
#include "base/status_macros.h"

namespace ingot::gpu {
namespace {

// A stream that does not wait for the one that other code of the process uses
// by default; both drivers give the flag this number.
constexpr unsigned kNonBlocking = 1;

// While this thread records, others may do what it may not.
constexpr int kOfThisThread = 1;

// An event that takes no time; the same of both.
constexpr unsigned kWithoutTime = 2;

class GpuEvent final : public DeviceEvent {
 public:
  GpuEvent(const GpuDevice& device, Event event, std::string work)
      : device_(device), event_(event), work_(std::move(work)) {}
  ~GpuEvent() override {
    if (const auto in_use = device_.Use(); in_use.ok()) {
      device_.driver().DestroyEvent(event_);
    }
  }

  absl::Status Wait() override {
    INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
    return device_.driver().ToStatus(work_,
                                     device_.driver().WaitForEvent(event_));
  }

  const Driver& driver() const { return device_.driver(); }
  Event event() const { return event_; }

 private:
  const GpuDevice& device_;
  const Event event_;
  const std::string work_;
};

// A tensor of which a kernel copies boxes, as CUDA's driver describes it.
struct alignas(64) TensorDescription {
  unsigned char bytes[128];
};

// Numbers of CUDA's driver API.
int TypeNumber(DataType type) {
  constexpr int kFloat16 = 6, kFloat32 = 7, kBFloat16 = 9;
  if (type == DataType::Float(16)) return kFloat16;
  return type == DataType::BFloat16() ? kBFloat16 : kFloat32;
}
constexpr int kRowsOf128Swizzled = 3, kSectorsOf256 = 3;

// Describes the dense tensor at `memory`, which kernels read zeros beyond.
absl::Status Describe(const Driver& driver, const device::TensorMap& map,
                      void* memory, TensorDescription* description) {
  // The driver has the last dimension first, and no stride of it.
  const size_t rank = map.shape.size();
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box;
  auto stride = static_cast<uint64_t>(map.dtype.bytes());
  for (size_t d = rank; d-- > 0;) {
    dims.push_back(static_cast<uint64_t>(map.shape[d]));
    box.push_back(static_cast<uint32_t>(map.box[d]));
    stride *= dims.back();
    strides.push_back(stride);
  }
  const std::vector<uint32_t> steps(rank, 1);
  return driver.ToStatus(
      absl::StrCat("describing argument ", map.argument),
      driver.DescribeTensor(description->bytes, TypeNumber(map.dtype),
                            static_cast<unsigned>(rank), memory, dims.data(),
                            strides.data(), box.data(), steps.data(),
                            /*interleave=*/0, kRowsOf128Swizzled, kSectorsOf256,
                            /*beyond_ends=*/0));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GpuStream>> GpuStream::Open(
    const GpuDevice& device) {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device.Use());
  const Driver& driver = device.driver();
  Stream stream = nullptr;
  INGOT_RETURN_IF_ERROR(driver.ToStatus(
      "making a stream", driver.CreateStream(&stream, kNonBlocking)));
  return std::unique_ptr<GpuStream>(new GpuStream(device, stream));
}

GpuStream::GpuStream(const GpuDevice& device, Stream stream)
    : device_(device), driver_(device.driver()), stream_(stream) {}

GpuStream::~GpuStream() {
  const absl::StatusOr<InUse> in_use = device_.Use();
  if (!in_use.ok()) return;
  driver_.Wait(stream_);
  driver_.DestroyStream(stream_);
}

std::string GpuStream::Work() const {
  const absl::MutexLock lock(&mutex_);
  return last_work_.empty()
             ? absl::StrCat("work on ", device_.name())
             : absl::StrCat("work on ", device_.name(), " up to ", last_work_);
}

absl::Status GpuStream::CopyFromCpu(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
  return driver_.ToStatus("copying to the device",
                          driver_.CopyToDevice(to, from, bytes, stream_));
}

absl::Status GpuStream::CopyToCpu(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
  return driver_.ToStatus("copying from the device",
                          driver_.CopyToHost(to, from, bytes, stream_));
}

absl::StatusOr<std::shared_ptr<DeviceEvent>> GpuStream::Record() {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
  Event handle = nullptr;
  INGOT_RETURN_IF_ERROR(driver_.ToStatus(
      "making an event", driver_.CreateEvent(&handle, kWithoutTime)));
  auto event = std::make_shared<GpuEvent>(device_, handle, Work());
  INGOT_RETURN_IF_ERROR(driver_.ToStatus("recording an event",
                                         driver_.RecordEvent(handle, stream_)));
  return event;
}

absl::Status GpuStream::WaitFor(std::shared_ptr<DeviceEvent> event) {
  const auto* of_gpu = dynamic_cast<const GpuEvent*>(event.get());
  if (of_gpu == nullptr || &of_gpu->driver() != &driver_) return event->Wait();
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
  return driver_.ToStatus(
      "waiting for an event",
      driver_.LetStreamWait(stream_, of_gpu->event(), /*flags=*/0));
}

// Work of a stream as a graph of the driver's.
class GpuStream::RecordedGraph final : public RecordedWork {
 public:
  RecordedGraph(GpuStream& stream, GraphRun run, std::string last_work)
      : stream_(stream), run_(run), last_work_(std::move(last_work)) {}
  ~RecordedGraph() override {
    if (const auto in_use = stream_.device_.Use(); in_use.ok()) {
      stream_.driver_.DestroyGraphRun(run_);
    }
  }

  absl::Status Queue() override {
    INGOT_ASSIGN_OR_RETURN(const InUse in_use, stream_.device_.Use());
    {
      const absl::MutexLock lock(&stream_.mutex_);
      stream_.last_work_ = last_work_;
    }
    return stream_.driver_.ToStatus(
        "launching a graph", stream_.driver_.QueueGraph(run_, stream_.stream_));
  }

 private:
  GpuStream& stream_;
  const GraphRun run_;
  const std::string last_work_;
};

absl::StatusOr<std::unique_ptr<RecordedWork>> GpuStream::RecordWork(
    absl::FunctionRef<absl::Status()> queue) {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
  if (driver_.BeginRecording(stream_, kOfThisThread) != 0) return nullptr;
  // A call that cannot be recorded says so; whoever queues it without
  // recording gets the errors that it has otherwise.
  const absl::Status queued = queue();
  Graph graph = nullptr;
  const int ended = driver_.EndRecording(stream_, &graph);
  if (graph == nullptr) return nullptr;
  GraphRun run = nullptr;
  const bool ready = queued.ok() && ended == 0 &&
                     driver_.PrepareGraph(&run, graph, /*flags=*/0) == 0;
  driver_.DestroyGraph(graph);
  if (!ready) return nullptr;
  const absl::MutexLock lock(&mutex_);
  return std::make_unique<RecordedGraph>(*this, run, last_work_);
}

absl::Status GpuStream::Synchronize() {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
  return driver_.ToStatus(Work(), driver_.Wait(stream_));
}

absl::Status GpuStream::Run(Kernel kernel, const device::Launch& launch,
                            absl::Span<void* const> arguments) {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
  // The driver reads each argument where its parameter points.
  std::vector<void*> addresses(arguments.begin(), arguments.end());
  std::vector<void*> parameters;
  for (void*& address : addresses) parameters.push_back(&address);
  std::vector<TensorDescription> descriptions(launch.maps.size());
  for (size_t i = 0; i < launch.maps.size(); ++i) {
    INGOT_RETURN_IF_ERROR(Describe(driver_, launch.maps[i],
                                   arguments[launch.maps[i].argument],
                                   &descriptions[i]));
    parameters.push_back(&descriptions[i]);
  }
  {
    const absl::MutexLock lock(&mutex_);
    last_work_ = absl::StrCat("kernel ", launch.kernel);
  }
  const auto group = static_cast<unsigned>(launch.group);
  const auto groups = static_cast<unsigned>(launch.work_items / launch.group);
  return driver_.ToStatus(
      "launching",
      driver_.Launch(kernel, groups, 1, 1, group, 1, 1,
                     static_cast<unsigned>(launch.shared_bytes), stream_,
                     parameters.data(), /*extra=*/nullptr));
}

absl::Status GpuStream::Queue(
    absl::string_view work, const std::function<absl::Status(Stream)>& queue) {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, device_.Use());
  {
    const absl::MutexLock lock(&mutex_);
    last_work_ = std::string(work);
  }
  return queue(stream_);
}

}  // namespace ingot::gpu

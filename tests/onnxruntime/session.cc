#include "tests/onnxruntime/session.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/onnx_tensor/element_types.h"
#include "third_party/onnxruntime/onnxruntime_c_api.h"

// Read by the leak checker: the library keeps what it made once until the end.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libonnxruntime\n";
}

namespace ingot::onnxruntime {
namespace {

const OrtApi& Api() {
  static const OrtApi* const kApi = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return *kApi;
}

absl::Status ToStatus(OrtStatus* status) {
  if (status == nullptr) return absl::OkStatus();
  const absl::Cleanup release = [&] { Api().ReleaseStatus(status); };
  return absl::InternalError(
      absl::StrCat("ONNX Runtime: ", Api().GetErrorMessage(status)));
}

// All sessions share these. Failing to make them is a broken installation.
struct Shared {
  OrtEnv* env = nullptr;
  OrtMemoryInfo* memory = nullptr;
  OrtAllocator* allocator = nullptr;

  Shared() {
    // Operator sets that it knows, though they were no release of ONNX yet.
    setenv("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0", /*overwrite=*/1);
    Require(Api().CreateEnv(ORT_LOGGING_LEVEL_FATAL, "ingot", &env));
    Require(Api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault,
                                      &memory));
    Require(Api().GetAllocatorWithDefaultOptions(&allocator));
  }

  static void Require(OrtStatus* status) {
    if (status != nullptr) std::abort();
  }
};

const Shared& GetShared() {
  static const auto* const kShared = new Shared;
  return *kShared;
}

absl::StatusOr<OrtSessionOptions*> MakeOptions(const SessionOptions& options) {
  OrtSessionOptions* made = nullptr;
  INGOT_RETURN_IF_ERROR(ToStatus(Api().CreateSessionOptions(&made)));
  absl::Cleanup release = [&] { Api().ReleaseSessionOptions(made); };
  INGOT_RETURN_IF_ERROR(
      ToStatus(Api().SetIntraOpNumThreads(made, options.threads)));
  INGOT_RETURN_IF_ERROR(ToStatus(Api().SetInterOpNumThreads(made, 1)));
  INGOT_RETURN_IF_ERROR(ToStatus(Api().SetSessionGraphOptimizationLevel(
      made, options.optimized ? ORT_ENABLE_ALL : ORT_DISABLE_ALL)));
  std::move(release).Cancel();
  return made;
}

absl::StatusOr<int> OnnxTypeOf(DataType dtype) {
  constexpr int kNewest = 22;
  for (int type = 1; type <= kNewest; ++type) {
    const absl::StatusOr<DataType> found = DataTypeFromOnnx(type);
    if (found.ok() && *found == dtype) return type;
  }
  return absl::UnimplementedError("ONNX has no " + dtype.ToString());
}

// A copy of what ONNX Runtime computed.
absl::StatusOr<Tensor> CopyOf(OrtValue* value) {
  int is_tensor = 0;
  INGOT_RETURN_IF_ERROR(ToStatus(Api().IsTensor(value, &is_tensor)));
  if (is_tensor == 0) return absl::UnimplementedError("an output is no tensor");
  OrtTensorTypeAndShapeInfo* info = nullptr;
  INGOT_RETURN_IF_ERROR(ToStatus(Api().GetTensorTypeAndShape(value, &info)));
  const absl::Cleanup release = [&] {
    Api().ReleaseTensorTypeAndShapeInfo(info);
  };
  ONNXTensorElementDataType type;
  size_t rank = 0;
  INGOT_RETURN_IF_ERROR(ToStatus(Api().GetTensorElementType(info, &type)));
  INGOT_RETURN_IF_ERROR(ToStatus(Api().GetDimensionsCount(info, &rank)));
  std::vector<int64_t> shape(rank);
  INGOT_RETURN_IF_ERROR(
      ToStatus(Api().GetDimensions(info, shape.data(), rank)));
  INGOT_ASSIGN_OR_RETURN(const DataType dtype,
                         DataTypeFromOnnx(static_cast<int>(type)));
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  void* data = nullptr;
  INGOT_RETURN_IF_ERROR(ToStatus(Api().GetTensorMutableData(value, &data)));
  if (tensor.bytes() > 0) {
    std::memcpy(tensor.mutable_raw_data(), data, tensor.bytes());
  }
  return tensor;
}

std::vector<const char*> PointersTo(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

class OrtBackedSession : public Session {
 public:
  explicit OrtBackedSession(OrtSession* session) : session_(session) {}
  ~OrtBackedSession() override {
    Release(&inputs_);
    Release(&outputs_);
    Api().ReleaseSession(session_);
  }

  absl::StatusOr<std::vector<std::string>> InputNames() override {
    return Names(Api().SessionGetInputCount, Api().SessionGetInputName);
  }
  absl::StatusOr<std::vector<std::string>> OutputNames() override {
    return Names(Api().SessionGetOutputCount, Api().SessionGetOutputName);
  }

  absl::Status Bind(std::vector<std::string> input_names,
                    std::vector<Tensor> inputs,
                    std::vector<std::string> output_names) override {
    Release(&inputs_);
    Release(&outputs_);
    input_names_ = std::move(input_names);
    output_names_ = std::move(output_names);
    tensors_ = std::move(inputs);
    for (const Tensor& tensor : tensors_) {
      INGOT_ASSIGN_OR_RETURN(const int type, OnnxTypeOf(tensor.dtype()));
      OrtValue* value = nullptr;
      INGOT_RETURN_IF_ERROR(ToStatus(Api().CreateTensorWithDataAsOrtValue(
          GetShared().memory, const_cast<void*>(tensor.raw_data()),
          tensor.bytes(), tensor.shape().data(), tensor.shape().size(),
          static_cast<ONNXTensorElementDataType>(type), &value)));
      inputs_.push_back(value);
    }
    input_pointers_ = PointersTo(input_names_);
    output_pointers_ = PointersTo(output_names_);
    return absl::OkStatus();
  }

  absl::Status Run() override {
    Release(&outputs_);
    outputs_.assign(output_names_.size(), nullptr);
    return ToStatus(Api().Run(session_, nullptr, input_pointers_.data(),
                              inputs_.data(), inputs_.size(),
                              output_pointers_.data(), outputs_.size(),
                              outputs_.data()));
  }

  absl::StatusOr<std::vector<Tensor>> Outputs() override {
    std::vector<Tensor> outputs;
    for (OrtValue* value : outputs_) {
      INGOT_ASSIGN_OR_RETURN(Tensor output, CopyOf(value));
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

 private:
  static void Release(std::vector<OrtValue*>* values) {
    for (OrtValue* value : *values) Api().ReleaseValue(value);
    values->clear();
  }

  template <typename CountFn, typename NameFn>
  absl::StatusOr<std::vector<std::string>> Names(CountFn count_of,
                                                 NameFn name_of) {
    size_t count = 0;
    INGOT_RETURN_IF_ERROR(ToStatus(count_of(session_, &count)));
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      INGOT_RETURN_IF_ERROR(
          ToStatus(name_of(session_, i, GetShared().allocator, &name)));
      names.emplace_back(name);
      INGOT_RETURN_IF_ERROR(
          ToStatus(Api().AllocatorFree(GetShared().allocator, name)));
    }
    return names;
  }

  OrtSession* const session_;
  std::vector<std::string> input_names_, output_names_;
  std::vector<const char*> input_pointers_, output_pointers_;
  std::vector<Tensor> tensors_;  // whose elements inputs_ read
  std::vector<OrtValue*> inputs_, outputs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Create(
    absl::string_view model, const SessionOptions& options) {
  INGOT_ASSIGN_OR_RETURN(OrtSessionOptions* const made, MakeOptions(options));
  const absl::Cleanup release = [&] { Api().ReleaseSessionOptions(made); };
  OrtSession* session = nullptr;
  INGOT_RETURN_IF_ERROR(ToStatus(Api().CreateSessionFromArray(
      GetShared().env, model.data(), model.size(), made, &session)));
  return std::make_unique<OrtBackedSession>(session);
}

absl::StatusOr<std::unique_ptr<Session>> Session::Open(
    const std::string& path, const SessionOptions& options) {
  INGOT_ASSIGN_OR_RETURN(OrtSessionOptions* const made, MakeOptions(options));
  const absl::Cleanup release = [&] { Api().ReleaseSessionOptions(made); };
  OrtSession* session = nullptr;
  INGOT_RETURN_IF_ERROR(ToStatus(
      Api().CreateSession(GetShared().env, path.c_str(), made, &session)));
  return std::make_unique<OrtBackedSession>(session);
}

absl::StatusOr<std::vector<Tensor>> Session::Run(
    absl::Span<const std::string> input_names, absl::Span<const Tensor> inputs,
    absl::Span<const std::string> output_names) {
  INGOT_RETURN_IF_ERROR(Bind({input_names.begin(), input_names.end()},
                             {inputs.begin(), inputs.end()},
                             {output_names.begin(), output_names.end()}));
  INGOT_RETURN_IF_ERROR(Run());
  return Outputs();
}

}  // namespace ingot::onnxruntime

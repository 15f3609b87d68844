#include "tests/fuzz/onnx/reference_session.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tests/fuzz/onnx/elements.h"
#include "third_party/onnxruntime/onnxruntime_c_api.h"

namespace ingot::fuzz {
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
  OrtSessionOptions* options = nullptr;
  OrtMemoryInfo* memory = nullptr;

  Shared() {
    Require(Api().CreateEnv(ORT_LOGGING_LEVEL_FATAL, "fuzz", &env));
    Require(Api().CreateSessionOptions(&options));
    Require(Api().SetIntraOpNumThreads(options, 1));
    Require(Api().SetInterOpNumThreads(options, 1));
    Require(Api().SetSessionGraphOptimizationLevel(options, ORT_DISABLE_ALL));
    Require(Api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault,
                                      &memory));
  }

  static void Require(OrtStatus* status) {
    if (status != nullptr) std::abort();
  }
};

const Shared& GetShared() {
  static const auto* const kShared = new Shared;
  return *kShared;
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
  const DataType dtype = TypeOfOnnx(static_cast<int>(type));
  if (dtype == DataType::Handle()) {
    return absl::UnimplementedError(
        absl::StrCat("an output has ONNX's type ", static_cast<int>(type)));
  }
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  void* data = nullptr;
  INGOT_RETURN_IF_ERROR(ToStatus(Api().GetTensorMutableData(value, &data)));
  if (tensor.bytes() > 0) {
    std::memcpy(tensor.mutable_raw_data(), data, tensor.bytes());
  }
  return tensor;
}

class Session : public ReferenceSession {
 public:
  explicit Session(OrtSession* session) : session_(session) {}
  ~Session() override { Api().ReleaseSession(session_); }

  absl::StatusOr<std::vector<Tensor>> Run(
      absl::Span<const std::string> input_names,
      absl::Span<const Tensor> inputs,
      absl::Span<const std::string> output_names) override {
    std::vector<OrtValue*> in, out(output_names.size(), nullptr);
    const absl::Cleanup release = [&] {
      for (OrtValue* value : in) Api().ReleaseValue(value);
      for (OrtValue* value : out) Api().ReleaseValue(value);
    };
    for (const Tensor& input : inputs) {
      OrtValue* value = nullptr;
      INGOT_RETURN_IF_ERROR(ToStatus(Api().CreateTensorWithDataAsOrtValue(
          GetShared().memory, const_cast<void*>(input.raw_data()),
          input.bytes(), input.shape().data(), input.shape().size(),
          static_cast<ONNXTensorElementDataType>(OnnxTypeOf(input.dtype())),
          &value)));
      in.push_back(value);
    }
    std::vector<const char*> in_names, out_names;
    for (const std::string& name : input_names)
      in_names.push_back(name.c_str());
    for (const std::string& name : output_names) {
      out_names.push_back(name.c_str());
    }
    INGOT_RETURN_IF_ERROR(ToStatus(
        Api().Run(session_, nullptr, in_names.data(), in.data(), in.size(),
                  out_names.data(), out_names.size(), out.data())));
    std::vector<Tensor> outputs;
    for (OrtValue* value : out) {
      INGOT_ASSIGN_OR_RETURN(Tensor tensor, CopyOf(value));
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

 private:
  OrtSession* const session_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ReferenceSession>> ReferenceSession::Create(
    absl::string_view model) {
  OrtSession* session = nullptr;
  INGOT_RETURN_IF_ERROR(ToStatus(
      Api().CreateSessionFromArray(GetShared().env, model.data(), model.size(),
                                   GetShared().options, &session)));
  return std::unique_ptr<ReferenceSession>(new Session(session));
}

}  // namespace ingot::fuzz

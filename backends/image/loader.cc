#include "backends/image/loader.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "backends/image/image.h"
#include "backends/image/name.h"
#include "base/status_macros.h"
#include "loaders/function_loader.h"
#include "loaders/text_lines.h"
#include "runtime/any.h"
#include "runtime/plan/call_spec.h"

namespace ingot {
namespace {

using image::Bytes;
using image::Image;

// Shared by the functions of one set. A file counts as an image only if all of
// it can be read, so asking for its size costs as much as its pixels, which are
// kept because they are asked for next.
class Decoder {
 public:
  void Size(Bytes file, int64_t* size) {
    Image image = image::Decode(file);
    size[0] = image.height;
    size[1] = image.width;
    if (image.rgb == nullptr) return;
    absl::MutexLock lock(&mutex_);
    file_.assign(file.begin(), file.end());
    image_ = std::move(image);
  }

  absl::Status Pixels(Bytes file, int64_t height, int64_t width, uint8_t* rgb) {
    Image image = Take(file);
    if (image.rgb == nullptr) image = image::Decode(file);
    if (image.height != height || image.width != width) {
      return Malformed("the image is ", image.height, " x ", image.width,
                       ", not ", height, " x ", width);
    }
    if (image.rgb != nullptr) memcpy(rgb, image.rgb.get(), image.bytes());
    return absl::OkStatus();
  }

 private:
  Image Take(Bytes file) {
    absl::MutexLock lock(&mutex_);
    if (Bytes(file_) != file) return {};
    return std::exchange(image_, {});
  }

  absl::Mutex mutex_;
  std::vector<uint8_t> file_;
  Image image_;
};

// The first argument is the file, the last one the result; what is between them
// was for the plan.
absl::Status Call(const std::string& name, bool is_size, Decoder* decoder,
                  absl::Span<const TVMFFIAny> args) {
  if (args.size() < 2) return Malformed(name, " takes two arguments");
  const TVMFFIAny ends[] = {args.front(), args.back()};
  CallSpec spec = {{{DataType::UInt(8), {0}}}, {{DataType::Int(64), {2}}}};
  const absl::StatusOr<DLTensor*> file = AnyToTensor(ends[0]);
  if (file.ok() && (*file)->ndim == 1) {
    spec.inputs[0].shape[0] = (*file)->shape[0];
  }
  if (!is_size) {
    spec.outputs[0] = {DataType::UInt(8), {0, 0, 3}};
    const absl::StatusOr<DLTensor*> pixels = AnyToTensor(ends[1]);
    for (int i = 0; pixels.ok() && (*pixels)->ndim == 3 && i < 2; ++i) {
      spec.outputs[0].shape[i] = (*pixels)->shape[i];
    }
  }
  INGOT_ASSIGN_OR_RETURN(const std::vector<void*> checked,
                         CheckCall(name, spec, ends));
  const Bytes bytes(static_cast<const uint8_t*>(checked[0]),
                    spec.inputs[0].shape[0]);
  void* const result = checked[1];
  if (is_size) {
    decoder->Size(bytes, static_cast<int64_t*>(result));
    return absl::OkStatus();
  }
  const std::vector<int64_t>& shape = spec.outputs[0].shape;
  return decoder->Pixels(bytes, shape[0], shape[1],
                         static_cast<uint8_t*>(result));
}

absl::StatusOr<LoadedFunction> LoadFunction(
    const Artifact& artifact, const std::shared_ptr<Decoder>& decoder) {
  std::string name, op;
  INGOT_RETURN_IF_ERROR(ReadLines(artifact.content.view(), [&](Words words) {
    if (!name.empty() || words.size() != 2 ||
        (words[1] != "image_size" && words[1] != "decode_image")) {
      return Malformed(
          "needs one line: a function's name, and image_size or decode_image");
    }
    name = std::string(words[0]);
    op = std::string(words[1]);
    return absl::OkStatus();
  }));
  if (name.empty()) return Malformed("has no line");
  const bool is_size = op == "image_size";
  return LoadedFunction{
      name,
      Function::FromLambda([name, is_size, decoder](
                               absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
        return Call(name, is_size, decoder.get(), args);
      })};
}

absl::StatusOr<std::shared_ptr<Module>> LoadBinaryImage(
    absl::Span<const Artifact> group, LoadContext& context) {
  auto decoder = std::make_shared<Decoder>();
  return LoadFunctions(image::kName, group, context,
                       [&](const Artifact& artifact, LoadContext&) {
                         return LoadFunction(artifact, decoder);
                       });
}

}  // namespace

absl::Status RegisterImageLoader(LoaderRegistry* registry) {
  return registry->Register(image::kName, LoadBinaryImage);
}

}  // namespace ingot

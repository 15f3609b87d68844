#include "tools/ingot/inputs.h"

#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "artifact/blob.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/float16.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/npy.h"
#include "tools/ingot/output.h"
#include "tools/ingot/test_data.h"

namespace ingot {
namespace {

std::string SequenceInputs(absl::Span<const TensorInfo> declared) {
  if (declared.empty()) return "the model has no inputs";
  return absl::StrCat(
      "the model's inputs are ",
      absl::StrJoin(declared, ", ", [](std::string* out, const TensorInfo& i) {
        absl::StrAppend(out, "'", i.name, "' (", i.TypeString(), ")");
      }));
}

// The index in `declared`, or its size.
size_t FindInput(absl::Span<const TensorInfo> declared,
                 absl::string_view name) {
  size_t i = 0;
  while (i < declared.size() && declared[i].name != name) ++i;
  return i;
}

absl::StatusOr<std::map<std::string, Tensor>> ReadNpz(absl::string_view path) {
  INGOT_ASSIGN_OR_RETURN(Blob bytes, Blob::MapFile(path));
  absl::StatusOr<std::map<std::string, Tensor>> arrays = ParseNpz(bytes.view());
  if (!arrays.ok()) return Annotate(arrays.status(), path);
  return arrays;
}

// Reads `path` for an input.
absl::StatusOr<TensorOrSequence> ReadFor(const TensorInfo& input,
                                         absl::string_view path) {
  const std::string& name = input.name;
  if (absl::EndsWith(path, ".pb")) return ReadValueFile(path, input);
  if (!absl::EndsWith(path, ".npz")) return ReadTensorFile(path);
  INGOT_ASSIGN_OR_RETURN(auto arrays, ReadNpz(path));
  if (arrays.size() == 1) return arrays.begin()->second;
  auto it = arrays.find(name);
  if (it != arrays.end()) return it->second;
  return absl::NotFoundError(absl::StrCat(
      path, ": has no array '", name, "'; it has ",
      absl::StrJoin(arrays, ", ", [](std::string* out, const auto& entry) {
        absl::StrAppend(out, "'", entry.first, "'");
      })));
}

// SplitMix64: tiny, and the same numbers everywhere and forever.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // In [-1, 1), a multiple of 2^-23, which all but the 16-bit floats hold.
  float NextFloat() {
    return static_cast<float>(Next() >> 40) / static_cast<float>(1 << 23) - 1;
  }

 private:
  uint64_t state_;
};

absl::Status Fill(Tensor* tensor, Random* random) {
  const DataType type = tensor->dtype();
  const size_t size = type.bytes();
  char* out = static_cast<char*>(tensor->mutable_raw_data());
  const auto store = [&](auto value) {
    memcpy(out, &value, sizeof(value));
    out += sizeof(value);
  };
  for (int64_t i = 0; i < tensor->NumElements(); ++i) {
    if (type == DataType::Float(32)) {
      store(random->NextFloat());
    } else if (type == DataType::Float(64)) {
      store(static_cast<double>(random->NextFloat()));
    } else if (type == DataType::Float(16)) {
      store(FloatToHalf(random->NextFloat()));
    } else if (type == DataType::BFloat16()) {
      store(FloatToBFloat16(random->NextFloat()));
    } else if (type.is_bool()) {
      store(static_cast<uint8_t>(random->Next() >> 63));
    } else if (type.is_integer() && size == 1) {
      store(static_cast<uint8_t>(random->Next() >> 56));
    } else if (type.is_integer() && size <= 8) {
      // Small enough to be an index into most things.
      const uint64_t value = random->Next() % 10;
      memcpy(out, &value, size);  // little-endian
      out += size;
    } else {
      return absl::UnimplementedError(absl::StrCat(
          "there are no random numbers of type ", type.ToString()));
    }
  }
  return absl::OkStatus();
}

// The sizes that --input-shape gives to symbols, by their text.
absl::Status BindSymbols(const TensorInfo& info,
                         const std::vector<int64_t>& shape,
                         std::map<std::string, int64_t>* sizes) {
  const auto differs = [&] {
    return absl::InvalidArgumentError(absl::StrCat(
        "--input-shape=", info.name, ":", absl::StrJoin(shape, "x"),
        " does not fit the model, where '", info.name, "' is ",
        info.TypeString()));
  };
  if (shape.size() != info.shape.size()) return differs();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (info.shape[d] >= 0) {
      if (info.shape[d] != shape[d]) return differs();
      continue;
    }
    auto [it, added] = sizes->emplace(info.dims[d], shape[d]);
    if (!added && it->second != shape[d]) return differs();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<InputShapes> ParseInputShapes(
    absl::Span<const std::string> texts) {
  InputShapes shapes;
  for (const std::string& text : texts) {
    const size_t colon = text.rfind(':');
    std::vector<int64_t> shape;
    bool good = colon != std::string::npos && colon > 0;
    if (good) {
      for (const absl::string_view dim :
           absl::StrSplit(text.substr(colon + 1), 'x')) {
        int64_t size = 0;
        good = good && absl::SimpleAtoi(dim, &size) && size >= 0 &&
               absl::ascii_isdigit(dim[0]);
        shape.push_back(size);
      }
    }
    if (!good) {
      return UsageError(absl::StrCat("--input-shape=", text,
                                     " is not like name:1x3x224x224"));
    }
    if (!shapes.emplace(text.substr(0, colon), std::move(shape)).second) {
      return UsageError(absl::StrCat(
          "--input-shape of '", text.substr(0, colon), "' is given twice"));
    }
  }
  return shapes;
}

absl::StatusOr<Tensor> ReadTensorFile(absl::string_view path) {
  if (absl::EndsWith(path, ".pb")) return ReadTensorProtoFile(path);
  if (!absl::EndsWith(path, ".npy")) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is neither .npy nor .npz nor ONNX's .pb"));
  }
  INGOT_ASSIGN_OR_RETURN(Blob bytes, Blob::MapFile(path));
  absl::StatusOr<Tensor> tensor = ParseNpy(bytes.view());
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  return tensor;
}

absl::StatusOr<std::vector<TensorOrSequence>> ReadInputs(
    absl::Span<const TensorInfo> declared,
    absl::Span<const std::string> texts) {
  std::vector<TensorOrSequence> inputs(declared.size());
  std::vector<bool> given(declared.size());
  const auto set = [&](size_t index, TensorOrSequence value,
                       absl::string_view text) -> absl::Status {
    auto* tensor = std::get_if<Tensor>(&value);
    if (declared[index].is_sequence && tensor != nullptr) {
      if (!given[index]) {
        inputs[index] = TensorSequence{declared[index].dtype, false, {}};
      }
      std::get<TensorSequence>(inputs[index]).tensors.push_back(*tensor);
    } else if (given[index]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--input=", text, ": '", declared[index].name, "' is given twice"));
    } else {
      inputs[index] = std::move(value);
    }
    given[index] = true;
    return absl::OkStatus();
  };
  for (const std::string& text : texts) {
    // Names and files may both have colons: the longest name that fits it is.
    size_t best = declared.size();
    for (size_t i = 0; i < declared.size(); ++i) {
      if (absl::StartsWith(text, absl::StrCat(declared[i].name, ":")) &&
          (best == declared.size() ||
           declared[i].name.size() > declared[best].name.size())) {
        best = i;
      }
    }
    if (best < declared.size()) {
      INGOT_ASSIGN_OR_RETURN(
          TensorOrSequence value,
          ReadFor(declared[best], absl::string_view(text).substr(
                                      declared[best].name.size() + 1)));
      INGOT_RETURN_IF_ERROR(set(best, std::move(value), text));
      continue;
    }
    if (absl::EndsWith(text, ".npz") && !absl::StrContains(text, ':')) {
      INGOT_ASSIGN_OR_RETURN(auto arrays, ReadNpz(text));
      for (auto& [name, tensor] : arrays) {
        const size_t index = FindInput(declared, name);
        if (index == declared.size()) {
          return absl::InvalidArgumentError(
              absl::StrCat("--input=", text, ": its array '", name,
                           "' is no input; ", SequenceInputs(declared)));
        }
        INGOT_RETURN_IF_ERROR(set(index, std::move(tensor), text));
      }
      continue;
    }
    const size_t colon = text.find(':');
    if (colon == std::string::npos) {
      return UsageError(
          absl::StrCat("--input=", text, " is not like name:file.npy"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--input=", text, ": '", text.substr(0, colon),
                     "' is no input; ", SequenceInputs(declared)));
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    if (given[i]) continue;
    return absl::InvalidArgumentError(absl::StrCat("input '", declared[i].name,
                                                   "' is not given; ",
                                                   SequenceInputs(declared)));
  }
  return inputs;
}

absl::StatusOr<std::vector<Tensor>> MakeRandomInputs(
    absl::Span<const TensorInfo> declared, const InputShapes& shapes,
    int64_t seed, std::string* note) {
  std::map<std::string, int64_t> sizes;
  for (const auto& [name, shape] : shapes) {
    const size_t index = FindInput(declared, name);
    if (index == declared.size()) {
      return absl::InvalidArgumentError(absl::StrCat("--input-shape: '", name,
                                                     "' is no input; ",
                                                     SequenceInputs(declared)));
    }
    INGOT_RETURN_IF_ERROR(BindSymbols(declared[index], shape, &sizes));
  }
  note->clear();
  if (declared.empty()) return std::vector<Tensor>();
  *note = absl::StrCat("inputs are random numbers (seed ", seed, ")");
  std::vector<std::string> guessed;
  std::vector<Tensor> inputs;
  Random random(static_cast<uint64_t>(seed));
  for (const TensorInfo& info : declared) {
    if (info.is_sequence) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", info.name, "' is a ", info.TypeString(),
                       ", for which there are no random numbers"));
    }
    std::vector<int64_t> shape = info.shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] >= 0) continue;
      auto [it, added] = sizes.emplace(info.dims[d], 1);
      if (added) guessed.push_back(info.dims[d]);
      shape[d] = it->second;
    }
    absl::StatusOr<Tensor> tensor = Tensor::Empty(info.dtype, shape);
    absl::Status status =
        tensor.ok() ? Fill(&*tensor, &random) : tensor.status();
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("input '", info.name, "'"));
    }
    inputs.push_back(*std::move(tensor));
  }
  if (!guessed.empty()) {
    absl::StrAppend(note, "; ", absl::StrJoin(guessed, ", "),
                    guessed.size() == 1 ? " is" : " are",
                    " taken as 1 (--input-shape chooses)");
  }
  return inputs;
}

absl::StatusOr<std::vector<TensorOrSequence>> GivenOrRandomInputs(
    absl::Span<const TensorInfo> declared, absl::Span<const std::string> texts,
    const InputShapes& shapes, int64_t seed, std::string* note) {
  note->clear();
  if (!texts.empty() || declared.empty()) return ReadInputs(declared, texts);
  INGOT_ASSIGN_OR_RETURN(std::vector<Tensor> inputs,
                         MakeRandomInputs(declared, shapes, seed, note));
  return std::vector<TensorOrSequence>(inputs.begin(), inputs.end());
}

absl::Status SetInputs(absl::Span<const TensorOrSequence> inputs,
                       GraphExecutor* executor) {
  const absl::Span<const TensorInfo> declared = executor->inputs();
  if (inputs.size() != declared.size()) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", inputs.size(),
                                                   " inputs, and ",
                                                   SequenceInputs(declared)));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    INGOT_RETURN_IF_ERROR(executor->SetInputValue(i, inputs[i]));
  }
  return absl::OkStatus();
}

}  // namespace ingot

#include "tools/ingot/npy.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/internal/endian.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
// NumPy allows 64 dimensions, and headers of 10000 bytes unless told otherwise.
constexpr size_t kMaxDims = 64;
constexpr size_t kMaxHeader = 1 << 16;

struct Header {
  DataType dtype;
  bool swap = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a .npy file that can be read: ", what));
}

// The element type that NumPy writes as `descr`, such as "<f4".
absl::Status ParseDescr(absl::string_view descr, Header* header) {
  const auto unknown = [&] {
    return absl::UnimplementedError(
        absl::StrCat("its elements are of NumPy's type '",
                     absl::CHexEscape(descr), "', which no tensor can have"));
  };
  if (descr.size() != 3) return unknown();
  const char order = descr[0];
  int size = descr[2] - '0';
  if (absl::string_view("<>|=").find(order) == absl::string_view::npos ||
      (size != 1 && size != 2 && size != 4 && size != 8)) {
    return unknown();
  }
  switch (descr[1]) {
    case 'b':
      if (size != 1) return unknown();
      header->dtype = DataType::Bool();
      break;
    case 'i':
      header->dtype = DataType::Int(size * 8);
      break;
    case 'u':
      header->dtype = DataType::UInt(size * 8);
      break;
    case 'f':
      if (size == 1) return unknown();
      header->dtype = DataType::Float(size * 8);
      break;
    default:
      return unknown();
  }
  header->swap = order == '>' && size > 1;
  return absl::OkStatus();
}

// Reads the header, a Python dictionary in the form that NumPy itself writes:
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  explicit HeaderParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Header> Parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    if (!Take("{")) return Malformed("its header is not a dictionary");
    while (!Take("}")) {
      std::optional<std::string> key = String();
      if (!key.has_value() || !Take(":")) {
        return Malformed("its header is not a dictionary");
      }
      if (*key == "descr" && !has_descr) {
        has_descr = true;
        std::optional<std::string> descr = String();
        if (!descr.has_value()) {
          return absl::UnimplementedError(
              "its elements are records, which no tensor can have");
        }
        INGOT_RETURN_IF_ERROR(ParseDescr(*descr, &header));
      } else if (*key == "fortran_order" && !has_order) {
        has_order = true;
        if (Take("True")) {
          header.fortran_order = true;
        } else if (!Take("False")) {
          return Malformed("'fortran_order' is neither True nor False");
        }
      } else if (*key == "shape" && !has_shape) {
        has_shape = true;
        if (!Shape(&header.shape)) {
          return Malformed("'shape' is not a list of sizes");
        }
      } else {
        return Malformed(absl::StrCat(
            "its header has '", absl::CHexEscape(*key), "' where it may not"));
      }
      if (!Take(",")) {
        if (!Take("}")) return Malformed("its header is not a dictionary");
        break;
      }
    }
    SkipSpace();
    if (!text_.empty()) return Malformed("its header goes on after its end");
    if (!has_descr || !has_order || !has_shape) {
      return Malformed("its header lacks one of descr, fortran_order, shape");
    }
    return header;
  }

 private:
  void SkipSpace() { text_ = absl::StripLeadingAsciiWhitespace(text_); }

  bool Take(absl::string_view token) {
    SkipSpace();
    return absl::ConsumePrefix(&text_, token);
  }

  std::optional<std::string> String() {
    SkipSpace();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) {
      return std::nullopt;
    }
    const size_t end = text_.find(text_[0], 1);
    if (end == absl::string_view::npos) return std::nullopt;
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }

  bool Shape(std::vector<int64_t>* shape) {
    if (!Take("(")) return false;
    while (!Take(")")) {
      SkipSpace();
      size_t digits = 0;
      while (digits < text_.size() && absl::ascii_isdigit(text_[digits])) {
        ++digits;
      }
      int64_t size = 0;
      if (shape->size() == kMaxDims ||
          !absl::SimpleAtoi(text_.substr(0, digits), &size)) {
        return false;
      }
      shape->push_back(size);
      text_.remove_prefix(digits);
      absl::ConsumePrefix(&text_, "L");  // Python 2 wrote long integers so
      if (!Take(",")) return Take(")");
    }
    return true;
  }

  absl::string_view text_;
};

// Copies elements of `size` bytes, each with its bytes reversed.
void CopySwapped(const char* from, char* to, size_t count, size_t size) {
  for (size_t i = 0; i < count * size; i += size) {
    for (size_t b = 0; b < size; ++b) to[i + b] = from[i + size - 1 - b];
  }
}

// Copies elements whose first index runs fastest to where the last one does.
void CopyTransposed(const char* from, char* to,
                    const std::vector<int64_t>& shape, size_t count,
                    size_t size) {
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<size_t> strides(shape.size());
  size_t stride = size;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<size_t>(shape[d]);
  }
  size_t offset = 0;
  for (size_t i = 0; i < count; ++i) {
    memcpy(to + i * size, from + offset, size);
    for (size_t d = shape.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != kMagic) {
    return Malformed("it does not start as one");
  }
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    return Malformed(
        absl::StrCat("it is of version ", version, ", and 1 to 3 are known"));
  }
  size_t length = 0, start = 10;
  if (version == 1) {
    length = absl::little_endian::Load16(bytes.data() + 8);
  } else {
    start = 12;
    if (bytes.size() < start) return Malformed("it is cut off");
    length = absl::little_endian::Load32(bytes.data() + 8);
  }
  if (length > kMaxHeader) return Malformed("its header is too long");
  if (bytes.size() - start < length) return Malformed("it is cut off");
  INGOT_ASSIGN_OR_RETURN(Header header,
                         HeaderParser(bytes.substr(start, length)).Parse());

  // Before any memory is taken: are the elements there?
  const absl::string_view data = bytes.substr(start + length);
  INGOT_ASSIGN_OR_RETURN(size_t size, CountBytes(header.dtype, header.shape));
  if (size != data.size()) {
    return Malformed(absl::StrCat(TypeString(header.dtype, header.shape),
                                  " takes ", size, " bytes, and it has ",
                                  data.size()));
  }
  INGOT_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Empty(header.dtype, header.shape));
  char* out = static_cast<char*>(tensor.mutable_raw_data());
  const size_t element = header.dtype.bytes();
  const size_t count = size / element;
  std::string swapped;
  const char* in = data.data();
  if (header.swap) {
    swapped.resize(size);
    CopySwapped(in, swapped.data(), count, element);
    in = swapped.data();
  }
  if (count == 0) return tensor;
  if (header.fortran_order && header.shape.size() > 1) {
    CopyTransposed(in, out, header.shape, count, element);
  } else {
    memcpy(out, in, size);
  }
  if (header.dtype.is_bool()) {
    // Code may rely on a bool being 0 or 1.
    for (size_t i = 0; i < count; ++i) out[i] = out[i] != 0;
  }
  return tensor;
}

absl::StatusOr<std::string> FormatNpy(const Tensor& tensor) {
  const DataType type = tensor.dtype();
  const bool widen = type == DataType::BFloat16();
  std::string descr;
  if (widen) {
    descr = "<f4";
  } else if (type.is_bool()) {
    descr = "|b1";
  } else if ((type.is_integer() || type.code == DataType::kFloat) &&
             type.lanes == 1 && type.bits % 8 == 0) {
    descr = absl::StrCat(type.bits == 8 ? "|" : "<",
                         type.is_float()  ? "f"
                         : type.is_uint() ? "u"
                                          : "i",
                         type.bits / 8);
  } else {
    return absl::UnimplementedError(absl::StrCat(
        "NumPy has no element type for ", type.ToString(), "; use ONNX's .pb"));
  }
  // Python needs the comma to see a tuple of one size.
  std::string header = absl::StrCat(
      "{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
      absl::StrJoin(tensor.shape(), ", "),
      tensor.shape().size() == 1 ? ",), }" : "), }");
  // The elements start at a multiple of 64 bytes, for those who map the file.
  const size_t unpadded = 10 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes.append({'\x01', '\x00', static_cast<char>(header.size() & 0xFF),
                static_cast<char>(header.size() >> 8)});
  bytes += header;
  if (!widen) {
    bytes.append(static_cast<const char*>(tensor.raw_data()), tensor.bytes());
    return bytes;
  }
  for (const uint16_t bits : tensor.values<uint16_t>()) {
    const float value = BFloat16ToFloat(bits);
    char raw[4];
    memcpy(raw, &value, 4);
    bytes.append(raw, 4);
  }
  return bytes;
}

}  // namespace ingot

// NumPy's arrays, alone and in archives.
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "runtime/tensor.h"
#include "tests/fuzz/readers/target.h"
#include "tools/ingot/npy.h"

namespace ingot::fuzz {
namespace {

std::string Number(uint64_t n, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(n >> (8 * i));
  return text;
}

// An archive with one stored member.
std::string ArchiveOf(const std::string& name, const std::string& content) {
  const uLong checksum =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()),
            static_cast<uInt>(content.size()));
  // Flags, method and time; checksum and sizes; lengths of name and extras.
  const std::string common =
      Number(20, 2) + Number(0, 2) + Number(0, 2) + Number(0, 4) +
      Number(checksum, 4) + Number(content.size(), 4) +
      Number(content.size(), 4) + Number(name.size(), 2) + Number(0, 2);
  const std::string local = "PK\3\4" + common + name + content;
  const std::string entry = "PK\1\2" + Number(20, 2) + common + Number(0, 2) +
                            Number(0, 2) + Number(0, 2) + Number(0, 4) +
                            Number(0, 4) + name;
  return local + entry + "PK\5\6" + Number(0, 4) + Number(1, 2) + Number(1, 2) +
         Number(entry.size(), 4) + Number(local.size(), 4) + Number(0, 2);
}

}  // namespace

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const DataType type : {DataType::Float(32), DataType::Int(64),
                              DataType::Bool(), DataType::Float(16)}) {
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {3}, {2, 3}, {0, 4}}) {
      Tensor tensor = *Tensor::Empty(type, shape);
      memset(tensor.mutable_raw_data(), 1, tensor.bytes());
      seeds.push_back(*FormatNpy(tensor));
    }
  }
  const std::string archive = ArchiveOf("x.npy", seeds.front());
  if (!ParseNpz(archive).ok()) return {};  // which fails the test
  seeds.push_back(archive);
  return seeds;
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  if (ParseNpz(bytes).ok()) return true;
  const absl::StatusOr<Tensor> tensor = ParseNpy(bytes);
  if (!tensor.ok()) return false;
  INGOT_ASSIGN_OR_RETURN(const std::string written, FormatNpy(*tensor));
  INGOT_ASSIGN_OR_RETURN(const Tensor again, ParseNpy(written));
  if (again.TypeString() != tensor->TypeString() ||
      memcmp(again.raw_data(), tensor->raw_data(), tensor->bytes()) != 0) {
    return absl::InternalError("written and read, the array is another one");
  }
  return true;
}

}  // namespace ingot::fuzz

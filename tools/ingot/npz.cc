// ParseNpz: as much of ZIP as NumPy's archives use.

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/base/internal/endian.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "tools/ingot/npy.h"

namespace ingot {
namespace {

constexpr size_t kLocalHeader = 30;
constexpr size_t kCentralHeader = 46;
constexpr size_t kEndRecord = 22;
constexpr uint32_t kFull32 = 0xFFFFFFFF;

struct Member {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t compressed = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a .npz file that can be read: ", what));
}

uint16_t U16(absl::string_view bytes, size_t at) {
  return absl::little_endian::Load16(bytes.data() + at);
}
uint32_t U32(absl::string_view bytes, size_t at) {
  return absl::little_endian::Load32(bytes.data() + at);
}
uint64_t U64(absl::string_view bytes, size_t at) {
  return absl::little_endian::Load64(bytes.data() + at);
}

// `count` bytes from `at` on, or nothing where they are not all there.
bool Cut(absl::string_view bytes, uint64_t at, uint64_t count,
         absl::string_view* out) {
  if (at > bytes.size() || bytes.size() - at < count) return false;
  *out = bytes.substr(at, count);
  return true;
}

// Finds the list of members: where it starts and how many there are.
absl::Status FindDirectory(absl::string_view bytes, uint64_t* offset,
                           uint64_t* count) {
  if (bytes.size() < kEndRecord) return Malformed("it is too short");
  // A comment of up to 64 KiB may follow the record.
  const size_t first =
      bytes.size() - std::min<size_t>(bytes.size(), kEndRecord + 0xFFFF);
  size_t end = bytes.size() - kEndRecord;
  while (U32(bytes, end) != 0x06054b50 ||
         U16(bytes, end + 20) != bytes.size() - end - kEndRecord) {
    if (end == first) return Malformed("it is not a ZIP archive, or cut off");
    --end;
  }
  *count = U16(bytes, end + 10);
  *offset = U32(bytes, end + 16);
  if (*count != 0xFFFF && *offset != kFull32) return absl::OkStatus();
  absl::string_view record;
  if (end < 20 || U32(bytes, end - 20) != 0x07064b50 ||
      !Cut(bytes, U64(bytes, end - 12), 56, &record) ||
      U32(record, 0) != 0x06064b50) {
    return Malformed("its ZIP64 record is missing");
  }
  *count = U64(record, 32);
  *offset = U64(record, 48);
  return absl::OkStatus();
}

// The sizes that do not fit 32 bits are in an extra field, in a fixed order.
bool ReadZip64(absl::string_view extra, Member* member) {
  while (extra.size() >= 4) {
    const uint16_t id = U16(extra, 0);
    absl::string_view field;
    if (!Cut(extra, 4, U16(extra, 2), &field)) return false;
    if (id == 1) {
      for (uint64_t* value :
           {&member->size, &member->compressed, &member->offset}) {
        if (*value != kFull32) continue;
        if (field.size() < 8) return false;
        *value = U64(field, 0);
        field.remove_prefix(8);
      }
      return true;
    }
    extra.remove_prefix(4 + U16(extra, 2));
  }
  return true;
}

// Reads one entry at `*at` of the list of members and moves on.
absl::StatusOr<Member> ReadMember(absl::string_view bytes, uint64_t* at) {
  absl::string_view head;
  if (!Cut(bytes, *at, kCentralHeader, &head) || U32(head, 0) != 0x02014b50) {
    return Malformed("its list of members is broken");
  }
  Member member;
  member.flags = U16(head, 8);
  member.method = U16(head, 10);
  member.crc = U32(head, 16);
  member.compressed = U32(head, 20);
  member.size = U32(head, 24);
  member.offset = U32(head, 42);
  absl::string_view name, extra;
  *at += kCentralHeader;
  if (!Cut(bytes, *at, U16(head, 28), &name) ||
      !Cut(bytes, *at + name.size(), U16(head, 30), &extra) ||
      !ReadZip64(extra, &member)) {
    return Malformed("its list of members is broken");
  }
  *at += name.size() + extra.size() + U16(head, 32);
  member.name = std::string(name);
  return member;
}

absl::StatusOr<std::string> Inflate(absl::string_view in, uint64_t size) {
  // Deflate makes at most 1032 bytes of one. A larger claim is a lie, and
  // without this check it would take that much memory.
  if (size / 1032 > in.size() + 1 ||
      size > std::numeric_limits<size_t>::max() / 2) {
    return Malformed("it claims to be larger than its bytes can make");
  }
  std::string out(size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    return absl::ResourceExhaustedError("zlib could not start");
  }
  // zlib counts in 32 bits, so give and take in pieces.
  constexpr size_t kPiece = size_t{1} << 30;
  size_t read = 0, written = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const size_t give = std::min(kPiece, in.size() - read);
    const size_t take = std::min(kPiece, out.size() - written);
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + read));
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = reinterpret_cast<Bytef*>(&out[0] + written);
    stream.avail_out = static_cast<uInt>(take);
    result = inflate(&stream, Z_NO_FLUSH);
    read += give - stream.avail_in;
    written += take - stream.avail_out;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || written != size) {
    return Malformed("its compressed bytes are broken");
  }
  return out;
}

absl::StatusOr<Tensor> ReadArray(absl::string_view bytes,
                                 const Member& member) {
  absl::string_view head, data;
  if (!Cut(bytes, member.offset, kLocalHeader, &head) ||
      U32(head, 0) != 0x04034b50 ||
      !Cut(bytes, member.offset + kLocalHeader + U16(head, 26) + U16(head, 28),
           member.compressed, &data)) {
    return Malformed("it is cut off");
  }
  if ((member.flags & 1) != 0) {
    return absl::UnimplementedError("it is encrypted");
  }
  std::string inflated;
  if (member.method == 8) {
    INGOT_ASSIGN_OR_RETURN(std::string out, Inflate(data, member.size));
    inflated = std::move(out);
    data = inflated;
  } else if (member.method != 0) {
    return absl::UnimplementedError(absl::StrCat(
        "compression method ", member.method, " is neither none nor deflate"));
  }
  if (data.size() != member.size ||
      crc32_z(crc32_z(0, nullptr, 0),
              reinterpret_cast<const Bytef*>(data.data()),
              data.size()) != member.crc) {
    return absl::DataLossError("its bytes are not those of its checksum");
  }
  return ParseNpy(data);
}

}  // namespace

absl::StatusOr<std::map<std::string, Tensor>> ParseNpz(
    absl::string_view bytes) {
  uint64_t at = 0, count = 0;
  INGOT_RETURN_IF_ERROR(FindDirectory(bytes, &at, &count));
  std::map<std::string, Tensor> arrays;
  uint64_t compressed = 0;
  for (uint64_t i = 0; i < count; ++i) {
    INGOT_ASSIGN_OR_RETURN(Member member, ReadMember(bytes, &at));
    // Members that share bytes could ask for any amount of memory.
    if (member.compressed > bytes.size() - compressed) {
      return Malformed("its members overlap");
    }
    compressed += member.compressed;
    const std::string where =
        absl::StrCat("member '", absl::CHexEscape(member.name), "': ");
    absl::StatusOr<Tensor> array = ReadArray(bytes, member);
    if (!array.ok()) {
      return absl::Status(array.status().code(),
                          absl::StrCat(where, array.status().message()));
    }
    const std::string name(absl::StripSuffix(member.name, ".npy"));
    if (!arrays.emplace(name, *std::move(array)).second) {
      return Malformed(absl::StrCat(where, "is there twice"));
    }
  }
  return arrays;
}

}  // namespace ingot

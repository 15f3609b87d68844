// Blob: immutable bytes that several owners share without copying them.

#ifndef INGOT_ARTIFACT_BLOB_H_
#define INGOT_ARTIFACT_BLOB_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/alignment.h"

namespace ingot {

// A range of bytes together with whatever keeps those bytes alive: a string, a
// mapped file, or an object of the caller's. Copying a Blob copies a pointer,
// never the bytes. The bytes never change while any Blob refers to them.
//
// Thread-safe: any number of threads may read and copy the same Blob.
class Blob {
 public:
  // No bytes.
  Blob() = default;

  // Takes over `bytes`; nothing is copied. data() is aligned as the string's
  // heap memory is (16 bytes), which weights may find too little: see
  // CopyAligned.
  static Blob FromString(std::string bytes);

  // Refers to `size` bytes at `data`. `owner` is released with the last Blob
  // that refers to them; null when the bytes outlive every Blob (static data).
  static Blob FromMemory(const void* data, size_t size,
                         std::shared_ptr<const void> owner);

  // Copies `bytes` into memory aligned to `alignment` bytes, a power of two.
  static Blob CopyAligned(absl::string_view bytes,
                          size_t alignment = kAlignment);

  // Maps the regular file at `path` for reading; data() is page-aligned. The
  // file may be empty. The mapping sees what the file's inode holds, so whoever
  // changes the file must replace it (write another file, then rename) and
  // never truncate it in place: Ingot's own writers all do so. Errors:
  // NotFound, PermissionDenied, InvalidArgument (not a regular file), or what
  // the system reports.
  static absl::StatusOr<Blob> MapFile(absl::string_view path);

  // As MapFile, for an open descriptor, which stays the caller's to close.
  // `name` is only for messages.
  static absl::StatusOr<Blob> MapFd(int fd, absl::string_view name);

  // `size` bytes from `offset` on, sharing this blob's owner. What lies outside
  // of this blob is cut off, so the result never reaches past its end.
  Blob Slice(size_t offset, size_t size) const;

  // Null when the blob is empty and was made from nothing.
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The bytes as text; valid while any Blob that shares the owner lives.
  absl::string_view view() const {
    return absl::string_view(reinterpret_cast<const char*>(data_), size_);
  }

  // Keeps the bytes alive for as long as it is held. May be null.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  Blob(const void* data, size_t size, std::shared_ptr<const void> owner)
      : data_(static_cast<const uint8_t*>(data)),
        size_(size),
        owner_(std::move(owner)) {}

  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

}  // namespace ingot

#endif  // INGOT_ARTIFACT_BLOB_H_

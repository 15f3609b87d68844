#include "backends/example_npu/stream.h"

#include <cstring>

namespace ingot::example_npu {

std::string WriteStream(const Stream& stream) {
  StreamHeader header = {{},
                         stream.arguments.size(),
                         stream.inputs,
                         stream.temporary_bytes,
                         stream.commands.size(),
                         stream.constants.size()};
  std::memcpy(header.magic, kMagic, sizeof(header.magic));
  std::string bytes;
  const auto append = [&bytes](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  };
  append(&header, sizeof(header));
  append(stream.arguments.data(), stream.arguments.size() * sizeof(uint64_t));
  append(stream.commands.data(), stream.commands.size() * sizeof(Command));
  return bytes + stream.constants;
}

}  // namespace ingot::example_npu

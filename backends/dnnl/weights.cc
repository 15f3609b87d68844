#include "backends/dnnl/weights.h"

namespace ingot::dnnl_backend {

const Tensor* Weights::Find(const std::string& key) const {
  auto it = constants_.find(key);
  return it == constants_.end() ? nullptr : &it->second;
}

dnnl::memory Weights::Get(const std::string& key,
                          const dnnl::memory::desc& from,
                          const dnnl::memory::desc& to) {
  std::vector<Copy>& copies = copies_[key];
  for (const Copy& copy : copies) {
    if (copy.from == from && copy.memory.get_desc() == to) return copy.memory;
  }
  // Only read, though oneDNN does not say so in its types.
  void* data = const_cast<void*>(constants_.at(key).raw_data());
  dnnl::memory memory(from, engine_, data);
  if (from != to) {
    dnnl::memory copy(to, engine_);
    dnnl::stream stream(engine_);
    dnnl::reorder(memory, copy).execute(stream, memory, copy);
    stream.wait();
    memory = copy;
  }
  copies.push_back({from, memory});
  return memory;
}

}  // namespace ingot::dnnl_backend

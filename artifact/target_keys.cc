#include "artifact/target_keys.h"

#include <string>

namespace ingot {

const Provenance::TargetKey& FindTargetKey(const Provenance& provenance,
                                           absl::string_view key) {
  for (const Provenance::TargetKey& each : provenance.target_keys()) {
    if (each.name() == key) return each;
  }
  return Provenance::TargetKey::default_instance();
}

Provenance::TargetKey* MutableTargetKey(Provenance* provenance,
                                        absl::string_view key) {
  auto* keys = provenance->mutable_target_keys();
  int at = 0;
  while (at < keys->size() && keys->Get(at).name() < key) ++at;
  if (at < keys->size() && keys->Get(at).name() == key) {
    return keys->Mutable(at);
  }
  keys->Add()->set_name(std::string(key));
  for (int i = keys->size() - 1; i > at; --i) keys->SwapElements(i, i - 1);
  return keys->Mutable(at);
}

}  // namespace ingot

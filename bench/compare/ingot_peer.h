// Ingot as a peer: it runs a linked set as a user's program does
// (examples/embed_runtime).
#ifndef INGOT_BENCH_COMPARE_INGOT_PEER_H_
#define INGOT_BENCH_COMPARE_INGOT_PEER_H_

#include "absl/status/status.h"
#include "bench/compare/peer.h"
#include "loaders/loader_registry.h"

namespace ingot::compare {

using RegisterFn = absl::Status (*)(LoaderRegistry*);

// ServePeer for a program with the core loaders and those that `add_loaders`
// registers; null: no others.
int ServeIngot(int argc, char** argv, RegisterFn add_loaders = nullptr);

}  // namespace ingot::compare

#endif  // INGOT_BENCH_COMPARE_INGOT_PEER_H_

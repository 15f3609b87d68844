// Sets that need the core loaders alone.
#include "bench/compare/ingot_peer.h"

int main(int argc, char** argv) {
  return ingot::compare::ServeIngot(argc, argv);
}

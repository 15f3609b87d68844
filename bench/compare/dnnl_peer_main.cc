// Sets with regions for oneDNN.
#include "backends/dnnl/loader.h"
#include "bench/compare/ingot_peer.h"

int main(int argc, char** argv) {
  return ingot::compare::ServeIngot(argc, argv, ingot::RegisterDnnlLoader);
}

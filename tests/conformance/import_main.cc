// Imports models and prints what became of them: one line each, or with --text
// the module.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "artifact/blob.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/relay/op.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"

int main(int argc, char** argv) {
  bool text = false;
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--text") == 0) {
      text = true;
      continue;
    }
    const std::string path = argv[i];
    absl::StatusOr<ingot::Blob> blob = ingot::Blob::MapFile(path);
    if (!blob.ok()) {
      std::printf("%s: %s\n", path.c_str(), blob.status().ToString().c_str());
      return 1;
    }
    absl::StatusOr<ingot::relay::Module> module = ingot::ImportOnnx(*blob);
    absl::Status status = module.status();
    if (status.ok()) status = ingot::relay::Verify(*module);
    if (!status.ok()) {
      ++failed;
      std::printf("FAILED %s: %s\n", path.c_str(), status.ToString().c_str());
      continue;
    }
    std::map<std::string, int> ops;
    int nodes = 0;
    for (const auto& node : module->main()->nodes()) {
      if (node->op == nullptr) continue;
      ++ops[node->op->name];
      ++nodes;
    }
    std::printf("ok %s: %d calls:", path.c_str(), nodes);
    for (const auto& [op, n] : ops) std::printf(" %s:%d", op.c_str(), n);
    std::printf("\n");
    if (text) std::printf("%s\n", ingot::relay::Print(*module).c_str());
  }
  std::printf("%d failed\n", failed);
  return failed == 0 ? 0 : 1;
}

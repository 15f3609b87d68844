// Imports models and prints what became of them: one line each, with --text
// the module too. --input-shape=name:1x3x224x224 holds for all that follow.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "artifact/blob.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/relay/op.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"

int main(int argc, char** argv) {
  bool text = false;
  int failed = 0;
  ingot::ImportOptions options;
  for (int i = 1; i < argc; ++i) {
    absl::string_view arg = argv[i];
    if (arg == "--text") {
      text = true;
      continue;
    }
    if (absl::ConsumePrefix(&arg, "--input-shape=")) {
      const size_t colon = arg.rfind(':');
      std::vector<int64_t>& dims =
          options.input_shapes[std::string(arg.substr(0, colon))];
      for (absl::string_view d : absl::StrSplit(arg.substr(colon + 1), 'x')) {
        int64_t extent = -1;
        if (absl::SimpleAtoi(d, &extent)) dims.push_back(extent);
      }
      continue;
    }
    const std::string path(arg);
    absl::StatusOr<ingot::Blob> blob = ingot::Blob::MapFile(path);
    if (!blob.ok()) {
      std::printf("%s: %s\n", path.c_str(), blob.status().ToString().c_str());
      return 1;
    }
    absl::StatusOr<ingot::relay::Module> module =
        ingot::ImportOnnx(*blob, options);
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

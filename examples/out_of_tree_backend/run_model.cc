// Compiles an ONNX model for backends that Ingot does not know, and runs it on
// ones:  run_model my_cc,llvm model.onnx model.so

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "artifact/artifact_set.h"
#include "backends/builtin.h"
#include "compiler/driver/compile.h"
#include "compiler/status_macros.h"
#include "loaders/load.h"
#include "loaders/native/linker.h"
#include "my_cc/codegen.h"
#include "my_graph/codegen.h"
#include "my_graph/loader.h"

namespace ingot {
namespace {

absl::Status Run(const std::string& target, const std::string& model_path,
                 const std::string& library) {
  // Ingot's own targets, and ours.
  TargetRegistry targets;
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&targets));
  INGOT_RETURN_IF_ERROR(RegisterCoreLoaders(&loaders));
  INGOT_RETURN_IF_ERROR(RegisterMyCcTarget(&targets));
  INGOT_RETURN_IF_ERROR(RegisterMyGraphTarget(&targets));
  INGOT_RETURN_IF_ERROR(RegisterMyGraphLoader(&loaders));

  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(options.targets, ParseTargets(target));
  options.target_text = target;
  INGOT_ASSIGN_OR_RETURN(const ArtifactSet set,
                         CompileModel(model_path, targets, options));
  for (const Artifact& artifact : set.artifacts()) {
    std::printf("%s, loader %s\n", ArtifactPath(artifact).c_str(),
                artifact.loader.c_str());
  }
  INGOT_RETURN_IF_ERROR(LinkLibrary(set, library));

  INGOT_ASSIGN_OR_RETURN(const LoadedModel model, LoadPath(library, loaders));
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(model));
  for (size_t i = 0; i < executor->inputs().size(); ++i) {
    const TensorInfo& info = executor->inputs()[i];
    INGOT_ASSIGN_OR_RETURN(Tensor input, Tensor::Empty(info.dtype, info.shape));
    for (int64_t k = 0; k < input.NumElements(); ++k) {
      input.mutable_data<float>()[k] = 1;
    }
    INGOT_RETURN_IF_ERROR(executor->SetInput(i, std::move(input)));
  }
  INGOT_RETURN_IF_ERROR(executor->Run());
  INGOT_ASSIGN_OR_RETURN(const Tensor output, executor->GetOutput(0));
  std::printf("%s: %s\n", output.TypeString().c_str(),
              absl::StrJoin(output.values<float>(), " ").c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: run_model TARGET MODEL.onnx OUT.so\n");
    return 2;
  }
  const absl::Status status = ingot::Run(argv[1], argv[2], argv[3]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

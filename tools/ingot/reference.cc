#include "tools/ingot/reference.h"

#include <utility>

#include "base/status_macros.h"
#include "compiler/frontends/read_model.h"
#include "compiler/relay/interpreter/evaluate.h"

namespace ingot {

absl::StatusOr<std::vector<TensorOrSequence>> EvaluateReference(
    absl::string_view path, const FrontendRegistry& frontends,
    absl::Span<const TensorOrSequence> inputs, const InputShapes& shapes,
    Progress* progress) {
  progress->Update("importing the reference", 0);
  ImportOptions options;
  options.input_shapes = shapes;
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelFile(path, frontends, std::move(options)));
  progress->Update("interpreting the reference", 0.1);
  return relay::EvaluateFunctionOnSequences(model.module, *model.module.main(),
                                            inputs);
}

}  // namespace ingot

// Frontends: plug-ins that turn the bytes of a model file into a relay module.
// README.md says how to add one.
#ifndef INGOT_COMPILER_FRONTENDS_FRONTEND_H_
#define INGOT_COMPILER_FRONTENDS_FRONTEND_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/blob.h"
#include "compiler/relay/ir.h"

namespace ingot {

// An operator of a format that Ingot does not know and a backend does. It
// becomes relay's `custom`, which only targets compute.
struct CustomOperator {
  std::string domain, name;
  // The types of the results, at least as many as any node has, for operands,
  // of which those that are left out are null, and attributes as a JSON object.
  std::function<absl::StatusOr<std::vector<relay::TensorType>>(
      absl::Span<const relay::Value> inputs, absl::string_view attributes)>
      infer;
};

// Inputs that stay from run to run, each with the output that is its next
// value, such as a cache of keys and values.
struct StateOption {
  // Names; a * stands for the same text in both.
  std::string input, output;
  // Extents for the input's symbolic dimensions, the last ones first where
  // there are fewer; the others become 1. The last of them is not the extent of
  // any run: it is room for so many entries, to which each run adds some.
  std::vector<int64_t> sizes;
};

struct ImportOptions {
  // Extents of inputs by name: all dimensions of each input that is listed. A
  // value of -1 leaves a dimension as the model has it.
  std::map<std::string, std::vector<int64_t>> input_shapes;
  std::vector<StateOption> states;
  // Values of the main graph that become outputs too, after the model's own,
  // for looking at what lies in between. Those that are outputs already, and
  // those that the graph does not compute or that are no tensors, are left out.
  std::vector<std::string> extra_outputs;
  // Operators beside those that the frontend knows, or in their place.
  std::vector<CustomOperator> custom_operators;
  // The file that the bytes come from, for models that keep tensors in other
  // files of its folder. Empty: models with such tensors are refused.
  std::string model_path;
  // Told, a sentence each, what is imported though the result may not be what
  // the model's author meant. May be null.
  std::function<void(absl::string_view)> on_warning;
};

// A value that the main graph of a model computes.
struct ModelValue {
  std::string name;
  // The node that computes it: "Conv conv1", its operator and own name.
  std::string node;
};

// A frontend reads one format. Its functions may be called from several
// threads.
struct Frontend {
  std::string name;    // "onnx"; unique
  std::string suffix;  // that such files usually have, ".onnx"
  // The sign that `accepts` looks for, for the message about bytes that no
  // frontend accepts: "the fields of an onnx.ModelProto".
  std::string looks_for;

  // Whether the bytes look like this format. Cheap, and true for a file that is
  // damaged further on, so that `import` can say what is wrong with it.
  bool (*accepts)(absl::string_view bytes) = nullptr;
  // The model as a module whose function "main" has the model's inputs and
  // outputs. The bytes may be hostile. InvalidArgument says what is wrong and
  // names the node; Unimplemented names what is not supported, which includes
  // options that the format has no use for.
  absl::StatusOr<relay::Module> (*import)(
      const Blob& model, const ImportOptions& options) = nullptr;
  // The values that the nodes of the main graph compute, in the order of the
  // nodes. Errors as of `import`.
  absl::StatusOr<std::vector<ModelValue>> (*list_values)(
      const Blob& model, const ImportOptions& options) = nullptr;
};

// The frontends of one program, in order of registration. A value, filled by
// explicit calls.
class FrontendRegistry {
 public:
  // AlreadyExists for a second one of a name or a suffix, InvalidArgument for
  // one that is not whole.
  absl::Status Register(Frontend frontend);

  // The first frontend that accepts the bytes. InvalidArgument names all that
  // there are and what each looked for.
  absl::StatusOr<const Frontend*> Find(absl::string_view bytes) const;

  // Whether a file of that name is usually a model.
  bool HasSuffix(absl::string_view path) const;

  const std::vector<Frontend>& all() const { return frontends_; }

 private:
  std::vector<Frontend> frontends_;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_FRONTEND_H_

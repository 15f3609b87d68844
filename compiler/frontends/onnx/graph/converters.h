// The table of converters: what imports each ONNX operator. One file a family
// adds its entries.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONVERTERS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONVERTERS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {

// The newest operator set of ONNX's own domain, and the newest version of its
// file format, that are known.
inline constexpr int kNewestOpset = 28;
inline constexpr int kNewestIrVersion = 14;

inline constexpr char kMicrosoftDomain[] = "com.microsoft";
inline constexpr char kMlDomain[] = "ai.onnx.ml";

// Sets the node's outputs. The context knows the operator set's version.
using Converter = std::function<absl::Status(NodeContext&)>;

class ConverterTable {
 public:
  // "" is ONNX's own domain.
  void Add(absl::string_view op, Converter converter,
           absl::string_view domain = "");
  // Says that operator sets from `opset` on give another meaning to an operator
  // of ONNX's own domain, which is not known.
  void ChangesIn(absl::string_view op, int opset);
  // Null where there is none, and where operator set `opset` has another
  // meaning. Sets after kNewestOpset are taken to change no other operators.
  const Converter* Find(absl::string_view domain, absl::string_view op,
                        int opset = 0) const;
  // Domain and operator of every entry, in order.
  std::vector<std::pair<std::string, std::string>> Names() const;

 private:
  std::map<std::pair<std::string, std::string>, Converter> converters_;
  std::map<std::string, int> changes_in_;  // by operator of ONNX's own domain
};

// Every converter there is. Thread-safe to read.
const ConverterTable& AllConverters();

// The functions that add entries, one a file: X(Pad) stands for
// AddPadConverters.
#define INGOT_CONVERTER_FAMILIES(X) \
  X(Elementwise)                    \
  X(Convolution)                    \
  X(Matmul)                         \
  X(Pool)                           \
  X(Unpool)                         \
  X(Normalization)                  \
  X(Reduction)                      \
  X(Shape)                          \
  X(Rearrange)                      \
  X(Pad)                            \
  X(Indexing)                       \
  X(TensorScatter)                  \
  X(Generate)                       \
  X(Resize)                         \
  X(Recurrent)                      \
  X(Quantize)                       \
  X(Sequence)                       \
  X(ControlFlow)                    \
  X(Loss)                           \
  X(Fourier)                        \
  X(Mel)                            \
  X(Sample)                         \
  X(Attention)                      \
  X(FlexAttention)                  \
  X(Rotary)                         \
  X(State)                          \
  X(Microsoft)                      \
  X(MicrosoftAttention)             \
  X(GroupQueryAttention)            \
  X(MicrosoftNormalization)         \
  X(MicrosoftQuantize)              \
  X(Image)                          \
  X(AffineGrid)                     \
  X(CenterCropPad)                  \
  X(Col2Im)                         \
  X(Random)                         \
  X(Text)                           \
  X(Training)                       \
  X(MlFeatures)                     \
  X(LabelEncoder)                   \
  X(TreeEnsemble)

#define INGOT_DECLARE_CONVERTERS(name) \
  void Add##name##Converters(ConverterTable* table);
INGOT_CONVERTER_FAMILIES(INGOT_DECLARE_CONVERTERS)
#undef INGOT_DECLARE_CONVERTERS

// A part of AddSequenceConverters.
void AddSequenceMapConverter(ConverterTable* table);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONVERTERS_H_

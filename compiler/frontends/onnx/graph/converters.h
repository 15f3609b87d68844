// The table of converters: what imports each ONNX operator. Each family's file
// adds its entries.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONVERTERS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONVERTERS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

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

// An operator of ONNX that relay has, too, and its name there.
struct RelayName {
  const char* op;
  int since;
  const char* relay;
};

class ConverterTable {
 public:
  // `since`: the first operator set of `domain` with the operator. "" is ONNX's
  // own domain.
  void Add(absl::string_view op, int since, Converter converter,
           absl::string_view domain = "");
  // Gives an operator of ONNX's own domain, which the table has, another
  // converter.
  void Replace(absl::string_view op, Converter converter);
  // Says that operator sets from `opset` on give another meaning to an operator
  // of ONNX's own domain, which is not known.
  void ChangesIn(absl::string_view op, int opset);
  // Null where there is none, and where operator set `opset` has another
  // meaning. Sets after kNewestOpset are taken to change no other operators.
  const Converter* Find(absl::string_view domain, absl::string_view op,
                        int opset = 0) const;
  // The first operator set with it of every entry, by domain and operator.
  std::map<std::pair<std::string, std::string>, int> Since() const;

 private:
  struct Entry {
    int since = 0;
    Converter converter;
  };
  std::map<std::pair<std::string, std::string>, Entry> entries_;
  std::map<std::string, int> changes_in_;  // by operator of ONNX's own domain
};

// Every converter there is. Thread-safe to read.
const ConverterTable& AllConverters();

// The functions that add entries, one for each of this folder's rooms.
void AddControlRoom(ConverterTable* table);
void AddImageRoom(ConverterTable* table);
void AddLayersRoom(ConverterTable* table);
void AddMathRoom(ConverterTable* table);
void AddMlRoom(ConverterTable* table);
void AddShapeRoom(ConverterTable* table);
void AddTextRoom(ConverterTable* table);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_CONVERTERS_H_

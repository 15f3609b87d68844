#include "tests/frontends/rpn/frontend.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "compiler/relay/import/builder.h"
#include "compiler/relay/import/call_builder.h"
#include "compiler/relay/op.h"

namespace ingot::rpn {
namespace {

using relay::Shape;
using relay::Value;

class Reader {
 public:
  absl::StatusOr<relay::Module> Read(absl::string_view text) {
    const std::vector<std::string> words =
        absl::StrSplit(text, absl::ByAnyChar(" \n\t"), absl::SkipEmpty());
    for (size_t i = 1; i < words.size(); ++i) {
      const absl::Status status = ReadWord(words[i]);
      if (status.ok()) continue;
      return absl::Status(
          status.code(),
          absl::StrCat("word ", i, " '", words[i], "': ", status.message()));
    }
    if (stack_.size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(stack_.size(), " values are left, not 1"));
    }
    builder_.function()->outputs = stack_;
    builder_.function()->output_names = {"result"};
    builder_.function()->RemoveDead();
    return std::move(builder_.module());
  }

 private:
  absl::Status ReadWord(const std::string& word) {
    double number;
    if (absl::StrContains(word, ":")) return ReadInput(word);
    if (absl::SimpleAtod(word, &number)) return ReadNumber(number);
    relay::CallBuilder calls(&builder_, word);
    if (word == "shape") {
      INGOT_ASSIGN_OR_RETURN(const Value x, Pop());
      // The elements are formulas; the builder follows them from here on.
      return Push(builder_.DimsTensor(relay::ShapeOf(x), "shape"));
    }
    if (word == "reshape") {
      INGOT_ASSIGN_OR_RETURN(const Value target, Pop());
      INGOT_ASSIGN_OR_RETURN(const Value x, Pop());
      // Dimensions that are not known become symbols, which a run binds.
      INGOT_ASSIGN_OR_RETURN(const Shape shape,
                             builder_.BindDims(target, "shape"));
      return Push(calls.Reshape(x, shape, ""));
    }
    const relay::OpDef* op = relay::StandardOps().Find(word);
    if (op == nullptr || op->min_inputs < 1 || op->min_inputs > 2) {
      return absl::UnimplementedError("there is no such operator");
    }
    std::vector<Value> operands(op->min_inputs);
    for (int i = op->min_inputs; i-- > 0;) {
      INGOT_ASSIGN_OR_RETURN(operands[i], Pop());
    }
    return Push(calls.Emit(word, std::move(operands)));
  }

  // name:f32[n,3]
  absl::Status ReadInput(const std::string& word) {
    const std::vector<std::string> parts =
        absl::StrSplit(word, absl::ByAnyChar(":[]"), absl::SkipEmpty());
    if (parts.size() != 3 || (parts[1] != "f32" && parts[1] != "i64")) {
      return absl::InvalidArgumentError("not an input such as x:f32[n,3]");
    }
    relay::TensorType type;
    type.dtype = parts[1] == "f32" ? DataType::Float(32) : DataType::Int(64);
    for (const absl::string_view dim :
         absl::StrSplit(parts[2], ',', absl::SkipEmpty())) {
      int64_t extent;
      if (!absl::SimpleAtoi(dim, &extent)) {
        type.shape.push_back(builder_.module().Symbol(dim));
      } else if (extent < 0) {
        return absl::InvalidArgumentError("a negative dimension");
      } else {
        type.shape.push_back(tir::MakeInt(extent));
      }
    }
    return Push(Value{builder_.function()->AddInput(parts[0], type)});
  }

  absl::Status ReadNumber(double number) {
    const DataType dtype =
        stack_.empty() ? DataType::Float(32) : stack_.back().type().dtype;
    return Push(relay::CallBuilder(&builder_, "number").Scalar(dtype, number));
  }

  absl::Status Push(absl::StatusOr<Value> value) {
    if (value.ok()) stack_.push_back(*value);
    return value.status();
  }

  absl::StatusOr<Value> Pop() {
    if (stack_.empty()) return absl::InvalidArgumentError("no value is left");
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }

  relay::ModuleBuilder builder_;
  std::vector<Value> stack_;
};

bool IsRpn(absl::string_view bytes) { return absl::StartsWith(bytes, "rpn\n"); }

absl::StatusOr<relay::Module> Import(const Blob& model,
                                     const ImportOptions& options) {
  if (!options.input_shapes.empty() || !options.extra_outputs.empty()) {
    return absl::UnimplementedError("a formula has no such options");
  }
  return Reader().Read(model.view());
}

absl::StatusOr<std::vector<ModelValue>> ListValues(const Blob& model,
                                                   const ImportOptions&) {
  INGOT_RETURN_IF_ERROR(Reader().Read(model.view()).status());
  return std::vector<ModelValue>();  // none that could be an output, too
}

}  // namespace

absl::Status RegisterRpnFrontend(FrontendRegistry* registry) {
  Frontend frontend;
  frontend.name = "rpn";
  frontend.suffix = ".rpn";
  frontend.looks_for = "a first line that says rpn";
  frontend.accepts = &IsRpn;
  frontend.import = &Import;
  frontend.list_values = &ListValues;
  return registry->Register(std::move(frontend));
}

}  // namespace ingot::rpn

// Builds a relay module out of another format: what every frontend needs beyond
// Function::AddOp. README.md shows how a frontend uses it.
#ifndef INGOT_COMPILER_RELAY_IMPORT_BUILDER_H_
#define INGOT_COMPILER_RELAY_IMPORT_BUILDER_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/interpreter/known_values.h"
#include "compiler/relay/ir.h"
#include "compiler/tir/ir.h"

namespace ingot::relay {

// A function that is being built. Those of branches and loops are built inside
// of the function that has the branch.
struct OpenFunction {
  Function* function = nullptr;
  OpenFunction* outer = nullptr;  // null: none
  // Values of the outer function that this one takes as its last inputs, and
  // the inputs that they are inside.
  std::vector<Value> captured;
  std::map<Value, Value> inside;
  // For each symbol that a run binds, a value of the function that has it as a
  // dimension: its source.
  std::map<const tir::Var*, Value> dim_sources;
  std::map<Value, Shape> bound;  // results of BindDims
  KnownValues known;
};

// A finished function of a branch or a loop.
struct Body {
  std::string name;
  Function* function = nullptr;
  std::vector<Value> captured;  // its last inputs, as values of the function
                                // around it
};

// Whether only a run tells the symbol's value.
bool IsRunTime(const tir::Var& var);

// Builds the functions of one module. Errors of its methods are Unimplemented
// for what relay cannot express and those of Function::AddOp; the caller adds
// the name of the model's node. Not thread-safe.
class ModuleBuilder {
 public:
  // A module with a function "main" without inputs, which is the current one.
  ModuleBuilder();

  Module& module() { return module_; }
  OpenFunction* current() { return current_; }
  Function* function() { return current_->function; }

  // Makes another function the current one as long as this lives.
  class Enter {
   public:
    Enter(ModuleBuilder* builder, OpenFunction* function)
        : builder_(builder), saved_(builder->current_) {
      builder_->current_ = function;
    }
    ~Enter() { builder_->current_ = saved_; }
    Enter(const Enter&) = delete;
    Enter& operator=(const Enter&) = delete;

   private:
    ModuleBuilder* builder_;
    OpenFunction* saved_;
  };

  // ------------------------------------------------------------ known elements
  // The elements of a value of the current function; null where a run computes
  // one of them.
  const Known* KnownOf(Value value) { return current_->known.Of(value); }
  // A tensor of known elements: a constant, or the operator `dims`.
  absl::StatusOr<Value> Materialize(const Known& known, absl::string_view name);
  // Dimensions as an i64 vector.
  absl::StatusOr<Value> DimsTensor(const Shape& dims, absl::string_view name);

  // --------------------------------------------------------- dimension sources
  // A node whose attributes mention symbols needs operands that have these as
  // dimensions. Values of the current function that have all symbols of `dims`.
  absl::StatusOr<std::vector<Value>> DimSources(const Shape& dims);
  // Appends to `inputs` the sources of run-time symbols that the attributes
  // mention and no input has.
  absl::Status AddRunTimeDimSources(const Attrs& attrs,
                                    std::vector<Value>* inputs);
  // The elements of a short vector of integers as dimensions, with a new symbol
  // for each that is not known. A run fails where one is negative.
  absl::StatusOr<Shape> BindDims(Value value, absl::string_view name);
  // From here on the results of a branch or a loop are sources of the run-time
  // symbols that stand alone in their types.
  void DeclareSymbols(Node* node);
  // Whether the symbols of a dimension have values in the current function.
  bool IsKnownHere(const tir::Expr& dim);

  // ---------------------------------------------------------- branches, loops
  // Builds a function with a name like `stem`; `fill` makes its inputs, nodes
  // and outputs while it is the current one. After an error it is gone.
  absl::StatusOr<Body> BuildBody(absl::string_view stem,
                                 const std::function<absl::Status()>& fill);
  // A value of the function around `function` as an input of `function`; a
  // constant as a constant.
  absl::StatusOr<Value> Capture(OpenFunction* function, Value outer);
  // Called with each value that is captured and what it is inside. May be null.
  std::function<void(const Value& outer, const Value& inside)> on_capture;

 private:
  absl::StatusOr<Value> DimSource(OpenFunction* function, const tir::Var* var);

  Module module_;
  OpenFunction main_;
  OpenFunction* current_ = &main_;
};

// The shape of a value, and its rank.
inline const Shape& ShapeOf(const Value& v) { return v.type().shape; }
inline int RankOf(const Value& v) {
  return static_cast<int>(v.type().shape.size());
}

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_IMPORT_BUILDER_H_

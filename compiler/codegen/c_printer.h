// Loops as C text: what code generators that print a language like C share.
#ifndef INGOT_COMPILER_CODEGEN_C_PRINTER_H_
#define INGOT_COMPILER_CODEGEN_C_PRINTER_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/codegen/access.h"
#include "compiler/codegen/load_blocks.h"
#include "compiler/codegen/quantization.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// Prints statements and expressions, each as people would write it: nested
// loops, one subscript per access, no more parentheses than C needs. Derived
// classes say how a parallel loop looks and add what surrounds the loops.
//
// An operation without an operator in C becomes a call of a small function,
// `ingot_…`; helpers() says which were used, and the derived class defines
// them.
// Values of the 16-bit float types are C floats that hold what the type can;
// in memory they are uint16_t. Vector statements become loops over the lanes,
// or are printed with vector types that GCC and Clang have (UseVectorTypes):
// small arrays that hold nothing but vectors are then variables, which stay in
// registers.
//
// A call of other code that fails, and an assert that does not hold, end the
// function with fail(kind, message), which the derived class's text has.
//
// The text relies on signed arithmetic that wraps (-fwrapv).
class CPrinter {
 public:
  // C's precedence of what an expression prints as: higher binds tighter.
  enum Precedence {
    kAnything,
    kConditional,
    kOr,
    kAnd,
    kBitOr,
    kBitXor,
    kBitAnd,
    kEquality,
    kRelational,
    kShift,
    kAdditive,
    kMultiplicative,
    kUnary,
    kPrimary,
  };

  virtual ~CPrinter() = default;

  const absl::Status& status() const { return status_; }
  // Names of helpers, see HelperSource.
  const std::set<std::string>& helpers() const { return helpers_; }
  // Declarations of the functions of other code that were called, a line each;
  // not of those in `defined`, which the text has.
  std::string Prototypes(const std::set<std::string>& defined) const;

 protected:
  // How a value of the type is declared, and an element in memory.
  static std::string ValueType(DataType t);
  static std::string MemoryType(DataType t);
  // A string of any text, names of a model among it.
  static std::string Quoted(absl::string_view text);

  // A C identifier made from `name`, which no other has since Reset.
  std::string Declare(absl::string_view name);
  std::string DeclareVar(const tir::Var* var);
  std::string DeclareBuffer(const tir::BufferNode* buffer);
  const std::string& NameOf(const tir::Var* var);
  const std::string& NameOf(const tir::BufferNode* buffer);
  // Says that the buffer and its parts are only read.
  void MarkReadOnly(const tir::BufferNode* buffer) {
    read_only_.insert(buffer);
  }
  bool IsReadOnly(const tir::BufferNode* buffer) const {
    return read_only_.count(buffer) != 0;
  }
  // Forgets all names and makes `reserved` the first ones taken. Forgets what
  // is only read, too.
  void ResetNames(const std::set<std::string>& reserved);

  // An expression, in parentheses if it binds less tightly than `precedence`.
  std::string Print(const tir::Expr& e, int precedence = kAnything);
  // Appends to text_.
  void Print(const tir::Stmt& s);
  // Prints `for (var = min + begin; …)`: the iterations [begin, end) of a loop.
  void PrintLoop(const tir::For& loop, const std::string& begin,
                 const std::string& end);
  // Prints the body of the iteration of a loop that is number `index` of them.
  void PrintIteration(const tir::For& loop, const std::string& index);
  // For compilers with __attribute__((vector_size)) and convertvector, and a
  // processor whose vectors are so wide.
  void UseVectorTypes(int vector_bits) {
    uses_vectors_ = true;
    vector_bits_ = vector_bits;
  }
  // Multiply-adds of f32 round once, and what the C library has of f32 is ours
  // (c_math.h): the same bits from every compiler.
  void RoundOnce() { rounds_once_ = true; }
  // Appends one line, indented.
  void Line(absl::string_view text);
  void Indent() { ++indent_; }
  void Outdent() { --indent_; }
  // Sets the depth of indentation and returns what it was.
  int TakeIndent(int indent) {
    std::swap(indent, indent_);
    return indent;
  }
  void Fail(absl::string_view what);
  // Marks a helper as used and returns its name.
  std::string Helper(const std::string& name);

  // By default a parallel loop is a serial one, and so is a block loop.
  virtual void PrintParallel(const tir::For& loop);
  // And so is a thread loop.
  virtual void PrintThreads(const tir::For& loop);
  virtual void PrintPrefetch(const tir::Prefetch& s);
  // The words before an array of that scope, for the type of its elements.
  virtual absl::string_view ArrayPrefix(tir::Scope) const { return ""; }

  std::string text_;

 private:
  std::string PrintUnwrapped(const tir::Expr& e, int* precedence);
  std::string PrintInt(DataType t, int64_t value);
  std::string PrintFloat(DataType t, double value);
  std::string PrintUnary(const tir::Unary& e, int* precedence);
  // Whether the function of that type is one of c_math.h.
  bool IsOurs(tir::Intrinsic f, DataType t) const;
  std::string PrintBinary(const tir::Binary& e, int* precedence);
  std::string PrintDivision(const tir::Binary& e, int* precedence);
  std::string PrintCast(const tir::Cast& e, int* precedence);
  std::string PrintCall(const tir::Call& e, int* precedence);
  std::string PrintLoad(const tir::Load& e, int* precedence);
  std::string Subscript(const tir::BufferNode& buffer,
                        const std::vector<tir::Expr>& indices);
  // Vectors (c_printer_vectors.cc). Whether there is such a type.
  bool HasVectorType(DataType t) const;
  // Its name, "f32x8", and that of a helper for it, which are used from now on.
  std::string VectorType(DataType t);
  std::string VectorHelper(absl::string_view op, DataType t);
  // Whether an expression of several lanes can be printed as one value.
  bool IsVector(const tir::Expr& e);
  bool ComputeIsVector(const tir::Expr& e);
  std::string PrintVector(const tir::Expr& e, int precedence);
  std::string PrintVectorUnwrapped(const tir::Expr& e, int* precedence);
  std::string PrintVectorLoad(const tir::Load& load);
  // A quantisation of floats, or what is made of one; empty for others.
  std::string PrintQuantized(const tir::Cast& e);
  std::string PrintConverted(const std::string& text, DataType from,
                             DataType to);
  std::string PrintVectorBinary(const tir::Binary& e, int* precedence);
  std::string PrintVectorCall(const tir::Call& e, int* precedence);
  std::string PrintMask(const tir::Expr& e, DataType t);
  std::string PrintRamp(const tir::Ramp& e, int* precedence);
  std::string Splat(DataType t, const tir::Expr& scalar);
  // False, and nothing printed, where it must be a loop over lanes.
  bool PrintVectorStore(const tir::Store& s);
  bool IsVectorStore(const tir::Store& s);
  // Whether the second store is to the elements between those of the first, so
  // that both are one of vectors.
  bool TakeTurns(const tir::Store& first, const tir::Store& second);
  void PrintTurns(const tir::Store& first, const tir::Store& second);
  // The stores, those of vectors that the processor does not have as several
  // of some that it has.
  std::vector<tir::Stmt> SlicesOf(absl::Span<const tir::Store* const> stores);
  std::vector<tir::Stmt> SlicesOf(const tir::Store& s);
  // The loads of these stores that are a transposition together
  // (c_printer_blocks.cc) and that are in variables from where PrintLoadBlock
  // was called on. `guard` and `rows` are the last one's condition, and the
  // variable that has its bits.
  std::multimap<size_t, LoadBlock> BlocksOf(
      absl::Span<const tir::Store* const> stores);
  void PrintLoadBlock(const LoadBlock& block, tir::Expr* guard,
                      std::string* rows);
  // The load that a select guards, where its block has 0 for what is not
  // loaded; else null.
  const tir::Load* LoadedUnder(const tir::Select& select) const;
  bool PrintVectorLet(const tir::LetStmt& s);
  // The lanes of the vectors that an array of so many elements consists of, if
  // it can be variables; else 0.
  int RegistersOf(const tir::Allocate& s, int64_t elements) const;
  // Names so many variables for it: <the buffer's name>_0 and so on.
  std::vector<std::string> DeclareRegisters(const tir::BufferNode* buffer,
                                            int64_t count);
  // The variable that an access to such an array is to.
  std::string RegisterAt(const tir::BufferNode& buffer, const Access& access);
  // The text of an operator that C has, too.
  static const char* OperatorText(tir::BinaryOp op);
  // A computed value of type `t` back in the range of the type, where C
  // computed in a wider one.
  std::string Narrow(DataType t, std::string text, int* precedence);
  // Declares names for parts of `e` that occur in it more than once.
  void NameShared(const tir::Expr& e);
  // Prints stores that follow one another, after names for what offsets of
  // several of their accesses have in common.
  void PrintStores(absl::Span<const tir::Store* const> stores);
  void PrintEach(absl::Span<const tir::Store* const> stores);
  // An offset in memory, of those of an access.
  std::string PrintOffset(const tir::Expr& offset);
  void PrintFor(const tir::For& loop);
  void PrintSeq(const tir::Seq& seq);
  void PrintStore(const tir::Store& s);
  void PrintLet(const tir::LetStmt& s);
  void PrintIf(const tir::IfThenElse& s);
  void PrintAllocate(const tir::Allocate& s);
  void PrintPart(const tir::Part& s);
  void PrintAssert(const tir::Assert& s);
  void PrintCallExtern(const tir::CallExtern& s);
  // Runs `body` in a loop over the lanes, if there is more than one.
  void ForLanes(int lanes, const std::function<void()>& body);

  std::map<const tir::Var*, std::string> var_names_;
  std::map<const tir::BufferNode*, std::string> buffer_names_;
  std::set<const tir::BufferNode*> read_only_;
  std::map<const tir::ExprNode*, std::string> shared_;  // in one statement
  struct NamedOffset {
    tir::Affine offset;
    std::string name;
    bool is_used;
  };
  std::vector<NamedOffset> offsets_;
  std::set<std::string> taken_;
  std::set<std::string> helpers_;
  std::map<std::string, std::string> prototypes_;  // by the function's name
  tir::Bounds bounds_;
  std::string lane_;  // the lane's index inside of a vector statement
  bool uses_vectors_ = false;
  int vector_bits_ = 0;
  bool rounds_once_ = false;
  std::set<const tir::Var*> vector_vars_;       // of vector types
  std::set<const tir::BufferNode*> registers_;  // that are variables
  struct Loaded {
    std::string name;
    tir::Expr guard;
  };
  std::map<const tir::Load*, Loaded> loaded_;  // of blocks, in some stores
  QuantizationFinder quantizations_;
  std::map<const tir::ExprNode*, bool> vectors_;  // IsVector, in one statement
  int indent_ = 0;
  absl::Status status_;
};

struct HelperOptions {
  // The printer was told to RoundOnce.
  bool fused = false;
  // How wide the processor's vectors are. Functions of wider ones work on
  // parts.
  int vector_bits = 512;
};

// C definitions of the helpers, and of those that these use in turn: static
// inline functions, which need math.h, stdint.h and string.h.
std::string HelperSource(const std::set<std::string>& helpers,
                         const HelperOptions& options);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_C_PRINTER_H_

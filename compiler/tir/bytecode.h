#ifndef INGOT_COMPILER_TIR_BYTECODE_H_
#define INGOT_COMPILER_TIR_BYTECODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/tir/element_uses.h"
#include "compiler/tir/ir.h"
#include "runtime/data_type.h"

// The interpreter runs instructions on numbered registers. A value takes one
// register per lane, side by side: integers and bools as int64_t, wrapped to
// their type, and floats as a double that their type can represent.
namespace ingot::tir {

union Register {
  int64_t i;
  double f;
};

struct Machine;
struct Instruction;

// Does what it does and returns the next instruction, null at the end.
using Operation = const Instruction* (*)(const Instruction*, Machine*);

struct Instruction {
  Operation run;
  int32_t dst = 0, a = 0, b = 0, c = 0;  // registers, or as the operation says
  uint16_t lanes = 1;
  uint8_t op = 0;  // a BinaryOp, UnaryOp or Intrinsic
  DataType type;   // of the operands
  DataType to;     // of a cast's result
};

// One load or store in the code.
struct Access {
  int buffer = 0;
  std::vector<int32_t> indices;  // registers
  int vector_dim = -1;           // which index has lanes
  int32_t mask = -1;             // one register per lane: 0 skips the access
};

// A buffer while the code runs.
struct BufferState {
  const BufferNode* node = nullptr;
  char* data = nullptr;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;    // in elements
  std::unique_ptr<char[]> memory;  // where it is our own
  size_t capacity = 0;             // of memory
  bool tracked = false;
  std::vector<ElementUses> uses;  // of each element, where it is tracked
};

struct Machine {
  std::vector<Register> registers;
  std::vector<BufferState> buffers;
  const std::vector<Access>* accesses = nullptr;
  const std::vector<const std::string*>* messages = nullptr;
  int64_t iterations_left = INT64_MAX;
  RunPlace place;
  absl::Status status;

  Register* At(int32_t r) { return registers.data() + r; }
};

// A function made ready to run.
struct Program {
  std::vector<Instruction> code;
  std::vector<Access> accesses;
  std::vector<const std::string*> messages;  // of asserts
  std::vector<const BufferNode*> buffers;    // the parameters first
  std::vector<Register> registers;           // constants are set
  struct Dim {
    const Var* var;
    int32_t reg;
  };
  std::vector<Dim> dims;  // symbolic dimensions
  // There are blocks, whose threads must not disturb one another.
  bool has_blocks = false;
};

// `func` must be verified and outlive the program.
Program CompileToBytecode(const PrimFunc& func);

// Gives a buffer its shape and, where `data` is null, memory of its own with
// all bits set. ResourceExhausted when there is too little.
absl::Status SetUpBuffer(std::vector<int64_t> dims, char* data,
                         BufferState* buffer);

// Operations that the compiler picks from. Jumps count from the instruction
// itself, in c.
Operation BinaryOperation(BinaryOp op, DataType type);  // c: mask or -1
Operation UnaryOperation(UnaryOp op, DataType type);
Operation CastOperation(DataType to, DataType from);
Operation CallOperation(Intrinsic intrinsic, DataType type);
Operation SelectOperation();           // a ? b : c
Operation LoadOperation(DataType t);   // a: the access
Operation StoreOperation(DataType t);  // a: the access, b: the value
Operation MoveOperation();             // all lanes of a
Operation BroadcastOperation();
Operation RampOperation();
Operation AnyLaneOperation();  // lanes: of a; dst is a scalar
Operation JumpOperation();
Operation JumpIfZeroOperation();  // a
Operation LoopBeginOperation();   // dst: variable and count, a: min, b: extent
Operation LoopNextOperation();    // dst: variable and count
Operation IterationOperation();   // counts one iteration of a while
Operation AllocateOperation();    // a: buffer, b: first dimension's register
Operation AssertOperation();      // a: the condition, b: the message
Operation EndOperation();

// Steps of loops whose iterations run beside one another: an instruction's op.
// a: the loop's variable.
enum class PlaceStep : uint8_t {
  kKernelBegin,
  kBlock,
  kKernelEnd,
  kThreadsBegin,
  kThread,
  kThreadsEnd,
};
Operation PlaceOperation();

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_BYTECODE_H_

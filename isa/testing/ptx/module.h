// Kernels in PTX, decoded for the machine that runs them in tests (machine.h).
#ifndef INGOT_ISA_TESTING_PTX_MODULE_H_
#define INGOT_ISA_TESTING_PTX_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isa/testing/ptx/forms.h"

namespace ingot::isa::ptx {

// Codes are those of CUDA's driver; 0 is none. The text says which line of
// which kernel failed, and why.
struct Failure {
  int code = 0;
  std::string text;
};

inline constexpr int kInvalidValue = 1;
inline constexpr int kInvalidPtx = 218;
inline constexpr int kIllegalAddress = 700;
inline constexpr int kIllegalInstruction = 715;
inline constexpr int kMisaligned = 716;

// A register holds 32 lanes one after the other, and begins at this byte of a
// warp's registers. A predicate is a word of 32 bits. Constants are registers
// that nobody writes.
struct Instruction {
  Form form;
  // Operands are in their order, without braces.
  uint32_t at[16] = {};
  uint8_t width[16] = {};      // bytes of a lane; 0: a predicate
  std::vector<uint32_t> more;  // the registers of Form::more
  // An address adds this to its register. The first operands may be some.
  int32_t offset[8] = {};
  int64_t guard = -1;  // a predicate; -1: none
  bool is_guard_negated = false;
  uint32_t target = 0;  // of a branch: an index into the kernel's code
  int line = 0;
  std::string text;
};

struct Parameter {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

// Bytes of shared memory between two arrays.
struct Gap {
  uint32_t begin = 0, end = 0;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  // A thread that goes beyond the last instruction has ended.
  std::vector<Instruction> code;
  // A warp's registers begin as these.
  std::vector<uint8_t> registers;
  // "%tid.x" -> its register of 32 bits.
  std::map<std::string, uint32_t> specials;
  uint32_t shared_bytes = 0;  // of arrays, with gaps that show who leaves one
  std::vector<Gap> shared_gaps;
  // Uses memory that the launch gives each block, after those.
  bool uses_launch_memory = false;
  uint32_t local_bytes = 0;
  uint32_t max_threads = 1024;
};

// An array of a module, in this process's memory, aligned to 256 bytes.
struct Array {
  std::vector<uint8_t> storage;
  uint8_t* begin = nullptr;
  size_t bytes = 0;
};

struct Module {
  std::map<std::string, Kernel> kernels;
  std::map<std::string, Array> arrays;  // .global and .const
};

// Null where the text is no PTX that the machine knows: `failure` then names
// the line.
std::unique_ptr<Module> Parse(const std::string& text, Failure* failure);

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_MODULE_H_

// The instructions that the machine knows.
#ifndef INGOT_ISA_TESTING_PTX_FORMS_H_
#define INGOT_ISA_TESTING_PTX_FORMS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::isa::ptx {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = ~uint32_t{0};

struct Warp;
struct Instruction;

// Does an instruction for the active lanes of a warp; false: it failed, and
// the machine has the reason.
using Handler = bool (*)(Warp&, const Instruction&);

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kParameter };

// Says how threads go on after an instruction. kTogether: all threads of the
// warp do it at once. kBarrier: all those of the block wait for each other.
// kTry: those for which it was in vain let others go on first.
enum class Control : uint8_t {
  kNext,
  kBranch,
  kEnd,
  kTogether,
  kBarrier,
  kTry
};

// Everything that instructions with one opcode have in common.
struct Form {
  // A letter for each operand, where vectors are their elements: a predicate,
  // a (h)alf, a (w)ord or a (d)ouble word, a register of (x) any width, a
  // memory address or a label. Constants may stand for all but the latter two.
  std::string operands;
  Handler run = nullptr;
  Control control = Control::kNext;
  // Accesses to memory have these.
  Space space = Space::kGeneric;
  uint8_t size = 0;  // bytes of an element
  uint8_t count = 1;
  uint8_t more = 0;  // words in a vector that comes before the operands
  bool is_signed = false;
  bool is_constant = false;  // not written during the launch
  // Conversions have these, which convert.cc knows.
  uint8_t from = 0, to = 0, rounding = 0;
  bool saturates = false;
};

using Forms = std::map<std::string, Form>;

// Nothing where the machine does not know the opcode, such as "add.s32".
std::optional<Form> FindForm(const std::string& opcode);

// The least that an instruction needs: sm_80 is 80, version 7.8 of PTX 78.
struct Capability {
  int gpu = 0, version = 0;
  // No other GPU has it: sm_90a.
  bool is_of_one = false;
};

// Says what of it a module for a target ("sm_80") of some version of PTX
// ("7.8") has not; empty: nothing.
std::string LackOf(std::string_view opcode, std::string_view version,
                   std::string_view target);

// The parts of the table. Each adds its own.
void AddIntegers(Forms* forms);
void AddFloats(Forms* forms);
void AddMoves(Forms* forms);
void AddAccesses(Forms* forms);
void AddCopies(Forms* forms);
void AddBulkCopies(Forms* forms);
void AddMbarriers(Forms* forms);
void AddMatrices(Forms* forms);
void AddWarpGroups(Forms* forms);
void AddTogether(Forms* forms);

// The form of an opcode "cvt.": there are too many for a table.
std::optional<Form> ConversionForm(const std::string& opcode);

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_FORMS_H_

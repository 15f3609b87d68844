#include "isa/testing/ptx/body.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/module.h"
#include "isa/testing/ptx/text.h"

namespace ingot::isa::ptx {
namespace {

// GPUs give no more to kernels that do not ask for it when they are launched.
constexpr uint32_t kMostShared = 48 * 1024;

// Bytes of shared memory between arrays, at least.
constexpr uint32_t kGap = 64;

struct Register {
  uint32_t at = 0;
  uint8_t width = 0;  // bytes of a lane; 0: a predicate
};

uint32_t RoundedUp(uint32_t bytes, uint32_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

uint8_t WidthOf(char letter) {
  switch (letter) {
    case 'p':
      return 0;
    case 'h':
      return 2;
    case 'w':
      return 4;
    default:
      return 8;
  }
}

class BodyReader {
 public:
  BodyReader(std::string_view text, int line, const Outside& outside,
             Kernel* kernel, Failure* failure)
      : text_(text),
        line_(line),
        outside_(outside),
        kernel_(*kernel),
        failure_(*failure) {}

  bool Read() {
    scopes_.emplace_back();
    while (SkipSpace()) {
      if (!ReadStatement()) return false;
    }
    kernel_.uses_launch_memory = launch_memory_.has_value();
    if (kernel_.uses_launch_memory && *launch_memory_ != kernel_.shared_bytes) {
      return Fail("it has arrays beside the launch's memory");
    }
    if (arrays_bytes_ > kMostShared) {
      return Fail("its arrays have " + std::to_string(arrays_bytes_) +
                  " bytes of shared memory");
    }
    return SetTargets();
  }

 private:
  bool Fail(const std::string& why) {
    failure_.code = kInvalidPtx;
    failure_.text = kernel_.name + ", line " + std::to_string(line_) + ": " +
                    std::string(statement_) + ": " + why;
    return false;
  }

  bool SkipSpace() {
    while (at_ < text_.size() && std::isspace(text_[at_]) != 0) Advance();
    return at_ < text_.size();
  }
  void Advance() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  // Takes a brace, a label, or all up to a semicolon.
  bool ReadStatement() {
    statement_ = text_.substr(at_, 1);
    if (text_[at_] == '{') {
      scopes_.emplace_back();
      Advance();
      return true;
    }
    if (text_[at_] == '}') {
      if (scopes_.size() == 1) return Fail("there is no brace to close");
      scopes_.pop_back();
      Advance();
      return true;
    }
    const size_t end = text_.find(';', at_);
    const size_t colon = text_.find(':', at_);
    if (colon < end && IsLabel(text_.substr(at_, colon - at_))) {
      labels_[std::string(Trim(text_.substr(at_, colon - at_)))] =
          static_cast<uint32_t>(kernel_.code.size());
      while (at_ <= colon) Advance();
      return true;
    }
    if (end == text_.npos) return Fail("it has no end");
    statement_ = Trim(text_.substr(at_, end - at_));
    if (!ReadUpToSemicolon(statement_)) return false;
    while (at_ <= end) Advance();
    return true;
  }

  static bool IsLabel(std::string_view text) {
    return !text.empty() && text[0] != '.' &&
           text.find_first_of(" \t\n.,@[") == text.npos;
  }

  bool ReadUpToSemicolon(std::string_view text) {
    if (text.empty()) return true;
    if (text[0] != '.') return ReadInstruction(text);
    const std::string_view directive = TakeWord(&text);
    if (directive == ".pragma" || directive == ".loc") return true;
    if (directive == ".reg") return DeclareRegisters(text);
    const auto variable = VariableOf(text);
    if (!variable.has_value()) return Fail("it declares nothing known");
    if (directive == ".shared") {
      symbols_[variable->name] = PlaceShared(*variable);
      return true;
    }
    if (directive == ".local") {
      symbols_[variable->name] = Place(*variable, &kernel_.local_bytes);
      return true;
    }
    return Fail("the machine does not know it");
  }

  static uint64_t Place(const Variable& variable, uint32_t* bytes) {
    const uint32_t at = RoundedUp(*bytes, variable.alignment);
    *bytes = at + variable.bytes;
    return at;
  }

  // Leaves a gap before the array: who goes beyond another one does not hit it.
  uint64_t PlaceShared(const Variable& variable) {
    const uint32_t end = kernel_.shared_bytes;
    arrays_bytes_ =
        RoundedUp(arrays_bytes_, variable.alignment) + variable.bytes;
    if (end == 0 || variable.bytes == 0) {
      return Place(variable, &kernel_.shared_bytes);
    }
    kernel_.shared_bytes += kGap;
    const uint64_t place = Place(variable, &kernel_.shared_bytes);
    kernel_.shared_gaps.push_back({end, static_cast<uint32_t>(place)});
    return place;
  }

  // ".b32 %r<5>", ".pred p, q".
  bool DeclareRegisters(std::string_view text) {
    const std::string type(TakeWord(&text));
    const uint32_t bytes = BytesOfType(type);
    if (bytes == 0 && type != ".pred") return Fail("no such type");
    // There are no registers of 8 bits: they have 16.
    const auto width = static_cast<uint8_t>(bytes == 1 ? 2 : bytes);
    for (const std::string_view name : Split(text, ',')) {
      const size_t angle = name.find('<');
      if (angle == name.npos) {
        scopes_.back()[std::string(name)] = NewRegister(width);
        continue;
      }
      const auto count =
          ConstantOf(name.substr(angle + 1, name.size() - angle - 2));
      if (!count.has_value()) return Fail("no such count");
      for (uint64_t k = 0; k < *count; ++k) {
        scopes_.back()[std::string(name.substr(0, angle)) + std::to_string(k)] =
            NewRegister(width);
      }
    }
    return true;
  }

  Register NewRegister(uint8_t width) {
    const auto at = static_cast<uint32_t>(kernel_.registers.size());
    const uint32_t bytes = width == 0 ? 4 : width * kLanes;
    kernel_.registers.resize(at + RoundedUp(bytes, 64), 0xff);
    return {at, width};
  }

  std::optional<Register> FindRegister(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found != scope->end()) return found->second;
    }
    return std::nullopt;
  }

  // A register that has the value in all lanes, made once.
  Register Constant(uint64_t bits, uint8_t width) {
    const auto key = std::make_pair(bits, width);
    const auto found = constants_.find(key);
    if (found != constants_.end()) return found->second;
    const Register made = NewRegister(width);
    uint8_t* const to = kernel_.registers.data() + made.at;
    if (width == 0) {
      const uint32_t lanes = bits != 0 ? kAllLanes : 0;
      std::memcpy(to, &lanes, sizeof lanes);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      std::memcpy(to + width * lane, &bits, width);
    }
    constants_[key] = made;
    return made;
  }

  // An array's address in its space, or a parameter's.
  std::optional<uint64_t> SymbolOf(const std::string& name) {
    const auto found = symbols_.find(name);
    if (found != symbols_.end()) return found->second;
    const auto shared = outside_.shared.find(name);
    if (shared != outside_.shared.end()) {
      const uint64_t place = PlaceShared(shared->second);
      if (shared->second.bytes == 0) launch_memory_ = place;
      return symbols_[name] = place;
    }
    const auto array = outside_.arrays.find(name);
    if (array != outside_.arrays.end()) {
      return reinterpret_cast<uintptr_t>(array->second.begin);
    }
    for (const Parameter& parameter : kernel_.parameters) {
      if (parameter.name == name) return parameter.offset;
    }
    return std::nullopt;
  }

  std::optional<Register> SpecialOf(const std::string& name) {
    static const char* const kNames[] = {
        "%tid.x",    "%tid.y",    "%tid.z",  "%ctaid.x", "%ctaid.y",
        "%ctaid.z",  "%ntid.x",   "%ntid.y", "%ntid.z",  "%nctaid.x",
        "%nctaid.y", "%nctaid.z", "%laneid", "%warpid"};
    if (std::find(std::begin(kNames), std::end(kNames), name) ==
        std::end(kNames)) {
      return std::nullopt;
    }
    const auto found = kernel_.specials.find(name);
    if (found != kernel_.specials.end()) return Register{found->second, 4};
    const Register made = NewRegister(4);
    kernel_.specials[name] = made.at;
    return made;
  }

  bool ReadInstruction(std::string_view text) {
    Instruction made;
    made.line = line_;
    made.text = std::string(text);
    if (text[0] == '@' && !ReadGuard(&text, &made)) return false;
    const std::string opcode(TakeWord(&text));
    std::vector<std::string_view> operands = Split(text, ',');
    const auto form = FindForm(KeyOf(opcode, operands));
    if (!form.has_value()) {
      return Fail("the machine does not know this instruction");
    }
    made.form = *form;
    const std::string lack = LackOf(opcode, outside_.version, outside_.target);
    if (!lack.empty()) return Fail(lack);
    if (form->more > 0 && !ReadMore(&operands, &made)) return false;
    operands = Flattened(operands);
    if (operands.size() != form->operands.size()) {
      return Fail("it has " + std::to_string(operands.size()) +
                  " operands and not " + std::to_string(form->operands.size()));
    }
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!ReadOperand(operands[k], form->operands[k], k, &made)) return false;
    }
    kernel_.code.push_back(std::move(made));
    return true;
  }

  // The first operand, which the others come after.
  bool ReadMore(std::vector<std::string_view>* operands, Instruction* made) {
    if (operands->empty()) return Fail("it has no registers");
    const std::vector<std::string_view> names = Flattened({operands->front()});
    operands->erase(operands->begin());
    for (const std::string_view name : names) {
      const auto found = FindRegister(std::string(name));
      if (!found.has_value() || found->width != 4) {
        return Fail("no register: " + std::string(name));
      }
      made->more.push_back(found->at);
    }
    return names.size() == made->form.more ||
           Fail("it has " + std::to_string(names.size()) + " registers");
  }

  bool ReadGuard(std::string_view* text, Instruction* made) {
    text->remove_prefix(1);
    if (!text->empty() && (*text)[0] == '!') {
      made->is_guard_negated = true;
      text->remove_prefix(1);
    }
    const auto guard = FindRegister(std::string(TakeWord(text)));
    if (!guard.has_value() || guard->width != 0) return Fail("no predicate");
    made->guard = guard->at;
    return true;
  }

  // The name in the table of forms: some opcodes are those of several.
  static std::string KeyOf(const std::string& opcode,
                           const std::vector<std::string_view>& operands) {
    const auto parts = [&](size_t k) {
      return std::to_string(
          Split(operands[k].substr(1, operands[k].size() - 2), ',').size());
    };
    if (opcode.substr(0, 4) == "mov." && operands.size() == 2) {
      if (operands[0][0] == '{') return opcode + "{" + parts(0);
      if (operands[1][0] == '{') return opcode + "}" + parts(1);
    }
    if (opcode.substr(0, 12) == "cp.async.ca." ||
        opcode.substr(0, 12) == "cp.async.cg.") {
      if (operands.size() < 3) return opcode;
      return opcode + "," + std::string(operands[2]) +
             (operands.size() == 4 ? "," : "");
    }
    if (opcode.substr(0, 5) == "shfl." && !operands.empty() &&
        operands[0].find('|') != std::string_view::npos) {
      return opcode + "|";
    }
    return opcode;
  }

  static std::vector<std::string_view> Flattened(
      const std::vector<std::string_view>& operands) {
    std::vector<std::string_view> all;
    for (const std::string_view operand : operands) {
      const char first = operand.empty() ? ' ' : operand[0];
      std::vector<std::string_view> parts = Split(operand, '|');
      if (first == '{' || first == '[') {
        parts = Split(operand.substr(1, operand.size() - 2), ',');
      }
      // A map of a tensor and its coordinates: "[%rd1, {%r1, %r2}]".
      if (first == '[' && parts.size() > 1) parts = Flattened(parts);
      if (first == '[' && parts.size() == 1) parts = {operand};
      all.insert(all.end(), parts.begin(), parts.end());
    }
    return all;
  }

  bool ReadOperand(std::string_view text, char letter, size_t k,
                   Instruction* made) {
    if (letter == 'l') {
      jumps_.push_back({kernel_.code.size(), std::string(text)});
      return true;
    }
    if (letter == 'm') return ReadAddress(text, k, made);
    const auto found = ValueOf(text, WidthOf(letter));
    if (!found.has_value()) return Fail("no operand: " + std::string(text));
    if (letter != 'x' && found->width != WidthOf(letter)) {
      return Fail("its type is not that of " + std::string(text));
    }
    if (letter == 'x' && found->width < std::max<int>(made->form.size, 1)) {
      return Fail("it does not fit " + std::string(text));
    }
    made->at[k] = found->at;
    made->width[k] = found->width;
    return true;
  }

  // A register, or one that has a constant's or an array's value.
  std::optional<Register> ValueOf(std::string_view text, uint8_t width) {
    const std::string name(text);
    if (const auto found = FindRegister(name)) return found;
    // A register that nobody reads.
    if (name == "_") return NewRegister(width);
    if (const auto special = SpecialOf(name)) return special;
    if (const auto constant = ConstantOf(text)) {
      return Constant(*constant, width);
    }
    if (width == 0) {
      if (name == "true") return Constant(1, 0);
      if (name == "false") return Constant(0, 0);
      return std::nullopt;
    }
    if (const auto symbol = SymbolOf(name)) return Constant(*symbol, width);
    return std::nullopt;
  }

  // "[%rd1+-4]", "[name]".
  bool ReadAddress(std::string_view text, size_t k, Instruction* made) {
    if (text.size() < 2 || text[0] != '[' || text.back() != ']') {
      return Fail("no address: " + std::string(text));
    }
    const std::vector<std::string_view> parts =
        Split(text.substr(1, text.size() - 2), '+');
    const auto base = parts.empty() ? std::nullopt : ValueOf(parts[0], 8);
    if (!base.has_value() || base->width < 4 || parts.size() > 2) {
      return Fail("no address: " + std::string(text));
    }
    made->at[k] = base->at;
    made->width[k] = base->width;
    if (parts.size() == 1) return true;
    const auto offset = ConstantOf(parts[1]);
    if (!offset.has_value()) return Fail("no address: " + std::string(text));
    made->offset[k] = static_cast<int32_t>(*offset);
    return true;
  }

  bool SetTargets() {
    for (const auto& [index, name] : jumps_) {
      const auto found = labels_.find(name);
      if (found == labels_.end()) return Fail("no label " + name);
      kernel_.code[index].target = found->second;
    }
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  int line_;
  const Outside& outside_;
  Kernel& kernel_;
  Failure& failure_;
  std::string_view statement_;  // that is read
  std::vector<std::map<std::string, Register>> scopes_;
  std::map<std::pair<uint64_t, uint8_t>, Register> constants_;
  std::map<std::string, uint64_t>
      symbols_;                // arrays of shared and local memory
  uint32_t arrays_bytes_ = 0;  // of shared memory, without gaps
  std::optional<uint64_t> launch_memory_;
  std::map<std::string, uint32_t> labels_;
  std::vector<std::pair<size_t, std::string>> jumps_;
};

}  // namespace

bool ReadBody(std::string_view body, int line, const Outside& outside,
              Kernel* kernel, Failure* failure) {
  return BodyReader(body, line, outside, kernel, failure).Read();
}

}  // namespace ingot::isa::ptx

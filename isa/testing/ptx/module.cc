#include "isa/testing/ptx/module.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "isa/testing/ptx/body.h"
#include "isa/testing/ptx/text.h"

namespace ingot::isa::ptx {
namespace {

constexpr size_t kArrayAlignment = 256;

class ModuleReader {
 public:
  ModuleReader(std::string_view text, Module* module, Failure* failure)
      : text_(text), module_(*module), failure_(*failure) {}

  bool Read() {
    while (!Trim(text_.substr(at_)).empty()) {
      if (!ReadItem()) return false;
    }
    return true;
  }

 private:
  int LineOf(size_t at) const {
    return 1 + static_cast<int>(
                   std::count(text_.begin(), text_.begin() + at, '\n'));
  }
  bool Fail(const std::string& why) {
    failure_.code = kInvalidPtx;
    failure_.text = "line " + std::to_string(LineOf(at_)) + ": " + why;
    return false;
  }

  // A line of settings, a kernel, or an array.
  bool ReadItem() {
    at_ = text_.find_first_not_of(" \t\r\n", at_);
    std::string_view rest = text_.substr(at_);
    std::string_view word = TakeWord(&rest);
    if (word == ".version" || word == ".target" || word == ".address_size") {
      if (word == ".version") version_ = TakeWord(&rest);
      if (word == ".target") target_ = TakeWord(&rest);
      at_ = std::min(text_.find('\n', at_), text_.size());
      return true;
    }
    while (word == ".visible" || word == ".weak" || word == ".extern") {
      word = TakeWord(&rest);
    }
    if (word == ".entry") return ReadKernel(rest);
    return ReadArray(word, rest);
  }

  bool ReadArray(std::string_view space, std::string_view rest) {
    const std::string_view text = rest.substr(0, rest.find(';'));
    const auto variable = VariableOf(text);
    if (!variable.has_value()) {
      return Fail("the machine does not know " + std::string(space));
    }
    if (space == ".shared") {
      shared_[variable->name] = *variable;
    } else if (space == ".global" || space == ".const") {
      MakeArray(*variable);
    } else {
      return Fail("the machine does not know " + std::string(space));
    }
    at_ = std::min<size_t>(text.end() - text_.begin() + 1, text_.size());
    return true;
  }

  void MakeArray(const Variable& variable) {
    Array& array = module_.arrays[variable.name];
    array.bytes = variable.bytes;
    array.storage.resize(variable.bytes + kArrayAlignment);
    const auto address = reinterpret_cast<uintptr_t>(array.storage.data());
    array.begin =
        array.storage.data() + (kArrayAlignment - address % kArrayAlignment);
    for (size_t k = 0; k < variable.values.size(); ++k) {
      std::memcpy(array.begin + k * variable.element_bytes, &variable.values[k],
                  variable.element_bytes);
    }
  }

  // `rest` is behind ".entry".
  bool ReadKernel(std::string_view rest) {
    Kernel kernel;
    kernel.name = std::string(TakeWord(&rest));
    const size_t open = rest.find('{');
    if (open == rest.npos) return Fail("a kernel has no body");
    if (!ReadHead(rest.substr(0, open), &kernel)) return false;
    const size_t close = EndOf(rest, open);
    if (close == rest.npos) return Fail("a kernel has no end");
    const std::string_view body = rest.substr(open + 1, close - open - 1);
    const Outside outside{version_, target_, module_.arrays, shared_};
    if (!ReadBody(body, LineOf(body.begin() - text_.begin()), outside, &kernel,
                  &failure_)) {
      return false;
    }
    at_ = body.end() - text_.begin() + 1;
    const std::string name = kernel.name;
    module_.kernels[name] = std::move(kernel);
    return true;
  }

  // Finds the end of what the brace there begins.
  static size_t EndOf(std::string_view text, size_t open) {
    int depth = 0;
    for (size_t k = open; k < text.size(); ++k) {
      if (text[k] == '{') ++depth;
      if (text[k] == '}' && --depth == 0) return k;
    }
    return text.npos;
  }

  // "(.param .u64 a, .param .b32 b) .maxntid 256, 1, 1".
  bool ReadHead(std::string_view text, Kernel* kernel) {
    const size_t close = text.find(')');
    if (text.empty() || text[0] != '(' || close == text.npos) {
      return Fail("a kernel has no parameters");
    }
    for (const std::string_view parameter :
         Split(text.substr(1, close - 1), ',')) {
      std::string_view rest = parameter;
      const bool is_parameter = TakeWord(&rest) == ".param";
      const auto variable = VariableOf(rest);
      if (!is_parameter || !variable.has_value()) {
        return Fail("no parameter: " + std::string(parameter));
      }
      uint32_t& bytes = kernel->parameter_bytes;
      bytes = (bytes + variable->alignment - 1) / variable->alignment *
              variable->alignment;
      kernel->parameters.push_back({variable->name, bytes, variable->bytes});
      bytes += variable->bytes;
    }
    std::string_view settings = Trim(text.substr(close + 1));
    while (!settings.empty()) {
      if (!ReadSetting(&settings, kernel)) return false;
    }
    return true;
  }

  bool ReadSetting(std::string_view* text, Kernel* kernel) {
    const std::string_view name = TakeWord(text);
    if (name.empty() || name[0] != '.') return Fail("no setting of a kernel");
    const size_t end = std::min(text->find('.'), text->size());
    uint64_t product = 1;
    for (const std::string_view size : Split(text->substr(0, end), ',')) {
      product *= ConstantOf(size).value_or(0);
    }
    text->remove_prefix(end);
    if (name == ".maxntid" || name == ".reqntid") {
      kernel->max_threads = static_cast<uint32_t>(product);
    }
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string_view version_ = "1.0", target_ = "sm_10";
  Module& module_;
  Failure& failure_;
  std::map<std::string, Variable> shared_;
};

}  // namespace

std::unique_ptr<Module> Parse(const std::string& text, Failure* failure) {
  const std::string without_comments = WithoutComments(text);
  auto module = std::make_unique<Module>();
  if (!ModuleReader(without_comments, module.get(), failure).Read()) {
    return nullptr;
  }
  return module;
}

}  // namespace ingot::isa::ptx

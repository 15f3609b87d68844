#include "isa/testing/ptx/forms.h"

#include <optional>
#include <string>

namespace ingot::isa::ptx {
namespace {

const Forms& AllForms() {
  static const auto* const all = [] {
    auto* const forms = new Forms;
    AddIntegers(forms);
    AddFloats(forms);
    AddMoves(forms);
    AddAccesses(forms);
    AddCopies(forms);
    AddBulkCopies(forms);
    AddMbarriers(forms);
    AddMatrices(forms);
    AddWarpGroups(forms);
    AddTogether(forms);
    return forms;
  }();
  return *all;
}

}  // namespace

std::optional<Form> FindForm(const std::string& opcode) {
  const auto found = AllForms().find(opcode);
  if (found != AllForms().end()) return found->second;
  return ConversionForm(opcode);
}

}  // namespace ingot::isa::ptx

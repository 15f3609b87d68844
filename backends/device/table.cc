#include "backends/device/table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot::device {
namespace {

std::string Line(absl::string_view key, const TensorSpec& tensor) {
  return absl::StrCat("  ", key, " ", tensor.dtype.ToString(),
                      tensor.shape.empty() ? "" : " ",
                      absl::StrJoin(tensor.shape, " "), "\n");
}

}  // namespace

std::string WriteTable(const std::vector<TableFunction>& functions) {
  std::string text =
      "# The functions of a model's plan: what they read and write, and the\n"
      "# kernels that each launches: how many work items, of how many a group\n"
      "# consists, where the device does not choose, and how many bytes it\n"
      "# shares, where the code does not say so. Of some arguments the device\n"
      "# copies boxes on its own: their numbers, and a box's extents.\n";
  for (const TableFunction& f : functions) {
    absl::StrAppend(&text, "\nfunction ", f.name,
                    f.nodes.empty() ? "\n" : absl::StrCat("\n  # ", f.nodes),
                    f.nodes.empty() ? "" : "\n");
    for (const TensorSpec& t : f.spec.inputs) text += Line("input", t);
    for (const TensorSpec& t : f.spec.outputs) text += Line("output", t);
    for (const Launch& launch : f.launches) {
      absl::StrAppend(&text, "  launch ", launch.kernel, " ", launch.work_items,
                      launch.group == 0 ? "" : absl::StrCat(" ", launch.group),
                      launch.shared_bytes == 0
                          ? ""
                          : absl::StrCat(" ", launch.shared_bytes),
                      "\n");
      for (const TensorMap& map : launch.maps) {
        absl::StrAppend(&text, "    boxes ", map.argument, " ",
                        absl::StrJoin(map.box, " "), "\n");
      }
    }
  }
  return text;
}

}  // namespace ingot::device

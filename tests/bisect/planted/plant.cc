#include "tests/bisect/planted/plant.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ingot::planted {

const Plant& PlantOfThisProcess() {
  static const auto* const kPlant = [] {
    auto* plant = new Plant;
    const char* const text = std::getenv("INGOT_PLANT");
    if (text == nullptr) return plant;
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    if (words.size() != 4 || !absl::SimpleAtoi(words[2], &plant->occurrence)) {
      fprintf(stderr, "INGOT_PLANT: '%s' is not four words\n", text);
      abort();
    }
    plant->level = words[0];
    plant->pass = words[1];
    plant->what = words[3];
    return plant;
  }();
  return *kPlant;
}

void Tell(absl::string_view what) {
  const std::string line = absl::StrCat("planted: ", what, "\n");
  fputs(line.c_str(), stderr);
}

}  // namespace ingot::planted

// The one miscompile that this process is to have.
#ifndef INGOT_TESTS_BISECT_PLANTED_PLANT_H_
#define INGOT_TESTS_BISECT_PLANTED_PLANT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot::planted {

// $INGOT_PLANT, four words: "pass simplify 3 7" spoils node 7 after the third
// run of that pass, "loops vectorize_loops 0 KERNEL" and "code - 0 KERNEL" a
// kernel. Nothing is spoiled where it is not set.
struct Plant {
  std::string level;
  std::string pass;
  int occurrence = 0;
  std::string what;

  bool Is(absl::string_view at_level, absl::string_view in_pass,
          absl::string_view kernel) const {
    return level == at_level && pass == in_pass && what == kernel;
  }
};

const Plant& PlantOfThisProcess();

// Tells the test, as a line on stderr, what was spoiled.
void Tell(absl::string_view what);

}  // namespace ingot::planted

#endif  // INGOT_TESTS_BISECT_PLANTED_PLANT_H_

// Operators that random models leave out.
#ifndef INGOT_TESTS_FUZZ_LEFT_OUT_H_
#define INGOT_TESTS_FUZZ_LEFT_OUT_H_

#include <map>
#include <string>

namespace ingot::fuzz {

// By name, and why.
const std::map<std::string, std::string>& LeftOutOperators();

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_LEFT_OUT_H_

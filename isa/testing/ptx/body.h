// The body of a kernel, decoded.
#ifndef INGOT_ISA_TESTING_PTX_BODY_H_
#define INGOT_ISA_TESTING_PTX_BODY_H_

#include <map>
#include <string>
#include <string_view>

#include "isa/testing/ptx/module.h"
#include "isa/testing/ptx/text.h"

namespace ingot::isa::ptx {

// The module around a body: the instructions that it may use, and the names
// that are declared outside of it.
struct Outside {
  std::string_view version, target;
  const std::map<std::string, Array>& arrays;     // .global and .const
  const std::map<std::string, Variable>& shared;  // of the module
};

// Fills the rest of a kernel whose name and parameters are known. `body` is
// between its braces, without comments, and begins in this line. False: it
// cannot, and `failure` says why.
bool ReadBody(std::string_view body, int line, const Outside& outside,
              Kernel* kernel, Failure* failure);

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_BODY_H_

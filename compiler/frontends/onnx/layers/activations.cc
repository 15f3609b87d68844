#include "compiler/frontends/onnx/layers/activations.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace ingot::onnx_frontend {
namespace {

// Functions with parameters; the others take none.
struct Parameters {
  absl::string_view name;
  bool beta;  // beside alpha
};
constexpr Parameters kParameters[] = {
    {"affine", true},     {"elu", false},       {"hardsigmoid", true},
    {"leakyrelu", false}, {"scaledtanh", true}, {"thresholdedrelu", false}};

bool Takes(absl::string_view function, bool beta) {
  const std::string name = absl::AsciiStrToLower(function);
  return std::any_of(
      std::begin(kParameters), std::end(kParameters),
      [&](const Parameters& p) { return p.name == name && (p.beta || !beta); });
}

// A value for each function up to the last one that is given, 0 where the
// function takes none. `next` is the first value not taken yet.
std::vector<double> Take(const std::vector<std::string>& functions, bool beta,
                         const std::vector<double>& values, size_t* next) {
  std::vector<double> taken;
  for (const std::string& function : functions) {
    const bool takes = Takes(function, beta);
    if (takes && *next == values.size()) break;
    taken.push_back(takes ? values[(*next)++] : 0);
  }
  return taken;
}

}  // namespace

void Activations::SetOn(Attrs* attrs) const {
  if (!names.empty()) attrs->Set("activations", names);
  if (!alpha.empty()) attrs->Set("activation_alpha", alpha);
  if (!beta.empty()) attrs->Set("activation_beta", beta);
}

absl::StatusOr<std::vector<Activations>> ReadActivations(NodeContext& c,
                                                         int count,
                                                         int directions) {
  const std::vector<std::string> names = c.Strings("activations");
  std::vector<Activations> all(directions);
  if (names.empty()) return all;
  if (names.size() != static_cast<size_t>(count) * directions) {
    return c.Error("has ", names.size(), " activations");
  }
  const std::vector<double> alpha = c.Floats("activation_alpha");
  const std::vector<double> beta = c.Floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  for (int k = 0; k < directions; ++k) {
    Activations& own = all[k];
    const auto first = names.begin() + k * count;
    own.names.assign(first, first + count);
    own.alpha = Take(own.names, /*beta=*/false, alpha, &next_alpha);
    own.beta = Take(own.names, /*beta=*/true, beta, &next_beta);
  }
  return all;
}

}  // namespace ingot::onnx_frontend

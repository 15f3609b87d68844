#include "backends/gpu/testing/fake_compute.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/gpu/testing/fake_state.h"
#include "isa/testing/ptx/machine.h"
#include "isa/testing/ptx/module.h"

namespace fake_driver {
namespace {

namespace ptx = ingot::isa::ptx;

int Report(const ptx::Failure& failure) {
  if (failure.code == kOk) return kOk;
  std::fprintf(stderr, "fake driver: %s\n", failure.text.c_str());
  S().log += "failed: " + failure.text + "\n";
  return failure.code;
}

int Compute(const ptx::Module& module, const ptx::Kernel& kernel,
            ptx::Launch launch,
            const std::vector<std::vector<uint8_t>>& values) {
  std::vector<const void*> addresses;
  for (const auto& value : values) addresses.push_back(value.data());
  launch.parameters = addresses.data();
  for (const auto& [address, bytes] : S().blocks) {
    launch.memory.push_back({static_cast<uint8_t*>(address), bytes});
  }
  return Report(ptx::Run(module, kernel, launch));
}

}  // namespace

std::shared_ptr<const ptx::Module> DecodeKernels(const std::string& image) {
  ptx::Failure failure;
  // The driver's own word is before the text. Lines keep their numbers.
  const auto begin = image.begin() + image.find(".version");
  const std::string lines(std::count(image.begin(), begin, '\n'), '\n');
  std::shared_ptr<const ptx::Module> module =
      ptx::Parse(lines + std::string(begin, image.end()), &failure);
  if (module == nullptr) Report(failure);
  return module;
}

std::function<int()> PrepareKernel(const FakeKernel& kernel, unsigned grid,
                                   unsigned block, unsigned shared_bytes,
                                   void** parameters) {
  const ptx::Kernel& decoded = kernel.module->kernels.at(kernel.name);
  std::vector<std::vector<uint8_t>> values;
  for (size_t k = 0; k < decoded.parameters.size(); ++k) {
    const auto* const value = static_cast<const uint8_t*>(parameters[k]);
    values.emplace_back(value, value + decoded.parameters[k].bytes);
  }
  ptx::Launch launch;
  launch.grid = grid;
  launch.block = block;
  launch.shared_bytes = shared_bytes;
  return
      [module = kernel.module, &decoded, launch, values = std::move(values)] {
        return Compute(*module, decoded, launch, values);
      };
}

}  // namespace fake_driver

#include <string>

#include "compiler/relay/parser.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::HasSubstr;

// What the pass makes of a module, with a device for the target key "npu" and
// one for "gpu".
std::string Placed(const char* text) {
  TargetKind kind;
  kind.name = "far";
  kind.device = "far";
  PassContext context;
  context.targets = {{Target{"npu", "far", {}}, &kind},
                     {Target{"gpu", "far", {}}, &kind}};
  auto module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::Status run =
      RunPasses({"place_on_devices"}, module->get(), &context);
  EXPECT_TRUE(run.ok()) << run;
  return Print(**module);
}

TEST(PlaceOnDevices, CopiesEachValueOnceWhereItCrosses) {
  EXPECT_EQ(Placed(R"(module {
  func @main(%x: f32[4], %w: f32[4]) -> (%c, %d) {
    %a = @npu_add(%x, %w) : f32[4]
    %b = @npu_add(%a, %x) : f32[4]
    %v = reshape(%b) {shape=[2, 2]} : f32[2, 2]
    %c = @host_neg(%v) : f32[2, 2]
    %d = @gpu_neg(%v) : f32[2, 2]
  }
  func @npu_add(%p: f32[4], %q: f32[4]) -> (%r)
      attrs {primitive=1, target="npu"} {
    %r = add(%p, %q) : f32[4]
  }
  func @host_neg(%p: f32[2, 2]) -> (%r) attrs {primitive=1} {
    %r = neg(%p) : f32[2, 2]
  }
  func @gpu_neg(%p: f32[2, 2]) -> (%r) attrs {primitive=1, target="gpu"} {
    %r = neg(%p) : f32[2, 2]
  }
}
)"),
            R"(module {
  func @main(%x: f32[4], %w: f32[4]) -> (%c, %d) {
    %x.npu = device_copy(%x) {to="npu"} : f32[4]
    %w.npu = device_copy(%w) {to="npu"} : f32[4]
    %a = @npu_add(%x.npu, %w.npu) : f32[4]
    %b = @npu_add(%a, %x.npu) : f32[4]
    %v = reshape(%b) {shape=[2, 2]} : f32[2, 2]
    %v.cpu = device_copy(%v) : f32[2, 2]
    %c = @host_neg(%v.cpu) : f32[2, 2]
    %v.cpu.gpu = device_copy(%v.cpu) {to="gpu"} : f32[2, 2]
    %d.gpu = @gpu_neg(%v.cpu.gpu) : f32[2, 2]
    %d = device_copy(%d.gpu) : f32[2, 2]
  }
  func @npu_add(%p: f32[4], %q: f32[4]) -> (%r) attrs {primitive=1, target="npu"} {
    %r = add(%p, %q) : f32[4]
  }
  func @host_neg(%p: f32[2, 2]) -> (%r) attrs {primitive=1} {
    %r = neg(%p) : f32[2, 2]
  }
  func @gpu_neg(%p: f32[2, 2]) -> (%r) attrs {primitive=1, target="gpu"} {
    %r = neg(%p) : f32[2, 2]
  }
}
)");
}

TEST(PlaceOnDevices, GivesWhatStaysOnADeviceANameOfItsOwn) {
  const std::string placed = Placed(R"(module {
  func @main(%x: f32[4]) -> (%a, %a.npu, %a) {
    %a = @npu_neg(%x) : f32[4]
    %a.npu = @host_neg(%x) : f32[4]
  }
  func @npu_neg(%p: f32[4]) -> (%r) attrs {primitive=1, target="npu"} {
    %r = neg(%p) : f32[4]
  }
  func @host_neg(%p: f32[4]) -> (%r) attrs {primitive=1} {
    %r = neg(%p) : f32[4]
  }
}
)");
  EXPECT_THAT(placed, HasSubstr(R"(-> (%a, %a.npu, %a) {
    %x.npu = device_copy(%x) {to="npu"} : f32[4]
    %a.npu_1 = @npu_neg(%x.npu) : f32[4]
    %a.npu = @host_neg(%x) : f32[4]
    %a = device_copy(%a.npu_1) : f32[4]
  })"));
}

TEST(PlaceOnDevices, LeavesModulesWithoutDevicesAlone) {
  const char* const text = R"(module {
  func @main(%x: f32[4]) -> (%y) {
    %y = @neg(%x) : f32[4]
  }
  func @neg(%p: f32[4]) -> (%r) attrs {primitive=1} {
    %r = neg(%p) : f32[4]
  }
}
)";
  const auto module = ReadModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Placed(text), Print(**module));
}

}  // namespace
}  // namespace ingot::relay

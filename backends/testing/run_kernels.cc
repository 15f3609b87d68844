#include "backends/testing/run_kernels.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "artifact/target_keys.h"
#include "backends/builtin.h"
#include "backends/testing/link_options.h"
#include "base/status_macros.h"
#include "compiler/target/target.h"
#include "compiler/tir/interpreter.h"
#include "compiler/tir/numeric.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/verifier.h"
#include "gtest/gtest.h"
#include "loaders/native/library.h"
#include "loaders/native/linker.h"
#include "runtime/float16.h"

namespace ingot::testing_support {
namespace {

std::string TemporaryName() {
  static std::atomic<int> count{0};
  const char* dir = std::getenv("TEST_TMPDIR");
  return absl::StrCat(dir != nullptr ? dir : "/tmp", "/kernels_", getpid(), "_",
                      count++, ".so");
}

double FloatAt(const Tensor& t, int64_t i) {
  switch (t.dtype().bits) {
    case 16: {
      const uint16_t bits = t.data<uint16_t>()[i];
      return t.dtype().code == DataType::kBFloat ? BFloat16ToFloat(bits)
                                                 : HalfToFloat(bits);
    }
    case 32:
      return t.data<float>()[i];
    default:
      return t.data<double>()[i];
  }
}

bool Close(double a, double b, Tolerance tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::fabs(a - b) <=
         tolerance.absolute + tolerance.relative * std::fabs(b);
}

Tensor InPages(DataType dtype, absl::Span<const int64_t> shape, bool at_end) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  int64_t elements = 1;
  for (int64_t d : shape) elements *= d;
  const size_t bytes = static_cast<size_t>(elements) * dtype.bytes();
  const size_t body = (bytes + page - 1) / page * page + page;
  const size_t all = body + 2 * page;
  void* memory =
      mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  char* start = static_cast<char*>(memory) + page;
  EXPECT_EQ(mprotect(start, body, PROT_READ | PROT_WRITE), 0);
  void* data = at_end ? start + body - bytes : start;
  std::shared_ptr<void> owner(memory, [all](void* p) { munmap(p, all); });
  return *Tensor::FromBorrowed(data, dtype, shape, owner);
}

absl::StatusOr<ArtifactSet> Generate(absl::string_view target_text,
                                     absl::Span<const tir::PrimFunc> kernels) {
  TargetRegistry targets;
  INGOT_RETURN_IF_ERROR(RegisterBuiltinTargets(&targets));
  INGOT_ASSIGN_OR_RETURN(Target target, ParseTarget(target_text));
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, targets.Check(target));

  std::vector<absl::string_view> passes(kind->tir_passes.begin(),
                                        kind->tir_passes.end());
  std::vector<tir::PrimFunc> lowered;
  for (const tir::PrimFunc& kernel : kernels) {
    INGOT_ASSIGN_OR_RETURN(tir::PrimFunc result,
                           tir::RunPasses(kernel, passes));
    lowered.push_back(std::move(result));
  }
  INGOT_ASSIGN_OR_RETURN(
      CodegenResult result,
      kind->tir_to_runtime(target, lowered, CodegenOptions()));

  ArtifactSet set;
  for (const Artifact& artifact : result.artifacts) {
    INGOT_RETURN_IF_ERROR(set.Add(artifact));
  }
  Provenance::TargetKey* key =
      MutableTargetKey(&set.mutable_provenance(), target.key);
  if (kind->triple != nullptr) {
    INGOT_ASSIGN_OR_RETURN(*key->mutable_triple(), kind->triple(target));
  }
  for (const std::string& library : result.link_libraries) {
    key->add_link_libraries(library);
  }
  return set;
}

}  // namespace

absl::Status CompareTensors(absl::string_view what, const Tensor& got,
                            const Tensor& expected, Tolerance tolerance) {
  if (got.TypeString() != expected.TypeString()) {
    return absl::InternalError(absl::StrCat(what, " is ", got.TypeString(),
                                            ", not ", expected.TypeString()));
  }
  const int64_t n = expected.NumElements();
  const size_t size = expected.dtype().bytes();
  const char* a = static_cast<const char*>(got.raw_data());
  const char* b = static_cast<const char*>(expected.raw_data());
  for (int64_t i = 0; i < n; ++i) {
    if (expected.dtype().is_float()) {
      const double x = FloatAt(got, i), y = FloatAt(expected, i);
      if (Close(x, y, tolerance)) continue;
      return absl::InternalError(
          absl::StrCat(what, ": element ", i, " is ", x, ", not ", y));
    }
    if (std::memcmp(a + i * size, b + i * size, size) == 0) continue;
    int64_t x = 0, y = 0;
    std::memcpy(&x, a + i * size, size);
    std::memcpy(&y, b + i * size, size);
    return absl::InternalError(
        absl::StrCat(what, ": element ", i, " is ", x, ", not ", y));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LinkKernels(
    absl::string_view target, absl::Span<const tir::PrimFunc> kernels) {
  INGOT_ASSIGN_OR_RETURN(ArtifactSet set, Generate(target, kernels));
  if (set.artifacts()[0].loader != kNativeLoader) {
    return absl::InvalidArgumentError("not native code");
  }
  const std::string path = TemporaryName();
  INGOT_RETURN_IF_ERROR(LinkLibrary(set, path, TestLinkOptions()));
  return path;
}

absl::StatusOr<std::shared_ptr<Module>> BuildKernels(
    absl::string_view target, absl::Span<const tir::PrimFunc> kernels) {
  INGOT_ASSIGN_OR_RETURN(ArtifactSet set, Generate(target, kernels));
  const std::string& loader = set.artifacts()[0].loader;
  if (loader == kNativeLoader) {
    const std::string path = TemporaryName();
    INGOT_RETURN_IF_ERROR(LinkLibrary(set, path, TestLinkOptions()));
    absl::StatusOr<std::shared_ptr<LibraryModule>> library =
        LibraryModule::Open(path);
    unlink(path.c_str());
    if (!library.ok()) return library.status();
    return std::shared_ptr<Module>(*std::move(library));
  }
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterBuiltinLoaders(&loaders));
  INGOT_ASSIGN_OR_RETURN(const LoadBinaryFn* load, loaders.Find(loader));
  LoadContext context{set, {}, {}, nullptr};
  return (*load)(set.artifacts(), context);
}

absl::Status CompareWithInterpreter(const Module& module,
                                    const tir::PrimFunc& func,
                                    const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& outputs,
                                    Tolerance tolerance) {
  std::vector<Tensor> expected_args = inputs;
  std::vector<Tensor> keep;  // workspaces
  std::vector<DLTensor*> args;
  for (const Tensor& input : inputs) args.push_back(input.dl());
  for (const Tensor& output : outputs) {
    expected_args.push_back(*output.Clone());
    args.push_back(output.dl());
  }
  for (int i = 0; i < func.num_workspaces; ++i) {
    const tir::BufferNode& buffer =
        *func.params[func.params.size() - func.num_workspaces + i];
    std::vector<int64_t> shape;
    for (const tir::Expr& dim : buffer.shape) {
      shape.push_back(0);
      if (!tir::AsConstInt(dim, &shape.back())) {
        return absl::InvalidArgumentError("a workspace of symbolic size");
      }
    }
    keep.push_back(*Tensor::Empty(buffer.dtype, shape));
    args.push_back(keep.back().dl());
  }
  INGOT_RETURN_IF_ERROR(
      tir::Interpret(func, absl::MakeConstSpan(expected_args)));
  std::optional<Function> function = module.GetFunction(func.name);
  if (!function.has_value()) {
    return absl::NotFoundError(absl::StrCat("no function ", func.name));
  }
  INGOT_RETURN_IF_ERROR(function->Call(args));
  for (size_t i = 0; i < outputs.size(); ++i) {
    INGOT_RETURN_IF_ERROR(
        CompareTensors(absl::StrCat(func.name, ", output ", i), outputs[i],
                       expected_args[inputs.size() + i], tolerance));
  }
  return absl::OkStatus();
}

tir::PrimFunc ParseKernel(absl::string_view text) {
  absl::StatusOr<tir::PrimFunc> func = tir::Parse(text);
  if (!func.ok()) {
    ADD_FAILURE() << func.status() << "\n" << text;
    func = tir::Parse("func @wrong() -> () { eval 0 }");
    return *func;
  }
  absl::Status verified = tir::Verify(*func);
  if (!verified.ok()) ADD_FAILURE() << verified << "\n" << text;
  return *func;
}

Tensor AtPageEnd(DataType dtype, absl::Span<const int64_t> shape) {
  return InPages(dtype, shape, true);
}

Tensor AtPageStart(DataType dtype, absl::Span<const int64_t> shape) {
  return InPages(dtype, shape, false);
}

void FillExact(Tensor* t, uint32_t seed) {
  const DataType type = t->dtype();
  char* data = static_cast<char*>(t->mutable_raw_data());
  for (int64_t i = 0; i < t->NumElements(); ++i) {
    seed = seed * 1664525 + 1013904223;
    const int value = static_cast<int>(seed >> 24) % 33 - 16;
    if (type.is_float()) {
      const double v = value / 4.0;
      const float f = static_cast<float>(v);
      const uint16_t half = type.code == DataType::kBFloat ? DoubleToBFloat16(v)
                                                           : DoubleToHalf(v);
      const void* from = type.bits == 64   ? static_cast<const void*>(&v)
                         : type.bits == 32 ? static_cast<const void*>(&f)
                                           : static_cast<const void*>(&half);
      std::memcpy(data + i * type.bytes(), from, type.bytes());
    } else {
      const int64_t v = type.is_bool()   ? value & 1
                        : type.is_uint() ? value & 15
                                         : value;
      std::memcpy(data + i * type.bytes(), &v, type.bytes());
    }
  }
}

}  // namespace ingot::testing_support

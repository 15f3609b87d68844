// Reading a container, linking, loading: each beside the limit it is compared
// to. Sizes are chosen so that the work, not the start, is measured.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "artifact/container.h"
#include "artifact/sha256.h"
#include "benchmark/benchmark.h"
#include "loaders/load.h"
#include "loaders/native/linker.h"
#include "runtime/plan/check.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

constexpr char kSource[] =
    "int __tvm_ffi_f(void *s, const void *a, int n, void *r) { return 0; }\n";

// A set with a kernel, a plan and `weight_bytes` of weights.
ArtifactSet MakeSet(int64_t weight_bytes) {
  ArtifactSet set;
  Plan plan;
  plan.set_version(kPlanVersion);
  Tensor weights = *Tensor::Empty(DataType::Float(32), {weight_bytes / 4});
  for (int64_t i = 0; i < weights.NumElements(); ++i) {
    weights.mutable_data<float>()[i] = static_cast<float>(i);
  }
  (void)set.Add(
      {"c", kNativeLoader, "", "f.c", Blob::FromString(kSource), nullptr});
  (void)set.Add({"ingot", kMetadataLoader, "", "plan.binpb",
                 Blob::FromString(plan.SerializeAsString()), nullptr});
  (void)set.Add({"ingot", kConstantsLoader, "", "w.safetensors",
                 *SafetensorsToBlob({{"w", weights}}), nullptr});
  return set;
}

class Files {
 public:
  Files() {
    std::string folder = "/tmp/ingot-bench-XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~Files() { (void)!system(absl::StrCat("rm -rf ", folder_).c_str()); }
  std::string operator()(const char* name) const {
    return absl::StrCat(folder_, "/", name);
  }

 private:
  std::string folder_;
};

constexpr int64_t kWeights = int64_t{64} << 20;

// Limit: a map of the file; the weights are not touched.
void BM_ContainerRead(benchmark::State& state) {
  Files files;
  if (!WriteContainer(MakeSet(kWeights), files("m.ingot")).ok()) abort();
  ReadOptions options;
  options.check_all_digests = state.range(0) != 0;
  for (auto _ : state) {
    auto set = ReadContainerFile(files("m.ingot"), options);
    benchmark::DoNotOptimize(set);
  }
  if (options.check_all_digests) {
    state.SetBytesProcessed(state.iterations() * kWeights);
  }
}
BENCHMARK(BM_ContainerRead)
    ->ArgName("check_digests")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond);

// The limit of a read that checks digests.
void BM_Sha256(benchmark::State& state) {
  const std::string bytes(kWeights, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Sha256Hex(bytes));
  state.SetBytesProcessed(state.iterations() * kWeights);
}
BENCHMARK(BM_Sha256)->Unit(benchmark::kMillisecond);

// In process, one small object. Limit: forking a linker driver takes about 14
// milliseconds.
void BM_Link(benchmark::State& state) {
  Files files;
  // The object, made once: compiling C is not what is measured.
  ArtifactSet set;
  {
    const std::string c = files("f.c"), o = files("f.o");
    FILE* f = fopen(c.c_str(), "w");
    fputs(kSource, f);
    fclose(f);
    if (system(absl::StrCat("cc -c -fPIC -o ", o, " ", c).c_str()) != 0) {
      abort();
    }
    (void)set.Add({"c", kNativeLoader, "", "f.o", *Blob::MapFile(o), nullptr});
  }
  for (auto _ : state) {
    if (!LinkLibrary(set, files("m.so")).ok()) abort();
  }
}
BENCHMARK(BM_Link)->Unit(benchmark::kMillisecond);

// From a library's path to functions that can be called, weights included.
// Limit: dlopen and dlclose of the same file.
void BM_LoadLibrary(benchmark::State& state) {
  Files files;
  if (!LinkLibrary(MakeSet(kWeights), files("m.so")).ok()) abort();
  LoaderRegistry loaders;
  if (!RegisterCoreLoaders(&loaders).ok()) abort();
  for (auto _ : state) {
    auto model = LoadPath(files("m.so"), loaders);
    if (!model.ok()) abort();
  }
}
BENCHMARK(BM_LoadLibrary)->Unit(benchmark::kMicrosecond);

void BM_Dlopen(benchmark::State& state) {
  Files files;
  if (!LinkLibrary(MakeSet(kWeights), files("m.so")).ok()) abort();
  for (auto _ : state) {
    void* library = dlopen(files("m.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) abort();
    dlclose(library);
  }
}
BENCHMARK(BM_Dlopen)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ingot

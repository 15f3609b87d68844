#include "tests/stress/add_models.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "loaders/load_test_support.h"
#include "loaders/native/linker.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing_support::AddSet;
using testing_support::kAddSource;
using testing_support::TestFile;

constexpr int kElements = 3;

// The loop of AddSet's kernel becomes one that several threads run.
constexpr char kParallel[] = R"(
typedef struct {
  int32_t version;
  int (*parallel_for)(int (*)(void *, int64_t, int64_t), void *, int64_t);
  void (*set_error)(const char *, const char *);
} HostApi;
__attribute__((weak, visibility("default"))) const HostApi *__ingot_host_api;
typedef struct { const Tensor *a, *b, *c; } Work;
static int Part(void *ctx, int64_t begin, int64_t end) {
  const Work *w = ctx;
  for (int64_t i = begin; i < end; ++i)
    ((float *)w->c->data)[i] = ((float *)w->a->data)[i] OP ((float *)w->b->data)[0];
  return 0;
}
int __tvm_ffi_add(void *self, const Any *args, int32_t n, Any *result) {
  Work work = {args[0].ptr, args[1].ptr, args[2].ptr};
  return __ingot_host_api->parallel_for(Part, &work, work.a->shape[0]);
}
)";

std::string Source(const std::string& op, bool parallel) {
  std::string source = kAddSource;
  if (!parallel) return absl::StrReplaceAll(source, {{"[i] + ", "[i] " + op}});
  source.resize(source.find("int __tvm_ffi_add"));
  return source + absl::StrReplaceAll(kParallel, {{"OP ", op}});
}

AddModel MakeModel(const std::string& name, const std::string& op,
                   bool parallel, float (*expected)(float)) {
  AddModel model = {expected, TestFile(name + ".so")};
  const absl::Status linked =
      LinkLibrary(AddSet(Source(op, parallel)), model.library);
  EXPECT_TRUE(linked.ok()) << linked;
  return model;
}

}  // namespace

std::vector<AddModel> MakeAddModels() {
  return {
      MakeModel("plus", "+ ", false, [](float x) { return x + 10; }),
      MakeModel("minus", "- ", false, [](float x) { return x - 10; }),
      MakeModel("times", "* ", true, [](float x) { return x * 10; }),
      MakeModel("plus_parallel", "+ ", true, [](float x) { return x + 10; }),
  };
}

absl::Status RunAddModel(const AddModel& model, float first,
                         GraphExecutor* executor) {
  Tensor x = *Tensor::Empty(DataType::Float(32), {kElements});
  for (int i = 0; i < kElements; ++i) x.mutable_data<float>()[i] = first + i;
  const absl::StatusOr<std::vector<Tensor>> out = executor->Run({x});
  if (!out.ok()) return out.status();
  for (int i = 0; i < kElements; ++i) {
    const float got = (*out)[0].data<float>()[i];
    if (got != model.expected(first + i)) {
      return absl::DataLossError(absl::StrCat(
          model.library, ": ", got, " and not ", model.expected(first + i)));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot

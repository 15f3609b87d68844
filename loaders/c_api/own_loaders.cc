#include "loaders/c_api/own_loaders.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "loaders/c_api/report.h"
#include "runtime/function.h"
#include "runtime/module.h"

struct IngotModule {
  std::shared_ptr<ingot::TableModule> table;
  const ingot::LoadContext* context;
};

namespace ingot::c_api {
namespace {

// The status that a function of the caller returned, with the text that it
// gave.
absl::Status StatusOf(IngotStatus status) {
  if (status == INGOT_OK) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status), LastError());
}

absl::Status CallOwn(const IngotFunction& own,
                     absl::Span<const TVMFFIAny> args) {
  std::vector<DLTensor*> tensors;
  for (const TVMFFIAny& arg : args) {
    if (arg.type_index != kTVMFFIDLTensorPtr) {
      return absl::InvalidArgumentError("an argument is no tensor");
    }
    tensors.push_back(static_cast<DLTensor*>(arg.v_ptr));
  }
  LastError().clear();
  return StatusOf(
      own.call(own.self, tensors.data(), static_cast<int32_t>(tensors.size())));
}

Function ToFunction(const IngotFunction& own) {
  // Freed with the last copy of the function.
  const std::shared_ptr<void> self(own.self, [free = own.free_self](void* p) {
    if (free != nullptr) free(p);
  });
  return Function::FromLambda(
      [own, self](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
        return CallOwn(own, args);
      });
}

absl::Status AddFunction(IngotModule* module, const IngotFunction* function) {
  if (function->name == nullptr || function->call == nullptr) {
    return absl::InvalidArgumentError(
        "IngotFunction: a name and a function are needed");
  }
  // Before the function is one that frees what the caller still has.
  if (module->table->GetFunction(function->name).has_value()) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a function ", function->name, " already"));
  }
  return module->table->Add(function->name, ToFunction(*function));
}

absl::Status ExportConstant(const IngotModule& module, const char* key,
                            DLManagedTensor** tensor) {
  auto it = module.context->constants.find(key);
  if (it == module.context->constants.end()) {
    return absl::NotFoundError(
        absl::StrCat("the set has no constant '", key, "'"));
  }
  *tensor = it->second.ToDlpack();
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Module>> LoadByOwn(
    const IngotLoader& own, absl::Span<const Artifact> group,
    const LoadContext& context) {
  std::vector<IngotArtifact> artifacts;
  for (const Artifact& a : group) {
    artifacts.push_back({a.target_key.c_str(), a.codegen_id.c_str(),
                         a.loader.c_str(), a.file_name.c_str(),
                         a.content.view().data(), a.content.size()});
  }
  IngotModule module{std::make_shared<TableModule>(own.name), &context};
  LastError().clear();
  INGOT_RETURN_IF_ERROR(
      StatusOf(own.load(own.self, artifacts.data(),
                        static_cast<int32_t>(artifacts.size()), &module)));
  return std::shared_ptr<Module>(std::move(module.table));
}

}  // namespace

absl::Status RegisterOwnLoaders(absl::Span<const IngotLoader> own,
                                LoaderRegistry* registry) {
  for (const IngotLoader& loader : own) {
    if (loader.name == nullptr || loader.load == nullptr) {
      return absl::InvalidArgumentError(
          "IngotLoader: a name and a function are needed");
    }
    INGOT_RETURN_IF_ERROR(registry->Register(
        loader.name,
        [&loader](absl::Span<const Artifact> group, LoadContext& context) {
          return LoadByOwn(loader, group, context);
        }));
  }
  return absl::OkStatus();
}

}  // namespace ingot::c_api

extern "C" {

void ingot_set_error(const char* message) {
  ingot::c_api::LastError() = message;
}

IngotStatus ingot_add_function(IngotModule* module,
                               const IngotFunction* function) {
  return ingot::c_api::Report(ingot::c_api::AddFunction(module, function));
}

IngotStatus ingot_export_constant(const IngotModule* module, const char* key,
                                  DLManagedTensor** tensor) {
  return ingot::c_api::Report(
      ingot::c_api::ExportConstant(*module, key, tensor));
}

}  // extern "C"
